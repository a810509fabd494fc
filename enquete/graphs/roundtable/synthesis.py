"""A discussion summed up by a model: what is common, what differs, how it went, what follows; every point with the
turns that it rests on. Where no model answers the rule puts together what the decision holds, and judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from enquete.graphs.roundtable.agreement import closed_object
from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn
from enquete.locale import N_, in_language
from enquete.respondents.quoting import fence
from enquete.respondents.roles import Role
from enquete.state.asking import Language

MOST_CHARS = 40_000
"""Of the discussion, that a model is shown: reasons are left out from the first round on until it fits."""
MOST_POINTS = 6
_WORDS = {
    "task": N_("Sum up a discussion for somebody who has to decide and did not hear it. It discussed: {topic}"),
    "said": N_("What was said, turn by turn, each with its number in brackets"),
    "rules": N_(
        "common_ground: what all who spoke to it hold. differences: what they hold against each other, and on what "
        "that turns. evolution: who moved, on what, in at most three sentences. conclusion: what the group came to, in "
        "at most three sentences. recommendation: what to do next. turns: the numbers of the turns that a point rests "
        "on; a point without any is left out. confidence: 0 to 1, how far the discussion bears the conclusion; that "
        "participants are sure is no evidence. Add nothing that nobody said."
    ),
}


class Point(BaseModel):
    text: str
    turns: list[int] = Field(default_factory=list)


class DiscussionSynthesis(BaseModel):
    """confidence: None where nobody judged it."""

    common_ground: list[Point] = Field(default_factory=list)
    differences: list[Point] = Field(default_factory=list)
    evolution: str = ""
    conclusion: str = ""
    recommendation: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None


class TurnSaid(BaseModel):
    turn: int
    round: int
    who: str
    position: str
    points: tuple[str, ...] = ()
    reasons: str = ""


class DiscussionSaid(BaseModel):
    """A whole discussion, and what is put together of it where no model reads it."""

    topic: str
    turns: tuple[TurnSaid, ...]
    by_rule: DiscussionSynthesis


def said_in_full(
    topic: str, talk: Discussion, names: Mapping[str, str], by_rule: DiscussionSynthesis
) -> DiscussionSaid:
    """Of what was said to the group. names: as whom each is told, by id."""
    turns = [_turn(turn, names) for turn in talk.spoken if not turn.private and turn.response.position.strip()]
    for place, turn in enumerate(turns):
        if sum(map(_length, turns)) <= MOST_CHARS:
            break
        turns[place] = turn.model_copy(update={"reasons": ""})
    return DiscussionSaid(topic=topic, turns=tuple(turns), by_rule=by_rule)


def _turn(turn: RoundtableTurn, names: Mapping[str, str]) -> TurnSaid:
    said = turn.response
    return TurnSaid(
        turn=turn.turn, round=turn.round, who=names.get(turn.participant, turn.participant), position=said.position,
        points=said.key_points, reasons=said.reasoning,
    )  # fmt: skip


def _length(turn: TurnSaid) -> int:
    return len(turn.position) + len(turn.reasons) + sum(map(len, turn.points))


def _prompt(data: DiscussionSaid, language: Language) -> str:
    words = in_language(_WORDS, language)
    lines = "\n".join(
        f"[{one.turn}] ({one.round}) {one.who}: "
        f"{' '.join(part for part in (one.position, *one.points, one.reasons) if part)}"
        for one in data.turns
    )
    return "\n\n".join(
        [words["task"].format(topic=data.topic), f"{words['said']}:\n{fence('discussion', lines)}", words["rules"]]
    )


def _schema(data: DiscussionSaid) -> dict[str, JsonValue]:
    number: JsonValue = {"type": "integer", "enum": [one.turn for one in data.turns]}
    point = closed_object({"text": {"type": "string"}, "turns": {"type": "array", "items": number, "minItems": 1}})
    points: JsonValue = {"type": "array", "items": point, "maxItems": MOST_POINTS}
    texts: dict[str, JsonValue] = {name: {"type": "string"} for name in ("evolution", "conclusion", "recommendation")}
    share: JsonValue = {"type": "number", "minimum": 0, "maximum": 1}
    return closed_object({"common_ground": points, "differences": points, **texts, "confidence": share})


def _checked(data: DiscussionSaid, made: DiscussionSynthesis) -> DiscussionSynthesis | None:
    """Points without a turn that there was are left out; one without a conclusion is not used."""
    there = {one.turn for one in data.turns}

    def borne(points: list[Point]) -> list[Point]:
        kept = [one.model_copy(update={"turns": [turn for turn in one.turns if turn in there]}) for one in points]
        return [one for one in kept if one.turns and one.text.strip()][:MOST_POINTS]

    if not made.conclusion.strip():
        return None
    return made.model_copy(update={"common_ground": borne(made.common_ground), "differences": borne(made.differences)})


SYNTHESIST = Role(
    "synthesis", _prompt, DiscussionSynthesis, lambda data: data.by_rule, _schema, check=_checked,
    max_output_tokens=2000, quick=True
)  # fmt: skip
