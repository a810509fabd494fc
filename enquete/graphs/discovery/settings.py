"""What may be set: the schema, the number of questions, who words and who reads. The schema is kept in the settings, so that
a run holds what it was conducted with, whatever becomes of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from enquete.graphs.discovery.annotated import load_schema
from enquete.graphs.discovery.instrument import DiscoveryInstrument
from enquete.graphs.discovery.record import misfits
from enquete.graphs.discovery.schema import MOST_QUESTIONS, DiscoverySchema
from enquete.instruments.layers import require_language
from enquete.instruments.load import load_shipped

Worker = Literal["model", "rule"]


class Said(BaseModel):
    """A turn of an earlier conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    answer: str


class DiscoverySettings(BaseModel):
    """Raises InstrumentError, naming file and line, where a schema is wrong.

    Validated with a context `instrument`, that of the run, it takes the schema from there; with a context `language`, it
    also raises where the schema cannot be used in it.
    """

    model_config = ConfigDict(extra="forbid")

    ds: Annotated[
        str,
        Field(
            description="what is to be found out: a shipped discovery schema or a file; the instrument's unless named"
        ),
    ] = ""
    questions: Annotated[
        int, Field(ge=0, le=MOST_QUESTIONS, description="budget of one interview, in questions; 0: the schema's own")
    ] = 0
    beyond: Annotated[
        bool, Field(description="ask for what is not needed, too, once each, while there are questions left")
    ] = False
    asks: Annotated[Worker, Field(description="who words the questions: a model, or the rule alone")] = "model"
    reads: Annotated[Worker, Field(description="who reads the answers: a model, or the rule alone")] = "model"
    question_model: Annotated[str, Field(description="model that words questions; the main arm's unless named")] = ""
    question_fallback: Annotated[str, Field(description="model asked when that one fails")] = ""
    interpret_model: Annotated[str, Field(description="model that reads answers; the main arm's unless named")] = ""
    interpret_fallback: Annotated[str, Field(description="model asked when that one fails")] = ""
    current: Annotated[dict[str, Any], Field(description="what is known already: a record of this schema")] = {}
    earlier: Annotated[
        list[Said], Field(max_length=MOST_QUESTIONS, description="turns of the conversation before")
    ] = []
    read: Annotated[
        DiscoverySchema | None, Field(description="filled when the settings are read: the schema as it was")
    ] = None

    @model_validator(mode="after")
    def _read_schema(self, info: ValidationInfo) -> Self:
        context = info.context or {}
        instrument: DiscoveryInstrument | None = context.get("instrument")
        self.ds = self.ds or (instrument or load_shipped(DiscoveryInstrument, "discovery")).ds
        self.read = self.read or load_schema(self.ds, context.get("shelf"))
        if wrong := list(misfits(self.read.nodes, self.current)):
            raise ValueError(f"current: {'; '.join(wrong)}")
        if language := context.get("language"):
            require_language("discovery.ds", self.ds, self.read, language)
        self.ds = Path(self.ds).name
        return self

    @property
    def discovery(self) -> DiscoverySchema:
        if self.read is None:  # the validator has filled it
            raise RuntimeError("the settings were built without validation")
        return self.read

    @property
    def budget(self) -> int:
        """Questions of one interview."""
        return self.questions or self.discovery.questions
