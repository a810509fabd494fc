"""Questions of any kind, one after another: as a file, a table, or as Python objects without any file.

enquete.ask(sim, Likert("Quotas are fair."), Choice("Who should decide?", "the state", "the market"), Open("Why?"))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, StrictFloat, StrictInt, ValidationInfo, field_validator, model_validator

from enquete.instruments.instrument import Draft, RatingInstrument, slug
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import Human, Scale, ScaleName, on_scale, points_of
from enquete.instruments.text import Line, Part, Text, identifier, not_empty, wrong
from enquete.state.asking import Item, Language, Option, scale_item

DEFAULT_SCALE = "likert5"
INSTRUCTION = {
    "de": "Bitte die folgenden Fragen aus der eigenen Sicht beantworten.",
    "en": "Please answer the following questions from your own point of view.",
}
Kind = Literal["likert", "choice", "number", "open"]
QuestionId = Annotated[Line, AfterValidator(identifier("question"))]
Words: TypeAlias = "str | Mapping[str, str]"
Entry: TypeAlias = dict[str, Any]
"""A question as it stands in a file."""


class AnswerOption(Part):
    """An option of a choice."""

    inline_text = "label"

    label: Text


class QuestionEntry(Part):
    """`kind`: likert on a scale, choice of one option, number between bounds, or open. Options are numbered from 1."""

    inline_text = "wording"

    question_id: QuestionId
    wording: Text
    kind: Kind = "likert"
    scale: ScaleName | None = None  # of a likert item; None: the instrument's
    options: tuple[AnswerOption, ...] = ()
    minimum: StrictFloat | StrictInt | None = None
    maximum: StrictFloat | StrictInt | None = None
    human: Human | None = None

    @field_validator("human")
    @classmethod
    def _on_the_scale(cls, human: Human | None, info: ValidationInfo) -> Human | None:
        return on_scale(human, points_of(info.data["scale"], DEFAULT_SCALE) if "scale" in info.data else None)

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise wrong(f"has {len(self.options)} options; a choice needs at least 2")
        if self.kind != "choice" and self.options:
            raise wrong(f"has options, but is of kind {self.kind}; write `kind: choice` or remove them")
        if self.minimum is not None and self.maximum is not None and self.minimum >= self.maximum:
            raise wrong(f"minimum {self.minimum:g} must be smaller than maximum {self.maximum:g}")
        return self


class QuestionsInstrument(RatingInstrument):
    """What is asked, in the order of the file."""

    listed = ("questions", "question_id")

    item_order: Literal["random", "as_written"] = Field(
        default="as_written", exclude_if=lambda order: order == "as_written"
    )
    instruction: Text
    scale: ScaleName = DEFAULT_SCALE
    questions: Annotated[tuple[QuestionEntry, ...], AfterValidator(not_empty)]

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """The instruction; kinds that follow from what a question has."""
        super().complete(draft)
        draft.add("instruction", INSTRUCTION)
        draft.rename("questions", "text", "wording")
        for where, part in draft.parts("questions"):
            if isinstance(part.get("options"), str):  # a cell of a table
                part["options"] = [option.strip() for option in part["options"].split("|")]
            kind = kind_of(part)
            if "kind" not in part and kind != "likert":
                part["kind"] = kind
                draft.read_as(f"{where}.kind", kind)

    def items(self, language: Language) -> tuple[Item, ...]:
        return tuple(self._item(question, language) for question in self.questions)

    def question(self, question_id: str) -> QuestionEntry:
        """KeyError for an unknown id."""
        return {question.question_id: question for question in self.questions}[question_id]

    def scale_of(self, question: QuestionEntry) -> Scale:
        return self.scales[question.scale or self.scale]

    def wordings(self) -> Iterator[ReviewedText]:
        """Questions and options."""
        for question in self.questions:
            yield ReviewedText(
                question.question_id, question.wording, "item" if question.kind == "likert" else "question"
            )
            for place, option in enumerate(question.options, start=1):
                yield ReviewedText(f"{question.question_id}.{place}", option.label, "text")

    def human_answers(self) -> dict[str, Human]:
        return {question.question_id: question.human for question in self.questions if question.human is not None}

    def _item(self, question: QuestionEntry, language: Language) -> Item:
        about: dict[str, Any] = {"id": question.question_id, "wording": question.wording.in_(language)}
        if question.kind == "open":
            return Item(kind="text", **about)
        if question.kind == "number":
            return Item(kind="number", minimum=question.minimum, maximum=question.maximum, **about)
        if question.kind == "choice":
            options = tuple(
                Option(value=str(n), label=point.label.in_(language)) for n, point in enumerate(question.options, 1)
            )
            return Item(kind="choice", options=options, **about)
        return scale_item(options=self.scale_of(question).options(language), confidence=self.confidence, **about)


def kind_of(part: Mapping[Any, Any]) -> Kind:
    """Options make a choice, bounds a number, a question mark an open question; what is left is rated."""
    if part.get("options"):
        return "choice"
    if "minimum" in part or "maximum" in part:
        return "number"
    wording = str(part.get("wording") or part.get("de") or part.get("en") or "")
    return "open" if wording.rstrip().endswith("?") and "scale" not in part else "likert"


# --- as Python objects -----------------------------------------------------------------------------------------------


class PollQuestion:
    """A question as an object. `wording`: a text, or one in each language: {"de": …, "en": …}."""

    def __init__(self, wording: Words, /, *, id: str = "", **more: Any):
        self.wording, self.id = wording, id
        self._more = {key: value for key, value in more.items() if value is not None}

    def entry(self, place: int) -> Entry:
        return {"question_id": self.id or f"q{place}", "wording": self.wording, **self._more}


class Likert(PollQuestion):
    """A statement that is rated: on likert5 unless another scale (or a number of points) is named."""

    def __init__(self, wording: Words, /, *, scale: str | int | None = None, id: str = ""):
        super().__init__(wording, id=id, scale=scale, kind="likert")


class Choice(PollQuestion):
    """One of several options."""

    def __init__(self, wording: Words, /, *options: Words, id: str = ""):
        super().__init__(wording, id=id, options=list(options), kind="choice")


class Number(PollQuestion):
    """A number, between bounds where there are any."""

    def __init__(self, wording: Words, /, minimum: float | None = None, maximum: float | None = None, *, id: str = ""):
        super().__init__(wording, id=id, minimum=minimum, maximum=maximum, kind="number")


class Open(PollQuestion):
    """Answered in one's own words."""

    def __init__(self, wording: Words, /, *, id: str = ""):
        super().__init__(wording, id=id, kind="open")


def as_document(
    questions: tuple[PollQuestion, ...], topic: str, instruction: Words | None, *, confidence: bool = False
) -> Entry:
    """Return the file that these questions would be."""
    head = {"instrument_id": slug(topic) if topic else "questions", "version": "1", "title": topic, "topic": topic}
    named = {
        key: value for key, value in {**head, "instruction": instruction, "confidence": confidence}.items() if value
    }
    return {**named, "questions": [question.entry(place) for place, question in enumerate(questions, start=1)]}
