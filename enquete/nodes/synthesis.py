"""The parent graph's last node: findings, report and exports, written from the ledger."""

from __future__ import annotations

from typing import Protocol

from typing_extensions import TypedDict

from enquete.nodes.ask import Channels
from enquete.runs.planning import planned
from enquete.runs.run_session import RunSession, using
from enquete.state.channels import InterviewsState

ANSWERED_BEFORE = (
    "This run had been completed before: what is answered stays answered, at whatever checkpoint it is gone on from, "
    "and nobody was asked again. To ask anew, start a thread with the context new=true (another run), or with "
    "rerun=true and methods (these anew, the others taken over)."
)
"""For who goes back in time in Studio: checkpoints are positions, the answers are in the run's ledger."""


class Closed(TypedDict):
    """What a synthesis tells the run's state."""

    status: str
    findings: list[str]  # page one's sentences
    page_one: str  # Markdown


class Synthesise(Protocol):
    """Writes findings, report and exports of a run. The graph brings it, because reports/ lies above the nodes."""

    async def __call__(
        self, run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False
    ) -> Closed: ...


async def synthesis(state: InterviewsState, synthesise: Synthesise) -> Channels:
    """Write up the run, file how it ended, and tell what was found.

    Args:
        state: Of the parent graph.
        synthesise: Writes the report.
    """
    async with using(state["run"]) as session:
        stages = session.ledger.stages()
        was_completed = ("", "") in stages and stages["", ""].outcome == "completed"
        was_done = was_completed and not session.asked_again
        stages_planned = planned(session.record)
        closed = await synthesise(session, stages_planned)
        await session.ledger.set_stage("", "synthesis", closed["status"])
        await session.ledger.set_stage("", "", closed["status"])  # in Studio nobody else files it
        outcomes = {f"{name}/{phase}": stages[name, phase].outcome for name, phase in stages_planned}
    return {**closed, "outcomes": outcomes, "note": ANSWERED_BEFORE if was_done else ""}
