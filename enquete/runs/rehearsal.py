"""A rehearsal of a run's stages: the graphs that will run, over some of the units, in a ledger that is thrown away.

An estimate reads off that ledger what calls there will be. Because the graphs themselves are rehearsed, estimate and
run cannot drift apart. No request is made: the synthetic respondent answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langsmith.run_helpers import tracing_context

from enquete.runs.planning import planned
from enquete.runs.run_session import Progress, RunSession, session_at_address
from enquete.state.asking import ATTEMPTS
from enquete.state.channels import ShardSpec
from enquete.state.methodology import Plan

MAX_CALLS = 300
"""Calls that the conversations of one arm come to at most (`Plan.by_row`); at least MIN_UNITS of them are held."""
MIN_UNITS = 4
MAX_STEPS = 10_000


class RehearsalSession(RunSession):
    """A run session whose arms hold only some of their units.

    Attributes:
        plans: (methodology, phase) → what it asks.
        shares: (methodology, phase, arm) → the share of its units that was held.
    """

    plans: Mapping[tuple[str, str], Plan]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.shares: dict[tuple[str, str, str], float] = {}
        self.raise_bugs = True
        self.executor = RehearsalExecutor()

    def units(self, name: str, phase: str, round: int, arm: str) -> Sequence[str]:
        units = super().units(name, phase, round, arm)
        share = self.shares.get((name, phase, arm))
        if share is not None:
            return _take_share(units, share)
        chosen = _spread_evenly(units, _number_to_hold(units, self.plans[name, phase]))
        self.shares[name, phase, arm] = len(chosen) / len(units) if units else 1.0
        return chosen


class RehearsalExecutor:
    """Conducts shards in this process, whatever executor the run will have. A bug is raised, not recorded."""

    async def run(self, run_session: RunSession, spec: ShardSpec, report: Progress) -> dict[str, int]:
        name, phase, number, arm = spec["methodology"], spec["phase"], spec["round"], spec["arm"]
        procedure = run_session.procedure(name)
        context = run_session.context(name, phase, arm)
        units = run_session.units(name, phase, number, arm)[spec["lo"] : spec["hi"]]
        outcomes = await asyncio.gather(*(procedure.conduct(unit, number, context) for unit in units))
        return dict(Counter(outcomes))

    async def close(self) -> None:
        """There is nothing to close."""


async def rehearse_stages(session: RehearsalSession) -> None:
    """Run the graph of every methodology that the run asks; those taken over from another run are left out."""
    names = dict.fromkeys(name for name, _ in planned(session.record))
    async with session_at_address(session) as address:
        with tracing_context(enabled=False):  # nothing is asked here that a trace could show
            for name in names:
                if name not in session.record.carried:
                    await _rehearse(session, address, name)


async def _rehearse(session: RehearsalSession, address: str, name: str) -> None:
    """Run a methodology's graph, through both waves where it has two."""
    methodology = session.methodology(name)
    phase = next(phase for planned_name, phase in planned(session.record) if planned_name == name)
    start = {"run": address, "methodology": name, "phase": phase}
    await methodology.graph().ainvoke(start, {"recursion_limit": MAX_STEPS})


def _number_to_hold(units: Sequence[str], plan: Plan) -> int:
    """Return so many conversations that they come to MAX_CALLS; all units of what is asked in rounds."""
    calls = sum(plan.calls[purpose][1] for purpose in plan.by_row)
    calls_per_unit = calls / ATTEMPTS / max(1, len(units))
    if not calls_per_unit:
        return len(units)
    return max(MIN_UNITS, int(MAX_CALLS / calls_per_unit))


def _take_share(units: Sequence[str], share: float) -> Sequence[str]:
    return _spread_evenly(units, round(len(units) * share))


def _spread_evenly(units: Sequence[str], n: int) -> Sequence[str]:
    """Return `n` of the units, at least one, at even distances."""
    n = max(1, n)
    if len(units) <= n:
        return units
    return [units[place * len(units) // n] for place in range(n)]
