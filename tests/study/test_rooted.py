"""No symlink of a simulation leads a server out of its root; which run is read where several are there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.state.errors import RunNotFound
from enquete.study.sandbox import NobodyInterviewed, OutsideRoot, PathSandbox
from enquete.study.tasks import Tasks, TooManyRuns
from tests.support.populations import mirofish_folder

QUICK = ["scenario"]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def rooted(tmp_path: Path, outside: Path) -> PathSandbox:
    mirofish_folder(tmp_path / "root" / "simulations" / "sim", 3)
    return PathSandbox(tmp_path / "root")


def linked(rooted: PathSandbox, name: str, target: Path) -> Path:
    """The simulation's own file or folder of that name, replaced by a link."""
    link = rooted.root / "simulations" / "sim" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    return link


@pytest.mark.parametrize(
    "name", ["interviews", "interviews/synthesis", "interviews/runs", "reddit_profiles.json", "reddit/more", "broken"]
)
def test_a_link_out_of_the_root_is_refused_before_anything_is_read_or_written(
    rooted: PathSandbox, outside: Path, name: str
) -> None:
    source = rooted.root / "simulations" / "sim" / name
    target = outside / "prof.json" if source.is_file() else outside
    if source.is_file():
        target.write_text(source.read_text("utf-8"), "utf-8")
    before = sorted(outside.rglob("*"))
    linked(rooted, name, target if name != "broken" else outside / "missing")
    tasks = Tasks(rooted)
    for look in (rooted.simulation, rooted.runs, rooted.run, rooted.finished):
        with pytest.raises(OutsideRoot, match=name) as refused:
            look("sim")
        assert str(outside) not in str(refused.value)
    with pytest.raises(OutsideRoot):
        asyncio.run(tasks.start("sim", methods=QUICK, respondent="synthetic"))
    assert sorted(outside.rglob("*")) == before


def test_a_link_within_the_root_is_none_of_its_business(rooted: PathSandbox) -> None:
    linked(rooted, "notes.json", rooted.root / "simulations" / "sim" / "simulation_config.json")
    assert rooted.simulation("sim").name == "sim"


def test_a_run_behind_a_link_is_not_resumed_by_its_token(rooted: PathSandbox, outside: Path) -> None:
    run = enquete.conduct_interviews("sim", root=str(rooted.root), methods=QUICK, respondent="synthetic")
    linked(rooted, "interviews/notes.json", outside)
    with pytest.raises(OutsideRoot):
        asyncio.run(Tasks(rooted).resume(run.run_id))
    with pytest.raises(RunNotFound, match="under this server's root"):
        asyncio.run(Tasks(rooted).resume("run_20260101T000000_abcdef"))


def test_results_are_of_the_finished_run_and_the_status_is_of_the_unfinished_one(rooted: PathSandbox) -> None:
    with pytest.raises(NobodyInterviewed):
        rooted.finished("sim")
    asked: dict[str, Any] = {"root": str(rooted.root), "methods": QUICK, "respondent": "synthetic"}
    done = enquete.conduct_interviews("sim", **asked)
    later = enquete.conduct_interviews("sim", **asked, new=True, confirm=True, budget_tokens=100)
    assert (done.status, later.status) == ("completed", "paused")
    assert rooted.finished("sim").run_id == done.run_id
    assert rooted.run("sim").run_id == later.run_id
    assert rooted.finished("sim", later.run_id).run_id == later.run_id


def test_nothing_begins_once_the_server_stops(rooted: PathSandbox) -> None:
    async def work() -> None:
        tasks = Tasks(rooted)
        await tasks.close()
        with pytest.raises(TooManyRuns, match="being stopped"):
            await tasks.start("sim", methods=QUICK, respondent="synthetic")

    asyncio.run(work())
    assert enquete.list_runs("sim", root=str(rooted.root)) == []
