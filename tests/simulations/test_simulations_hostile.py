"""Simulations made to hang or fill a machine: a sentence within seconds. At their real sizes under the mark chaos.

Limits are the issue's: 10 seconds (of the processor, because others use it too) and 500 MB.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from enquete.simulations.agents import LONGEST_NAME
from enquete.simulations.check import check
from enquete.simulations.population import load_population
from enquete.simulations.sources import MOST_ROWS
from tests.simulations.conftest import DATA, OASIS_RUN
from tests.support.measurement import measured

DATABASE = "reddit_simulation.db"
FOREVER = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
VIEWS = {
    "trace": "x AS user_id, 't' AS created_at, 'create_post' AS action, '{}' AS info",
    "user": "x AS user_id, x AS agent_id, 'a' AS user_name, 'a' AS name",
    "post": "x AS post_id, x AS user_id, 'a' AS content, 'a' AS quote_content, 1 AS original_post_id",
}
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def simulation(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / OASIS_RUN, tmp_path / OASIS_RUN))


def changed(simulation: Path, *statements: str, rows: Iterable[tuple[object, ...]] = ()) -> Path:
    """The simulation with its database changed; `rows` are added to the trace."""
    with closing(sqlite3.connect(simulation / DATABASE)) as connection:
        for statement in statements:
            connection.execute(statement)
        if rows:
            connection.executemany("INSERT INTO trace VALUES(?, ?, ?, ?)", rows)
        connection.commit()
    return simulation


def rendered(path: Path) -> str:
    return check(path).render("en")


@pytest.mark.parametrize("file", ["reddit_profiles.json", "simulation_config.json", "run_state.json",
                                  "reddit/actions.jsonl", DATABASE, f"{DATABASE}-wal"])  # fmt: skip
def test_a_pipe_in_place_of_a_file_is_not_waited_for(simulation: Path, file: str) -> None:
    (simulation / file).unlink(missing_ok=True)
    os.mkfifo(simulation / file)
    told = rendered(simulation)
    assert "a named pipe is there instead of a file" in told or file in ("run_state.json", "reddit/actions.jsonl")


@pytest.mark.parametrize("table", VIEWS)
def test_a_view_without_end_is_no_table(simulation: Path, table: str) -> None:
    view = f"CREATE VIEW {table} AS {FOREVER} SELECT {VIEWS[table]} FROM r"
    told = rendered(changed(simulation, f"ALTER TABLE {table} RENAME TO kept", view))
    assert f"{table} is no table but a view" in told


def test_a_value_that_is_too_large_is_not_read(simulation: Path) -> None:
    told = rendered(changed(simulation, rows=[(0, "1", "refresh", b"\0" * 5_000_000)]))
    assert "a text or blob in it has more than 4 MB" in told


def test_more_rows_than_a_simulation_has(simulation: Path) -> None:
    rows = ",".join(['{"name":"P","persona":"p"}'] * (MOST_ROWS + 1))
    (simulation / "reddit_profiles.json").write_text(f"[{rows}]")
    assert "reddit_profiles.json: more than 100,000 rows" in rendered(simulation)


def test_names_are_shortened_and_controls_are_seen(tmp_path: Path) -> None:
    people = [
        {"name": f"Ada\x1b[2J{'a' * 1_000_000}", "persona": "p", "type": "t\u202e" * 100_000, "id": "i" * 300_000}
    ]
    path = tmp_path / "people.json"
    path.write_text(json.dumps(people))
    (who,) = load_population(path).participants
    assert who.name.startswith("Ada\\u001b[2Jaaa")
    assert max(map(len, (who.name, who.stakeholder_type, who.id))) <= LONGEST_NAME + len("agent:")
    assert (who.name + who.stakeholder_type).isprintable()


def blobs(megabytes: int) -> Callable[[Path], Path]:
    return lambda simulation: changed(
        simulation, rows=((0, str(i), "refresh", os.urandom(1_000_000)) for i in range(megabytes))
    )


def texts(megabytes: int) -> Callable[[Path], Path]:
    post = json.dumps({"content": "x" * 1_000_000})
    return lambda simulation: changed(simulation, rows=((0, str(i), "create_post", post) for i in range(megabytes)))


def one_blob(megabytes: int) -> Callable[[Path], Path]:
    return lambda simulation: changed(simulation, rows=[(0, "1", "refresh", b"\0" * megabytes * 1_000_000)])


def no_index(posts: int) -> Callable[[Path], Path]:
    """A like for each of many posts, and no way to find one but to look at all."""
    series = f"{FOREVER.removesuffix(')')} LIMIT {posts})"
    return lambda simulation: changed(
        simulation,
        "ALTER TABLE post RENAME TO kept",
        "CREATE TABLE post(post_id, user_id, original_post_id, content, quote_content, created_at)",
        f"INSERT INTO post {series} SELECT x, 1, NULL, 'hello', '', 1 FROM r",
        f"INSERT INTO trace {series} SELECT 1, x, 'like_post', json_object('post_id', x) FROM r",
    )


def long_line(megabytes: int) -> Callable[[Path], Path]:
    def make(simulation: Path) -> Path:
        for database in simulation.glob("*.db"):
            database.unlink()
        with (simulation / "reddit/actions.jsonl").open("w") as file:
            file.writelines('{"a":"' + "x" * 1_000_000 for _ in range(megabytes))
        return simulation

    return make


def million_people(rows: int) -> Callable[[Path], Path]:
    def make(simulation: Path) -> Path:
        path = simulation.with_name("people.csv")
        with path.open("w") as file:
            file.write("name,persona\n")
            file.writelines(f"Person {i},is number {i}\n" for i in range(rows))
        return path

    return make


def brackets(number: int) -> Callable[[Path], Path]:
    def make(simulation: Path) -> Path:
        path = simulation.with_name("people.json")
        path.write_text("[" + "[]," * number + "[]]")
        return path

    return make


def long_names(agents: int) -> Callable[[Path], Path]:
    def make(simulation: Path) -> Path:
        path = simulation.with_name("people.json")
        people = [{"name": f"{i}" + "n" * 1_000_000, "persona": "p", "type": "t" * 1_000_000} for i in range(agents)]
        path.write_text(json.dumps(people))
        return path

    return make


SIZES: dict[str, tuple[Callable[[int], Callable[[Path], Path]], int, int]] = {
    "blobs": (blobs, 250, 2), "texts": (texts, 250, 2), "one blob": (one_blob, 250, 5),
    "no index": (no_index, 200_000, 5_000), "one line": (long_line, 250, 5),
    "a million rows": (million_people, 1_000_000, 20_000), "brackets": (brackets, 20_000_000, 1_500_000),
    "names of a megabyte": (long_names, 25, 2),
}  # fmt: skip
"""How each is made, at its real size and at the sample's."""


@pytest.mark.parametrize("name", ["one line", "brackets"])
def test_a_sample_stays_within_its_limits(simulation: Path, name: str) -> None:
    make, _, size = SIZES[name]
    within_limits(make(size)(simulation))


@pytest.mark.chaos
@pytest.mark.parametrize("name", SIZES)
def test_at_its_real_size_it_stays_within_its_limits(simulation: Path, name: str) -> None:
    make, size, _ = SIZES[name]
    within_limits(make(size)(simulation), 240 if name == "a million rows" else 10)  # all of them are read


def within_limits(path: Path, seconds: float = 10) -> None:
    result = measured("check", path, patience_s=max(60, seconds))
    print(f"{path.name}: {result.seconds:.1f} s, {result.megabytes:.0f} MB: {result.said.splitlines()[-1]}")
    assert result.code in (0, 2), result
    assert "internal error" not in result.said
    assert (result.seconds <= seconds, result.megabytes <= 500) == (True, True), result
