"""Where the parent graph goes next. The ledger's stages decide, not the value that a run was resumed with.

A study of both waves goes first and alone, because the pause between T0 and T1 lies in its graph. The others follow it
side by side, by one way only: `gate` is deferred, and siblings that came to it by ways of different length would let it
fire between them.
"""

from __future__ import annotations

from langgraph.types import Send

from enquete.runs.planning import CRITIC, OF_PROBES, planned
from enquete.runs.run_session import RunSession, using
from enquete.state.channels import InterviewsState

CRITIC_STAGE = ("", CRITIC)
"""Methodology and phase under which the critic's stage is filed."""

STOPPED = ("short", "waiting", "not reached")


async def send_first(state: InterviewsState) -> list[Send] | str:
    """Route after `pin_instruments`: to the study of both waves, if there is one with work left."""
    async with using(state["run"]) as session:
        return two_wave_sends(session, state["run"]) or _after_first(session)


async def after_first(state: InterviewsState) -> str:
    """Route after the study of both waves: to the others, unless it stopped before its T0 was done."""
    async with using(state["run"]) as session:
        return _after_first(session)


def _after_first(session: RunSession) -> str:
    """Probes of T0 that found no budget do not keep the main arm of anything else from T1."""
    stages = session.ledger.stages()
    for stage in stopped_stages(session, "T0"):
        if stage not in stages or not stages[stage].note.endswith(OF_PROBES):
            return "gate"
    asks_t1 = any(phase == "T1" for _, phase in planned(session.record))
    return "await_simulation" if asks_t1 else "gate"


async def send_others(state: InterviewsState) -> list[Send] | str:
    """Route after `await_simulation`: every methodology of T1 alone at once, or wait on."""
    if state.get("awaiting"):
        return "await_simulation"
    async with using(state["run"]) as session:
        sends = unfinished_sends(session, state["run"], "T1")
        return [send for send in sends if not is_two_wave(session, send.node)] or "gate"


async def after_gate(state: InterviewsState) -> list[Send] | str:
    """Route after `gate`: to what is unfinished where it said to go on, else to the critic and the synthesis."""
    async with using(state["run"]) as session:
        for phase in ("T0", "T1") if state.get("awaiting") else ():
            if stopped_stages(session, phase):
                return two_wave_sends(session, state["run"]) or unfinished_sends(session, state["run"], phase)
        return "synthesis" if critic_outcome(session) in ("", "done", "failed") else "critic"


def two_wave_sends(session: RunSession, address: str) -> list[Send]:
    """Return a `Send` to the study that is asked before and after the simulation, if it has work left."""
    sends = [*unfinished_sends(session, address, "T0"), *unfinished_sends(session, address, "T1")]
    return [send for send in sends if is_two_wave(session, send.node)][:1]


def unfinished_sends(session: RunSession, address: str, phase: str) -> list[Send]:
    """Return a `Send` to each methodology of this phase that is not done, or whose failed answers are asked again."""
    stages = session.ledger.stages()
    sends = []
    for stage in planned(session.record):
        name, its_phase = stage
        is_done = stage in stages and stages[stage].outcome == "done"
        if its_phase == phase and (not is_done or stage in session.asked_again):
            sends.append(Send(name, {"run": address, "methodology": name, "phase": phase}))
    return sends


def is_two_wave(session: RunSession, name: str) -> bool:
    """Return whether a methodology is asked before and after the simulation."""
    return {"T0", "T1"} <= set(session.methodology(name).phases)


def stopped_stages(session: RunSession, phase: str) -> dict[tuple[str, str], str]:
    """Return (methodology, phase) → outcome of those that stopped for budget or a person, or were never reached."""
    stages = session.ledger.stages()
    stopped = {}
    for stage in planned(session.record):
        outcome = stages[stage].outcome if stage in stages else "not reached"
        if stage[1] == phase and outcome in STOPPED:
            stopped[stage] = outcome
    return stopped


def critic_outcome(session: RunSession) -> str:
    """Return how far the critic is in this walk: due, short, done or failed; "" where nobody is compared."""
    stage = session.ledger.stages().get(CRITIC_STAGE)
    return stage.outcome if stage is not None else ""
