"""A turn, wired: ten nodes from the question asked to the next one. No checkpointer: the stored turns are the checkpoint."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph

from enquete.graphs.laddering import pipeline
from enquete.graphs.laddering.turn_state import TurnContext, TurnInput, TurnOutput, TurnState
from enquete.state.seam import Outcome


class Stopping(TurnOutput, total=False):
    stop: str


async def stopped(state: TurnOutput) -> Literal["on", "out"]:
    """Out where the budget is short or a person has yet to answer: the turn begins again later. (Async: LangGraph sends
    a plain function to a thread.)"""
    outcome: Outcome | None = state.get("outcome")
    return "out" if outcome else "on"


async def over(state: Stopping) -> Literal["on", "over"]:
    return "over" if state.get("stop") else "on"


NODES = (
    pipeline.context_loading,
    pipeline.utterance_saving,
    pipeline.extraction,
    pipeline.graph_update,
    pipeline.state_computation,
    pipeline.strategy_selection,
    pipeline.continuation,
    pipeline.question_generation,
    pipeline.response_saving,
    pipeline.scoring_persistence,
)

builder = StateGraph(TurnState, context_schema=TurnContext, input_schema=TurnInput, output_schema=TurnOutput)
for node in NODES:
    builder.add_node(node.__name__, node)
builder.add_edge(START, "context_loading")
builder.add_edge("context_loading", "utterance_saving")
builder.add_conditional_edges("utterance_saving", stopped, {"on": "extraction", "out": END})
builder.add_conditional_edges("extraction", stopped, {"on": "graph_update", "out": END})
builder.add_edge("graph_update", "state_computation")
builder.add_conditional_edges("state_computation", stopped, {"on": "strategy_selection", "out": END})
builder.add_edge("strategy_selection", "continuation")
builder.add_conditional_edges("continuation", over, {"on": "question_generation", "over": "scoring_persistence"})
builder.add_conditional_edges("question_generation", stopped, {"on": "response_saving", "out": END})
builder.add_edge("response_saving", "scoring_persistence")
builder.add_edge("scoring_persistence", END)

turn_graph = builder.compile(checkpointer=False, name="laddering_turn")
