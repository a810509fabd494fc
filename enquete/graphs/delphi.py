"""The Delphi panel as a graph: open questions, themes, ratings, anonymous feedback, revised ratings.

The panel rates until it has rated often enough: a fixed number of rounds, or with `rounds: auto` until it agrees or
keeps its ratings. Arms beside the main one rate the main arm's themes, with the main arm's feedback; the arm that
probes false feedback sees invented medians before its last ratings.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from enquete.methods.delphi import moderator
from enquete.methods.delphi.procedure import FALSE_ROUND, as_mapping, pinned_themes
from enquete.nodes.ask import Channels, ask_shard, build_sends, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, file_stage, round_barrier
from enquete.runs.run_session import using
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id


class DelphiState(MethodologyState):
    """A panel at work."""

    themes: Annotated[NotRequired[dict[str, str]], merge_by_id]  # theme id → label
    feedback: Annotated[NotRequired[dict[str, dict[str, float]]], merge_by_id]  # "round 2" → item → median


async def code_themes(state: DelphiState) -> Channels:
    """Code the open answers of the main arm into the themes that everybody rates from round 2 on."""
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            is_main = arm is barrier.main
            verdict = await moderator.code_themes(barrier.instrument, arm) if is_main else "next"
            await barrier.close_round(arm, verdict)
        themes = pinned_themes(barrier.main)
        barrier.show(themes={str(theme["id"]): str(theme["label"]) for theme in themes})
    return barrier.next_state


async def give_feedback(state: DelphiState) -> Channels:
    """Close the round of ratings: pin how the group rated, for everybody's next ratings, or end the panel."""
    number = state["round"]
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            is_over = await moderator.has_rated_enough(barrier.instrument, number, arm)
            if arm is barrier.main and not is_over:
                await arm.pin(f"feedback/{number}", await moderator.summarise_round(number, arm))
            if arm.arm.feedback == "false" and number == FALSE_ROUND - 1:
                await arm.pin(f"feedback/{number}", moderator.falsify_feedback(barrier.instrument, number, arm))
            await barrier.close_round(arm, "end" if is_over else "next")
        feedback = as_mapping(barrier.main.pinned(f"feedback/{number}"))
        if feedback:
            medians = {item: summary["median"] for item, summary in feedback.items()}
            barrier.show(feedback={f"round {number}": medians})
    return barrier.next_state


async def after_feedback(state: DelphiState) -> list[Send] | str:
    """Let everybody rate again until the panel has ended; then have the themes coded a second time, if wanted.

    Probes add no open answers of their own that count, so the second coding belongs to the main arm's pass.
    """
    async with using(state["run"]) as session:
        if not state["outcome"]:
            return build_sends(session, state, "rate_themes")
        settings = session.settings(state["methodology"])
        is_wanted = settings.second_coding and not state["asking_probes"]
        return "code_again" if state["outcome"] == "done" and is_wanted else "close_panel"


async def code_again(state: DelphiState) -> Channels:
    """Have a second coder assign the answers to the same themes. It comes last, because no question depends on it."""
    async with round_barrier(state) as barrier:
        coded = await moderator.code_themes_again(barrier.instrument, barrier.main)
        if coded == "short":
            barrier.outcome = "short"
    return barrier.next_state


builder = StateGraph(DelphiState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("open_panel", open_first_round)
builder.add_node("ask_open_questions", ask_shard, input_schema=ShardSpec)
builder.add_node("code_themes", code_themes)
builder.add_node("rate_themes", ask_shard, input_schema=ShardSpec)
builder.add_node("give_feedback", give_feedback)
builder.add_node("code_again", code_again)
builder.add_node("close_panel", file_stage)

builder.add_edge(START, "open_panel")
builder.add_conditional_edges("open_panel", send_shards_to("ask_open_questions"), ["ask_open_questions"])
builder.add_edge("ask_open_questions", "code_themes")
builder.add_conditional_edges(
    "code_themes", send_shards_to("rate_themes", if_stopped="close_panel"), ["rate_themes", "close_panel"]
)
builder.add_edge("rate_themes", "give_feedback")
builder.add_conditional_edges("give_feedback", after_feedback, ["rate_themes", "code_again", "close_panel"])
builder.add_edge("code_again", "close_panel")
builder.add_conditional_edges("close_panel", choose_probes_or_end, {"probes": "open_panel", "end": END})

delphi = builder.compile(name="delphi_panel")
