"""A discovery interview: its settings, its turns, what one question is made of. The schema is kept in the settings, so
that a run holds what it was conducted with, whatever becomes of the file.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, model_validator

from enquete.instruments.load import load_shipped, require_language
from enquete.methods.discovery.instrument import DiscoveryInstrument
from enquete.methods.discovery.interviewer import QuestionInput, Target, entry_of, outline
from enquete.methods.discovery.record import (
    Contradiction,
    Path,
    ReadingProblem,
    Record,
    ToldValue,
    misfits,
    normalised,
    reduced,
    unknown,
)
from enquete.methods.discovery.schema import MOST_QUESTIONS, DiscoverySchema, given_schema, is_given, load_schema
from enquete.respondents.person import persons_named
from enquete.runs.conversations import Asked, Conversation, Turn, dialogue, turn_block
from enquete.state.asking import Block, Language, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.request import FallbackModel

Worker = Literal["model", "rule"]


class EarlierTurn(BaseModel):
    """A turn of an earlier conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    answer: str


class DiscoverySettings(BaseModel):
    """Raises InstrumentError, naming file and line, where a schema is wrong.

    Validated with a context `instrument`, that of the run, it takes the schema from there; with a context `language`,
    it also raises where the schema cannot be used in it.
    """

    model_config = ConfigDict(extra="forbid")

    ds: str = Field(
        "",
        description="what is to be found out: a shipped discovery schema, a file, or the schema itself as text; the "
        "instrument's unless named",
        json_schema_extra={"format": "textarea"},
    )
    questions: Annotated[int | float, Field(multiple_of=0.5)] = Field(
        0,
        ge=0,
        le=MOST_QUESTIONS,
        description="budget of one interview, in questions, each of which takes 1; a half is left over; 0: the "
        "schema's own",
    )
    beyond: bool = Field(
        False, description="ask for what is not needed, too, once each, while there are questions left"
    )
    asks: Worker = Field("model", description="who words the questions: a model, or the rule alone")
    reads: Worker = Field("model", description="who reads the answers: a model, or the rule alone")
    question_model: str = Field("", description="model that words questions; the main arm's unless named")
    question_fallback: FallbackModel = ""
    interpret_model: str = Field("", description="model that reads answers; the main arm's unless named")
    interpret_fallback: FallbackModel = ""
    people: str = Field(
        "", exclude_if=operator.not_, description="who answers for themselves, in forms: names or ids, 'Ada; Ben'"
    )
    current: dict[str, Any] = Field({}, description="what is known already: a record of this schema")
    earlier: list[EarlierTurn] = Field([], max_length=MOST_QUESTIONS, description="turns of the conversation before")
    read: DiscoverySchema | None = Field(None, description="filled when the settings are read: the schema as it was")

    @model_validator(mode="before")
    @classmethod
    def _take_schema(cls, data: Any) -> Any:
        """One that is handed over itself, in any of its forms."""
        if isinstance(data, Mapping) and not data.get("read") and is_given(data.get("ds")):
            schema = given_schema(data["ds"])
            return {**data, "ds": schema.id, "read": schema}
        return data

    @model_validator(mode="after")
    def _read_schema(self, info: ValidationInfo) -> Self:
        context = info.context or {}
        instrument: DiscoveryInstrument | None = context.get("instrument")
        self.ds = self.ds or (instrument or load_shipped(DiscoveryInstrument, "discovery")).ds
        self.read = self.read or load_schema(self.ds, context.get("own_folder"))
        self.current = normalised(self.read.nodes, self.current)
        if wrong := list(misfits(self.read.nodes, self.current)):
            raise ValueError(f"current: {'; '.join(wrong)}")
        if language := context.get("language"):
            require_language("discovery.ds", self.ds, self.read, language)
        self.ds = self.ds if self.ds == self.read.id else PurePath(self.ds).name
        return self

    def seats_person(self, who: Participant) -> bool:
        """Whether a person answers for this participant."""
        return bool(self.people) and not {who.id, who.name}.isdisjoint(persons_named(self.people))

    @property
    def discovery(self) -> DiscoverySchema:
        assert self.read is not None  # the validator has filled it
        return self.read

    @property
    def budget(self) -> Decimal:
        """In questions, of one interview."""
        return Decimal(str(self.questions or self.discovery.questions))


# --- the conversation -------------------------------------------------------------------------------------------------


Stop = Literal["", "complete", "budget"]

QUESTION = Decimal(1)
"""Of the budget, which is in questions."""


