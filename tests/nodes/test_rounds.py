"""Every arm goes to its own end, every unit to its own; what is owed is what was asked, whatever stops on the way."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.runs.run_session import using
from enquete.state.asking import Arm
from enquete.state.request import RunRequest
from enquete.state.settings import Machine
from enquete.study.run import Run
from tests.support import uneven
from tests.support.new_runs import begin_run
from tests.support.studies import call_keys, rows, spent

ARMS = [Arm(), Arm(id="people", role="human", seed=5), Arm(id="replicate_2", role="replicate", seed=6)]
AGENTS = 6
OWED = {
    ("main", 1): 6, ("main", 2): 3,  # three of six have said everything in the first round
    ("people", 1): 6, ("people", 2): 3, ("people", 3): 3,  # the main arm's end is not theirs
    ("replicate_2", 1): 6,
}  # fmt: skip
GRAPH = uneven.graph()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin_run(tmp_path / "out" / "runs" / "run_test", AGENTS, ARMS, method="uneven")


def walk(run: Path, cap: int | None = None) -> str:
    """How the methodology's graph ended."""

    async def go() -> str:
        async with using(str(run), Machine(cap_tokens=cap, shard_size=2, concurrency=2)):
            ended = await GRAPH.ainvoke({"run": str(run), "methodology": "uneven", "phase": "T1"}, context=RunRequest())
            return str(ended["outcomes"]["uneven/T1"])

    return asyncio.run(go())


def asked(run: Path) -> Counter[tuple[str, int]]:
    rounds = rows(run, "SELECT o.arm, o.round FROM answers a JOIN occasions o ON a.occasion=o.id")
    return Counter((arm, number) for arm, number in rounds)


def owing_nothing(run: Path) -> int:
    """Agents of the main arm: all once it has ended, before that those whose own answer was the last."""
    if rows(run, "SELECT 1 FROM frozen WHERE arm='main' AND name='closed/2'"):
        return AGENTS
    sql = "SELECT count(*) FROM answers a JOIN occasions o ON a.occasion=o.id WHERE o.arm='main' AND a.value=5"
    return int(rows(run, sql)[0][0])


def statuses(run: Path) -> Counter[str]:
    with open_run(run) as reading:
        return Counter(responses(reading)["status"])


def test_each_arm_and_each_unit_is_asked_to_its_own_end_and_once_more_nobody(run: Path) -> None:
    assert walk(run) == "done"
    assert asked(run) == OWED
    assert statuses(run) == {"ok": sum(OWED.values())}
    assert Run(run).complete == {("uneven", "T1"): AGENTS}
    walk(run)
    before = call_keys(run)
    assert walk(run) == "done"
    assert call_keys(run) == before


def test_wherever_the_budget_ends_nothing_is_lost_or_paid_twice(run: Path, tmp_path: Path) -> None:
    walk(run)
    whole, tokens = sorted(call_keys(run)), spent(run)
    for tenth in (2, 5, 8):
        cut = begin_run(tmp_path / f"cut{tenth}" / "runs" / "run_test", AGENTS, ARMS, method="uneven")
        assert walk(cut, tokens * tenth // 10) == "short"
        assert spent(cut) <= tokens * tenth // 10
        assert statuses(cut)["ok"] == asked(cut).total()
        assert Run(cut).complete == {("uneven", "T1"): owing_nothing(cut)}
        assert walk(cut, 10 * tokens) == "done"
        assert sorted(call_keys(cut)) == whole
        assert statuses(cut) == {"ok": sum(OWED.values())}
