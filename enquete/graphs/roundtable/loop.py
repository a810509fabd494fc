"""The discussion of one group as a graph: ask_before → open_round → take_turns → check_answers → weigh_round →
keep_turns, again until a round is complete, and round after round until the group is through → ask_after.

One after the other a pass holds one turn, at once it holds a whole round. No checkpointer: the stored turns are the
checkpoint, after every turn or every round. Nodes are async; LangGraph sends plain functions to a thread.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import reduce
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import JsonValue
from typing_extensions import TypedDict

from enquete.analysis.stopping import Exit
from enquete.graphs.roundtable.agreement import ANALYST, RoundSaid, should_exit
from enquete.graphs.roundtable.discussion import CLOSED, Discussion, RoundtableTurn, Weighed
from enquete.graphs.roundtable.grouping import (
    GROUPER,
    PositionGroups,
    exit_by_meaning,
    kept_reading,
    positions_said,
    readings,
)
from enquete.graphs.roundtable.table import (
    PRIVATE,
    SUMMARISER,
    DiscussionContext,
    RoundsSaid,
    due,
    is_private,
    key_points,
    older,
    summary_name,
    tokens,
)
from enquete.nodes.conversations import Asked, TurnOutcome, hear, keep, stopped
from enquete.respondents.roles import RULE
from enquete.state.asking import RESPONDED, Outcome
from enquete.state.interview_context import REHEARSAL

STEPS = 5
"""Nodes a turn passes at most."""


class DiscussionInput(TypedDict):
    talk: Discussion


class DiscussionOutput(TurnOutcome, total=False):
    talk: Discussion
    round: int
    reason: str


class DiscussionState(DiscussionOutput, total=False):
    """All channels. `asked` and `turns` are of the pass that is being held."""

    asked: list[Asked]
    turns: list[RoundtableTurn]


Loop = Runtime[DiscussionContext]


async def ask_before(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """Everybody's own position, in private."""
    return await _privately(state["talk"], runtime.context)


