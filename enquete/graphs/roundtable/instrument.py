"""Instrument of the roundtable: the question, the fixed texts around it, what is asked privately."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import AfterValidator

from enquete.instruments.derived import Draft
from enquete.instruments.instrument import Instrument
from enquete.instruments.load import OWN
from enquete.instruments.reading import Line, identifier
from enquete.instruments.review import Wording
from enquete.instruments.scales import ScaleName
from enquete.instruments.source import read_source
from enquete.instruments.text import Part, Text
from enquete.state.asking import Item, Language, Option

ItemId = Annotated[Line, AfterValidator(identifier("item"))]

CONSIDERATION, PREFERENCES = "consideration", "preferences"
AROUND = ("instruction", "verification", "broken", "headings", "stances", "items")
"""What is told around the question, the same on any topic."""


class Told(Part):
    """What participants are told, layer by layer. {question} stands for the question, {label} for a perspective."""

    discussion: Text
    before: Text
    after: Text
    control: Text
    structure: Text
    perspective: Text
    verification: Text
    again: Text


class Broken(Part):
    """What was asked for, by the check that a response did not pass. {part} is the part's title."""

    required: Text
    confidence: Text
    stance: Text
    at_least: Text
    questions: Text
    without: Text
    answers_all: Text
    names_role: Text


class Headings(Part):
    """Words over and in what a participant reads. {round} and {number} are filled in."""

    summary: Text
    round: Text
    now: Text
    remark: Text
    statistics: Text
    answer: Text
    number: Text
    you: Text
    stance: Text
    confidence: Text
    reasoning: Text
    key_points: Text
    citations: Text


class Stances(Part):
    yes: Text
    neutral: Text
    no: Text


class Items(Part):
    """What every turn asks for beside the sections of its mode; `moved_by` is asked in the end, `preferences`
    privately."""

    position: Text
    stance: Text
    reasoning: Text
    key_points: Text
    citations: Text
    confidence: Text
    moved_by: Text
    preferences: Text


class RoundtableInstrument(Instrument):
    """Privately, before and after, `considerations` are rated on `scale` and `preferences` ranked."""

    question: Text
    instruction: Told
    verification: tuple[Text, ...] = ()
    broken: Broken
    headings: Headings
    stances: Stances
    items: Items
    considerations: Mapping[ItemId, Text] = {}
    preferences: Mapping[ItemId, Text] = {}
    scale: ScaleName = "likert7"

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """What a discussion is told around its question, as in the instrument that ships."""
        super().complete(draft)
        for part in AROUND:
            draft.add(part, _shipped()[part])

    def wordings(self) -> Iterator[Wording]:
        """The question, what is rated and what is ranked."""
        yield Wording("question", self.question, "question")
        for name, text in self.considerations.items():
            yield Wording(name, text)
        for name, text in self.preferences.items():
            yield Wording(name, text, "text")

    def stance_options(self, language: Language) -> tuple[Option, ...]:
        texts = (("yes", self.stances.yes), ("neutral", self.stances.neutral), ("no", self.stances.no))
        return tuple(Option(value=value, label=text.in_(language)) for value, text in texts)

    def private_items(self, language: Language) -> Iterator[Item]:
        """Considerations, then preferences, in the order of the file; nothing where there are none."""
        options = self.scales[str(self.scale)].options(language)
        for name, text in self.considerations.items():
            yield Item(id=f"{CONSIDERATION}/{name}", kind="scale", wording=text.in_(language), options=options)
        if self.preferences:
            ranked = tuple(Option(value=name, label=text.in_(language)) for name, text in self.preferences.items())
            yield Item(id=PREFERENCES, kind="ranking", wording=self.items.preferences.in_(language), options=ranked)


@cache
def _shipped() -> Mapping[Any, Any]:
    package = files(__package__ or "")
    return read_source(OWN, (package / OWN).read_bytes()).document
