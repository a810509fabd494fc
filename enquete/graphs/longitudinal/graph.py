"""Longitudinal, wired. The inner graph takes one wave; on its own: wave T0 → checkpointed pause → wave T1 → drift."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from enquete.nodes.rounds import Rounds
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise
from enquete.state.channels import RoundsInput, RoundsOutput, RoundsState, ShardSpec
from enquete.state.settings import RunRequest

steps = Rounds("longitudinal", ask="ask_wave", close="close_wave")

builder = StateGraph(RoundsState, context_schema=RunRequest, input_schema=RoundsInput, output_schema=RoundsOutput)
builder.add_node("open_wave", steps.open_round)
builder.add_node("ask_wave", steps.ask, input_schema=ShardSpec)
builder.add_node("close_wave", steps.close_round)
builder.add_edge(START, "open_wave")
builder.add_conditional_edges("open_wave", steps.fan_out, ["ask_wave", "close_wave"])
builder.add_edge("ask_wave", "close_wave")
builder.add_conditional_edges("close_wave", steps.route, {"next": "open_wave", "end": END})

graph = builder.compile(name="longitudinal_wave")
standalone = build(
    "longitudinal", {"longitudinal": ("enquete.graphs.longitudinal:METHODOLOGY", ("T0", "T1"), graph)}, synthesise
)
