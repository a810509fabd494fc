"""The scenario study as a graph: everybody rates each possible future; then reactions are coded into themes."""

from __future__ import annotations

from typing import Annotated, NotRequired

from langgraph.graph import END, START, StateGraph

from enquete.methods.scenario.coding import code_open_answers, pinned_labels
from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, file_stage, round_barrier
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


class ScenarioState(MethodologyState):
    """A scenario study at work."""

    ratings: Annotated[NotRequired[dict[str, float]], merge_by_id]  # scenario/dimension → mean
    themes: Annotated[NotRequired[dict[str, list[str]]], merge_by_id]  # scenario → labels of its themes


async def code_reactions(state: ScenarioState) -> Channels:
    """Code what the main arm said about each scenario into themes, scenario by scenario."""
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            verdict = await code_open_answers(barrier.instrument, arm)
            await barrier.close_round(arm, verdict)
        barrier.show(ratings=barrier.mean_by_item(), themes=pinned_labels(barrier.instrument, barrier.main))
    return barrier.next_state


builder = StateGraph(ScenarioState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_scenarios", open_first_round)
builder.add_node("rate_scenarios", ask_shard, input_schema=ShardSpec)
builder.add_node("code_reactions", code_reactions)
builder.add_node("close_scenarios", file_stage)

builder.add_edge(START, "open_scenarios")
builder.add_conditional_edges("open_scenarios", send_shards_to("rate_scenarios"), ["rate_scenarios"])
builder.add_edge("rate_scenarios", "code_reactions")
builder.add_edge("code_reactions", "close_scenarios")
builder.add_conditional_edges("close_scenarios", choose_probes_or_end, {"probes": "open_scenarios", "end": END})

scenario = builder.compile(name="scenario_rating")
