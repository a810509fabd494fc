"""Groups that discuss at a faulty server, in two arms, killed twice: every turn once, and no arm cut off by the
other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from enquete import Arm
from tests.support.killing import SETTLED
from tests.support.processes import Driven, ServerProcess, finish, kill_after, server_process
from tests.support.studies import call_keys, personas, rows, run_folder, stored_answers

FAULTS = '{"http_500": 0.02, "http_429": 0.02, "disconnect": 0.02}'
ARMS = ("main", "b")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server_process(tmp_path_factory.mktemp("server"), "--latency", "0.01", "--faults", FAULTS) as running:
        yield running


def asked(server: ServerProcess, sim: Path, **settings: Any) -> dict[str, Any]:
    arms = [Arm(id=name, role="main" if name == "main" else "b", respondent="llm", model="test") for name in ARMS]
    return {
        "sim_id": str(sim), "base_url": server.base_url, "arms": arms, "methods": ["roundtable"], "concurrency": 16,
        "confirm": True, "critic_pairs": 1, "settings": {"roundtable": {"least_rounds": settings["rounds"],
            **settings}},
    }  # fmt: skip


def turns(folder: Path, arm: str) -> list[tuple[Any, ...]]:
    """Every occasion of speaking, with how often it is in the ledger."""
    return rows(
        folder,
        "SELECT session, turn, count(*), min(participant), min(round) FROM occasions WHERE arm=? GROUP BY session, turn"
        " ORDER BY session, turn",
        arm,
    )


def killed_twice(server: ServerProcess, tmp: Path, arguments: dict[str, Any]) -> Path:
    """The run's folder; it must have come to what an undisturbed one comes to."""
    before = server.count()
    assert finish(**arguments, out=str(tmp / "whole"))[0] == 0
    requests, whole = server.count() - before, run_folder(tmp / "whole")
    arguments = {**arguments, "out": str(tmp / "killed")}
    known: set[tuple[Any, ...]] = set()
    for _ in range(2):
        assert kill_after(Driven(arguments), server.count, requests // 3)
        now = set(rows(run_folder(tmp / "killed"), SETTLED))
        assert known < now  # nothing settled was lost, or asked again
        known = now
    code, summary = finish(**arguments)
    folder = run_folder(tmp / "killed")
    assert (code, summary["status"]) == (0, "completed")
    assert known <= set(rows(folder, SETTLED))
    assert sorted(call_keys(folder)) == sorted(call_keys(whole))
    for arm in ARMS:
        assert stored_answers(folder, arm) == stored_answers(whole, arm)
        assert turns(folder, arm) == turns(whole, arm)
    return folder


def expect_every_turn_once(folder: Path, groups: int, each: int) -> None:
    for arm in ARMS:
        held = turns(folder, arm)
        assert [(session, turn, n) for session, turn, n, *_ in held] == [
            (f"group_{group:02d}", turn, 1) for group in range(1, groups + 1) for turn in range(1, each + 1)
        ]


def test_two_groups_of_two(server: ServerProcess, tmp_path: Path) -> None:
    """The sample of `make chaos` that every change goes through."""
    arguments = asked(server, personas(tmp_path, 4), mode="collaborative", size=2, rounds=2, private=False)
    expect_every_turn_once(killed_twice(server, tmp_path, arguments), groups=2, each=2 * 2)


@pytest.mark.chaos
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mode", ["collaborative", "adversarial", "delphi"])
def test_ten_groups_of_five_in_three_rounds(server: ServerProcess, tmp_path: Path, mode: str) -> None:
    arguments = asked(server, personas(tmp_path, 50), mode=mode, size=5, rounds=3)
    expect_every_turn_once(killed_twice(server, tmp_path, arguments), groups=10, each=5 * (3 + 2))
