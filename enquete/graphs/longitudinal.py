"""The longitudinal study as a graph: the same items before (T0) and after (T1) the simulation.

Between the waves lies a checkpointed pause until the simulation has completed. Where this run takes no T0 (a personas
file, or an earlier run's T0 is used), it begins at the pause. Probes of a wave follow its main arm.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from langgraph.graph import END, START, StateGraph

from enquete.ledger import queries
from enquete.nodes.ask import UNFINISHED, Channels, ask_shard, send_shards_to
from enquete.nodes.await_simulation import await_simulation
from enquete.nodes.close_round import close_and_file
from enquete.runs.planning import planned
from enquete.runs.run_session import using
from enquete.runs.waves import close_t0_if_too_late
from enquete.state.channels import (
    MethodologyInput,
    MethodologyOutput,
    MethodologyState,
    ShardSpec,
    merge_by_id,
    merge_notes,
)


class LongitudinalState(MethodologyState):
    """Both waves. `phase` is the one that is being taken."""

    awaiting: NotRequired[str]  # "simulation" while it runs
    flags: Annotated[NotRequired[list[str]], merge_notes]  # what a reader must know of the agents at T1
    change: Annotated[NotRequired[dict[str, float]], merge_by_id]  # item → mean of T1 less T0, within agents


async def open_t0(state: LongitudinalState) -> Channels:
    """Start T0: the main arm first; its probes once `close_t0` has set the outcome "probes".

    A T0 that had stopped is not finished once the simulation has completed: nobody owes an answer to it any more.
    """
    async with using(state["run"]) as session:
        await close_t0_if_too_late(session, state["methodology"])
    return _open_wave(state, "T0")


async def open_t1(state: LongitudinalState) -> Channels:
    """Start T1, likewise."""
    return _open_wave(state, "T1")


def _open_wave(state: LongitudinalState, phase: str) -> Channels:
    asking_probes = state.get("outcome") == "probes"
    return {"phase": phase, "round": 1, "asking_probes": asking_probes, "outcome": ""}


async def close_wave(state: LongitudinalState) -> Channels:
    """Close the wave, in which everybody was asked once, and file it."""
    return await close_and_file(state, lambda barrier: {})


async def compare_waves(state: LongitudinalState) -> Channels:
    """Show how far each item moved among those of the main arm who answered it twice. Tests are left to the report."""
    async with using(state["run"]) as session:
        key = (state["methodology"], session.record.main.id)
        changes = session.ledger.read(queries.MEAN_CHANGE_BY_ITEM, key).fetchall()
    return {"change": {item: round(change, 2) for item, change in changes}}


async def choose_first_wave(state: LongitudinalState) -> str:
    """Begin with T0 if this run takes one and has not done so."""
    async with using(state["run"]) as session:
        name = state["methodology"]
        waves = [phase for planned_name, phase in planned(session.record) if planned_name == name]
        stage = session.ledger.stages().get((name, "T0"))
        is_done = stage is not None and stage.outcome == "done"
        is_asked_again = (name, "T0") in session.asked_again
    if "T0" in waves and (not is_done or is_asked_again):
        return "open_t0"
    return "await_simulation" if "T1" in waves else END


async def after_t0(state: LongitudinalState) -> str:
    """Go on to the pause. Probes that ran out of budget do not keep the main arm from T1, nor does a failed T0."""
    if state["outcome"] == "probes":
        return "open_t0"
    if state["outcome"] in ("short", "waiting") and not state["asking_probes"]:
        return END
    async with using(state["run"]) as session:
        takes_t1 = (state["methodology"], "T1") in planned(session.record)
    return "await_simulation" if takes_t1 else END


async def after_waiting(state: LongitudinalState) -> str:
    """Look again at a simulation that was still running."""
    return "await_simulation" if state["awaiting"] else "open_t1"


async def after_t1(state: LongitudinalState) -> str:
    """Compare the waves once T1 and its probes are done; with either unfinished, end without."""
    if state["outcome"] == "probes":
        return "open_t1"
    return END if state["outcome"] in UNFINISHED else "compare_waves"


builder = StateGraph(LongitudinalState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_t0", open_t0)
builder.add_node("ask_t0", ask_shard, input_schema=ShardSpec)
builder.add_node("close_t0", close_wave)
builder.add_node("await_simulation", await_simulation)
builder.add_node("open_t1", open_t1)
builder.add_node("ask_t1", ask_shard, input_schema=ShardSpec)
builder.add_node("close_t1", close_wave)
builder.add_node("compare_waves", compare_waves)

builder.add_conditional_edges(START, choose_first_wave, ["open_t0", "await_simulation", END])
builder.add_conditional_edges("open_t0", send_shards_to("ask_t0"), ["ask_t0"])
builder.add_edge("ask_t0", "close_t0")
builder.add_conditional_edges("close_t0", after_t0, ["open_t0", "await_simulation", END])
builder.add_conditional_edges("await_simulation", after_waiting, ["await_simulation", "open_t1"])
builder.add_conditional_edges("open_t1", send_shards_to("ask_t1"), ["ask_t1"])
builder.add_edge("ask_t1", "close_t1")
builder.add_conditional_edges("close_t1", after_t1, ["open_t1", "compare_waves", END])
builder.add_edge("compare_waves", END)

longitudinal = builder.compile(name="longitudinal_waves")
