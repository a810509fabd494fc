"""Interviews as a simulation goes on: each step once, after a restart too, and nothing that nobody waits for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import enquete
from enquete.interfaces.web.handlers import tasks_of
from enquete.state.errors import SettingsError
from enquete.study.interviews import NotCompleted, on_completed, on_ready
from tests.http.conftest import WAIT_S, serving, simulation
from tests.support.model_server import ModelServer
from tests.support.populations import set_status

EVERY_S = 0.1


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def ended(folder: Path, number: int) -> Callable[[], bool]:
    """Whether the watcher has seen so many runs to their end."""
    return lambda: sum(task.ended_at is not None for task in tasks_of(folder)) == number


def statuses(root: Path, sim_id: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(run.status, run.methods) for run in enquete.list_runs(sim_id, root=str(root))]


@pytest.mark.usefixtures("unreported")
def test_t0_when_ready_and_the_rest_when_completed_each_once(tmp_path: Path) -> None:
    (tmp_path / "simulations").mkdir()
    old = simulation(tmp_path, "over", "completed")
    abandoned = simulation(tmp_path, "abandoned")
    for file in abandoned.rglob("*"):
        os.utime(file, (0, 0))
    with serving(tmp_path, watch=True, watch_every_s=EVERY_S):
        folder = simulation(tmp_path, "living", agents=2)
        until(ended(folder, 1))
        assert statuses(tmp_path, "living") == [("completed", ("longitudinal",))]
    with serving(tmp_path, watch=True, watch_every_s=EVERY_S):  # a restart takes no second T0
        time.sleep(10 * EVERY_S)
        assert len(statuses(tmp_path, "living")) == 1
        set_status(folder, "completed")
        until(ended(folder, 2))
        time.sleep(10 * EVERY_S)
    seen = statuses(tmp_path, "living")
    assert [status for status, _ in seen] == ["completed", "completed"]
    assert set(seen[1][1]) > {"longitudinal"}
    assert not (old / "interviews").exists()
    assert not (abandoned / "interviews").exists()


@pytest.mark.usefixtures("unreported")
def test_what_the_end_of_a_server_broke_off_the_next_one_goes_on_with(tmp_path: Path, slow_model: ModelServer) -> None:
    (tmp_path / "simulations").mkdir()
    folder = simulation(tmp_path, "broken", agents=10)
    with serving(tmp_path, watch=True, watch_every_s=EVERY_S):
        until(lambda: len(tasks_of(folder)) == 1)
    assert [task.stopped for task in tasks_of(folder)] == [True]
    assert statuses(tmp_path, "broken")[0][0] == "paused"
    with serving(tmp_path, watch=True, watch_every_s=EVERY_S):
        until(lambda: statuses(tmp_path, "broken")[0][0] == "completed")
    assert len(statuses(tmp_path, "broken")) == 1


@pytest.mark.usefixtures("results_only")
def test_the_same_by_hand(tmp_path: Path) -> None:
    folder = simulation(tmp_path, "by_hand", agents=2)
    with pytest.raises(NotCompleted, match="has not completed"):
        on_completed("by_hand", root=str(tmp_path))
    before = on_ready("by_hand", root=str(tmp_path))
    assert (before.status, before.record.phases) == ("completed", ["T0"])
    set_status(folder, "completed")
    with pytest.raises(SettingsError, match="has completed already"):
        on_ready("by_hand", root=str(tmp_path), new=True)
    after = on_completed("by_hand", root=str(tmp_path), methods=["longitudinal"])
    assert (after.status, after.record.baseline_run_id) == ("completed", before.run_id)
