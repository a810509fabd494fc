"""What a caller does with roundtables beside a run: begin one, go on with it, look at what was said.

Each is a folder under the root, with the runs that hold it and what was asked for. What was said stands in the ledgers
of its runs, of which each goes on from the one before. Replies are digests first, and never more than fits into one.

A discussion summed up by a model: what is common, what differs, how it went, what follows; every point with the
turns that it rests on. Where no model answers the rule puts together what the decision holds, and judges nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag
from pydantic_core import to_json

from enquete.analysis.vocabulary import content_words
from enquete.ledger.folders import NeverStarted, write_atomically
from enquete.locale import N_, in_language, tell
from enquete.methods.roundtable.agreement import (
    ACTIONS,
    LEVELS,
    FourLayers,
    agreement,
    closed_object,
    clusters,
    four_layers,
    likeness,
)
from enquete.methods.roundtable.discussion import (
    LEAST_SIZE,
    MOST_DOCUMENTS,
    MOST_ROUNDS,
    MOST_SIZE,
    Cast,
    Discussion,
    Document,
    RoundtableSettings,
    RoundtableTurn,
    Seat,
    Stage,
    Weighed,
    discussions,
)
from enquete.methods.roundtable.modes import STANCES
from enquete.methods.roundtable.stages import EXITS, ROUND, STAGES
from enquete.methods.roundtable.table import plain
from enquete.reports.views import render
from enquete.respondents.ledger_context import SWITCHED
from enquete.respondents.person import as_shown
from enquete.respondents.roles import Role, fence
from enquete.runs.conversations import ANSWERED
from enquete.runs.run_list import NamedRecords
from enquete.state.asking import Block, Language, Spoken
from enquete.state.errors import EnqueteError, InputError
from enquete.state.methodology import Operation, Port, RunSnapshot
from enquete.state.request import CHOSEN_ID, NO_KEY, ModelName, Name, Prose, TokenCap
from enquete.state.untrusted_input import authorship

# --- A discussion summed up by a model -------------------------------------------------------------------------------

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


# --- What a caller does with roundtables -----------------------------------------------------------------------------

FOLDER, FILE, PEOPLE = "roundtables", "roundtable.json", "participants.json"
LISTED = 50
PAGE = 8000
"""Characters of an export that one reply holds."""
MOST_CHARS_OF_A_REPLY = 10_000
CUTS: tuple[tuple[int, int], ...] = ((2000, 100), (600, 60), (250, 40), (120, 25), (60, 12), (30, 6))
"""(characters of a text, entries of a list): the first that makes a reply fit is taken."""
SHORTENED = "texts or lists were cut to fit; get_response_detail has one answer, export_roundtable everything"
SEPARATORS = ",;:"
"""What joins names in the settings: a name that holds one is given by its id."""
EVOLVED = N_("{n} of {total} participants grew more or less sure; what moved them is in get_thoughts.")
AS_ITSELF = N_(
    "No role is given to you: take part as the language model that you are, with your own knowledge and judgement."
)
STARTED = "started"
"""Of a run that has not stopped yet: begun just now, by an equal call at the same time, or cut off by a kill."""
NEXT: Mapping[str, str] = {
    "completed": N_(
        "The discussion is over: read it with get_consensus. continue_roundtable goes on with further rounds and a "
        "remark."
    ),
    "person": N_("{names} must answer: pass `answers` to continue_roundtable."),
    "word": N_("Between two rounds: continue_roundtable goes on, with a remark that all participants see or without."),
    "paused": N_("Paused: continue_roundtable goes on, with a larger budget_tokens where the budget was used up."),
    "awaiting_simulation": N_("The simulation has not completed: call continue_roundtable once it has."),
    "failed": N_("Something failed, which the note names: continue_roundtable takes it up again."),
    "started": N_("It is going on, or was cut off: look again, or go on with continue_roundtable."),
}

# --- what is asked ----------------------------------------------------------------------------------------------------


class InTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roundtable_id: Annotated[str, Field(pattern=CHOSEN_ID, description="chosen by you with start_roundtable")]


class Counselled(InTable):
    group: Annotated[str, Field(max_length=64, description="such as group_02; the first unless named")] = ""


class Rounded(Counselled):
    round: Annotated[
        Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | Literal["before", "after"] | None,
        Field(description="its number, or before or after: what was said privately; the last round unless named"),
    ] = None


class Detailed(Rounded):
    agent: Annotated[
        str, Field(min_length=1, max_length=200, description="who answered: name, id, or number within the group")
    ]


class Participating(Counselled):
    agent: Annotated[str, Field(min_length=1, max_length=200, description="name, id, or number within the group")]


class Cited(Counselled):
    round: Annotated[int | None, Field(ge=1, le=MOST_ROUNDS, description="its number; all unless named")] = None
    agent: Annotated[str, Field(max_length=200, description="only this participant's: name, id, or number")] = ""


class SynthesisArguments(Counselled):
    budget_tokens: Annotated[
        TokenCap, Field(description="cap on tokens of the whole discussion; as before unless named")
    ] = None


class Controlling(InTable):
    action: Annotated[
        Literal["pause", "resume", "ask", "end"],
        Field(
            description="pause: launch nothing more; resume: go on; ask: put a question before the next round; end: "
            "close it, with the private answers after it"
        ),
    ]
    question: Annotated[str, Field(max_length=4000, description="of ask: all participants see it")] = ""
    budget_tokens: Annotated[TokenCap, Field(description="cap on tokens; as before unless named")] = None
    confirm: Annotated[bool, Field(description="go on although the estimate exceeds the budget")] = False


class Exported(InTable):
    format: Annotated[Literal["markdown", "json"], Field(description="of the file")] = "markdown"
    offset: Annotated[int, Field(ge=0, le=10**9, description="where the text that is returned begins")] = 0


Cap = Annotated[TokenCap, Field(description="cap on tokens; the configured one unless named")]
Sure = Annotated[bool, Field(description="go on although the estimate exceeds the budget: it then pauses at the cap")]


class Guest(Seat):
    """Somebody who is no agent of a simulation: a free persona, a person (named in `people`, too), or a model that
    takes part as itself, without a persona."""

    persona: Annotated[Prose, Field(description="who they are, in prose")] = ""
    type: Annotated[str, Field(max_length=200, description="stakeholder type")] = "guest"


AgentSeat = Annotated[
    Annotated[Name, Tag("name")] | Annotated[Seat, Tag("seat")],
    Discriminator(lambda given: "name" if isinstance(given, str) else "seat"),
]


class Starting(InTable):
    question: Annotated[
        str, Field(min_length=1, max_length=2000, description="what is discussed; one that yes or no can answer")
    ]
    mode: Annotated[str, Field(max_length=200, description="how is discussed, as docs/roundtable.md names them")] = (
        "collaborative"
    )
    sim_id: Annotated[str, Field(max_length=200, description="simulation whose agents discuss")] = ""
    agents: Annotated[
        tuple[AgentSeat, ...],
        Field(
            max_length=MOST_SIZE,
            description="of the simulation: those who form one group, in the order of speaking; by name, or as an "
            "object with the model of the seat",
        ),
    ] = ()
    personas: Annotated[
        tuple[Guest, ...],
        Field(
            max_length=MOST_SIZE,
            description="one group of free personas, in place of a simulation or beside its `agents`; each may name "
            "its model",
        ),
    ] = ()
    documents: Annotated[
        tuple[Document, ...],
        Field(
            max_length=MOST_DOCUMENTS,
            description="what everybody is given to read, as data: title and text each",
            exclude_if=lambda documents: not documents,
        ),
    ] = ()
    people: Annotated[
        tuple[Name, ...],
        Field(
            max_length=MOST_SIZE,
            description="of those two: whose seat a person takes, who answers by continue_roundtable",
        ),
    ] = ()
    groups: Annotated[
        int, Field(ge=1, le=100, description="groups of a simulation's agents, where nobody is named")
    ] = 1
    size: Annotated[int, Field(ge=LEAST_SIZE, le=MOST_SIZE, description="participants of such a group")] = 5
    compose: Annotated[Literal["mixed", "type"], Field(description="such groups: across types, or of one type")] = (
        "mixed"
    )
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS, description="rounds at most")] = 3
    agreement: Annotated[
        Literal["words", "meaning"],
        Field(
            description="what decides which positions are one, and so when it ends: their words by a rule, or what "
            "they mean, as a model reads them, with the rule as a check",
            exclude_if=lambda agreement: agreement == "words",
        ),
    ] = "words"
    private: Annotated[bool, Field(description="ask everybody alone before and after")] = True
    steering: Annotated[
        bool, Field(description="wait after every round for continue_roundtable, with a remark or without")
    ] = False
    language: Annotated[Spoken, Field(description="of the discussion")] = "en"
    model: Annotated[
        ModelName,
        Field(
            description="that answers for seats without one; the configured one unless named, or where all seats name "
            "one, the first's",
        ),
    ] = ""
    synthetic: Annotated[bool, Field(description="the built-in synthetic participants: free, for trying out")] = False
    cast: Annotated[Cast, Field(description="what is planted in synthetic participants")] = "mixed"
    budget_tokens: Cap = None
    confirm: Sure = False

    @property
    def seats(self) -> list[Seat]:
        """Who is named, in the order of speaking: agents, then personas."""
        return [*(Seat(name=seat) if isinstance(seat, str) else seat for seat in self.agents), *self.personas]


class Continuing(InTable):
    remark: Annotated[
        str,
        Field(
            max_length=4000, description="of whoever leads the discussion, between two rounds: all participants see it"
        ),
    ] = ""
    answers: Annotated[
        Mapping[str, dict[str, JsonValue]],
        Field(description="of persons at the table, as `waiting_for` asks: name → item → answer"),
    ] = {}
    rounds: Annotated[int, Field(ge=0, le=MOST_ROUNDS, description="further rounds, once it is over; 0: one")] = 0
    budget_tokens: Cap = None
    confirm: Sure = False


class Listing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(max_length=200, description="only those whose name or question holds it")] = ""


# --- on disk ----------------------------------------------------------------------------------------------------------


class RoundtableRecord(BaseModel):
    """What is known of a roundtable beside its runs. `asked`: the arguments it was started with; `replaced`: runs that
    a later one went on from."""

    id: str
    question: str
    mode: str
    begun_at: str
    sim_id: str = ""
    language: str = "en"
    asked: dict[str, JsonValue] = {}
    replaced: list[str] = []


@dataclass(frozen=True)
class OpenTable:
    """A roundtable, with its current run; None before that was begun."""

    kept: RoundtableRecord
    folder: Path
    standing: RunSnapshot | None

    @property
    def sim(self) -> str | Path:
        return self.kept.sim_id or self.folder / PEOPLE

    @property
    def held(self) -> RunSnapshot:
        """The current run. Raises InputError before there is one."""
        if self.standing is None:
            raise InputError(
                f"{self.kept.id}: the discussion has not begun; call start_roundtable again with the same arguments"
            )
        return self.standing

    @property
    def authorship(self) -> dict[str, JsonValue]:
        """Who answers. Persons at the table are none of the respondent's answers."""
        run = self.held
        behind = [run.respondent, *("human" for _ in self.settings.persons)]
        return {**authorship(run.respondent, ", ".join(self.models), run.language, behind=behind)}

    @property
    def models(self) -> list[str]:
        """Those that have seats, and answer: the first that each names, or took the place of that."""
        if not self.settings.seats:
            return [self.held.model]
        spoken = [self.model_of(turn) for talk in self.groups for turn in talk.spoken if not self.is_person(turn)]
        named = [seat.in_order[0].label(self.held.model) for seat in self.settings.seats]
        return list(dict.fromkeys(spoken or named))

    def model_of(self, turn: RoundtableTurn) -> str:
        """Which model said this."""
        return turn.by.get(ANSWERED) or self.held.model

    @property
    def switches(self) -> list[JsonValue]:
        """Where a model was given up for the one that stood by for it, and why."""
        pinned = self.held.pinned
        switches: list[Any] = [pinned[name] for name in sorted(pinned) if name.startswith(SWITCHED)]
        return [{"name": self.name(switch["participant"]), **switch} for switch in switches]

    def is_person(self, turn: RoundtableTurn) -> bool:
        return not {turn.participant, self.name(turn.participant)}.isdisjoint(self.settings.persons)

    def is_by(self, agent: str, turn: RoundtableTurn) -> bool:
        """agent: a name, an id, or a number."""
        return agent in (turn.participant, self.name(turn.participant), str(turn.number))

    @property
    def settings(self) -> RoundtableSettings:
        settings: RoundtableSettings = self.held.settings
        return settings

    @property
    def groups(self) -> Sequence[Discussion]:
        return [talk for talk in discussions(self.held.pinned, self.settings.mode) if talk.seated]

    @property
    def wordless(self) -> list[Discussion]:
        """Groups that wait for a word of whoever leads the discussion."""
        pinned, steering = self.held.pinned, self.settings.steering
        return [talk for talk in self.groups if steering and talk.between and talk.word_name not in pinned]

    def group(self, unit: str) -> Discussion:
        """The one of this name; "": the first. Raises InputError."""
        groups = {talk.unit: talk for talk in self.groups}
        if not groups:
            raise InputError(f"{self.kept.id}: no group has been seated yet; see its status in list_roundtables")
        if unit and unit not in groups:
            raise InputError(f"no group {unit!r} in {self.kept.id}; there are {', '.join(groups)}")
        return groups[unit or next(iter(groups))]

    def name(self, who: str) -> str:
        return self.held.names.get(who, who)

    # --- as it is told -----------------------------------------------------------------------------------------------

    def told(self) -> dict[str, JsonValue]:
        """Where it stands: each group's decision, who or what it waits for, and what to do next."""
        run, wordless = self.held, self.wordless
        why = ("person" if run.forms else "word") if run.status == "waiting" else run.status
        names = ", ".join(dict.fromkeys(self.name(block.key.participant) for block in run.forms))
        return fitted({
            "roundtable_id": self.kept.id, "status": run.status, "note": run.note if run.status != "completed" else "",
            "question": self.kept.question, "mode": self.settings.mode, "run_id": run.run, **self.authorship,
            "groups": [self.digest(talk) for talk in self.groups],
            "waiting_for": [self._form(block) for block in run.forms],
            **({"switched": self.switches} if self.switches else {}),
            "waiting_for_word": [talk.unit for talk in wordless],
            "next": tell(NEXT.get(why, NEXT["paused"]), run.language).format(names=names),
        })  # fmt: skip

    def _form(self, block: Block) -> dict[str, JsonValue]:
        """What a person has yet to fill in."""
        items = tuple(item.model_copy(update={"id": plain(item.id)}) for item in block.items)
        shown = as_shown(block.model_copy(update={"items": items}))
        return {"participant": self.name(block.key.participant), "group": block.key.session, **shown}

    def digest(self, talk: Discussion) -> dict[str, JsonValue]:
        layers = self.four_layers(talk)
        return {
            "group": talk.unit, "participants": [self.name(who) for who in talk.participants],
            "rounds": layers.metadata.rounds, "over": talk.over, "exit_reason": layers.metadata.exit_reason,
            **self._decision(layers),
        }  # fmt: skip

    def layers(self, talk: Discussion) -> dict[str, Any]:
        """The four layers, with the names of participants."""
        layers = self.four_layers(talk)
        told: dict[str, Any] = {**layers.model_dump(mode="json"), "decision": self._decision(layers)}
        weighed = next((turn.weighed for turn in reversed(talk.turns) if turn.weighed), None)
        if weighed is not None and weighed.by_meaning:
            told["evidence"]["by_meaning"] = self.meaning(talk, weighed)
        for response in told["agent_responses"]:
            response["name"] = self.name(response["participant"])
        return told

    def meaning(self, talk: Discussion, weighed: Weighed) -> dict[str, JsonValue]:
        """How a model grouped a round by what positions mean, with the words it quotes, and the rule's check beside
        it."""
        read: Mapping[str, Any] = weighed.analysed
        names = {str(turn.number): self.name(turn.participant) for turn in talk.spoken}
        groups: dict[str, list[str]] = {}
        for number, camp in read["camp_of"].items():
            groups.setdefault(str(camp), []).append(number)
        camps: list[JsonValue] = [
            {"position": read.get("says", {}).get(camp, ""), "held_by": [names[number] for number in members],
             "quotes": {names[number]: read["quotes"][number] for number in members if number in read.get("quotes",
                 {})}}
            for camp, members in groups.items()
        ]  # fmt: skip
        rule = read["rule"]
        return {
            "by": read["by"], "agreement": read["agreement"], "groups": camps,
            "rule": {"agreement": rule["agreement"], "positions": len(set(rule["camp_of"].values())),
                "differs": rule.get("differs")},
        }  # fmt: skip

    def four_layers(self, talk: Discussion) -> FourLayers:
        return four_layers(talk, self.held.language, self.settings.played.mode)

    def _decision(self, layers: FourLayers) -> dict[str, JsonValue]:
        """With the names of who holds it and who does not."""
        decision = layers.decision
        held, others = ([self.name(who) for who in group] for group in (decision.held_by, decision.not_held_by))
        return {**decision.model_dump(mode="json"), "held_by": [*held], "not_held_by": [*others]}

    def brief(self, turn: RoundtableTurn) -> dict[str, JsonValue]:
        """One answer in a few lines."""
        response = turn.response
        return {
            **self.speaker(turn), "stance": response.stance, "confidence": response.confidence,
            "position": response.position, "key_points": list(response.key_points),
            "violations": len(response.violations),
        }  # fmt: skip

    def detail(self, turn: RoundtableTurn) -> dict[str, JsonValue]:
        """One answer in full. slips: what the first answer did not keep to, where it was asked for once more."""
        return {
            **self.speaker(turn), "round": turn.stage, "status": turn.status,
            **turn.response.model_dump(mode="json"), "retried": turn.retried,
            "slips": [slip.model_dump(mode="json") for slip in turn.slips],
            "ratings": dict(turn.ratings), "ranking": list(turn.ranking),
        }  # fmt: skip

    def speaker(self, turn: RoundtableTurn) -> dict[str, JsonValue]:
        role, by_person = self.settings.played.mode.roles.get(turn.role), self.is_person(turn)
        return {
            "participant": turn.participant, "name": self.name(turn.participant), "number": turn.number,
            "role": role.label.in_(self.held.language) if role else turn.role,
            "answered_by": "person" if by_person else "agent",
            **({"model": self.model_of(turn)} if self.settings.seats and not by_person else {}),
        }  # fmt: skip


