"""The moderator's work between the rounds of a Delphi: code answers into themes, feed ratings back, end the panel.

Every result is pinned in the ledger, so that a graph that is started over finds it done. Who is asked what stands in
procedure.py, the order of the steps in the panel's graph.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

from pydantic import JsonValue

from enquete.analysis.group_feedback import summarise_ratings
from enquete.analysis.stopping import Exit, RoundStanding, exit_after
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.delphi.procedure import FIRST_REVISION, as_mapping, pinned_themes
from enquete.respondents import themes
from enquete.respondents.rule_coder import Statement, ThemeBrief
from enquete.state.interview_context import InterviewContext

Ratings = Mapping[str, Mapping[str, float]]
"""The ratings of one round: panelist → item → rating."""


async def code_themes(instrument: DelphiInstrument, context: InterviewContext) -> Literal["next", "short", "failed"]:
    """Code the main arm's open answers into themes and pin them.

    Returns:
        "next" once there are themes to rate; "failed" if not a single one was found; "short" without budget.
    """
    topic = instrument.topic.in_(context.language)
    statements = await _read_statements(context)
    coded = await themes.code_themes(context.work, topic, statements, instrument.max_themes, label="round 1")
    if isinstance(coded, str):
        return coded
    await context.pin("themes", coded.model_dump(mode="json"))
    return "next" if coded.themes else "failed"


async def code_themes_again(instrument: DelphiInstrument, context: InterviewContext) -> Literal["done", "short"]:
    """Have a second coder assign the same answers to the same themes, and pin it, so that agreement can be measured.

    A coding that failed leaves the study without it. It is tried once more when failed answers are asked for again.
    """
    if context.pinned("second_coding") is not None:
        return "done"
    briefs = [
        ThemeBrief(id=str(theme["id"]), label=str(theme["label"]), description=str(theme["description"]))
        for theme in pinned_themes(context)
    ]
    topic = instrument.topic.in_(context.language)
    statements = await _read_statements(context)
    assigned = await themes.assign_themes(context.work, topic, briefs, statements, label="round 1/second")
    if assigned == "short":
        return "short"
    if not isinstance(assigned, str):
        await context.pin("second_coding", assigned.model_dump(mode="json"))
    return "done"


async def _read_statements(context: InterviewContext) -> list[Statement]:
    statements = []
    async for key, answer in context.answers(arm=context.main_arm, round=1):
        if answer.text:
            statements.append(Statement(id=f"{key.participant}|{answer.item}", text=answer.text))
    return statements


async def summarise_round(round: int, context: InterviewContext) -> dict[str, JsonValue]:
    """Return item → median, IQR and n over everyone of the main arm who rated it in this round."""
    ratings: dict[str, list[float]] = {}
    async for _, answer in context.answers(arm=context.main_arm, round=round):
        if answer.value is not None:
            ratings.setdefault(answer.item, []).append(answer.value)
    return {item: summarise_ratings(values) for item, values in sorted(ratings.items())}


def falsify_feedback(instrument: DelphiInstrument, round: int, context: InterviewContext) -> dict[str, JsonValue]:
    """Return, for a probe, medians that nobody gave: the real feedback with every median half the scale off."""
    real = as_mapping(context.pinned(f"feedback/{round}", arm=context.main_arm))
    return {item: _falsify_summary(instrument, item, summary) for item, summary in real.items()}


def _falsify_summary(instrument: DelphiInstrument, item: str, summary: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Move the median towards the farther end of the scale; from the midpoint up or down by the item's id."""
    scale = instrument.scale_of(item.rpartition("/")[2])
    half = (scale.max - scale.min) / 2
    middle = scale.min + half
    median = float(summary["median"])
    moves_up = median < middle
    if median == middle:
        moves_up = zlib.crc32(item.encode()) % 2 == 0
    return {**summary, "median": median + half if moves_up else median - half}


async def has_rated_enough(instrument: DelphiInstrument, round: int, context: InterviewContext) -> bool:
    """Return whether the panel ends after this round.

    It ends after its last round; with `rounds: auto` by the criteria that also end a discussion. That verdict is the
    main arm's and is pinned once, so that a late answer does not reopen a panel that was closed.
    """
    if round == instrument.most_rounds:
        return True
    if instrument.rounds != "auto" or round < FIRST_REVISION:
        return False
    verdict = context.pinned(f"exit/{round}", arm=context.main_arm)
    if verdict is None and context.arm.id == context.main_arm:
        rounds = [await _read_ratings(number, context) for number in range(2, round + 1)]
        verdict = await context.pin(f"exit/{round}", judge_rounds(rounds, instrument).model_dump(mode="json"))
    return bool(as_mapping(verdict).get("should_exit"))


async def _read_ratings(round: int, context: InterviewContext) -> Ratings:
    ratings: dict[str, dict[str, float]] = {}
    async for key, answer in context.answers(arm=context.main_arm, round=round):
        if answer.value is not None:
            ratings.setdefault(key.participant, {})[answer.item] = answer.value
    return ratings


def judge_rounds(rounds: Sequence[Ratings], instrument: DelphiInstrument) -> Exit:
    """Return whether a panel may end, and why.

    Args:
        rounds: The ratings of every round, from the first round of rating on.
        instrument: Holds the limits, and the IQR from which an item counts as agreed.
    """
    agreed_at = instrument.disagreement.consensus_iqr
    earlier = [{}, *rounds]
    standings = [_stand_of(now, before, agreed_at) for now, before in zip(rounds, earlier, strict=False)]
    return exit_after(standings, instrument.ending.limits)


def _stand_of(now: Ratings, before: Ratings, agreed_at: float) -> RoundStanding:
    """Return the share of items on which the panel agrees, and the share of ratings that each panelist kept."""
    from enquete.analysis.panel import iqr  # noqa: PLC0415 - no question waits for pandas

    agreed = []
    for item in {item for ratings in now.values() for item in ratings}:
        width = iqr([ratings[item] for ratings in now.values() if item in ratings])
        if width is not None:
            agreed.append(width <= agreed_at)

    kept = {}
    for panelist, ratings in now.items():
        rated_twice = ratings.keys() & before.get(panelist, {}).keys()
        if rated_twice:
            kept[panelist] = fmean(ratings[item] == before[panelist][item] for item in rated_twice)

    return RoundStanding(fmean(agreed) if agreed else None, frozenset(now), kept)
