"""What every instrument file has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, field_validator, model_validator

from enquete.instruments.derived import Draft, complete_head, complete_scales
from enquete.instruments.reading import (
    LANGUAGES,
    Identifier,
    InstrumentDocument,
    Line,
    identifier,
    not_empty,
    reading,
    shown,
    wrong,
)
from enquete.instruments.review import Wording
from enquete.instruments.scales import AGREEMENT, Ends, Human, Scale, with_builtin_scales
from enquete.instruments.text import Part, Text
from enquete.state.asking import Spoken

ScaleId = Annotated[Line, AfterValidator(identifier("scale"))]


class Instrument(Part):
    """Head of an instrument file. A methodology's own instrument inherits it and adds its items.

    Within validation every part can look up what the file defines (`reading.current`), and the built-in scales that the
    file uses are copied into `scales`: a frozen instrument, and so its hash, holds every text that is shown.
    """

    scale_ends: ClassVar[Ends] = AGREEMENT
    """Labels at the ends of a scale that is given as a mere number of points."""

    listed: ClassVar[tuple[str, str] | None] = None
    """The list that a CSV holds, and the key of its entries' ids; None where a table of items is no instrument."""

    instrument_id: Identifier
    version: Line
    title: Text
    topic: Text
    language_default: Spoken
    languages: Annotated[tuple[Spoken, ...], AfterValidator(not_empty)] | None = None
    item_order: Literal["random", "as_written"] = Field(default="random", exclude_if=lambda order: order == "random")
    scales: dict[ScaleId, Scale] = Field(default_factory=dict)

    @property
    def in_order(self) -> bool:
        """Whether items are shown as written, and not to each agent in an order of its own."""
        return self.item_order == "as_written"

    @model_validator(mode="wrap")
    @classmethod
    def _read_as_one_file(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        document = cls._with_scales(data)
        with reading(document):
            return handler(document)

    @field_validator("languages")
    @classmethod
    def _distinct(cls, languages: tuple[Spoken, ...] | None) -> tuple[Spoken, ...] | None:
        if languages and len(set(languages)) < len(languages):
            raise wrong(f"{', '.join(languages)} names a language twice")
        return languages

    @model_validator(mode="after")
    def _default_is_declared(self) -> Self:
        if self.languages and self.language_default not in self.languages:
            raise wrong(
                f"language_default {shown(self.language_default)} is not among languages {list(self.languages)}"
            )
        return self

    def human_answers(self) -> Mapping[str, Human]:
        """What the file says of people's answers, by item id; a methodology with closed items of its own names theirs."""
        return {}

    def subject(self) -> tuple[Text, ...]:
        """Texts that say what it is about, its topic first."""
        return self.topic, self.title

    def wordings(self) -> Iterable[Wording]:
        """What is asked, item by item, for those who review it; a methodology names its own."""
        return ()

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """Derive what a file of one's own leaves unsaid. A methodology adds what is its own."""
        complete_head(draft)
        low, high = cls.scale_ends
        complete_scales(draft, {one: (low.in_(one), high.in_(one)) for one in LANGUAGES})

    @classmethod
    def _with_scales(cls, data: Mapping[object, object]) -> dict[object, object]:
        document = dict(data)
        own = document.get("scales", {})
        if not isinstance(own, Mapping):
            return document  # a problem of its own, reported at `scales`
        used = InstrumentDocument(document).used("scale")
        if "scale" in cls.model_fields and "scale" not in document:
            used.add(str(cls.model_fields["scale"].default))
        document["scales"] = with_builtin_scales(dict(own), used, cls.scale_ends)
        return document
