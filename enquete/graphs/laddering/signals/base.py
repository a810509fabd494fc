"""What a signal is, and what it may look at.

A complete one, which of_interview.py may hold as it is (weights may then name it):

    @signal(OF_INTERVIEW, "graph.answer_count", Number(0, 20), de="Zahl der Antworten. Viele: …", en="Number of …")
    def answer_count(view: View) -> int:
        return len(view.past)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Concatenate, Generic, Literal, ParamSpec

from enquete.graphs.laddering.coverage import Coverage
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.nodestate import Depth, NodeState, States
from enquete.graphs.laddering.ontology import Ontology
from enquete.graphs.laddering.readings import Readings
from enquete.instruments.text import Text

P = ParamSpec("P")
Value = bool | str | float | int
Values = Mapping[str, Value]
Bin = Literal["low", "mid", "high"]
BINS: tuple[Bin, ...] = ("low", "mid", "high")
LOW, HIGH = 0.25, 0.75  # of the normalised value, both inclusive


@dataclass(frozen=True, slots=True)
class Number:
    """A number and its declared range; what lies beyond is taken as its end."""

    least: float
    most: float

    def normal(self, value: float) -> float:
        """0–1. Binning a raw rubric or count would make everything high."""
        return min(max((value - self.least) / (self.most - self.least), 0.0), 1.0)

    def bin(self, value: float) -> Bin:
        share = self.normal(value)
        return "low" if share <= LOW else "high" if share >= HIGH else "mid"

    @property
    def words(self) -> tuple[str, ...]:
        return BINS


@dataclass(frozen=True, slots=True)
class Words:
    """One of these words."""

    words: tuple[str, ...]


YES_NO = Words(("true", "false"))
Scale = Number | Words


@dataclass(frozen=True, slots=True)
class Past:
    """A turn in short: which strategy asked about what, and what became of it. `answered`: there was an answer at all."""

    strategy: str
    focus: str  # node id, "" for none
    depth: Depth
    new_nodes: int
    new_edges: int
    chain: int  # node types on the longest chain after it
    retracted: int = 0
    answered: bool = True

    @property
    def yielded(self) -> bool:
        return self.new_nodes + self.new_edges + self.retracted > 0

    @property
    def barren(self) -> bool:
        """A shallow answer that brought nothing either: a short one that did is what was asked for."""
        return self.answered and self.depth == "surface" and not self.yielded


@dataclass(frozen=True)
class View:
    """An interview after an answer, as signals see it. `past` ends with the turn that was just answered."""

    ontology: Ontology
    graph: KnowledgeGraph
    states: States
    coverage: Coverage
    past: Sequence[Past]
    readings: Readings
    focus: str = ""  # what the answered question was about
    chain: int = 0
    asks: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # strategy → kinds of concepts that it asks for by name
    interview: Values = field(default_factory=dict)  # first pass, for meta signals
    nodes: Mapping[str, Values] = field(default_factory=dict)

    def state(self, node: str) -> NodeState:
        return self.states.get(node) or NodeState()


@dataclass(frozen=True)
class Signal(Generic[P]):
    """A reading with a name, a scale and a description: what it measures, how to read it, what it means for the next question.

    `detect`: None where there is nothing to read; the signal is then not active, and no weight counts it.
    """

    name: str
    scale: Scale
    description: Text
    detect: Callable[Concatenate[View, P], Value | None]

    @property
    def is_meta(self) -> bool:
        """Detected in the second pass, from the results of the first."""
        return self.name.startswith("meta.")

    def word(self, value: Value) -> str:
        """The value as a weight key names it: true, a category, or a bin."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else self._number.bin(value)

    def normal(self, value: Value) -> float:
        """The value as a bare weight key counts it, 0–1. Raises TypeError for a category."""
        if isinstance(value, str):
            raise TypeError(f"{self.name} is {value!r}, which is no number")
        return float(value) if isinstance(value, bool) else self._number.normal(value)

    @property
    def _number(self) -> Number:
        if not isinstance(self.scale, Number):
            raise TypeError(f"{self.name} gave a number, but declares {', '.join(self.scale.words)}")
        return self.scale


OF_INTERVIEW: list[Signal[[]]] = []
OF_CONCEPT: list[Signal[[str]]] = []  # node
OF_STRATEGY: list[Signal[[str]]] = []
OF_PAIR: list[Signal[[str, str]]] = []  # node, strategy


def signal(
    kind: list[Signal[P]], name: str, scale: Scale, *, de: str, en: str
) -> Callable[[Callable[Concatenate[View, P], Value | None]], Signal[P]]:
    """The function becomes a signal of that kind."""

    def kept(detect: Callable[Concatenate[View, P], Value | None]) -> Signal[P]:
        kind.append(Signal(name, scale, Text(de=de, en=en), detect))
        return kind[-1]

    return kept
