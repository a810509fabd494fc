"""An interview: its stored turns, and what they add up to. The turns are the checkpoint: `resumed` builds everything else
from them, with the same steps that made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import BaseModel, ConfigDict

from enquete.graphs.laddering.coverage import Coverage
from enquete.graphs.laddering.knowledge import Changes, KnowledgeGraph
from enquete.graphs.laddering.nodestate import Depth, States, after_answer, after_choice
from enquete.graphs.laddering.readings import Readings
from enquete.graphs.laddering.scoring import Choice, Use
from enquete.graphs.laddering.signals.base import Past, Value
from enquete.graphs.laddering.similarity import normal
from enquete.graphs.laddering.stopping import Reason
from enquete.state.seam import Status


class TurnRecord(BaseModel):
    """A turn as it is frozen. `choice`: what this turn's question was chosen for, None at the opening; `signals` of the turn
    with those of the next focus; `utterance`: where concepts, signals and scores of this turn come from."""

    model_config = ConfigDict(frozen=True)

    turn: int
    question: str
    choice: Choice | None
    utterance: str
    status: Status
    answer: str
    depth: Depth
    changes: Changes
    chain: int
    coverage: Coverage
    readings: Readings
    signals: Mapping[str, Value]
    next: Choice | None
    next_question: str
    stop: Reason
    by: Mapping[
        str, str
    ]  # extract, signal, question (of this turn), next → model, "rule", "" where nothing was to be done

    @property
    def past(self) -> Past:
        return Past(
            strategy=self.choice.strategy if self.choice else "",
            focus=self.choice.focus if self.choice else "",
            depth=self.depth,
            new_nodes=self.changes.new_nodes,
            new_edges=self.changes.new_edges,
            chain=self.chain,
        )


@dataclass(frozen=True)
class Interview:
    """Before the turn that asks `question`; over once `stop` says why."""

    unit: str
    question: str
    question_by: str = ""
    choice: Choice | None = None
    turns: tuple[TurnRecord, ...] = ()
    graph: KnowledgeGraph = field(default_factory=KnowledgeGraph)
    states: States = field(default_factory=dict)
    stop: Reason = ""

    @property
    def turn(self) -> int:
        """The number of the turn that is next, from 1."""
        return len(self.turns) + 1

    @property
    def past(self) -> list[Past]:
        return [turn.past for turn in self.turns]

    @cached_property
    def asked(self) -> frozenset[str]:
        """Every question so far, the next one included, as `normal` writes it."""
        return frozenset(normal(question) for question in (*(turn.question for turn in self.turns), self.question))

    @property
    def used(self) -> tuple[Use, ...]:
        """What every question so far was chosen as, the next one included; the opening was not chosen."""
        choices = (*(turn.choice for turn in self.turns), self.choice)
        return tuple(choice.use for choice in choices if choice is not None)

    def transcript(self) -> list[tuple[str, str]]:
        return [(turn.question, turn.answer) for turn in self.turns]

    def after(self, record: TurnRecord) -> Interview:
        """With one turn more."""
        graph = self.graph.applied(record.changes)
        states = answered_states(self.states, graph, self.focus, record.depth, record.changes)
        if record.next is not None:
            states = after_choice(states, record.next.focus, record.next.strategy)
        return Interview(
            unit=self.unit,
            question=record.next_question,
            question_by=record.by["next"],
            choice=record.next,
            turns=(*self.turns, record),
            graph=graph,
            states=states,
            stop=record.stop,
        )

    @property
    def focus(self) -> str:
        """What the next question is about, "" for no concept."""
        return self.choice.focus if self.choice else ""


def answered_states(states: States, graph: KnowledgeGraph, focus: str, depth: Depth, changes: Changes) -> States:
    """Node states after an answer: the one way, in the pipeline as in reading stored turns back."""
    return after_answer(states, list(graph.nodes), focus, depth, yielded=changes.any_new)


def resumed(unit: str, opening: str, records: Sequence[TurnRecord]) -> Interview:
    """The interview that stored turns add up to."""
    if not records:
        return Interview(unit, opening)
    interview = Interview(unit, records[0].question, records[0].by["question"])
    for record in records:
        interview = interview.after(record)
    return interview


def at_turn(unit: str, records: Sequence[TurnRecord], turn: int) -> Interview:
    """What `turn` (from 1) was asked with: its question and the conversation before, nothing computed."""
    return Interview(unit, records[turn - 1].question, turns=tuple(records[: turn - 1]))


def turn_name(unit: str, turn: int) -> str:
    """The name under which a turn is frozen."""
    return f"turn/{unit}/{turn:02d}"