async def open_round(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """Where somebody leads the discussion, it waits for their word, or ends with it; what was said before is summed up,
    once it is longer than what is passed in full."""
    talk, context = state["talk"], runtime.context
    if _is_closed(talk, context):
        closed = await keep(context.interview_context, talk.unit, talk.closed(private=context.settings.private))
        return {"talk": talk.after(closed), "reason": CLOSED}
    if talk.between:
        word = context.interview_context.pinned(talk.word_name)
        if word is None and context.settings.steering and context.interview_context.run != REHEARSAL:
            return {"outcome": "waiting"}
        if word:
            talk = talk.after(await keep(context.interview_context, talk.unit, talk.steered(str(word))))
    outcome = await sum_up(talk, talk.held + 1, context)
    return {"outcome": outcome} if outcome else {"talk": talk, "round": talk.held + 1}


async def sum_up(talk: Discussion, round: int, context: DiscussionContext) -> Outcome | None:
    """Pins the summary of older rounds that this round is given, if it needs one."""
    table, settings = context.table(talk), context.settings
    known = table.overheard(round)
    name, upto = summary_name(talk.unit, round), older(known)
    if (
        not upto
        or context.interview_context.pinned(name) is not None
        or tokens(table.rendered(known)) <= settings.context_tokens
    ):
        return None
    text = key_points(known, upto)
    if settings.summaries == "model":
        told = [part for _, part in table.rendered(known)][: -1 - bool(known.counted)]
        done = await SUMMARISER.work(
            context.interview_context, settings, f"{talk.unit}|round {round}", RoundsSaid(text="\n\n".join(told))
        )
        if done == "short":
            return "short"
        text = "\n\n".join(part for part in (done[0].text, text) if part)
    await context.interview_context.pin(name, {"upto": upto, "text": text})
    return None


async def take_turns(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """The next participant answers, or all that are left in this round, none of whom sees the others'."""
    talk, context = state["talk"], runtime.context
    turns = await _held(_next(talk, context), talk, context)
    return {"outcome": turns} if isinstance(turns, str) else {"turns": turns}


async def check_answers(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """Who does not keep to the mode is asked once more, with what was expected; then it stands as it is."""
    turns = await _asked_again(state["turns"], state["talk"], runtime.context)
    return {"outcome": turns} if isinstance(turns, str) else {"turns": turns}


async def weigh_round(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """With the last answer of a round: whether the group is through. Where a model reads the round as well, both
    readings are recorded, and the rule decides; where it groups positions by meaning, that decides, and the rule is a
    check."""
    talk, turns, context = state["talk"], state["turns"], runtime.context
    ahead, settings = reduce(Discussion.after, turns, talk), context.settings
    rounds = ahead.rounds()
    if len(rounds[-1]) < len(talk.participants):
        return {}
    assigned = settings.played.mode.assigns_stances
    if settings.agreement == "meaning" and not assigned:
        return await _weighed_by_meaning(ahead, turns, context)
    end, analysed = should_exit(rounds, settings.limits, assigned=assigned), {}
    if settings.analyses == "model":
        table = context.table(ahead)
        by_number = sorted(rounds[-1], key=lambda who: table.numbers[who])
        responses = {str(table.numbers[who]): rounds[-1][who] for who in by_number}
        data = RoundSaid(topic=table.question, said=responses)
        done = await ANALYST.work(context.interview_context, settings, f"{talk.unit}|round {len(rounds)}", data)
        if done == "short":
            return {"outcome": "short"}
        analysed = {**done[0].model_dump(mode="json"), "by": done[1]}
    return _weighed(end, analysed, turns, context)


async def _weighed_by_meaning(
    ahead: Discussion, turns: list[RoundtableTurn], context: DiscussionContext
) -> DiscussionState:
    table, rounds = context.table(ahead), ahead.rounds()
    data = positions_said(table.question, rounds, table.numbers)
    read, by = PositionGroups(), RULE
    if data.said:
        subject = f"{ahead.unit}|round {len(rounds)}"
        done = await GROUPER.work(context.interview_context, context.settings, subject, data)
        if done == "short":
            return {"outcome": "short"}
        read, by = done
    analysed = kept_reading(data, read, by, rounds[-1], table.numbers)
    end = exit_by_meaning(rounds, [*readings(ahead), analysed], table.numbers, context.settings.limits)
    return _weighed(end, analysed, turns, context)


def _weighed(
    end: Exit, analysed: Mapping[str, JsonValue], turns: list[RoundtableTurn], context: DiscussionContext
) -> DiscussionState:
    weighed = Weighed(should_exit=end.should_exit, reason=end.reason, details=end.details, analysed=analysed)
    stop = weighed.reason if weighed.should_exit and not context.settings.private else ""
    last = turns[-1].model_copy(update={"weighed": weighed, "stop": stop})
    return {"turns": [*turns[:-1], last], "reason": weighed.reason}


async def keep_turns(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """Pinned: from here on the discussion is rebuilt from them."""
    return {"talk": await _kept(state["talk"], state["turns"], runtime.context)}


async def ask_after(state: DiscussionState, runtime: Loop) -> DiscussionState:
    """Everybody's own position once more, in private."""
    talk, context = state["talk"], runtime.context
    if talk.seated:
        outcome = await sum_up(talk, talk.held + 1, context)
        if outcome:
            return {"outcome": outcome}
    return await _privately(talk, context)


# --- steps ------------------------------------------------------------------------------------------------------------


async def _privately(talk: Discussion, context: DiscussionContext) -> DiscussionState:
    asked = due(talk, context.settings)
    turns = await _held(asked, talk, context)
    if not isinstance(turns, str):
        turns = await _asked_again(turns, talk, context)
    if isinstance(turns, str):
        return {"outcome": turns}
    is_last = asked[0].round > PRIVATE or not (talk.seated or talk.reads)  # or one who has nobody to read
    stop = (talk.exit.reason if talk.exit else "asked") if is_last else ""
    return {"talk": await _kept(talk, [*turns[:-1], turns[-1].model_copy(update={"stop": stop})], context)}


async def _held(asked: Sequence[Asked], talk: Discussion, context: DiscussionContext) -> list[RoundtableTurn] | Outcome:
    table = context.table(talk)
    heard = await hear(context.interview_context, [table.block(turn) for turn in asked])
    if isinstance(heard, str):
        return heard
    return [table.turn(turn, utterance) for turn, utterance in zip(asked, heard, strict=True)]


async def _asked_again(
    turns: Sequence[RoundtableTurn], talk: Discussion, context: DiscussionContext
) -> list[RoundtableTurn] | Outcome:
    table = context.table(talk)
    wrong = [turn for turn in turns if turn.response.violations]
    if not wrong:
        return list(turns)
    heard = await hear(
        context.interview_context,
        [table.again(table.block(turn), turn.answer, turn.response.violations) for turn in wrong],
    )
    if isinstance(heard, str):
        return heard
    second = {
        turn.turn: table.turn(turn, utterance) if utterance.text and utterance.status in RESPONDED else turn
        for turn, utterance in zip(wrong, heard, strict=True)
    }
    return [
        second[turn.turn].model_copy(update={"retried": True, "slips": turn.response.violations})
        if turn.turn in second
        else turn
        for turn in turns
    ]


async def _kept(talk: Discussion, turns: Sequence[RoundtableTurn], context: DiscussionContext) -> Discussion:
    for turn in turns:
        talk = talk.after(await keep(context.interview_context, talk.unit, turn))
    return talk


# --- edges ------------------------------------------------------------------------------------------------------------


async def where(state: DiscussionState, runtime: Loop) -> Literal["before", "open", "on", "after", "end"]:
    """What is next, of a discussion at whatever point it stands."""
    talk = state["talk"]
    asked = due(talk, runtime.context.settings)
    if state.get("outcome") or not asked:
        return "end"
    if is_private(asked[0], talk):
        return "before" if asked[0].round == PRIVATE else "after"
    return "open" if len(talk.rounds()) == talk.held or _is_closed(talk, runtime.context) else "on"


async def opened(state: DiscussionState, runtime: Loop) -> Literal["on", "after", "end"]:
    """Whether the round is held."""
    talk = state["talk"]
    if state.get("outcome") or talk.stop:
        return "end"
    return "after" if talk.over else "on"


def _is_closed(talk: Discussion, context: DiscussionContext) -> bool:
    """Whether it is to be closed now: not before what was answered already has been kept."""
    if not talk.seated or talk.over or context.interview_context.pinned(talk.end_name) is None:
        return False
    asked, table = _next(talk, context), context.table(talk)
    return not asked or not all(context.interview_context.stored(table.block(turn).key) for turn in asked)


def _next(talk: Discussion, context: DiscussionContext) -> Sequence[Asked]:
    """Who speaks in this pass."""
    return due(talk, context.settings)[: 1 if context.settings.played.mode.order == "sequential" else None]


NODES = (ask_before, open_round, take_turns, check_answers, weigh_round, keep_turns, ask_after)
NEXT: dict[Hashable, str] = {
    "before": "ask_before",
    "open": "open_round",
    "on": "take_turns",
    "after": "ask_after",
    "end": END,
}

builder = StateGraph(
    DiscussionState, context_schema=DiscussionContext, input_schema=DiscussionInput, output_schema=DiscussionOutput
)
for node in NODES:
    builder.add_node(node.__name__, node)
builder.add_conditional_edges(START, where, NEXT)
builder.add_conditional_edges("ask_before", where, {key: NEXT[key] for key in ("open", "after", "end")})
builder.add_conditional_edges("open_round", opened, {key: NEXT[key] for key in ("on", "after", "end")})
builder.add_conditional_edges("take_turns", stopped, {"on": "check_answers", "out": END})
builder.add_conditional_edges("check_answers", stopped, {"on": "weigh_round", "out": END})
builder.add_conditional_edges("weigh_round", stopped, {"on": "keep_turns", "out": END})
builder.add_conditional_edges("keep_turns", where, {key: NEXT[key] for key in ("open", "on", "after", "end")})
builder.add_edge("ask_after", END)

discussion_graph = builder.compile(checkpointer=False, name="roundtable_discussion")
