"""Diversity, wired: one round in which everybody sorts the statements and places themselves on the axes."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from enquete.nodes.rounds import Rounds
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise
from enquete.state.channels import RoundsInput, RoundsOutput, RoundsState, ShardSpec
from enquete.state.settings import RunRequest

steps = Rounds("diversity", ask="ask_sort", close="close_sort")

builder = StateGraph(RoundsState, context_schema=RunRequest, input_schema=RoundsInput, output_schema=RoundsOutput)
builder.add_node("open_sort", steps.open_round)
builder.add_node("ask_sort", steps.ask, input_schema=ShardSpec)
builder.add_node("close_sort", steps.close_round)
builder.add_edge(START, "open_sort")
builder.add_conditional_edges("open_sort", steps.fan_out, ["ask_sort", "close_sort"])
builder.add_edge("ask_sort", "close_sort")
builder.add_conditional_edges("close_sort", steps.route, {"next": "open_sort", "end": END})

graph = builder.compile(name="diversity_sort")
standalone = build("diversity", {"diversity": ("enquete.graphs.diversity:METHODOLOGY", ("T1",), graph)}, synthesise)
