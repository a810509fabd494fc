"""Instrument of the roundtable: the question, the fixed texts around it, what is asked privately, when a discussion ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, StrictFloat, StrictInt

from enquete.instruments.instrument import Instrument
from enquete.instruments.reading import Line, identifier
from enquete.instruments.scales import ScaleName
from enquete.instruments.text import Part, Text
from enquete.state.asking import Item, Language, Option

ItemId = Annotated[Line, AfterValidator(identifier("item"))]
Share = Annotated[StrictFloat, Field(ge=0, le=1)]

CONSIDERATION, PREFERENCE = "consideration", "preference"


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


class Headings(Part):
    """Words over and in what a participant reads. {round} and {number} are filled in."""

    summary: Text
    round: Text
    now: Text
    statistics: Text
    answer: Text
    number: Text
    you: Text
    stance: Text
    confidence: Text
    key_points: Text


class Stances(Part):
    yes: Text
    neutral: Text
    no: Text


class Items(Part):
    """What every turn asks for beside the sections of its mode; `moved_by` is asked in the end."""

    position: Text
    stance: Text
    reasoning: Text
    key_points: Text
    citations: Text
    confidence: Text
    moved_by: Text


class Limits(Part):
    """When a discussion ends before its last round (measures/exits.py); all are shares."""

    consensus: Share = 0.9
    stable: Share = 0.7
    stable_rounds: Annotated[StrictInt, Field(ge=1, le=10)] = 2
    confidence: Share = 0.85
    agreement: Share = 0.7


class RoundtableInstrument(Instrument):
    """`considerations` and `preferences` are rated on `scale`, privately, before and after."""

    question: Text
    instruction: Told
    verification: tuple[Text, ...] = ()
    headings: Headings
    stances: Stances
    items: Items
    considerations: Mapping[ItemId, Text] = {}
    preferences: Mapping[ItemId, Text] = {}
    scale: ScaleName = "likert7"
    limits: Limits = Limits()

    def stance_options(self, language: Language) -> tuple[Option, ...]:
        texts = (("yes", self.stances.yes), ("neutral", self.stances.neutral), ("no", self.stances.no))
        return tuple(Option(value=value, label=text.in_(language)) for value, text in texts)

    def rating_items(self, language: Language) -> Iterator[Item]:
        """Considerations and preferences, in the order of the file."""
        options = self.scales[str(self.scale)].options(language)
        for family, texts in ((CONSIDERATION, self.considerations), (PREFERENCE, self.preferences)):
            for name, text in texts.items():
                yield Item(id=f"{family}/{name}", kind="scale", wording=text.in_(language), options=options)
