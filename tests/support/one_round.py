"""The graph of a test's methodology that asks everybody once."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph

from enquete.nodes.ask import Channels, ask_shard, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, close_and_file
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec


async def close(state: MethodologyState) -> Channels:
    return await close_and_file(state, lambda barrier: {})


def one_round() -> Any:
    builder = StateGraph(MethodologyState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
    builder.add_node("open", open_first_round)
    builder.add_node("ask", ask_shard, input_schema=ShardSpec)
    builder.add_node("close", close)
    builder.add_edge(START, "open")
    builder.add_conditional_edges("open", send_shards_to("ask"), ["ask"])
    builder.add_edge("ask", "close")
    builder.add_conditional_edges("close", choose_probes_or_end, {"probes": "open", "end": END})
    return builder.compile(name="one_round")
