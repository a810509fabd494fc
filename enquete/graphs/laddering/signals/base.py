"""What a signal is, and what it may look at.

A complete one, which a pool module may hold as it is (the registry finds it, weights may then name it):

    class AnswerCount(InterviewSignal):
        name = "graph.answer_count"
        scale = Number(0, 20)
        description = Text(de="Zahl der Antworten. Viele: …", en="Number of answers. Many: …")

        def detect(self, view):
            return len(view.past)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from enquete.graphs.laddering.coverage import Coverage
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.nodestate import Depth, NodeState, States
from enquete.graphs.laddering.ontology import Ontology
from enquete.graphs.laddering.readings import Readings
from enquete.instruments.text import Text

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
    """A turn in short: which strategy asked about what, and what became of it."""

    strategy: str
    focus: str  # node id, "" for none
    depth: Depth
    new_nodes: int
    new_edges: int
    chain: int  # node types on the longest chain after it

    @property
    def yielded(self) -> bool:
        return self.new_nodes + self.new_edges > 0


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
    interview: Values = field(default_factory=dict)  # first pass, for meta signals
    nodes: Mapping[str, Values] = field(default_factory=dict)

    def state(self, node: str) -> NodeState:
        return self.states.get(node) or NodeState()


class Signal:
    """A reading with a name, a scale and a description: what it measures, how to read it, what it means for the next question."""

    name: ClassVar[str] = ""
    scale: ClassVar[Scale] = YES_NO
    description: ClassVar[Text]

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


class InterviewSignal(Signal):
    """Of the whole interview."""

    def detect(self, view: View) -> Value | None:
        """None where there is nothing to read: the signal is then not active, and no weight counts it."""
        raise NotImplementedError


class NodeSignal(Signal):
    """Of one concept that could be asked about."""

    def detect(self, view: View, node: str) -> Value | None:
        raise NotImplementedError


class StrategySignal(Signal):
    """Of one strategy that could be used, whatever it asks about."""

    def detect(self, view: View, strategy: str) -> Value | None:
        raise NotImplementedError


class PairSignal(Signal):
    """Of one strategy used on one concept."""

    def detect(self, view: View, node: str, strategy: str) -> Value | None:
        raise NotImplementedError
