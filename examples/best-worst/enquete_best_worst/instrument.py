"""What is asked: objects, and the sets of them that are shown together. Balanced, so that counts can be compared."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import AfterValidator, model_validator

from enquete.instruments.instrument import Instrument
from enquete.instruments.reading import Line, identifier, not_empty, reference, wrong
from enquete.instruments.text import Text
from enquete.state.asking import Item, Language, Option

ObjectId = Annotated[Line, AfterValidator(identifier("object"))]
ObjectName = Annotated[Line, AfterValidator(reference("object", "objects"))]


class BestWorstInstrument(Instrument):
    """Every set is one question: which of these is best, which is worst?"""

    instruction: Text
    question: Text
    objects: Annotated[dict[ObjectId, Text], AfterValidator(not_empty)]
    sets: Annotated[tuple[tuple[ObjectName, ...], ...], AfterValidator(not_empty)]

    @model_validator(mode="after")
    def _balanced(self) -> BestWorstInstrument:
        """Every object equally often, none twice in a set: otherwise a count says how often it was shown."""
        for shown in self.sets:
            if len(shown) < 3 or len(set(shown)) < len(shown):
                raise wrong(f"sets: {list(shown)} must name at least three different objects")
        often = Counter(name for shown in self.sets for name in shown)
        if len({often[name] for name in self.objects}) > 1:
            counts = ", ".join(f"{name} {often[name]}" for name in self.objects)
            raise wrong(f"sets: every object must be shown equally often, not {counts}")
        return self

    def items(self, language: Language) -> tuple[Item, ...]:
        """One item a set: set_1, set_2, …"""
        return tuple(
            Item(
                id=f"set_{number}",
                kind="best_worst",
                wording=self.question.in_(language),
                options=tuple(Option(value=name, label=self.objects[name].in_(language)) for name in shown),
            )
            for number, shown in enumerate(self.sets, start=1)
        )
