"""Laddering, wired: one round of interviews; the turns of an interview are a graph of their own (turn_graph.py)."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from enquete.nodes.rounds import Rounds
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise
from enquete.state.channels import RoundsInput, RoundsOutput, RoundsState, ShardSpec
from enquete.state.settings import RunRequest

steps = Rounds("laddering", ask="interview_agents", close="close_interviews")

builder = StateGraph(RoundsState, context_schema=RunRequest, input_schema=RoundsInput, output_schema=RoundsOutput)
builder.add_node("open_interviews", steps.open_round)
builder.add_node("interview_agents", steps.ask, input_schema=ShardSpec)
builder.add_node("close_interviews", steps.close_round)
builder.add_edge(START, "open_interviews")
builder.add_conditional_edges("open_interviews", steps.fan_out, ["interview_agents", "close_interviews"])
builder.add_edge("interview_agents", "close_interviews")
builder.add_conditional_edges("close_interviews", steps.route, {"next": "open_interviews", "end": END})

graph = builder.compile(name="laddering_interviews")
standalone = build("laddering", {"laddering": ("enquete.graphs.laddering:METHODOLOGY", ("T1",), graph)}, synthesise)
