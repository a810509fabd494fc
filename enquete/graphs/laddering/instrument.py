"""Instrument of the laddering interview: what it is about, and what is the same however the next question is chosen."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StrictInt

from enquete.graphs.laddering.concept import Concept
from enquete.instruments.instrument import Instrument
from enquete.instruments.layers import load_layer
from enquete.instruments.reading import Line, wrong
from enquete.instruments.text import Part, Text
from enquete.state.asking import Language
from enquete.state.errors import InstrumentError

TOPIC = "{topic}"


def _names_the_topic(instruction: Text) -> Text:
    if any(text is not None and TOPIC not in text for text in (instruction.de, instruction.en)):
        raise wrong(f"lacks {TOPIC}, the place of the concept's topic")
    return instruction


Turns = Annotated[StrictInt, Field(ge=1, le=60)]


class Stops(Part):
    """When an interview ends early; all in turns. The three counts hold from `from_turn` on, or in the late phase.

    shallow: answers in a row that were shallow and brought nothing; of more than `without_yield` it could never be reached.
    """

    from_turn: Turns = 5
    without_yield: Turns = 5
    shallow: Turns = 5
    same_depth: Turns = 6


class LadderingInstrument(Instrument):
    """What is asked about, what the respondent is told, when to stop, what the map leaves out."""

    concept: Line  # a shipped concept or a YAML file; the setting of that name replaces it
    instruction: Annotated[Text, AfterValidator(_names_the_topic)]
    transcript_heading: Text
    stops: Stops = Stops()
    cut_off: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = (
        None  # None: by the share of links that the map represents
    )

    def subject(self) -> tuple[Text, ...]:
        """The concept's: the instrument says how is asked, not about what."""
        try:
            concept = load_layer(Concept, "concepts", self.concept)
        except InstrumentError:
            return ()
        return concept.topic, concept.title

    def told(self, topic: Text, language: Language) -> str:
        """The instruction for a topic."""
        return self.instruction.in_(language).replace(TOPIC, topic.in_(language))