class RoundtableStore(NamedRecords[RoundtableRecord]):
    """Raises InputError for a roundtable that there is not."""

    place, file, record = FOLDER, FILE, RoundtableRecord
    kind, begun_with = "roundtable", "start_roundtable"

    def find(self, id: str) -> OpenTable | None:
        kept, folder = self.read(id), self.folder(id)
        return OpenTable(kept, folder, self._current(kept, folder)) if kept else None

    def _current(self, kept: RoundtableRecord, folder: Path) -> RunSnapshot | None:
        """The run that no other has gone on from; one that was killed before it asked anybody is none."""
        runs = [run for run in self._port.runs(str(folder)) if run not in kept.replaced]
        for run in reversed([*kept.replaced[-1:], *runs]):
            try:
                return self._port.look(str(folder), run)
            except NeverStarted:
                continue
        return None

    def table(self, id: str) -> OpenTable:
        return self.required(id, self.find)


# --- replies ----------------------------------------------------------------------------------------------------------


def fitted(whole: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """All of it, or with its texts and lists cut until it fits, which is then said."""
    shorter = dict(whole)
    for chars, entries in CUTS:
        if len(json.dumps(shorter, ensure_ascii=False)) <= MOST_CHARS_OF_A_REPLY:
            break
        cut: Any = _cut(whole, chars, entries)
        shorter = {**cut, "shortened": SHORTENED}
    return shorter


def _cut(value: JsonValue | Mapping[str, JsonValue], chars: int, entries: int) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= chars else f"{value[: chars - 1]}…"
    if isinstance(value, Mapping):
        return {key: _cut(part, chars, entries) for key, part in value.items()}
    if isinstance(value, list):
        more = [f"… {len(value) - entries} more"] if len(value) > entries and isinstance(value[0], str) else []
        return [*(_cut(part, chars, entries) for part in value[:entries]), *more]
    return value


# --- what was said ----------------------------------------------------------------------------------------------------


def stages(talk: Discussion) -> list[Stage]:
    """Those that somebody has spoken in, in their order."""
    return list(dict.fromkeys(turn.stage for turn in talk.spoken))


def said_in(talk: Discussion, stage: Stage | None) -> tuple[Stage, list[RoundtableTurn]]:
    """None: in the last round, else privately before. Raises InputError where nobody has spoken in it."""
    known = stages(talk)
    last: Stage = next((stage for stage in reversed(known) if isinstance(stage, int)), "before")
    stage = last if stage is None else stage
    turns = [turn for turn in talk.spoken if turn.stage == stage]
    if not turns:
        there = ", ".join(map(str, known)) or "none yet"
        raise InputError(f"nobody has spoken in round {stage} of {talk.unit}; rounds there are: {there}")
    return stage, turns


def remark_of(talk: Discussion, stage: Stage) -> str:
    return "\n".join(remark.answer for remark in talk.remarks if remark.round == stage and remark.answer)


def _looked_at(port: Port, asked: Counselled) -> tuple[OpenTable, Discussion]:
    """The roundtable, and which of its groups. Raises InputError."""
    table = RoundtableStore(port).table(asked.roundtable_id)
    return table, table.group(asked.group)


async def get_consensus(port: Port, asked: Counselled) -> dict[str, JsonValue]:
    """What a roundtable came to, in four layers: the decision and how to take it, each participant's answer in brief,
    on what it rests (conflicts, citations, groupthink), and how it came about."""
    table, talk = _looked_at(port, asked)
    others: list[JsonValue] = [table.digest(each) for each in table.groups if each.unit != talk.unit]
    return fitted({
        "roundtable_id": table.kept.id, "status": table.held.status, "question": table.kept.question,
        "group": talk.unit, **table.authorship, **table.layers(talk), "other_groups": others,
    })  # fmt: skip


async def get_round_details(port: Port, asked: Rounded) -> dict[str, JsonValue]:
    """One round of a group: how far it agreed, why it ended there, the remark before it, and everybody's answer in
    brief."""
    table, talk = _looked_at(port, asked)
    stage, turns = said_in(talk, asked.round)
    weighed = next((turn.weighed for turn in turns if turn.weighed is not None), None)
    by_meaning = {"by_meaning": table.meaning(talk, weighed)} if weighed and weighed.by_meaning else {}
    responses = {turn.participant: turn.response for turn in turns}
    return fitted({
        "roundtable_id": table.kept.id, "group": talk.unit, "round": stage, "rounds": list(stages(talk)),
        **table.authorship, "agreement": agreement(responses), "positions": len(clusters(responses)),
        "remark": remark_of(talk, stage), **by_meaning, "weighed": weighed.model_dump(mode="json") if weighed else None,
        "missing": [table.name(who) for who in talk.participants if who not in responses],
        "responses": [table.brief(turn) for turn in turns],
    })  # fmt: skip


async def get_response_detail(port: Port, asked: Detailed) -> dict[str, JsonValue]:
    """One participant's answer in one round in full: reasoning, the mode's own parts, citations, and what it did not
    keep to."""
    table, talk = _looked_at(port, asked)
    run, (stage, turns) = table.held, said_in(talk, asked.round)
    for turn in turns:
        if table.is_by(asked.agent, turn):
            by = ("human", "person") if table.is_person(turn) else (run.respondent, table.model_of(turn))
            about = {"roundtable_id": table.kept.id, "group": talk.unit, **authorship(*by, run.language)}
            return fitted({**about, **table.detail(turn)})
    names = ", ".join(f"{table.name(turn.participant)} ({turn.number})" for turn in turns)
    raise InputError(f"nobody called {asked.agent!r} spoke in round {stage} of {talk.unit}; who did: {names}")


async def export_roundtable(port: Port, asked: Exported) -> dict[str, JsonValue]:
    """Write everything that was said, with the decisions, to a Markdown or JSON file beside the runs, and return its
    beginning (offset: where to read on)."""
    table = RoundtableStore(port).table(asked.roundtable_id)
    run, mode, markdown = table.held, table.settings.played.mode, asked.format == "markdown"
    whole: dict[str, Any] = {
        "roundtable_id": table.kept.id, "question": table.kept.question, "mode": table.settings.mode,
        "language": run.language, "begun_at": table.kept.begun_at, "status": run.status, **table.authorship,
        "runs": [*(earlier for earlier in table.kept.replaced if earlier != run.run), run.run],
        "groups": [_group(table, talk) for talk in table.groups],
    }  # fmt: skip
    if markdown:
        labels: dict[Any, str] = {stage: tell(label, run.language) for stage, label in STAGES.items()}
        labels |= {n: tell(ROUND, run.language).format(round=n) for n in range(1, MOST_ROUNDS + 1)}
        text = render(
            "enquete.methods.roundtable:export.md.j2", run.language, **whole, labels=labels,
            mode_title=mode.title.in_(run.language), titles=mode.titles(run.language), exits=EXITS, levels=LEVELS,
            actions=ACTIONS, stances=STANCES,
        )  # fmt: skip
    else:
        text = to_json(whole, indent=1).decode() + "\n"
    file = table.folder / "exports" / f"{table.kept.id}.{'md' if markdown else 'json'}"
    write_atomically(file, text)
    if asked.offset > len(text):
        raise InputError(f"offset: {asked.offset} lies beyond the end; the text has {len(text)} characters")
    end = min(asked.offset + PAGE, len(text))
    return {
        "roundtable_id": table.kept.id, "file": file.relative_to(port.root).as_posix(), "characters": len(text),
        **table.authorship, "text": text[asked.offset : end], "next_offset": end if end < len(text) else None,
    }  # fmt: skip


def _group(table: OpenTable, talk: Discussion) -> dict[str, Any]:
    """Its decision, and every stage with the remark before it, how far it agreed, who said what."""
    rounds = []
    for stage in stages(talk):
        _, turns = said_in(talk, stage)
        rounds.append({
            "round": stage, "remark": remark_of(talk, stage),
            "agreement": agreement({turn.participant: turn.response for turn in turns}),
            "turns": [table.detail(turn) for turn in turns],
        })  # fmt: skip
    people = [{"participant": who, "name": table.name(who)} for who in talk.participants]
    return {"group": talk.unit, "participants": people, "consensus": table.layers(talk), "rounds": rounds}


# --- beginning and going on -------------------------------------------------------------------------------------------


async def start_roundtable(port: Port, asked: Starting) -> dict[str, JsonValue]:
    """Let participants discuss a question, and return each group's decision and what to do next. The participants are
    agents of a simulation, free personas, or persons: then it returns at once with status waiting and what they are
    asked."""
    tables = RoundtableStore(port)
    _require_seats(asked)
    async with port.alone(str(tables.folder(asked.roundtable_id))):
        table = await _started(port, tables, asked)
    if table.held.status == STARTED:
        await _drive(port, table, asked)
    return tables.table(asked.roundtable_id).told()


async def _started(port: Port, tables: RoundtableStore, asked: Starting) -> OpenTable:
    """The roundtable of this name, with a run; begun where there is none. Raises InputError where it is another one."""
    table = tables.find(asked.roundtable_id)
    given = asked.model_dump(mode="json", exclude={"roundtable_id", "budget_tokens", "confirm"})
    if table is not None and table.kept.asked != given:
        raise InputError(
            f"{asked.roundtable_id}: there is one on other terms; choose another roundtable_id, or go on with it by "
            f"continue_roundtable"
        )
    if table is not None and table.standing is not None:
        return table
    record = RoundtableRecord(
        id=asked.roundtable_id, question=asked.question, mode=asked.mode,
        begun_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", sim_id=asked.sim_id, language=asked.language, asked=given,
    )  # fmt: skip
    tables.keep(asked.roundtable_id, record)
    folder = tables.folder(asked.roundtable_id)
    try:
        await _begin(port, asked, folder, _seating(asked, folder))
    except EnqueteError:  # nobody was asked: it may be begun otherwise
        tables.drop(asked.roundtable_id)
        raise
    return tables.table(asked.roundtable_id)


def _require_seats(asked: Starting) -> None:
    """Raises InputError, saying what would do."""
    if not (asked.sim_id or asked.personas):
        raise InputError("who discusses? Name either sim_id (its agents) or personas")
    if asked.agents and not asked.sim_id:
        raise InputError("agents: they are a simulation's; name its sim_id, or list everybody in personas")
    if asked.sim_id and asked.personas and not asked.agents:
        raise InputError(
            "who discusses? Name either sim_id (its agents) or personas; or both with `agents`, at whose table the "
            "personas sit"
        )
    named = [seat.name for seat in asked.seats]
    if named and len(set(named)) < max(LEAST_SIZE, len(named)):
        raise InputError(
            f"a group has {LEAST_SIZE} to {MOST_SIZE} participants of different names; got {', '.join(named)}"
        )
    if unknown := [name for name in asked.people if name not in named]:
        raise InputError(f"people: {', '.join(unknown)} not among agents or personas; name them there, too")
    if unfit := [name for name in named if not _fits(name)]:
        raise InputError(f"{unfit[0]!r}: a name without commas, semicolons and (but in ids, agent:…) colons, please")
    for guest in asked.personas:
        if not (guest.persona or guest.model or guest.name in asked.people):
            raise InputError(
                f"personas: say in prose who {guest.name} is, name them in people, or name the model that takes part"
            )
    modelled = [seat.name for seat in asked.seats if seat.in_order]
    if human := [name for name in modelled if name in asked.people]:
        raise InputError(f"{human[0]}: a person's seat has no model; leave it out of people, or the model out")
    if modelled and asked.synthetic:
        raise InputError(f"synthetic: the seat of {modelled[0]} names a model; leave one of them out")


def _fits(name: str) -> bool:
    return not any(sign in name for sign in SEPARATORS[: 2 if name.startswith("agent:") else 3])


def _seating(asked: Starting, folder: Path) -> dict[str, Any]:
    """The settings that say who sits where; personas are filed as a population."""
    if asked.personas and not asked.sim_id:
        (folder / PEOPLE).write_text(json.dumps(_guests(asked), ensure_ascii=False), "utf-8")
    named = [seat.name for seat in asked.seats]
    if named:
        seats = [
            seat.model_dump(mode="json", exclude={"persona", "type"}, exclude_defaults=True)
            for seat in asked.seats if seat.in_order
        ]  # fmt: skip
        return {
            "compose": "hand", "members": ", ".join(named), "size": len(named), **({"seats": seats} if seats else {}),
        }  # fmt: skip
    return {"compose": asked.compose, "groups": asked.groups, "size": asked.size}


def _guests(asked: Starting) -> list[dict[str, str]]:
    """Whose seat is a bare model's gets no role to play."""
    alone = tell(AS_ITSELF, asked.language)
    return [
        {"name": guest.name, "persona": guest.persona or (alone if guest.model else "–"), "type": guest.type}
        for guest in asked.personas
    ]


def _answering(asked: Starting) -> dict[str, Any]:
    """The run's model: who does the interviewer's work, and answers for seats that name none."""
    if asked.synthetic:
        return {"respondent": "synthetic"}
    if asked.model:
        return {"model": asked.model}
    seats = [seat for seat in asked.seats if seat.name not in asked.people]
    if not seats or any(not seat.model for seat in seats):
        return {}
    first = seats[0]
    if not (first.base_url or first.key_variable):
        return {"model": first.model}
    server = {"base_url": first.base_url} if first.base_url else {}
    return {"model": first.model, **server, "key_variable": first.key_variable or NO_KEY}


async def _begin(port: Port, asked: Starting, folder: Path, settings: dict[str, Any]) -> None:
    discussion = {
        "mode": asked.mode, "question": asked.question, "rounds": asked.rounds, "private": asked.private,
        **({"documents": [document.model_dump() for document in asked.documents]} if asked.documents else {}),
        **({"agreement": asked.agreement} if asked.agreement != "words" else {}),
        "steering": asked.steering, "people": "; ".join(asked.people), "cast": asked.cast, **settings,
    }  # fmt: skip
    given: dict[str, Any] = {"settings": {__package__.rpartition(".")[2]: discussion}, "language": asked.language}
    if asked.agents:
        given["agents"] = [agent if isinstance(agent, str) else agent.name for agent in asked.agents]
    if asked.sim_id and asked.personas:
        given["guests"] = _guests(asked)
    given |= _answering(asked)
    sim: str | Path = asked.sim_id or folder / PEOPLE
    await port.begin(sim, out=str(folder), budget_tokens=asked.budget_tokens, confirm=asked.confirm, **given)


async def _drive(port: Port, table: OpenTable, asked: Starting | Continuing | Controlling) -> None:
    run = table.held
    await port.resume(
        table.sim, run.run, out=str(table.folder), budget_tokens=asked.budget_tokens, confirm=asked.confirm,
        retry_failed=run.status == "failed",
    )  # fmt: skip


async def continue_roundtable(port: Port, asked: Continuing) -> dict[str, JsonValue]:
    """Go on with a roundtable: persons' answers, a remark between two rounds that all participants see, a larger
    budget, or further rounds once it is over. Nothing is asked or paid for twice."""
    tables = RoundtableStore(port)
    tables.table(asked.roundtable_id)
    async with port.alone(str(tables.folder(asked.roundtable_id))):
        table = tables.table(asked.roundtable_id)
        if table.held.status == "completed":
            await _begin_further(port, tables, table, asked)
        elif not (table.held.status == STARTED and table.settings.earlier):
            await _answered(port, table, asked)
    await _drive(port, tables.table(asked.roundtable_id), asked)
    return tables.table(asked.roundtable_id).told()


async def _answered(port: Port, table: OpenTable, asked: Continuing) -> None:
    """What a discussion that is not over has waited for. Raises InputError."""
    run, place = table.held, {"out": str(table.folder)}
    if asked.rounds:
        raise InputError("rounds: the discussion is not over yet; go on without them, and ask for further ones then")
    for name, answers in asked.answers.items():
        submitted = [given for who, given in run.submitted.items() if table.name(who) == name]
        if answers not in [{plain(item): answer for item, answer in given.items()} for given in submitted]:
            await port.submit(table.sim, run.run, _by_item(table, name, answers), who=_waiting(table, name), **place)
    due = table.wordless
    if asked.remark and any(run.pinned.get(talk.word_name) == asked.remark for talk in table.groups):
        return  # the round that it precedes is going on: the call is made again after it was cut short
    if asked.remark and not due:
        raise InputError(
            "remark: the discussion is not between two rounds. Start with steering=true to have it wait there, or give "
            "the remark once it is over, with further rounds"
        )
    for talk in due:
        await port.pin(table.sim, run.run, talk.word_name, asked.remark, **place)


def _waiting(table: OpenTable, name: str) -> str:
    """The id of a person of whom something is asked. Raises InputError."""
    waited = {table.name(block.key.participant): block.key.participant for block in table.held.forms}
    if name not in waited:
        raise InputError(f"answers: nothing is asked of {name!r}; waited for: {', '.join(waited) or 'nobody'}")
    return waited[name]


def _by_item(table: OpenTable, name: str, answers: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """By the ids of the form; an item that is left out counts as refused. Raises InputError."""
    who = _waiting(table, name)
    block = next(block for block in table.held.forms if block.key.participant == who)
    items = {plain(item.id): item.id for item in block.items}
    if unknown := [item for item in answers if item not in items]:
        raise InputError(f"answers: {name} is not asked for {', '.join(unknown)}; items are {', '.join(items)}")
    return {items[item]: given for item, given in answers.items()}


async def _begin_further(port: Port, tables: RoundtableStore, table: OpenTable, asked: Continuing) -> None:
    """A run of its own, which begins with what was said so far and the remark. Raises InputError."""
    if asked.answers:
        raise InputError(f"{asked.roundtable_id}: the discussion is over and waits for nobody; leave answers out")
    held = {talk.unit: (*talk.turns, talk.steered(asked.remark)) for talk in table.groups}
    earlier = {
        unit: [turn.model_dump(mode="json", exclude_defaults=True) for turn in turns] for unit, turns in held.items()
    }
    if not earlier:
        raise InputError(f"{asked.roundtable_id}: no group has discussed; there is nothing to go on with")
    rounds = max(talk.held for talk in table.groups) + (asked.rounds or 1)
    if rounds > MOST_ROUNDS:
        raise InputError(
            f"rounds: a discussion has at most {MOST_ROUNDS}, of which {rounds - (asked.rounds or 1)} were held"
        )
    on_these = {**asked.model_dump(include={"roundtable_id", "budget_tokens", "confirm"}), "rounds": rounds}
    started = Starting.model_validate({**table.kept.asked, **on_these})
    settings = {
        "compose": "hand", "size": max(len(talk.participants) for talk in table.groups),
        "members": "; ".join(", ".join(talk.participants) for talk in table.groups), "earlier": earlier,
    }  # fmt: skip
    tables.keep(asked.roundtable_id, table.kept.model_copy(update={"replaced": [*table.kept.replaced, table.held.run]}))
    try:
        await _begin(port, started, table.folder, settings)
    except EnqueteError:
        tables.keep(asked.roundtable_id, table.kept)
        raise


# --- what a discussion comes to, on what it rests, and who leads it ---------------------------------------------------


async def get_thoughts(port: Port, asked: Participating) -> dict[str, JsonValue]:
    """How one participant thought from round to round, privately before and after too: position, reasons, stance and
    confidence, where it moved, and which argument moved it."""
    table, talk = _looked_at(port, asked)
    turns = [turn for turn in talk.spoken if turn.participant == _participant(table, talk, asked.agent)]
    thoughts: list[JsonValue] = []
    before: RoundtableTurn | None = None
    for turn in turns:
        response = turn.response
        kept = likeness(before.response, response) if before is not None else None
        thoughts.append({
            "round": turn.stage, "stance": response.stance, "confidence": response.confidence,
            "position": response.position, "reasoning": response.reasoning, "key_points": list(response.key_points),
            "sections": dict(response.sections),
            **({"model": table.model_of(turn)} if table.settings.seats else {}), "likeness_to_own_last": kept,
            "another_stance": bool(before and response.stance and response.stance != before.response.stance),
        })  # fmt: skip
        before = turn
    return fitted({
        "roundtable_id": table.kept.id, "group": talk.unit, **table.authorship,
        **(table.speaker(turns[0]) if turns else {}),
        "confidence": {str(turn.stage): turn.response.confidence for turn in turns},
        "stances": {str(turn.stage): turn.response.stance for turn in turns},
        "moved_by": next(filter(None, (turn.response.sections.get("moved_by") for turn in turns)), ""),
        "thoughts": thoughts,
    })  # fmt: skip


async def get_citations(port: Port, asked: Cited) -> dict[str, JsonValue]:
    """On what each claim rests: posts that its speaker remembers, documents given, other turns, sources named; or on
    nothing. Matched by words."""
    table, talk = _looked_at(port, asked)
    run = table.held
    who = _participant(table, talk, asked.agent) if asked.agent else ""
    known = [
        claim
        for claim in claims(talk, run.names, run.memories, table.settings.documents)
        if who in ("", claim.participant) and asked.round in (None, claim.round)
    ]
    kinds = Counter[str](support.kind for claim in known for support in claim.rests_on)
    cited = Counter(
        (support.kind, support.where, support.said) for claim in known for support in claim.rests_on if support.said
    )
    told: list[JsonValue] = [
        {"name": table.name(claim.participant), "round": claim.round, "turn": claim.turn, "claim": claim.claim,
         "rests_on": [support.model_dump(exclude_defaults=True) for support in claim.rests_on]}
        for claim in known
    ]  # fmt: skip
    return fitted({
        "roundtable_id": table.kept.id, "group": talk.unit, **table.authorship, "matched_by": "words",
        "claims": len(known), "only_said": sum(not claim.rests_on for claim in known), "kinds": {**kinds},
        "citations": [
            {"kind": kind, "where": where, "said": text, "claims": n} for (kind, where, text), n in cited.most_common()
        ],
        "rests_on": told,
    })  # fmt: skip


async def synthesize_roundtable(port: Port, asked: SynthesisArguments) -> dict[str, JsonValue]:
    """Sum a discussion up, once: common ground, differences, how it went, conclusion and recommendation, each point
    with the turns that it rests on. A model does it, through the ledger of the discussion; without one what the
    decision holds is put together."""
    table, talk = _looked_at(port, asked)
    rounds = talk.rounds()
    if not rounds:
        raise InputError(f"{asked.roundtable_id}: nobody has spoken to {talk.unit} yet; there is nothing to sum up")
    names = {who: table.name(who) for who in talk.participants}
    data = said_in_full(table.kept.question, talk, names, _by_rule(table, talk))
    subject = f"{talk.unit}|turn {talk.number - 1}"
    cap = {"budget_tokens": asked.budget_tokens} if asked.budget_tokens else {}
    async with port.alone(str(table.folder)):
        made = await port.work(
            table.sim, table.held.run, f"synthesis/{subject}", SYNTHESIST, subject, data, out=str(table.folder), **cap
        )
    by, answers = str(made["by"]), {turn.turn: table.name(turn.participant) for turn in talk.spoken}
    speakers = {str(number): name for number, name in answers.items() if f"{number}" in _cited_turns(made)}
    return fitted({
        "roundtable_id": table.kept.id, "group": talk.unit, "question": table.kept.question, "rounds": len(rounds),
        **table.authorship,
        **made, "synthesized_by": by, "turns": {**speakers},
    })  # fmt: skip


def _cited_turns(made: Mapping[str, Any]) -> set[str]:
    return {str(turn) for name in ("common_ground", "differences") for point in made[name] for turn in point["turns"]}


def _by_rule(table: OpenTable, talk: Discussion) -> DiscussionSynthesis:
    """Who holds what, in the words of the decision. What is common, and what follows, no rule knows."""
    layers = table.four_layers(talk)
    last = max((turn.round for turn in talk.public), default=0)
    turns = {turn.participant: turn for turn in talk.public if turn.round == last}
    decision = layers.decision
    held, others = (
        [
            Point(text=turns[who].response.position, turns=[turns[who].turn])
            for who in group if who in turns and turns[who].response.position
        ]
        for group in (decision.held_by, decision.not_held_by)
    )  # fmt: skip
    moved = [response for response in layers.agent_responses if response.confidence_change]
    language = table.held.language
    return DiscussionSynthesis(
        common_ground=held[:MOST_POINTS] if len(held) > 1 else [], differences=others[:MOST_POINTS],
        evolution=tell(EVOLVED, language).format(n=len(moved), total=len(layers.agent_responses)),
        conclusion=layers.evidence.consensus_summary, recommendation=tell(ACTIONS[decision.action], language),
    )  # fmt: skip


def _participant(table: OpenTable, talk: Discussion, agent: str) -> str:
    """By name, id, or number. Raises InputError."""
    for turn in talk.spoken:
        if table.is_by(agent, turn):
            return turn.participant
    names = ", ".join(table.name(who) for who in talk.participants)
    raise InputError(f"nobody called {agent!r} has spoken in {talk.unit}; who sits there: {names}")


async def control_roundtable(port: Port, asked: Controlling) -> dict[str, JsonValue]:
    """Lead a discussion, also one that goes on: pause it, resume it, put a question before its next round, or end it.
    What was asked is kept and paid for once; the call that drove it returns with what there is."""
    tables = RoundtableStore(port)
    table = tables.table(asked.roundtable_id)
    if bool(asked.question.strip()) != (asked.action == "ask"):
        raise InputError("question: it goes with action ask, and ask needs one")
    if table.held.status == "completed":
        raise InputError(
            f"{asked.roundtable_id}: the discussion is over; continue_roundtable goes on with further rounds"
        )
    was_driven = await port.pause(str(table.folder), table.held.run)
    table = tables.table(asked.roundtable_id)
    if asked.action == "pause":
        if not was_driven:
            raise InputError(
                f"{asked.roundtable_id}: nothing goes on that could be paused; its status is {table.held.status}"
            )
        return table.told()
    async with port.alone(str(table.folder)):
        if asked.action == "ask":
            await _ask(port, table, asked.question)
        elif asked.action == "end":
            for talk in table.groups:
                if not (talk.over or talk.stop):
                    await port.pin(table.sim, table.held.run, talk.end_name, True, out=str(table.folder))
    table = tables.table(asked.roundtable_id)
    if table.held.status != "completed":
        await _drive(port, table, asked)
    return tables.table(asked.roundtable_id).told()


async def _ask(port: Port, table: OpenTable, question: str) -> None:
    """Before the next round of every group that has one left. Raises InputError where none has."""
    run, asked = table.held, False
    for talk in table.groups:
        begun = len(talk.rounds()) > talk.held or not talk.held
        number = talk.held + (2 if begun else 1)
        name = talk.word_before(number)
        if talk.over or talk.stop or number > table.settings.rounds:
            continue
        if run.pinned.get(name) not in (None, "", question):
            raise InputError(
                f"question: another stands before round {number} of {talk.unit} already, and nobody has answered it yet"
            )
        await port.pin(table.sim, run.run, name, question, out=str(table.folder))
        asked = True
    if not asked:
        raise InputError(
            f"question: no round follows (of {table.settings.rounds} at most); once it is over, continue_roundtable "
            "takes it as a remark, with further rounds"
        )


async def list_roundtables(port: Port, asked: Listing) -> dict[str, JsonValue]:
    """Which roundtables there are, the latest change first: question, status, and each one's first decision."""
    tables = RoundtableStore(port)
    listed: list[JsonValue] = []
    known = tables.known()
    for name in known:
        try:
            table = tables.find(name)
        except EnqueteError:  # the others are there all the same
            listed.append({"roundtable_id": name, "status": "unreadable; get_consensus says why"})
            continue
        if table is None or asked.query.lower() not in f"{name} {table.kept.question}".lower():
            continue
        groups = table.groups if table.standing else []
        listed.append({
            "roundtable_id": name, "question": table.kept.question, "mode": table.kept.mode,
            "begun_at": table.kept.begun_at,
            "status": table.standing.status if table.standing else "not begun", "groups": len(groups),
            "first": table.digest(groups[0]) if groups else None, **(table.authorship if table.standing else {}),
        })  # fmt: skip
        if len(listed) == LISTED:
            break
    return fitted({"roundtables": listed, "known": len(known)})


AT_THE_CAP = "or with confirm=true: it then pauses at the cap, and continue_roundtable goes on with it"
OPERATIONS = (
    Operation(
        start_roundtable,
        Starting,
        "Start a roundtable",
        over_budget=f"with fewer rounds, groups or agents; {AT_THE_CAP}",
    ),
    Operation(continue_roundtable, Continuing, "Continue a roundtable", over_budget=f"with fewer rounds; {AT_THE_CAP}"),
    Operation(get_consensus, Counselled, "What a roundtable decided", reads=True),
    Operation(get_round_details, Rounded, "One round of a roundtable", reads=True),
    Operation(get_response_detail, Detailed, "One answer at a roundtable", reads=True),
    Operation(get_thoughts, Participating, "One participant's thoughts", reads=True),
    Operation(get_citations, Cited, "What claims at a roundtable rest on", reads=True),
    Operation(synthesize_roundtable, SynthesisArguments, "Sum a roundtable up"),
    Operation(
        control_roundtable,
        Controlling,
        "Pause, question or end a roundtable",
        over_budget=f"with action end; {AT_THE_CAP}",
    ),
    Operation(list_roundtables, Listing, "List roundtables", reads=True),
    Operation(export_roundtable, Exported, "Write a roundtable to a file"),
)
