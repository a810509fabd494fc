"""What may stand in a knowledge graph: node types, edge types with their allowed pairs, the ladder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Self

from pydantic import AfterValidator, model_validator

from enquete.instruments.layers import LayerFile
from enquete.instruments.reading import Line, identifier, not_empty, reference, wrong
from enquete.instruments.text import Part, Text
from enquete.state.asking import Language

TypeId = Annotated[Line, AfterValidator(identifier("node type"))]
TypeName = Annotated[Line, AfterValidator(reference("node type", "node_types"))]
EdgeId = Annotated[Line, AfterValidator(identifier("edge type"))]


class NodeType(Part):
    """A kind of concept. `terminal`: a chain ends here, nothing lies behind it."""

    label: Text
    description: Text
    terminal: bool = False


class EdgeType(Part):
    """A kind of relationship and the node types it may join, as [source, target]; `any_pair`: whatever they are.

    `said_by`: patterns of which the answer must hold one, else the relationship is of the type `otherwise`: only what was said.
    `label`: what stands between its ends ("leads to"), its name where there is none.

    `retracts`: its source takes back or corrects its target, so that it is no link: the target no longer stands.
    `contrast`: its target is the other pole of its source: the two are one construct, and one does not lead to the other.
    """

    description: Text
    label: Text | None = None
    said_by: Text | None = None
    otherwise: Annotated[Line, AfterValidator(reference("edge type", "edge_types"))] | None = None
    retracts: bool = False
    contrast: bool = False
    pairs: tuple[tuple[TypeName, TypeName], ...] = ()
    any_pair: bool = False

    @model_validator(mode="after")
    def _joins_something(self) -> Self:
        if bool(self.pairs) == self.any_pair:
            raise wrong("needs either `pairs` ([source, target] of node types) or `any_pair: true`")
        if (self.said_by is None) != (self.otherwise is None):
            raise wrong("`said_by` and `otherwise` belong together: the words that say it, and what it is without them")
        for pattern in (self.said_by.de, self.said_by.en) if self.said_by else ():
            try:
                re.compile(pattern or "")
            except re.error as error:
                raise wrong(f"said_by: {error}") from None
        return self

    def is_said(self, answer: str, language: Language) -> bool:
        """Whether an answer in this language can say it at all."""
        return self.said_by is None or bool(re.search(self.said_by.in_(language), answer, re.IGNORECASE))

    def joins(self, source: str, target: str) -> bool:
        return self.any_pair or (source, target) in self.pairs


class Force(Part):
    """What drives a person to change, or holds them where they are, and the node types that tell of it."""

    label: Text
    types: Annotated[tuple[TypeName, ...], AfterValidator(not_empty)]
    for_change: bool


class Journey(Part):
    """Steps in the order they were told, grouped by the stages they belong to, with how the person was at each."""

    stages: tuple[TypeName, ...]
    steps: Annotated[tuple[TypeName, ...], AfterValidator(not_empty)]
    feelings: Annotated[tuple[TypeName, ...], AfterValidator(not_empty)]
    frictions: tuple[TypeName, ...] = ()
    precedes: tuple[Line, ...] = ()  # edge types that say which of two comes first, whatever was told first


class IncidentPart(Part):
    """A part of how an incident is told."""

    label: Text
    types: Annotated[tuple[TypeName, ...], AfterValidator(not_empty)]


class Incidents(Part):
    """An incident's chain: its parts in their order, of which `centre` is the incident itself."""

    centre: TypeName
    parts: Annotated[tuple[IncidentPart, ...], AfterValidator(not_empty)]


class Pattern(Part):
    """What interviews of this ontology are summed up by, in place of a ladder: exactly one."""

    forces: tuple[Force, ...] | None = None
    journey: Journey | None = None
    incidents: Incidents | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.forces, self.journey, self.incidents)) != 1:
            raise wrong("needs exactly one of forces, journey, incidents")
        return self


def _no_type_twice(ladder: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({one for one in ladder if ladder.count(one) > 1})
    if twice:
        raise wrong(f"names {', '.join(twice)} twice; every rung has its own type")
    return ladder


class Ontology(LayerFile):
    """The structural half of a methodology file. Without a ladder, depth counts node types and no chain is complete.

    `pattern`: what is summed up instead of a ladder; a ladder beside it only says what is asked after what.
    """

    node_types: Annotated[dict[TypeId, NodeType], AfterValidator(not_empty)]
    edge_types: Annotated[dict[EdgeId, EdgeType], AfterValidator(not_empty)]
    ladder: Annotated[tuple[TypeName, ...], AfterValidator(_no_type_twice)] = ()
    pattern: Pattern | None = None

    @property
    def climbs(self) -> bool:
        """Whether its concepts stand on rungs of which a higher one is the reason for a lower one."""
        return bool(self.ladder) and self.pattern is None

    @property
    def rungs(self) -> int:
        """What a depth is measured against: rungs of the ladder, else the number of node types."""
        return len(self.ladder) or len(self.node_types)

    @property
    def first_type(self) -> str:
        return self.ladder[0] if self.ladder else next(iter(self.node_types))

    def is_terminal(self, node_type: str) -> bool:
        return self.node_types[node_type].terminal

    def next_type(self, node_type: str) -> str | None:
        """The rung above; None at the top and beside the ladder."""
        if node_type not in self.ladder[:-1]:
            return None
        return self.ladder[self.ladder.index(node_type) + 1]

    @property
    def contrasts(self) -> list[tuple[str, str, str]]:
        """(edge type, pole, other pole) of the relationships that make two concepts one construct."""
        return [(name, *pair) for name, edge in self.edge_types.items() if edge.contrast for pair in edge.pairs]

    def opposite_type(self, node_type: str) -> str | None:
        """The type of a concept's other pole; None where it is no pole."""
        return next((other for _, one, other in self.contrasts if one == node_type), None)

    def linkable(self, one: str, other: str) -> bool:
        """Whether some relationship other than one between any pair can join the two types, in either direction."""
        return (one, other) in self._joined or (other, one) in self._joined

    @cached_property
    def _joined(self) -> frozenset[tuple[str, str]]:
        """Every technique is held against every concept each turn."""
        return frozenset(pair for edge in self.edge_types.values() for pair in edge.pairs)

    def on_ladder(self, types: Sequence[str]) -> list[str]:
        """Those that count for depth: rungs, or every type where there is no ladder."""
        return [one for one in types if not self.ladder or one in self.ladder]
