"""A discussion summed up by a model: what is common, what differs, how it went, what follows; every point with the
turns that it rests on. Where no model answers the rule puts together what the decision holds, and judges nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.vocabulary import content_words
from enquete.graphs.roundtable.agreement import closed_object
from enquete.graphs.roundtable.discussion import Discussion, Document, RoundtableTurn
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
    turns = [_turn(turn, names) for turn in talk.public if turn.response.position.strip()]
    for place, turn in enumerate(turns):
        if sum(map(_length, turns)) <= MOST_CHARS:
            break
        turns[place] = turn.model_copy(update={"reasons": ""})
    return DiscussionSaid(topic=topic, turns=tuple(turns), by_rule=by_rule)


def _turn(turn: RoundtableTurn, names: Mapping[str, str]) -> TurnSaid:
    response = turn.response
    return TurnSaid(
        turn=turn.turn, round=turn.round, who=names.get(turn.participant, turn.participant), position=response.position,
        points=response.key_points, reasons=response.reasoning,
    )  # fmt: skip


def _length(turn: TurnSaid) -> int:
    return len(turn.position) + len(turn.reasons) + sum(map(len, turn.points))


def _prompt(data: DiscussionSaid, language: Language) -> str:
    words = in_language(_WORDS, language)
    lines = "\n".join(
        f"[{turn.turn}] ({turn.round}) {turn.who}: "
        f"{' '.join(part for part in (turn.position, *turn.points, turn.reasons) if part)}"
        for turn in data.turns
    )
    return "\n\n".join(
        [words["task"].format(topic=data.topic), f"{words['said']}:\n{fence('discussion', lines)}", words["rules"]]
    )


def _schema(data: DiscussionSaid) -> dict[str, JsonValue]:
    number: JsonValue = {"type": "integer", "enum": [turn.turn for turn in data.turns]}
    point = closed_object({"text": {"type": "string"}, "turns": {"type": "array", "items": number, "minItems": 1}})
    points: JsonValue = {"type": "array", "items": point, "maxItems": MOST_POINTS}
    texts: dict[str, JsonValue] = {name: {"type": "string"} for name in ("evolution", "conclusion", "recommendation")}
    share: JsonValue = {"type": "number", "minimum": 0, "maximum": 1}
    return closed_object({"common_ground": points, "differences": points, **texts, "confidence": share})


def _checked(data: DiscussionSaid, made: DiscussionSynthesis) -> DiscussionSynthesis | None:
    """Points without a turn that there was are left out; one without a conclusion is not used."""
    there = {turn.turn for turn in data.turns}

    def borne(points: list[Point]) -> list[Point]:
        kept = [point.model_copy(update={"turns": [turn for turn in point.turns if turn in there]}) for point in points]
        return [point for point in kept if point.turns and point.text.strip()][:MOST_POINTS]

    if not made.conclusion.strip():
        return None
    return made.model_copy(update={"common_ground": borne(made.common_ground), "differences": borne(made.differences)})


SYNTHESIST = Role(
    "synthesis", _prompt, DiscussionSynthesis, lambda data: data.by_rule, _schema, check=_checked,
    max_output_tokens=2000, quick=True
)  # fmt: skip


# --- On what each claim at a roundtable rests: posts that its speaker remembers, documents given, other turns, sources
# named; or on nothing but its being said.
#
# By words alone, which is said wherever it is shown: that a claim shares the words of a post is no proof that it
# follows from it.

Kind = Literal["post", "document", "turn", "source"]

SHARED, LEAST_SHARED = 0.5, 2
"""Share of a claim's or a citation's words that a passage holds, and how many at least, from which it is taken to be
meant."""
LONGEST_SHOWN = 300
_URL = re.compile(r"https?://[^\s<>\"')\]]+")
_MARK = re.compile(r"^-?\s*(?:\[P?\d+\]\s*)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Support(BaseModel):
    """What a claim rests on. said: the citation as it was given, "" where the claim's own words were found there;
    where: the title of a document, a turn's number, a URL; text: the passage."""

    model_config = ConfigDict(frozen=True)

    kind: Kind
    said: str = ""
    where: str = ""
    text: str = ""


class KeyPoint(BaseModel):
    """A key point, or the position where there is none. rests_on: () where it is only said."""

    model_config = ConfigDict(frozen=True)

    turn: int
    participant: str
    round: int
    claim: str
    rests_on: tuple[Support, ...]


def claims(
    talk: Discussion, names: Mapping[str, str], memories: Mapping[str, str | None], documents: Sequence[Document]
) -> Iterator[KeyPoint]:
    """Of everything that was said to the group. names, memories: of participants, by id. A citation that names no one
    claim stands with each of its answer."""
    public = talk.public
    for turn in public:
        heard = [other for other in public if other.turn < turn.turn and other.participant != turn.participant]
        known = _Known(turn, heard, names, memories.get(turn.participant) or "", documents)
        cited = [known.of_citation(text) for text in turn.response.citations]
        for text in turn.response.key_points or [turn.response.position]:
            if not text.strip():
                continue
            meant = [support for support in cited if _shares(text, support.said)] or cited
            yield KeyPoint(
                turn=turn.turn, participant=turn.participant, round=turn.round, claim=text,
                rests_on=tuple(dict.fromkeys((*meant, *known.of_claim(text)))),
            )  # fmt: skip


class _Known:
    """What the speaker of a turn could rest on."""

    def __init__(
        self, turn: RoundtableTurn, heard: Sequence[RoundtableTurn], names: Mapping[str, str], memory: str,
        documents: Sequence[Document],
    ):  # fmt: skip
        self.heard, self.names = heard, names
        self.posts = [_MARK.sub("", line) for line in memory.splitlines() if line.startswith("-")]
        self.passages = [(d.title, part) for d in documents for part in _SENTENCE.split(d.text) if part.strip()]
        self.documents = documents

    def of_citation(self, citation: str) -> Support:
        """By what it names, else by its words; a source of its own where nothing here has them."""
        for document in self.documents:
            if document.title.casefold() in citation.casefold():
                parts = (part for title, part in self.passages if title == document.title and _shares(citation, part))
                return Support(kind="document", said=citation, where=document.title, text=_short(next(parts, "")))
        for turn in reversed(self.heard):
            name, number = self.names.get(turn.participant, ""), rf"(?:Participant|Teilnehmer\w*) {turn.number}"
            if re.search(rf"\b(?:{re.escape(name)}|{number})\b" if name else rf"\b{number}\b", citation):
                return Support(kind="turn", said=citation, where=str(turn.turn), text=_short(turn.response.position))
        if url := _URL.search(citation):
            return Support(kind="source", said=citation, where=url[0])
        support = next(self.of_claim(citation), None)
        return support.model_copy(update={"said": citation}) if support else Support(kind="source", said=citation)

    def of_claim(self, text: str) -> Iterator[Support]:
        """The first passage of each kind that has its words."""
        for post in self.posts:
            if _shares(text, post):
                yield Support(kind="post", text=_short(post))
                break
        for title, part in self.passages:
            if _shares(text, part):
                yield Support(kind="document", where=title, text=_short(part))
                break
        for turn in self.heard:
            claims_made = (turn.response.position, *turn.response.key_points)
            if passage := next((claim for claim in claims_made if _shares(text, claim)), ""):
                yield Support(kind="turn", where=str(turn.turn), text=_short(passage))
                break


def _shares(text: str, passage: str) -> bool:
    words, there = content_words(text), content_words(passage)
    return len(words & there) >= max(LEAST_SHARED, SHARED * min(len(words), len(there) or 1))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
