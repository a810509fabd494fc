"""Positions of a round grouped by what they mean: by a model, at temperature 0, each with the words on which that
rests. The rule's groups, by words, stand beside them as a check. Where no model answers nothing is decided by either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field, JsonValue

from enquete.analysis.stopping import Exit, Limits, RoundStanding, exit_after
from enquete.graphs.roundtable.agreement import (
    MOST_CONFLICTS,
    Group,
    agreement,
    closed_object,
    clusters,
    confidences,
    together,
    voiced,
)
from enquete.graphs.roundtable.discussion import Discussion, Round
from enquete.graphs.roundtable.modes import STANCES, Response
from enquete.locale import N_, in_language, tell
from enquete.respondents.quoting import fence
from enquete.respondents.roles import RULE, Role
from enquete.state.asking import Language

MEANING = "meaning"
LEAST_QUOTE = 3
"""Words of a quote: fewer are found in anything."""
_WORDS = {
    "task": N_("Group the positions that were taken in a round of discussion by what they mean. It discusses: {topic}"),
    "said": N_("What each of them said"),
    "before": N_("Their positions of the round before"),
    "rules": N_(
        "group_of: for each number the number of its group. Two are in one group if who holds the one would sign the "
        "other: other words for the same are one, the same words denied are two, and a condition that the other "
        "rejects makes two. says: for each group its position in one sentence. quote_of: for each number the words of "
        "its own, copied exactly, that put it there. conflicts: what the groups contradict each other on, three at "
        "most, a sentence each. groupthink: whether objections are missing that the subject calls for. Confidence that "
        "people claim is no evidence."
    ),
    "unmoved": N_(
        "unmoved: for each number whether it still takes the position of the round before, by what is meant."
    ),
}


class PositionsSaid(BaseModel):
    """A round by the participants' stable numbers, so that nobody is judged by name. before: positions of the round
    before, of who took one then and now."""

    topic: str
    said: dict[str, Response]
    before: dict[str, str] = Field(default_factory=dict)


class PositionGroups(BaseModel):
    """group_of: number → its group's; says: group → its position; quote_of: number → its own words; unmoved: number →
    whether it still takes the position of the round before."""

    group_of: dict[str, int] = Field(default_factory=dict)
    says: dict[str, str] = Field(default_factory=dict)
    quote_of: dict[str, str] = Field(default_factory=dict)
    unmoved: dict[str, bool] = Field(default_factory=dict)
    conflicts: list[str] = Field(default_factory=list)
    groupthink: bool = False


def _prompt(data: PositionsSaid, language: Language) -> str:
    words = in_language(_WORDS, language)
    lines = "\n".join(f"[{number}] {_whole(r)}{_side(r, language)}" for number, r in data.said.items())
    parts = [words["task"].format(topic=data.topic), f"{words['said']}:\n{fence('round', lines)}"]
    if data.before:
        earlier = "\n".join(f"[{number}] {text}" for number, text in data.before.items())
        parts.append(f"{words['before']}:\n{fence('before', earlier)}")
    return "\n\n".join([*parts, words["rules"], *([words["unmoved"]] if data.before else [])])


def _side(response: Response, language: Language) -> str:
    return f" ({tell(STANCES[response.stance], language)})" if response.stance else ""


def _whole(response: Response) -> str:
    return " ".join(part for part in (response.position, response.reasoning, *response.key_points) if part)


def _schema(data: PositionsSaid) -> dict[str, JsonValue]:
    """With the numbers that exist: nobody is left out, nobody stands in two groups."""
    group: JsonValue = {"type": "integer", "minimum": 1, "maximum": len(data.said)}
    text: JsonValue = {"type": "string"}
    moved: dict[str, JsonValue] = (
        {"unmoved": closed_object({number: {"type": "boolean"} for number in data.before})} if data.before else {}
    )
    return closed_object({
        "group_of": closed_object(dict.fromkeys(data.said, group)),
        "says": {"type": "object", "additionalProperties": text},
        "quote_of": closed_object(dict.fromkeys(data.said, text)),
        **moved,
        "conflicts": {"type": "array", "items": text, "maxItems": MOST_CONFLICTS},
        "groupthink": {"type": "boolean"},
    })  # fmt: skip


def _checked(data: PositionsSaid, read: PositionGroups) -> PositionGroups | None:
    """A reply that leaves somebody out is not used; a quote that nobody said is dropped."""
    if read.group_of.keys() != data.said.keys() or not data.before.keys() <= read.unmoved.keys():
        return None
    quotes = {who: text for who, text in read.quote_of.items() if who in data.said and is_quoted(text, data.said[who])}
    groups = {str(group) for group in read.group_of.values()}
    says = {group: text for group, text in read.says.items() if group in groups}
    return read.model_copy(update={"quote_of": quotes, "says": says, "conflicts": read.conflicts[:MOST_CONFLICTS]})


def is_quoted(text: str, response: Response) -> bool:
    """Whether these are words of this answer, but for blanks, case and marks of quotation."""
    quote, whole = (" ".join(words.casefold().split()) for words in (text.strip(" \"'“”„«»….\n"), _whole(response)))
    enough = len(quote.split()) >= min(LEAST_QUOTE, len(response.position.split()))
    return bool(quote) and enough and quote in whole


GROUPER = Role(
    "group", _prompt, PositionGroups, lambda data: PositionGroups(), _schema, check=_checked, setting="group",
    max_output_tokens=1500, quick=True,
)  # fmt: skip
"""Nobody groups in its place: the rule's groups are a check."""


