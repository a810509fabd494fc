"""The roundtable as a graph: groups discuss, their arguments are coded, then those who only read are asked.

The discussion of one group is a graph of its own, `discussion`: positions asked in private, then round after round
until the group has finished, then positions in private again. In modes in which participants speak one after the other,
a pass through `take_turns` holds one turn; in the others it holds a whole round. Stored turns are the checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Annotated, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import JsonValue
from typing_extensions import TypedDict

from enquete.analysis.stopping import Exit
from enquete.methods.roundtable.agreement import (
    ANALYST,
    GROUPER,
    PositionGroups,
    RoundSaid,
    exit_by_meaning,
    kept_reading,
    positions_said,
    readings,
    should_exit,
)
from enquete.methods.roundtable.discussion import CLOSED, Discussion, RoundtableTurn, Weighed
from enquete.methods.roundtable.table import (
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
from enquete.nodes.ask import UNFINISHED, Channels, ask_shard, build_sends, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, file_stage, round_barrier
from enquete.respondents.roles import RULE
from enquete.runs.conversations import Asked, TurnOutcome, hear, keep, stopped
from enquete.runs.run_session import using
from enquete.state.asking import RESPONDED, Outcome
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec, merge_by_id
from enquete.state.interview_context import REHEARSAL


class DiscussionInput(TypedDict):
    """A group's discussion as far as it was held."""

    talk: Discussion


class DiscussionOutput(TurnOutcome, total=False):
    """How a discussion ended. `outcome` is set where a step could not be finished."""

    talk: Discussion
    round: int
    reason: str  # why the group has finished, or "" while it goes on


class DiscussionState(DiscussionOutput, total=False):
    """All channels."""

    turns: list[RoundtableTurn]  # of the pass that is being held: one turn, or a whole round


TurnRuntime = Runtime[DiscussionContext]


