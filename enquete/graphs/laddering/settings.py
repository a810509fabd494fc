"""What may be set: turns, concept, methodology, the three model roles. The two files are read once and kept in the settings,
so that a run holds what it was conducted with, whatever becomes of the files.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from enquete.graphs.laddering.concept import Concept
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.instruments.layers import load_layer, require_language
from enquete.instruments.load import load_shipped

ADAPTIVE = "scored"
"""The strategy that others are compared with."""


class Layers(BaseModel):
    """What the settings `concept` and `methodology` stood for when the run began."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concept: Concept
    methodology: InterviewMethod


def _concept_of(instrument: LadderingInstrument | None) -> str:
    """What an instrument is about; what the shipped one is about where none is known."""
    return (instrument or load_shipped(LadderingInstrument, "laddering")).concept


class LadderingSettings(BaseModel):
    """Raises InstrumentError, naming file and line, where a concept or methodology file is wrong.

    Validated with a context `instrument`, that of the run, it takes the concept from there; with a context `language`, it
    also raises where a file cannot be used in it; with a context `shelf`, files are named, and lie there.
    """

    model_config = ConfigDict(extra="forbid")

    turns: Annotated[int, Field(ge=1, le=60, description="questions an interview has at most")] = 15
    concept: Annotated[
        str, Field(description="what is asked about: a shipped concept or a YAML file; the instrument's unless named")
    ] = ""
    methodology: Annotated[str, Field(description="how is asked: a shipped methodology or a YAML file")] = (
        "means_end_chain"
    )
    strategy: Annotated[
        str,
        Field(
            description="how the next question is chosen: scored (adaptive), or, to compare, random, or static: a fixed script of "
            "the same length; several, such as scored,static, are asked in an arm each and compared",
        ),
    ] = "scored"
    codes: Annotated[
        Literal["rule", "model"],
        Field(
            description="who makes codes of all interviews' concepts: a model, where one interviews, or a rule that knows words"
        ),
    ] = "model"
    extraction_model: Annotated[str, Field(description="model that reads answers; the main arm's unless named")] = ""
    extraction_fallback: Annotated[str, Field(description="model asked when that one fails")] = ""
    signals_model: Annotated[str, Field(description="model that judges answers; the main arm's unless named")] = ""
    signals_fallback: Annotated[str, Field(description="model asked when that one fails")] = ""
    questions_model: Annotated[str, Field(description="model that words questions; the main arm's unless named")] = ""
    questions_fallback: Annotated[str, Field(description="model asked when that one fails")] = ""
    layers: Annotated[
        Layers | None, Field(description="filled when the settings are read: the two files as they were")
    ] = None

    @field_validator("strategy")
    @classmethod
    def _compared(cls, given: str) -> str:
        names = given.split(",")
        if not set(names) <= {ADAPTIVE, "random", "static"}:
            raise ValueError(f"{given!r} is not taken; write scored, random or static, or several as in scored,static")
        if len(set(names)) < len(names) or (len(names) > 1 and ADAPTIVE not in names):
            raise ValueError(f"several strategies are compared with {ADAPTIVE}: name it among them, and none twice")
        return given

    @model_validator(mode="after")
    def _read_layers(self, info: ValidationInfo) -> Self:
        context = info.context or {}
        self.concept = self.concept or _concept_of(context.get("instrument"))
        if self.layers is None:
            self.layers = Layers(
                concept=load_layer(Concept, "concepts", self.concept, context.get("shelf")),
                methodology=load_layer(InterviewMethod, "methodologies", self.methodology, context.get("shelf")),
            )
        language = context.get("language")
        if language:
            require_language("laddering.concept", self.concept, self.layers.concept, language)
            require_language("laddering.methodology", self.methodology, self.layers.methodology, language)
        # Of a path only the name: where it lay is nobody else's business, and the content is kept.
        self.concept, self.methodology = Path(self.concept).name, Path(self.methodology).name
        return self

    @property
    def strategies(self) -> tuple[str, ...]:
        """The main arm's, then those that it is compared with."""
        return tuple(self.strategy.split(","))

    @cached_property
    def topic(self) -> Concept:
        return self._layers.concept

    @cached_property
    def method(self) -> InterviewMethod:
        return self._layers.methodology

    @property
    def _layers(self) -> Layers:
        if self.layers is None:  # the validator has filled it
            raise RuntimeError("the settings were built without validation")
        return self.layers
