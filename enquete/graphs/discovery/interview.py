"""An interview: a conversation whose stored turns add up to a record, the words it rests on, and what was contradicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from enquete.graphs.discovery.record import Contradiction, Path, Record, Told, reduced, unknown
from enquete.graphs.discovery.reply import Problem
from enquete.graphs.discovery.schema import DiscoverySchema
from enquete.graphs.discovery.settings import DiscoverySettings
from enquete.nodes.conversations import Conversation, Turn

Stop = Literal["", "complete", "budget"]

QUESTION = Decimal(1)
"""Of the budget, which is in questions."""


class DiscoveryTurn(Turn):
    """A turn as it is frozen. about: what was asked for; found: its SCR, as it was reduced; `by`: question, interpret.

    settled: the contradiction that this turn asked about, however it was answered.
    """

    about: Path
    found: Mapping[str, JsonValue] = {}
    told: tuple[Told, ...] = ()
    problems: tuple[Problem, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    settled: bool = False
    stop: Stop = ""


@dataclass(frozen=True)
class Interview(Conversation[DiscoveryTurn]):
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
        found = {one.path: one for turn in self.turns for one in turn.contradictions}
        return [one for path, one in found.items() if path not in asked]

    @property
    def complete(self) -> bool:
        return self.discovery.completion.holds(self.record)

    @property
    def optional(self) -> list[Path]:
        """What is not needed, not known and was not asked for; nothing unless that is wanted."""
        return (
            [path for path in unknown(self.discovery.nodes, self.record) if path not in self.asked]
            if self.beyond
            else []
        )

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask for."""
        return self.complete and not self.open and not self.optional

    def transcript(self) -> list[tuple[str, str]]:
        return [*self.earlier, *((turn.question, turn.answer) for turn in self.turns)]

    def after(self, turn: DiscoveryTurn) -> Interview:
        return replace(
            super().after(turn),
            record=reduced(self.discovery.nodes, self.record, turn.found),
            budget=self.budget - QUESTION,
        )


def begun(unit: str, settings: DiscoverySettings) -> Interview:
    """Before the first turn: with what is known already."""
    return Interview(
        unit, discovery=settings.discovery, budget=Decimal(settings.budget), record=reduced(settings.discovery.nodes, {}, settings.current),
        earlier=tuple((one.question, one.answer) for one in settings.earlier), beyond=settings.beyond,
    )  # fmt: skip
