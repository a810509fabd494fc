"""Delphi, wired: a loop of rounds with a feedback node at each barrier."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from enquete.graphs.delphi.procedure import readout
from enquete.nodes.rounds import Rounds
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise
from enquete.state.channels import RoundsInput, RoundsOutput, RoundsState, ShardSpec
from enquete.state.settings import RunRequest

steps = Rounds("delphi", ask="ask_panel", close="feedback", readout=readout)

builder = StateGraph(RoundsState, context_schema=RunRequest, input_schema=RoundsInput, output_schema=RoundsOutput)
builder.add_node("open_round", steps.open_round)
builder.add_node("ask_panel", steps.ask, input_schema=ShardSpec)
builder.add_node("feedback", steps.close_round)
builder.add_edge(START, "open_round")
builder.add_conditional_edges("open_round", steps.fan_out, ["ask_panel", "feedback"])
builder.add_edge("ask_panel", "feedback")
builder.add_conditional_edges("feedback", steps.route, {"next": "open_round", "end": END})

graph = builder.compile(name="delphi_rounds")
standalone = build("delphi", {"delphi": ("enquete.graphs.delphi:METHODOLOGY", ("T1",), graph)}, synthesise)
