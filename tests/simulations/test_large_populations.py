"""Populations of more agents than are held in memory: CSV, JSON lines, Parquet, a table of a database, a folder."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Array, DataType, RecordBatch
from arro3.io import write_parquet

from enquete.runs.choose_participants import choose_participants
from enquete.simulations import population as populations
from enquete.simulations.locate import locate
from enquete.simulations.population import Population, among, load_population, population_hash
from enquete.state.asking import FEW, PAGE, PagedPeople
from enquete.state.errors import SettingsError, SimulationError, SimulationNotFound
from enquete.state.request import RunRequest
from tests.support.measurement import measured

MANY = FEW + 2 * PAGE + 7
KINDS = ("fisher", "ngo", "retailer")


def row(number: int) -> dict[str, Any]:
    return {"id": f"p{number}", "name": f"Person {number}", "type": KINDS[number % 3],
            "persona": f"Is number {number}.", "age": number % 80, "region": "ns"[number % 2]}  # fmt: skip


def rows(many: int = MANY) -> Iterator[dict[str, Any]]:
    return map(row, range(many))


def as_csv(path: Path, people: Iterator[dict[str, Any]]) -> Path:
    lines = (",".join(map(str, person.values())) + "\n" for person in people)
    with path.open("w", encoding="utf-8") as file:
        file.write("id,name,type,persona,age,region\n")
        file.writelines(lines)
    return path


def as_lines(path: Path, people: Iterator[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(person) + "\n" for person in people)
    return path


def as_parquet(path: Path, people: Iterator[dict[str, Any]]) -> Path:
    persons = list(people)
    columns = {
        name: Array([person[name] for person in persons], DataType.int64() if name == "age" else DataType.utf8())
        for name in persons[0]
    }
    write_parquet(RecordBatch.from_pydict(columns), path)
    return path


def as_table(path: Path, people: Iterator[dict[str, Any]]) -> Path:
    database = path.with_name("census.db")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE people(id TEXT PRIMARY KEY, name, type, persona, age INTEGER, region)")
        values = (tuple(person.values()) for person in people)
        connection.executemany("INSERT INTO people VALUES(?,?,?,?,?,?)", sorted(values, reverse=True))
        connection.commit()
    path.write_text('url = "sqlite:///census.db"\ntable = "people"\n')
    return path


def as_folder(path: Path, people: Iterator[dict[str, Any]]) -> Path:
    path.mkdir()
    persons = list(people)
    as_lines(path / "a.jsonl", iter(persons[:100]))
    as_lines(path / "b.ndjson", iter(persons[100:]))
    return path


MADE: dict[str, Callable[[Path, Iterator[dict[str, Any]]], Path]] = {
    "people.csv": as_csv, "people.jsonl": as_lines, "people.parquet": as_parquet, "people.toml": as_table,
    "people": as_folder,
}  # fmt: skip


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Population:
    return load_population(as_csv(tmp_path_factory.mktemp("large") / "people.csv", rows()))


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Population:
    """The same agents, all of them in memory."""
    path = as_csv(tmp_path_factory.mktemp("held") / "people.csv", rows())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(populations, "FEW", 10 * MANY)
        return load_population(path)


@pytest.mark.parametrize("name", MADE)
def test_the_same_agents_from_every_source(tmp_path: Path, name: str) -> None:
    path = locate(str(MADE[name](tmp_path / name, rows(300))))
    population = load_population(path)
    assert population.sim_id == "people"
    assert sorted(who.id for who in population.participants) == sorted(f"agent:p{number}" for number in range(300))
    last = next(who for who in population.participants if who.id == "agent:p299")
    assert (last.name, last.stakeholder_type) == ("Person 299", "retailer")
    assert last.persona == "Is number 299.\n\nAge: 59"
    assert population.columns[last.id] == {"age": "59", "region": "s"}
    if name != "people.toml":  # a table has its key's order
        assert population.participants[299] == last


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.toml"])
def test_many_of_them_are_read_from_where_they_are_kept(tmp_path: Path, name: str) -> None:
    population = load_population(MADE[name](tmp_path / name, rows()))
    assert isinstance(population.participants, PagedPeople)
    assert len(population.participants) == len(population.columns) == MANY
    assert [issue.severity for issue in population.issues] == ["info"]  # region


def test_large_populations_are_chosen_from_as_small_ones_are(large: Population, held: Population) -> None:
    assert isinstance(large.participants, PagedPeople)
    assert not isinstance(held.participants, PagedPeople)
    assert tuple(large.participants) == held.participants
    assert [large.participants[place] for place in (0, PAGE, -1)] == [held.participants[p] for p in (0, PAGE, -1)]
    assert large.participants[PAGE - 2 : PAGE + 2] == list(held.participants[PAGE - 2 : PAGE + 2])
    assert population_hash(large.participants) == population_hash(held.participants)
    assert large.require_column("region") == held.require_column("region") == "region"
    for asked in (
        RunRequest(sample=40), RunRequest(sample=41, stratify=True, seed=3), RunRequest(types=["NGO"]),
        RunRequest(agents=["person 7", "agent:p5100"]), RunRequest(where='age >= 70 and region == "n"', sample=5),
    ):  # fmt: skip
        from_large, from_held = choose_participants(large, asked), choose_participants(held, asked)
        assert tuple(from_large.participants) == from_held.participants
        assert {who.id for who in from_large.left_out} == {who.id for who in from_held.left_out}
        assert [from_large.columns[who.id] for who in from_large.participants[:50]] == [
            from_held.columns[who.id] for who in from_held.participants[:50]
        ]
    with pytest.raises(SettingsError, match="no persona column 'sex'; there are age, region"):
        large.require_column("sex")
    with pytest.raises(SettingsError, match="'Person 70000' is no agent of people; did you mean 'Person"):
        among(large, agents=["Person 70000"])


def test_what_is_wrong_with_rows_is_said_with_file_and_line(tmp_path: Path) -> None:
    def people() -> Iterator[dict[str, Any]]:
        for number in range(MANY):
            changes = {10: {"name": ""}, 5000: {"id": "p3"}, 5200: {"id": "p 1"}}.get(number, {})
            yield {**row(number), **changes}

    path = as_csv(tmp_path / "people.csv", people())
    with pytest.raises(SimulationError) as raised:
        load_population(path)
    assert str(raised.value).splitlines() == [
        "people.csv: line 12: field 'name' (or 'realname', 'username') is missing or empty",
        "people.csv: line 5202: field 'id': 'p 1' holds spaces, '|' or slashes",
        "people.csv: line 5002: id 'p3' is already that of line 5 (Person 3)",
    ]
    population = load_population(path, strict=False)
    assert len(population.participants) == MANY - 2


def test_equal_agents_are_refused_or_left_out_and_gaps_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    different = [json.dumps({"name": "Ann", "persona": f"Fishes, {n}."}) for n in range(FEW)]
    path.write_text("\n".join(['{"name": "Ann"}', different[0], *different, '{"name": "Ann"}']))
    with pytest.raises(SimulationError, match=r"line 3: has the same name and persona as line 2 \(Ann\)"):
        load_population(path)
    population = load_population(path, skip_non_people=True)
    people = population.participants
    assert len({who.id for who in people}) == len(people) == FEW + 1
    messages = [issue.message for issue in population.issues]
    assert messages[0] == f"2 rows left out that stand in the file already: line 3, line {FEW + 3}"
    assert messages[1].startswith(f"1 of {FEW + 1} agents have neither bio nor persona")
    assert messages[2] == f"{FEW + 1} agents share 1 names: told apart by their ids alone"
    assert [who.agent_id for who in people][:3] == [0, 1, 3]  # by their place in the file
    assert len(among(population, complete=True).participants) == FEW


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("people.parquet", b"PAR1 and no more", "people.parquet: cannot be read as Parquet: "),
        ("people.toml", b'url = "sqlite:///none.db"\ntable = "people"', "people.toml, table 'people': cannot be read"),
        ("people.toml", b'url = "sqlite:///x.db"', "people.toml: 'table' is missing; a file that names a table says"),
        ("people.toml", b'url = "x"\ntable = "t"\nkey = 1', "people.toml: 'key' is unknown; there are url and table"),
        ("people.toml", b'url = "nothing"\ntable = "people"', "people.toml, table 'people': cannot be read"),
        ("people.jsonl", b'{"name": "Ann\xc3', "people.jsonl: byte 0xc3 at offset 13 is no UTF-8"),
    ],
)
def test_a_source_that_cannot_be_read_says_where(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SimulationError) as raised:
        load_population(path)
    assert message in str(raised.value)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    path = as_table(tmp_path / "people.toml", rows(3))
    path.write_text('url = "sqlite:///census.db"\ntable = "persons"\n')
    with pytest.raises(SimulationError, match=r"people.toml, table 'persons': there is no such table in sqlite://"):
        load_population(path)


def test_a_folder_of_several_kinds_is_no_population(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "people", rows(200))
    (folder / "notes.txt").write_text("")
    with pytest.raises(SimulationNotFound, match="nor is it a folder of personas files"):
        locate(str(folder))


def test_an_agent_more_takes_no_memory(tmp_path: Path) -> None:
    """Peaks of a process that reads 30,000 and then 50,000 personas of 1 kB and draws a sample: less than 100 bytes
    apart for each more, a tenth of what its text alone would take. By 30,000 SQLite has filled its page caches, which
    grow no further: 48,000 and 88,000 peak at the same 104.7 MB."""
    files = [
        as_csv(tmp_path / f"{number}.csv", ({**row(n), "persona": "x" * 1000} for n in range(number)))
        for number in (30_000, 50_000)
    ]
    result = measured(*files, code=READ)
    assert result.code == 0, result.said
    first, second = (int(kilobytes) * 1024 for kilobytes in result.said.split())
    assert second - first < 100 * 20_000


READ = """
import sys
from pathlib import Path
from enquete.runs.choose_participants import choose_participants
from enquete.simulations.population import load_population, population_hash
from enquete.state.request import RunRequest
status = Path("/proc/self/status")
for name in sys.argv[1:]:
    population = load_population(Path(name))
    population_hash(population.participants)
    assert len(choose_participants(population, RunRequest(sample=100)).participants) == 100
    print(status.read_text().partition("VmHWM:")[2].split()[0] if status.exists() else 0)
    del population
"""
