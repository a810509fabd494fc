"""Best–worst scaling as a graph: everybody is shown every set and says which of it is best and which is worst."""

from __future__ import annotations

from typing import Annotated, NotRequired

from langgraph.graph import END, START, StateGraph

from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, close_and_file
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


class BestWorstState(MethodologyState):
    """Best–worst scaling at work."""

    answered: Annotated[NotRequired[dict[str, int]], merge_by_id]  # set → participants who chose from it


async def close_sets(state: BestWorstState) -> Channels:
    """Close the only round and count who chose from which set."""
    return await close_and_file(state, lambda barrier: {"answered": barrier.count_answered()})


builder = StateGraph(BestWorstState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_sets", open_first_round)
builder.add_node("show_sets", ask_shard, input_schema=ShardSpec)
builder.add_node("close_sets", close_sets)

builder.add_edge(START, "open_sets")
builder.add_conditional_edges("open_sets", send_shards_to("show_sets"), ["show_sets"])
builder.add_edge("show_sets", "close_sets")
builder.add_conditional_edges("close_sets", choose_probes_or_end, {"probes": "open_sets", "end": END})

best_worst = builder.compile(name="best_worst_sets")
