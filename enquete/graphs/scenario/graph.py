"""Scenario, wired: one round of ratings; its barrier codes the open answers."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from enquete.nodes.rounds import Rounds
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise
from enquete.state.channels import RoundsInput, RoundsOutput, RoundsState, ShardSpec
from enquete.state.settings import RunRequest

steps = Rounds("scenario", ask="ask_scenarios", close="close_scenarios")

builder = StateGraph(RoundsState, context_schema=RunRequest, input_schema=RoundsInput, output_schema=RoundsOutput)
builder.add_node("open_scenarios", steps.open_round)
builder.add_node("ask_scenarios", steps.ask, input_schema=ShardSpec)
builder.add_node("close_scenarios", steps.close_round)
builder.add_edge(START, "open_scenarios")
builder.add_conditional_edges("open_scenarios", steps.fan_out, ["ask_scenarios", "close_scenarios"])
builder.add_edge("ask_scenarios", "close_scenarios")
builder.add_conditional_edges("close_scenarios", steps.route, {"next": "open_scenarios", "end": END})

graph = builder.compile(name="scenario_ratings")
standalone = build("scenario", {"scenario": ("enquete.graphs.scenario:METHODOLOGY", ("T1",), graph)}, synthesise)
