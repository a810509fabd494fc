"""The node that settles what will be asked: instruments and settings are in the run's record, which is pinned."""

from __future__ import annotations

from enquete.nodes.ask import Channels
from enquete.nodes.await_simulation import finished_stages
from enquete.nodes.dispatch import CRITIC_STAGE
from enquete.runs.run_session import using
from enquete.state.channels import InterviewsState


async def pin_instruments(state: InterviewsState) -> Channels:
    """Tell what was done before, and what a reader must know of the run's record.

    A methodology that failed counts as not done: each new walk through the graph tries it again.
    """
    async with using(state["run"]) as session:
        if session.record.critic:
            await session.ledger.set_stage(*CRITIC_STAGE, "due")
        return {"outcomes": finished_stages(session), "flags": list(session.record.notices)}
