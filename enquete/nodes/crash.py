"""What happens when a methodology's graph crashes: it is recorded, that methodology fails, and the run goes on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from langgraph.errors import NodeError

from enquete.ledger.ledger import Failure
from enquete.nodes.ask import Channels
from enquete.nodes.close_round import graph_failure
from enquete.nodes.dispatch import CRITIC_STAGE
from enquete.runs.planning import CRITIC, planned
from enquete.runs.run_session import RunSession, using
from enquete.state.errors import LedgerError, RunPaused

log = logging.getLogger("enquete")


async def record_crash(state: Mapping[str, Any], error: NodeError, methodology: str) -> Channels:
    """Record a bug in a methodology's graph, with traceback; its siblings and the run go on.

    Raises:
        The bug itself in tests, and always a ledger that cannot be written.
    """
    if isinstance(error.error, LedgerError | RunPaused):
        raise error.error
    async with using(state["run"]) as session:
        if session.raise_bugs:
            raise error.error
        summary = f"{type(error.error).__name__}: {error.error}"
        phases = _phases_left(session, methodology)
        key = graph_failure(session.record.main.id, methodology, phases[0])
        text = "".join(traceback.format_exception(error.error))
        await session.ledger.record_failure(Failure(*key, summary, text))
        for phase in phases:  # a wave that follows one that crashed is not reached in this walk
            await session.ledger.set_stage(methodology, phase, "failed", summary)
    return {"outcomes": {f"{methodology}/{phase}": "failed" for phase in phases}}


async def record_critic_crash(state: Mapping[str, Any], error: NodeError) -> Channels:
    """Record a bug in the critic: it costs the comparison, never the run, and the synthesis follows."""
    if isinstance(error.error, LedgerError | RunPaused):
        raise error.error
    async with using(state["run"]) as session:
        if session.raise_bugs:
            raise error.error
        log.error("the critic was stopped by a bug", exc_info=error.error)
        summary = f"{type(error.error).__name__}: {error.error}"
        await session.ledger.set_stage(*CRITIC_STAGE, "failed", summary)
    return {"outcomes": {CRITIC: "failed"}}


def _phases_left(session: RunSession, methodology: str) -> list[str]:
    """Return the phases of a methodology that are not done, the one at work first; its last one if all are."""
    stages = session.ledger.stages()
    phases = [phase for name, phase in planned(session.record) if name == methodology]
    left = []
    for phase in phases:
        if (methodology, phase) not in stages or stages[methodology, phase].outcome != "done":
            left.append(phase)
    return left or phases[-1:]
