"""The pause between T0 and T1: until the simulation has completed. Then what the agents remember is pinned."""

from __future__ import annotations

import asyncio

from langgraph.types import interrupt

from enquete.checkpoints.interrupts import AWAITING_SIMULATION, stop_for_simulation
from enquete.nodes.ask import Channels
from enquete.runs.run_session import RunSession, using
from enquete.runs.studio_demo import complete_demo, is_studio_demo
from enquete.runs.waves import open_t1, simulation_status
from enquete.state.channels import RunAddress
from enquete.state.interview_context import REHEARSAL


async def await_simulation(state: RunAddress) -> Channels:
    """Interrupt until the simulation has completed; a resume goes on from here. Rehearsals never wait."""
    async with using(state["run"]) as session:
        if session.ledger.run == REHEARSAL:
            return {"awaiting": ""}
        status = simulation_status(
            session.record,
            session.sim_path,
            assume_completed=session.machine.assume_completed,
            read=session.simulation,
        )
        if status.completed:
            return {"awaiting": "", "flags": await open_t1(session)}
        await session.ledger.set_stage("", "", AWAITING_SIMULATION, status.reason)
        outcomes = finished_stages(session)
        simulation = session.sim_path

    # Outside the session: an interrupt leaves the node, and in Studio, whose node is the session's only user, it would
    # stay open.
    is_demo = is_studio_demo(simulation)
    interrupt(stop_for_simulation(status.status, status.reason, outcomes, is_demo=is_demo))
    if is_demo:
        await asyncio.to_thread(complete_demo, simulation)
    return {"awaiting": "simulation"}


def finished_stages(session: RunSession) -> dict[str, str]:
    """Return "methodology/phase" → "done" for every stage that is."""
    done = {}
    for (name, phase), stage in session.ledger.stages().items():
        if name and stage.outcome == "done":
            done[f"{name}/{phase}"] = stage.outcome
    return done