class DiscoveryTurn(Turn):
    """A turn as it is pinned. about: what was asked for; found: its SCR, as it was reduced; `by`: question, interpret.

    settled: the contradiction that this turn asked about, however it was answered.
    """

    about: Path
    found: Mapping[str, JsonValue] = {}
    told: tuple[ToldValue, ...] = ()
    problems: tuple[ReadingProblem, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    settled: bool = False
    stop: Stop = ""


@dataclass(frozen=True)
class DiscoveryInterview(Conversation[DiscoveryTurn]):
    """Before the turn that is next. `record`: what was known at the beginning, with what the turns gave."""

    discovery: DiscoverySchema = field(kw_only=True)
    budget: Decimal = field(kw_only=True)
    record: Record = field(default_factory=dict, kw_only=True)
    earlier: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    beyond: bool = field(default=False, kw_only=True)  # goes on for what is not needed

    @property
    def asked(self) -> list[Path]:
        return [turn.about for turn in self.turns]

    @property
    def open(self) -> list[Contradiction]:
        """Contradictions that nobody has asked about yet, one a path."""
        asked = {turn.about for turn in self.turns if turn.settled}
        latest = {contradiction.path: contradiction for turn in self.turns for contradiction in turn.contradictions}
        return [contradiction for path, contradiction in latest.items() if path not in asked]

    @property
    def complete(self) -> bool:
        return self.discovery.completion.holds(self.record)

    @property
    def optional(self) -> list[Path]:
        """What is not needed, not known and was not asked for; nothing unless that is wanted."""
        paths = unknown(self.discovery.nodes, self.record) if self.beyond else ()
        return [path for path in paths if path not in self.asked]

    @property
    def wanted(self) -> list[Path]:
        """What is not known yet of that which is asked for before the interview closes."""
        paths = unknown(self.discovery.nodes, self.record)
        return [path for path in paths if (node := self.discovery.at(path)) and node.field.wanted]

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask for."""
        return self.complete and not self.open and not self.optional

    def targets(self, language: Language) -> list[Target]:
        """Contradictions first, each once; then what the completion lacks, by how often it was asked, with what is
        wanted besides, then what is optional; what closes an interview comes last."""
        contradicted = [
            self._target(both.path, language).model_copy(update={"contradiction": both, "asked": 0})
            for both in self.open
        ]
        lacking = [self._target(path, language) for path in self.discovery.completion.lacking(self.record)]
        if any(target.closing and target.asked for target in lacking):  # there is more, or nobody said there is not
            lists = [node.path for node in self.discovery.nodes.values() if node.field.type in ("list", "texts")]
            lacking += [self._target(path, language) for path in lists]
        lacking += [self._target(path, language) for path in (*self.wanted, *self.optional)]
        distinct: dict[Path, Target] = {}
        for target in lacking:
            distinct.setdefault(target.path, target)
        return [*contradicted, *sorted(distinct.values(), key=lambda target: (target.asked, target.closing))]

    def _target(self, path: Path, language: Language) -> Target:
        node = self.discovery.at(path)
        assert node is not None  # expressions name fields that there are
        entries = self.record.get(path[0]) if len(path) == 1 and node.field.type == "list" else None
        keys = tuple(str(entry[node.key]) for entry in entries or ())
        worded = (node.field.more if keys else None) or node.field.question
        return Target(
            path=path, label=node.field.label.in_(language), entry=entry_of(self.discovery, path),
            question=worded.in_(language) if worded else "", known=keys, asked=self.asked.count(path),
            closing=node.field.closing,
        )  # fmt: skip

    def transcript(self) -> list[tuple[str, str]]:
        return [*self.earlier, *((turn.question, turn.answer) for turn in self.turns)]

    def after(self, turn: DiscoveryTurn) -> DiscoveryInterview:
        return replace(
            super().after(turn),
            record=reduced(self.discovery.nodes, self.record, turn.found),
            budget=self.budget - QUESTION,
        )


def begun(unit: str, settings: DiscoverySettings) -> DiscoveryInterview:
    """Before the first turn: with what is known already."""
    return DiscoveryInterview(
        unit, discovery=settings.discovery, budget=settings.budget,
        record=reduced(settings.discovery.nodes, {}, settings.current),
        earlier=tuple((turn.question, turn.answer) for turn in settings.earlier), beyond=settings.beyond,
    )  # fmt: skip


# --- how it is conducted ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiscoveryContext:
    """What every step of an interview may use."""

    interview_context: InterviewContext
    instrument: DiscoveryInstrument
    settings: DiscoverySettings


def question_input(interview: DiscoveryInterview, context: DiscoveryContext) -> QuestionInput:
    discovery, language = interview.discovery, context.interview_context.language
    return QuestionInput(
        objective=discovery.objective.in_(language), fields=outline(discovery, language), record=interview.record,
        targets=interview.targets(language), transcript=interview.transcript(), language=language,
    )  # fmt: skip


def question_block(context: DiscoveryContext, interview: DiscoveryInterview, asked: Asked) -> Block:
    """A question with the conversation before it, earlier ones included."""
    language = context.interview_context.language
    block = turn_block(
        context.interview_context, interview.unit, asked, context.instrument.instruction.in_(language),
        heading=context.instrument.transcript_heading.in_(language), said=dialogue(interview.transcript(), language),
        session=interview.discovery.session,
    )  # fmt: skip
    by_person = context.settings.seats_person(context.interview_context.participant(interview.unit))
    return block.model_copy(update={"by_person": True}) if by_person else block
