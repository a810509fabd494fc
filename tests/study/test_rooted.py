"""No symlink of a simulation leads a server out of its root; which run is read where several are there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.state.errors import RunNotFound
from enquete.study.tasks import NobodyInterviewed, OutsideRoot, PathSandbox, Tasks, TooManyRuns
from tests.support.bare_runs import interview
from tests.support.populations import mirofish_folder

pytestmark = pytest.mark.usefixtures("no_figures")

QUICK = ["scenario"]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def sandbox(tmp_path: Path, outside: Path) -> PathSandbox:
    mirofish_folder(tmp_path / "root" / "simulations" / "sim", 3)
    return PathSandbox(tmp_path / "root")


def linked(sandbox: PathSandbox, name: str, target: Path) -> Path:
    """The simulation's own file or folder of that name, replaced by a link."""
    link = sandbox.root / "simulations" / "sim" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    return link


@pytest.mark.parametrize(
    "name", ["interviews", "interviews/synthesis", "interviews/runs", "reddit_profiles.json", "reddit/more", "broken"]
)
def test_a_link_out_of_the_root_is_refused_before_anything_is_read_or_written(
    sandbox: PathSandbox, outside: Path, name: str
) -> None:
    source = sandbox.root / "simulations" / "sim" / name
    target = outside / "prof.json" if source.is_file() else outside
    if source.is_file():
        target.write_text(source.read_text("utf-8"), "utf-8")
    before = sorted(outside.rglob("*"))
    linked(sandbox, name, target if name != "broken" else outside / "missing")
    tasks = Tasks(sandbox)
    for look in (sandbox.simulation, sandbox.runs, sandbox.run, sandbox.finished):
        with pytest.raises(OutsideRoot, match=name) as refused:
            look("sim")
        assert str(outside) not in str(refused.value)
    with pytest.raises(OutsideRoot):
        asyncio.run(tasks.start("sim", methods=QUICK, respondent="synthetic"))
    assert sorted(outside.rglob("*")) == before


def test_a_link_within_the_root_is_none_of_its_business(sandbox: PathSandbox) -> None:
    linked(sandbox, "notes.json", sandbox.root / "simulations" / "sim" / "simulation_config.json")
    assert sandbox.simulation("sim").name == "sim"


def test_a_run_behind_a_link_is_not_resumed_by_its_token(sandbox: PathSandbox, outside: Path) -> None:
    run = interview("sim", root=str(sandbox.root), methods=QUICK, respondent="synthetic")
    linked(sandbox, "interviews/notes.json", outside)
    with pytest.raises(OutsideRoot):
        asyncio.run(Tasks(sandbox).resume(run.run_id))
    with pytest.raises(RunNotFound, match="under this server's root"):
        asyncio.run(Tasks(sandbox).resume("run_20260101T000000_abcdef"))


def test_results_are_of_the_finished_run_and_the_status_is_of_the_unfinished_one(sandbox: PathSandbox) -> None:
    with pytest.raises(NobodyInterviewed):
        sandbox.finished("sim")
    asked: dict[str, Any] = {"root": str(sandbox.root), "methods": QUICK, "respondent": "synthetic"}
    done = enquete.conduct_interviews("sim", **asked)
    later = interview("sim", **asked, new=True, confirm=True, budget_tokens=100)
    assert (done.status, later.status) == ("completed", "paused")
    assert sandbox.finished("sim").run_id == done.run_id
    assert sandbox.run("sim").run_id == later.run_id
    assert sandbox.finished("sim", later.run_id).run_id == later.run_id


def test_nothing_begins_once_the_server_stops(sandbox: PathSandbox) -> None:
    async def work() -> None:
        tasks = Tasks(sandbox)
        await tasks.close()
        with pytest.raises(TooManyRuns, match="being stopped"):
            await tasks.start("sim", methods=QUICK, respondent="synthetic")

    asyncio.run(work())
    assert enquete.list_runs("sim", root=str(sandbox.root)) == []