def groups_of(read: Mapping[str, Any], numbers: Mapping[str, int]) -> list[Group]:
    """Of a reading that is kept: participants who mean the same, the largest group first. numbers: of the
    participants."""
    who = {str(number): participant for participant, number in numbers.items()}
    camps = sorted((who[number], camp) for number, camp in read["camp_of"].items() if number in who)
    return together(dict(camps))


def kept_reading(
    data: PositionsSaid, read: PositionGroups, by: str, responses: Round, numbers: Mapping[str, int]
) -> dict[str, JsonValue]:
    """What is kept of a round: the model's groups with their agreement, by the formula of the rule's, and the rule's
    own beside them. differs: share of the pairs that the two put together otherwise. Of a round that no model read the
    rule's alone."""
    rule = clusters(responses)
    place = {who: number for number, group in enumerate(rule, 1) for who in group}
    check: dict[str, JsonValue] = {
        "agreement": agreement(responses), "camp_of": {str(numbers[who]): number for who, number in place.items()}
    }  # fmt: skip
    reading: dict[str, JsonValue] = {"basis": MEANING, "by": by, "rule": check}
    if by == RULE:
        return {**reading, "agreement": None, "camp_of": {}, "conflicts": []}
    voices = voiced(responses)
    side = {who: read.group_of[str(numbers[who])] for who in voices}
    differ = [(side[a] == side[b]) != (place[a] == place[b]) for a, b in combinations(voices, 2)]
    check["differs"] = fmean(differ) if differ else 0.0
    return {
        **reading, "agreement": agreement(responses, together({who: side[who] for who in sorted(voices)})),
        "camp_of": dict(read.group_of), "conflicts": list(read.conflicts), "groupthink": read.groupthink,
        "says": dict(read.says), "quotes": dict(read.quote_of),
        "unquoted": [number for number in data.said if number not in read.quote_of], "unmoved": dict(read.unmoved),
    }  # fmt: skip


def positions_said(topic: str, rounds: Sequence[Round], numbers: Mapping[str, int]) -> PositionsSaid:
    """The last of these rounds, of who took a position."""
    now, before = voiced(rounds[-1]), voiced(rounds[-2]) if len(rounds) > 1 else {}
    ordered = sorted(now, key=lambda who: numbers[who])
    return PositionsSaid(
        topic=topic, said={str(numbers[who]): now[who] for who in ordered},
        before={str(numbers[who]): before[who].position for who in ordered if who in before},
    )  # fmt: skip


def readings(talk: Discussion) -> list[Mapping[str, Any]]:
    """What is kept of the complete rounds, in their order; {} of one that was not read."""
    return [turn.weighed.analysed for turn in talk.turns if turn.weighed is not None]


def exit_by_meaning(
    rounds: Sequence[Round], read: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], limits: Limits
) -> Exit:
    """Whether it is over after the last of `rounds`, by the model's readings of them: a round that none has read agrees
    on nothing, and nobody in it stays; so without a model only the last round, or whoever leads the discussion, ends
    it."""
    standings = []
    for responses, reading in zip(rounds, read, strict=True):
        if reading.get("basis") != MEANING or reading["by"] == RULE:
            standings.append(RoundStanding(None, 0, {}))
            continue
        voices, unmoved = voiced(responses), reading.get("unmoved", {})
        kept = {who: float(unmoved[str(numbers[who])]) for who in voices if str(numbers[who]) in unmoved}
        sure = tuple(response.confidence for response in voices.values()) if confidences(responses) else ()
        standings.append(RoundStanding(reading["agreement"], len(voices), kept, sure))
    return exit_after(standings, limits)
