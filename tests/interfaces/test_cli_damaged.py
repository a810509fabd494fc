"""Ledgers that are damaged, missing, or of a newer version: every command says so, and the advice that it gives
works."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import enquete
from enquete.ledger import queries
from enquete.ledger.checksums import seal_note
from enquete.ledger.folders import LEDGER, held
from tests.interfaces.conftest import Command, ended, start
from tests.support.studies import personas, reseal, results_of, rows, run_folder

pytestmark = pytest.mark.usefixtures("no_figures")

PAGE = 4096  # what a disk may lose at once; a ledger's own pages hold two of them


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("made")
    enquete.conduct_interviews(personas(base, 4), out=str(base / "out"), respondent="synthetic", methods=["poll"])
    return base


@pytest.fixture
def study(made: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """(personas, results, the only run's folder), each test its own copy; a blank in the path must not break advice."""
    shutil.copytree(made, tmp_path / "a study")
    out = tmp_path / "a study" / "out"
    return personas(out.parent, 4), out, run_folder(out)


def cut(share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])

    return damage


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(queries.NOTE, seal_note("schema_version", "999"))


def changed(assignment: str) -> Callable[[Path], None]:
    """A letter of a word: sound to SQLite."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"UPDATE {assignment}")

    return damage


def advised(text: str) -> list[str]:
    """The words of the repair command in a message."""
    return shlex.split(text[text.index("enquete doctor") :].splitlines()[0])[1:]


@pytest.mark.parametrize(
    ("damage", "status", "says"),
    [
        (cut(0.6), "damaged", "doctor --repair"), (cut(0), "damaged", "the file is empty"),
        (Path.unlink, "damaged", "ledger is missing"), (newer, "newer", "Update Enquete"),
    ],
)  # fmt: skip
def test_every_command_says_that_the_ledger_cannot_be_read(
    command: Command, study: tuple[Path, Path, Path], damage: Callable[[Path], None], status: str, says: str
) -> None:
    sim, out, folder = study
    damage(folder / LEDGER)
    place = ("--out", out)
    for words in (["status", sim], ["status", sim, folder.name], ["report", sim], ["export", sim], ["resume", sim],
                  ["resume", folder.name], ["run", sim, "--methods", "poll"]):  # fmt: skip
        result = command(*words, *place)
        assert (result.code, result.out) == (1, ""), words
        assert says in result.err, words
        assert "internal error" not in result.err
        assert "nobody" not in result.err.replace("nobody can tell", "")
    (known,) = command("list", sim, *place, "--json").object["runs"]
    assert (known["run_id"], known["status"], known["resume_token"]) == (folder.name, status, None)
    assert known["methods"] == ["poll"]  # instruments_used.json still tells
    assert says in command("list", sim, *place).out
    assert [path.name for path in (results_of(out) / "runs").iterdir()] == [folder.name]  # no second run was begun


@pytest.mark.parametrize("share", [0.1, 0.55, 0.95])
def test_an_emptied_page_is_typed_by_whichever_command_comes_upon_it(
    command: Command, study: tuple[Path, Path, Path], share: float
) -> None:
    """Some of them; each page in turn is the next test. Those of empty tables are no matter, nor of the occasions,
    whose index holds all of it."""
    content = (study[2] / LEDGER).read_bytes()
    assert any(typed(command, study, content, int(len(content) / PAGE * share)))


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_every_page_that_is_emptied_is_typed(command: Command, study: tuple[Path, Path, Path]) -> None:
    content = (study[2] / LEDGER).read_bytes()
    pages = range(len(content) // PAGE)
    for page in pages:
        typed(command, study, content, page)


def typed(command: Command, study: tuple[Path, Path, Path], content: bytes, page: int) -> list[int]:
    """The exit codes of every command that reads, on a ledger with this page emptied."""
    sim, out, folder = study
    (folder / LEDGER).write_bytes(content[: page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE :])
    results = [command(*words, "--out", out) for words in (["status", sim], ["report", sim], ["export", sim],
            ["list", sim], ["resume", folder.name, "--fresh", "--quiet"])]  # fmt: skip
    assert not [done.err for done in results if "internal error" in done.err], page
    unadvised = [done.err for done in results if done.code and "doctor --repair" not in done.err]
    assert not unadvised, (page, unadvised)
    return [done.code for done in results]


def test_a_missing_ledger_needs_new_to_be_paid_for_again(command: Command, study: tuple[Path, Path, Path]) -> None:
    sim, out, folder = study
    (folder / LEDGER).unlink()
    result = command("run", sim, "--out", out, "--methods", "poll")
    assert result.code == 1
    assert "beside it: --new" in result.err
    again = command("run", sim, "--out", out, "--methods", "poll", "--new", "--json")
    assert (again.code, again.object["run_id"] != folder.name) == (0, True)
    assert command("status", sim, "--out", out, "--json").object["run_id"] == again.object["run_id"]


@pytest.mark.parametrize(
    "damage",
    [
        cut(0.6),
        changed("stages SET outcome='dome' WHERE outcome='done'"),
        changed("counters SET arm='majn' WHERE name='calls'"),
    ],
)
def test_the_advice_repairs_and_goes_on(
    command: Command, study: tuple[Path, Path, Path], damage: Callable[[Path], None]
) -> None:
    sim, out, folder = study
    asked = {row[0] for row in rows(folder, "SELECT subject FROM calls")}
    damage(folder / LEDGER)
    repaired = command(*advised(command("status", sim, "--out", out).err))
    assert repaired.code == 0, repaired.err
    going_on = next(line for line in repaired.out.splitlines() if line.startswith("go on with it: "))
    result = command(*shlex.split(going_on.partition(": ")[2])[1:], "--quiet", "--json")
    assert (result.code, result.object["run_id"]) == (0, folder.name)
    assert {row[0] for row in rows(folder, "SELECT subject FROM calls WHERE status='settled'")} == asked


@pytest.mark.parametrize("by", ["run_id", "simulation", "folder", "ledger"])
def test_repair_finds_the_run_by_any_name(command: Command, study: tuple[Path, Path, Path], by: str) -> None:
    sim, out, folder = study
    cut(0.9)(folder / LEDGER)
    names = {"run_id": folder.name, "simulation": sim, "folder": folder, "ledger": folder / LEDGER}
    result = command("doctor", "--repair", names[by], "--out", out, "--json")
    assert result.code == 0, result.out
    assert Path(result.object["kept"]).parent == folder
    assert "nothing is wrong" in command("doctor", "--repair", names[by], "--out", out).out
    missing = command("doctor", "--repair", "nowhere")
    assert (missing.code, "nowhere" in missing.err) == (2, True)


def test_a_newer_ledger_is_not_repaired_and_one_without_a_record_was_never_begun(
    command: Command, study: tuple[Path, Path, Path]
) -> None:
    _, _, folder = study
    newer(folder / LEDGER)
    content = (folder / LEDGER).read_bytes()
    result = command("doctor", "--repair", folder)
    assert (result.code, "newer version" in result.err) == (1, True)
    assert (folder / LEDGER).read_bytes() == content
    # A process killed while it made the run: nothing was paid for, so nothing stands in the way.
    sim, out, folder = study
    for path in folder.iterdir():
        path.unlink()
    (folder / LEDGER).touch()
    (results_of(out) / "latest.json").unlink()
    assert command("list", sim, "--out", out, "--json").object["runs"] == []
    assert command("status", sim, "--out", out).code == 2


def test_a_stage_under_way_is_running_and_nothing_is_advised_that_the_lock_refuses(
    command: Command, study: tuple[Path, Path, Path]
) -> None:
    """The ledger of a run in the middle of its stage, with one answer failed; driven first, then killed."""
    sim, out, folder = study
    with closing(sqlite3.connect(folder / LEDGER)) as connection, connection:
        connection.execute("DELETE FROM stages")
        connection.execute("INSERT INTO stages VALUES('', '', 'started', '', '', 0)")
        connection.execute("UPDATE answers SET status='failed' WHERE occasion=(SELECT min(occasion) FROM answers)")
        (failed,) = connection.execute("SELECT count(*) FROM answers WHERE status='failed'").fetchone()
        for name, by in (("answers_ok", -failed), ("answers_failed", failed)):
            changed = "UPDATE counters SET value=value+? WHERE name=?"
            if not connection.execute(changed, (by, name)).rowcount:
                place = "SELECT arm, methodology, phase, round, ?, ?, 0 FROM counters WHERE name='answers_ok'"
                connection.execute(f"INSERT INTO counters {place}", (name, by))
        reseal(connection)
    with held(folder):
        driven = command("status", sim, "--out", out)
        stage = command("status", sim, "--out", out, "--json").object["stages"][0]
    assert stage["outcome"] == "running"
    assert "not started" not in driven.out
    assert "--retry-failed" not in driven.out
    assert "failed so far" in driven.out
    killed = command("status", sim, "--out", out)
    assert "stopped early" in killed.out
    assert "--retry-failed" in killed.out


def test_a_closed_pipe_is_no_error(study: tuple[Path, Path, Path]) -> None:
    """Like `enquete list … | head`: the reader has gone before the first line is written."""
    sim, out, _ = study
    process = start("list", sim, "--out", out, "--json")  # written, and flushed, within the command
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    result = ended(process)
    assert (result.code, result.err) == (0, "")