async def ask_before(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Ask everybody for their own position, in private."""
    return await _ask_in_private(state["talk"], runtime.context)


async def open_round(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Open the next round, unless the person who leads the discussion has closed it.

    A leader's message, where one is wanted, opens the round; without it the graph waits. What was said before is summed
    up once it is longer than what is passed in full.
    """
    talk, context = state["talk"], runtime.context
    if _should_close_now(talk, context):
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
    """Pin the summary of older rounds that this round is given, if it needs one."""
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


async def take_turns(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Let the next participant answer, or all that are left in this round, without seeing one another's answers."""
    talk, context = state["talk"], runtime.context
    turns = await _hold_turns(_next(talk, context), talk, context)
    return {"outcome": turns} if isinstance(turns, str) else {"turns": turns}


async def check_answers(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Ask those who did not keep to the mode once more, saying what was expected; the second answer counts as it is."""
    turns = await _retry_violations(state["turns"], state["talk"], runtime.context)
    return {"outcome": turns} if isinstance(turns, str) else {"turns": turns}


async def weigh_round(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Decide after the last answer of a round whether the group has finished.

    Where a model reads the round as well, both readings are recorded, and the rule decides. Where it groups positions
    by meaning, that decides, and the rule is a check.
    """
    talk, turns, context = state["talk"], state["turns"], runtime.context
    ahead, settings = reduce(Discussion.after, turns, talk), context.settings
    rounds = ahead.rounds()
    if len(rounds[-1]) < len(talk.participants):
        return {}
    assigned = settings.played.mode.assigns_stances
    if settings.agreement == "meaning" and not assigned:
        return await _weigh_by_meaning(ahead, turns, context)
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
    return _record_decision(end, analysed, turns, context)


async def _weigh_by_meaning(
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
    return _record_decision(end, analysed, turns, context)


def _record_decision(
    end: Exit, analysed: Mapping[str, JsonValue], turns: list[RoundtableTurn], context: DiscussionContext
) -> DiscussionState:
    weighed = Weighed(should_exit=end.should_exit, reason=end.reason, details=end.details, analysed=analysed)
    stop = weighed.reason if weighed.should_exit and not context.settings.private else ""
    last = turns[-1].model_copy(update={"weighed": weighed, "stop": stop})
    return {"turns": [*turns[:-1], last], "reason": weighed.reason}


async def keep_turns(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Pin the turns: from here on the discussion is rebuilt from them."""
    return {"talk": await _pin_turns(state["talk"], state["turns"], runtime.context)}


async def ask_after(state: DiscussionState, runtime: TurnRuntime) -> DiscussionState:
    """Ask everybody for their own position once more, in private."""
    talk, context = state["talk"], runtime.context
    if talk.seated:
        outcome = await sum_up(talk, talk.held + 1, context)
        if outcome:
            return {"outcome": outcome}
    return await _ask_in_private(talk, context)


async def _ask_in_private(talk: Discussion, context: DiscussionContext) -> DiscussionState:
    asked = due(talk, context.settings)
    turns = await _hold_turns(asked, talk, context)
    if not isinstance(turns, str):
        turns = await _retry_violations(turns, talk, context)
    if isinstance(turns, str):
        return {"outcome": turns}
    is_last = asked[0].round > PRIVATE or not (talk.seated or talk.reads)  # or a reader whose group does not exist
    stop = (talk.exit.reason if talk.exit else "asked") if is_last else ""
    return {"talk": await _pin_turns(talk, [*turns[:-1], turns[-1].model_copy(update={"stop": stop})], context)}


async def _hold_turns(
    asked: Sequence[Asked], talk: Discussion, context: DiscussionContext
) -> list[RoundtableTurn] | Outcome:
    table = context.table(talk)
    heard = await hear(context.interview_context, [table.block(turn) for turn in asked])
    if isinstance(heard, str):
        return heard
    return [table.turn(turn, utterance) for turn, utterance in zip(asked, heard, strict=True)]


async def _retry_violations(
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


async def _pin_turns(talk: Discussion, turns: Sequence[RoundtableTurn], context: DiscussionContext) -> Discussion:
    for turn in turns:
        talk = talk.after(await keep(context.interview_context, talk.unit, turn))
    return talk


async def go_on(state: DiscussionState, runtime: TurnRuntime) -> Literal["before", "open", "on", "after", "end"]:
    """Go on with a discussion from wherever it stands."""
    talk = state["talk"]
    asked = due(talk, runtime.context.settings)
    if state.get("outcome") or not asked:
        return "end"
    if is_private(asked[0], talk):
        return "before" if asked[0].round == PRIVATE else "after"
    return "open" if len(talk.rounds()) == talk.held or _should_close_now(talk, runtime.context) else "on"


async def after_opening(state: DiscussionState, runtime: TurnRuntime) -> Literal["on", "after", "end"]:
    """Hold the round, unless the group has finished or was closed."""
    talk = state["talk"]
    if state.get("outcome") or talk.stop:
        return "end"
    return "after" if talk.over else "on"


def _should_close_now(talk: Discussion, context: DiscussionContext) -> bool:
    """Return whether its leader has closed the discussion and every answer that was given already is kept."""
    if not talk.seated or talk.over or context.interview_context.pinned(talk.end_name) is None:
        return False
    asked, table = _next(talk, context), context.table(talk)
    return not asked or not all(context.interview_context.stored(table.block(turn).key) for turn in asked)


def _next(talk: Discussion, context: DiscussionContext) -> Sequence[Asked]:
    """Return who speaks in this pass."""
    return due(talk, context.settings)[: 1 if context.settings.played.mode.order == "sequential" else None]


discussion_builder = StateGraph(
    DiscussionState, context_schema=DiscussionContext, input_schema=DiscussionInput, output_schema=DiscussionOutput
)
discussion_builder.add_node("ask_before", ask_before)
discussion_builder.add_node("open_round", open_round)
discussion_builder.add_node("take_turns", take_turns)
discussion_builder.add_node("check_answers", check_answers)
discussion_builder.add_node("weigh_round", weigh_round)
discussion_builder.add_node("keep_turns", keep_turns)
discussion_builder.add_node("ask_after", ask_after)

discussion_builder.add_conditional_edges(
    START,
    go_on,
    {"before": "ask_before", "open": "open_round", "on": "take_turns", "after": "ask_after", "end": END},
)
discussion_builder.add_conditional_edges("ask_before", go_on, {"open": "open_round", "after": "ask_after", "end": END})
discussion_builder.add_conditional_edges(
    "open_round", after_opening, {"on": "take_turns", "after": "ask_after", "end": END}
)
discussion_builder.add_conditional_edges("take_turns", stopped, {"on": "check_answers", "out": END})
discussion_builder.add_conditional_edges("check_answers", stopped, {"on": "weigh_round", "out": END})
discussion_builder.add_conditional_edges("weigh_round", stopped, {"on": "keep_turns", "out": END})
discussion_builder.add_conditional_edges(
    "keep_turns", go_on, {"open": "open_round", "on": "take_turns", "after": "ask_after", "end": END}
)
discussion_builder.add_edge("ask_after", END)

discussion = discussion_builder.compile(name="roundtable_discussion")

reading_builder = StateGraph(
    DiscussionState, context_schema=DiscussionContext, input_schema=DiscussionInput, output_schema=DiscussionOutput
)
reading_builder.add_node("ask_before", ask_before)
reading_builder.add_node("ask_after", ask_after)

reading_builder.add_conditional_edges(START, go_on, {"before": "ask_before", "after": "ask_after", "end": END})
reading_builder.add_conditional_edges("ask_before", go_on, {"after": "ask_after", "end": END})
reading_builder.add_edge("ask_after", END)

reading = reading_builder.compile(name="roundtable_reading")


class RoundtableState(MethodologyState):
    """A roundtable at work: in round 1 the groups discuss, in round 2 those who only read are asked."""

    turns: Annotated[NotRequired[dict[str, int]], merge_by_id]  # arm → turns held
    arguments: Annotated[NotRequired[dict[str, str]], merge_by_id]  # argument id → label


async def discuss(state: ShardSpec) -> Channels:
    """Let some of the groups discuss, side by side: each goes through `discussion`, here or in a worker."""
    return await ask_shard(state, discussion)


async def code_arguments(state: RoundtableState) -> Channels:
    """Code the arguments of the main arm once its groups are through."""
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            await barrier.close_round(arm, await barrier.procedure.code_arguments(arm))
        barrier.show(turns=barrier.count_turns(), arguments=barrier.procedure.argument_labels(barrier.main))
    return barrier.next_state


async def after_coding(state: RoundtableState) -> list[Send] | str:
    """Ask those who only read what there is to read now, if anybody does."""
    if state["outcome"] in (*UNFINISHED, "done"):
        return "close_tables"
    async with using(state["run"]) as session:
        return build_sends(session, state, "ask_readers")


async def ask_readers(state: ShardSpec) -> Channels:
    """Ask those who only read what a group said, in private before and after they read: each through `reading`."""
    return await ask_shard(state, reading)


async def close_readers(state: RoundtableState) -> Channels:
    """Close the round of those who only read."""
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            await barrier.close_round(arm, "end")
        barrier.show(turns=barrier.count_turns())
    return barrier.next_state


builder = StateGraph(RoundtableState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
builder.add_node("seat_groups", open_first_round)
builder.add_node("discuss", discuss)
builder.add_node("code_arguments", code_arguments)
builder.add_node("ask_readers", ask_readers)
builder.add_node("close_readers", close_readers)
builder.add_node("close_tables", file_stage)

builder.add_edge(START, "seat_groups")
builder.add_conditional_edges("seat_groups", send_shards_to("discuss"), ["discuss"])
builder.add_edge("discuss", "code_arguments")
builder.add_conditional_edges("code_arguments", after_coding, ["ask_readers", "close_tables"])
builder.add_edge("ask_readers", "close_readers")
builder.add_edge("close_readers", "close_tables")
builder.add_conditional_edges("close_tables", choose_probes_or_end, {"probes": "seat_groups", "end": END})

roundtable = builder.compile(name="roundtable_groups")
