"""SIGKILL at any point: nothing settled is paid again, nothing asked is lost, whatever became of the checkpoints."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from enquete.graphs.registry import methodologies
from tests.support.processes import Driven, ServerProcess, finish, kill_after, server_process
from tests.support.studies import call_keys, personas, rows, run_folder, stored_answers

CONCURRENCY = 16


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with server_process(tmp_path, "--latency", "0.02") as running:
        yield running


def study(tmp_path: Path, server: ServerProcess, out: str, agents: int, **more: Any) -> dict[str, Any]:
    return {
        "sim_id": str(personas(tmp_path, agents)),
        "out": str(tmp_path / out),
        "model": "test",
        "base_url": server.base_url,
        "concurrency": CONCURRENCY,
        "methods": ["longitudinal", "delphi"],
        **more,
    }


def in_flight(folder: Path) -> int:
    """Requests that were filed but not settled: what a kill may have to ask again."""
    return len(call_keys(folder, "reserved"))


def soak(tmp_path: Path, server: ServerProcess, kills: int, agents: int, **more: Any) -> None:
    """Random kills over the whole study; half of them lose the checkpoints as well.

    The requests that are left are shared out among the kills that are left, so that none comes too late.
    """
    draw = random.Random(kills)
    code, _ = finish(**study(tmp_path, server, "whole", agents, **more))
    assert code == 0
    whole = server.count()
    arguments = study(tmp_path, server, "killed", agents, **more)
    lost = 0
    for left in range(kills, 0, -1):
        share = max(1, (2 * whole - server.count()) // left)
        hit = kill_after(Driven(arguments), server.count, draw.randint(1, share))
        assert hit, f"the study was over with {left} kills left"
        lost += in_flight(run_folder(tmp_path / "killed"))
        if draw.random() < 0.5:
            (run_folder(tmp_path / "killed") / "checkpoints.sqlite").unlink(missing_ok=True)
    code, summary = finish(**arguments)
    assert (code, summary["status"]) == (0, "completed")
    # Not by equal bodies: a sort that broke its grid twice alike is asked again in the same words.
    repeated = server.count() - whole - len(call_keys(run_folder(tmp_path / "killed")))
    assert repeated <= lost
    print(table(run_folder(tmp_path / "killed"), kills, lost, repeated))
    assert stored_answers(run_folder(tmp_path / "killed")) == stored_answers(run_folder(tmp_path / "whole"))


def table(folder: Path, kills: int, lost: int, repeated: int) -> str:
    """What the kills cost, by methodology and purpose. A call that was in flight counts as sent once more."""
    made = rows(
        folder,
        "SELECT methodology, purpose, count(*), sum(sends > 1) FROM calls GROUP BY 1, 2 ORDER BY 1, 2",
    )
    lines = [f"| {m} | {p} | {calls:,} | {again} |" for m, p, calls, again in made]
    head = ["| methodology | purpose | calls | of these in flight at a kill |", "|---|---|---|---|"]
    calls = sum(row[2] for row in made)
    return "\n".join(
        ["", *head, *lines, f"{kills} kills, {calls:,} calls, {lost} in flight at a kill, {repeated} requests repeated"]
    )


def test_twenty_random_kills_repeat_only_what_was_in_flight(tmp_path: Path, server: ServerProcess) -> None:
    soak(tmp_path, server, kills=20, agents=24, asking="item")


def test_after_a_kill_without_checkpoints_exactly_the_unsettled_calls_are_made(
    tmp_path: Path, server: ServerProcess
) -> None:
    arguments = study(tmp_path, server, "out", 40)
    assert kill_after(Driven(arguments), server.count, 60)
    folder = run_folder(tmp_path / "out")
    settled = set(call_keys(folder))
    assert settled
    (folder / "checkpoints.sqlite").unlink()
    before = len(server.requests())
    code, _ = finish(**arguments)
    assert code == 0
    made = set(call_keys(folder))
    assert settled < made
    assert len(server.requests()) - before == len(made - settled)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_hundred_kills(tmp_path: Path, server: ServerProcess) -> None:
    four = [name for name, methodology in methodologies().items() if methodology.default]
    soak(tmp_path, server, kills=200, agents=120, asking="item", methods=four, budget_tokens=10**9)
