"""The poll as a graph: everybody is asked every question, once."""

from __future__ import annotations

from typing import Annotated, NotRequired

from langgraph.graph import END, START, StateGraph

from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, close_and_file
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


class PollState(MethodologyState):
    """A poll at work."""

    answered: Annotated[NotRequired[dict[str, int]], merge_by_id]  # question → participants who answered it


async def close_poll(state: PollState) -> Channels:
    """Close the poll and count who answered what."""
    return await close_and_file(state, lambda barrier: {"answered": barrier.count_answered()})


builder = StateGraph(PollState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_poll", open_first_round)
builder.add_node("ask_questions", ask_shard, input_schema=ShardSpec)
builder.add_node("close_poll", close_poll)

builder.add_edge(START, "open_poll")
builder.add_conditional_edges("open_poll", send_shards_to("ask_questions"), ["ask_questions"])
builder.add_edge("ask_questions", "close_poll")
builder.add_conditional_edges("close_poll", choose_probes_or_end, {"probes": "open_poll", "end": END})

poll = builder.compile(name="poll_of_everybody")
