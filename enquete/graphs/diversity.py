"""The study of diverse views as a graph: everybody sorts the statements and places themselves on the axes, once."""

from __future__ import annotations

from typing import Annotated, NotRequired

from langgraph.graph import END, START, StateGraph

from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, close_and_file
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


class DiversityState(MethodologyState):
    """A Q-sort at work."""

    placements: Annotated[NotRequired[dict[str, float]], merge_by_id]  # statement or axis → mean place


async def close_sort(state: DiversityState) -> Channels:
    """Close the sort and show where the statements lie on average."""
    return await close_and_file(state, lambda barrier: {"placements": barrier.mean_by_item()})


builder = StateGraph(DiversityState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_sort", open_first_round)
builder.add_node("sort_statements", ask_shard, input_schema=ShardSpec)
builder.add_node("close_sort", close_sort)

builder.add_edge(START, "open_sort")
builder.add_conditional_edges("open_sort", send_shards_to("sort_statements"), ["sort_statements"])
builder.add_edge("sort_statements", "close_sort")
builder.add_conditional_edges("close_sort", choose_probes_or_end, {"probes": "open_sort", "end": END})

diversity = builder.compile(name="diversity_sort")
