"""A run is where its folder is: copies and moved folders go on by themselves, and what they were copied from stays as
it was."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import enquete
from enquete.ledger.folders import CHECKPOINTS
from enquete.state.errors import RunNotFound
from enquete.study.tasks import PathSandbox, Tasks
from tests.support import bare_runs
from tests.support.populations import mirofish_folder
from tests.support.studies import edited, rows, run_folder

pytestmark = pytest.mark.usefixtures("no_reports", "no_figures")

AGENTS = 3
ASKED = {"respondent": "synthetic", "methods": ["longitudinal"], "language": "en"}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def paused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulation that runs on after T0 was asked."""
    sim = mirofish_folder(tmp_path_factory.mktemp("first") / "simulations" / "sim_a", AGENTS, status="running")
    assert bare_runs.interview(sim, **ASKED).status == "awaiting_simulation"
    return sim


def completed(sim: Path) -> Path:
    """The simulation in this folder has run to its end."""
    assert mirofish_folder(sim, AGENTS, status="completed")
    return sim


def answers(sim: Path) -> list[tuple[str, int]]:
    return rows(
        run_folder(sim / "interviews"),
        "SELECT o.phase, count(*) FROM answers a JOIN occasions o ON o.id=a.occasion GROUP BY 1",
    )


def test_ledger_know_no_path(paused: Path) -> None:
    """Neither where the run nor where the simulation is, in any table."""
    with closing(sqlite3.connect(run_folder(paused / "interviews") / CHECKPOINTS)) as connection:
        dump = "".join(connection.iterdump())
    assert str(paused.parent.parent.name).encode().hex().upper() not in dump.upper()
    assert str(paused.parent.parent.name) not in dump
    (record,) = rows(run_folder(paused / "interviews"), "SELECT value FROM frozen WHERE name='record'")[0]
    assert str(paused.parent) not in record


def test_a_copy_of_a_paused_run_goes_on_in_its_own_folder(paused: Path, tmp_path: Path) -> None:
    """Under another name, with the original still there: neither its ledger nor its simulation is touched or read."""
    before = contents(paused)
    copy = completed(Path(shutil.copytree(paused, tmp_path / "sim_copy")))
    run = bare_runs.resume(copy)
    assert (run.status, run.folder.parents[2]) == ("completed", copy)
    assert [phase for phase, _ in answers(copy)] == ["T0", "T1"]
    assert contents(paused) == before
    assert enquete.conduct_interviews(copy, **ASKED).shown  # the same run, though its folder has another name


def test_a_moved_run_goes_on(paused: Path, tmp_path: Path) -> None:
    inner = tmp_path / "first" / "sim_b"
    shutil.copytree(paused, inner)
    moved = completed(Path(shutil.move(inner, tmp_path / "sim_moved")))
    run = bare_runs.interview(moved, **ASKED)
    assert (run.status, run.resumed, run.folder.parents[2]) == ("completed", True, moved)
    assert not inner.exists()


def test_a_finished_run_opened_from_a_copy_reads_the_copy(paused: Path, tmp_path: Path) -> None:
    first = completed(Path(shutil.copytree(paused, tmp_path / "sim_first")))
    bare_runs.resume(first)
    copy = Path(shutil.copytree(first, tmp_path / "sim_second"))
    with edited(run_folder(copy / "interviews")) as connection:
        connection.execute("UPDATE answers SET text='only in the copy'")
    before = contents(first)
    run = enquete.load_run(copy)
    assert set(run.responses["text"]) == {"only in the copy"}
    assert enquete.export(copy).is_relative_to(copy)
    assert bare_runs.resume(run.run_id, sim=str(copy), fresh=True).folder.is_relative_to(copy)  # walked once more
    assert contents(first) == before


def test_a_token_that_two_simulations_hold_names_neither(paused: Path, tmp_path: Path) -> None:
    root = tmp_path / "simulations"
    for name in ("sim_one", "sim_two"):
        shutil.copytree(paused, root / name)
    run_id = run_folder(paused / "interviews").name
    with pytest.raises(RunNotFound, match=r"sim_one, sim_two.*sim=NAME"):
        enquete.resume(run_id, root=str(tmp_path))
    assert bare_runs.resume(run_id, root=str(tmp_path), sim="sim_two").folder.is_relative_to(root / "sim_two")


def test_a_server_drives_a_run_and_its_copy_side_by_side(paused: Path, tmp_path: Path) -> None:
    """They have one name and two folders."""
    names, run_id = ("sim_one", "sim_two"), run_folder(paused / "interviews").name
    for name in names:
        completed(Path(shutil.copytree(paused, tmp_path / "simulations" / name)))

    async def both() -> list[Path]:
        tasks = Tasks(PathSandbox(tmp_path))
        driving = [await tasks.resume(run_id, sim=name) for name in names]
        assert [tasks.driven_in(task.folder) for task in driving] == driving
        runs = [await task.wait() for task in driving]
        await tasks.close()
        return [run.folder for run in runs if run is not None and run.status == "completed"]

    assert [folder.parents[2].name for folder in asyncio.run(both())] == [*names]


def test_ledger_of_another_place_are_left_aside(paused: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As an earlier version wrote them: the run's address was a path."""
    copy = completed(Path(shutil.copytree(paused, tmp_path / "sim_old")))
    run = run_folder(copy / "interviews")
    renamed = run.with_name("run_20200101T000000_aaaaaa")
    with closing(sqlite3.connect(run / CHECKPOINTS)) as connection, connection:
        changed = connection.execute(
            "UPDATE checkpoints SET checkpoint=CAST(replace(checkpoint, CAST(? AS BLOB), CAST(? AS BLOB)) AS BLOB)",
            (run.name, renamed.name),
        )
        assert changed.rowcount
    assert bare_runs.resume(copy).status == "completed"
    assert "checkpoints of another place are left aside" in caplog.text
