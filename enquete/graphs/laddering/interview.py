"""An interview: a conversation whose stored turns add up to a knowledge graph and to what each of its concepts went through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from enquete.graphs.laddering.choosing import Choice, Reason, Use
from enquete.graphs.laddering.coverage import Coverage
from enquete.graphs.laddering.knowledge import Changes, KnowledgeGraph
from enquete.graphs.laddering.nodestate import Depth, States, after_answer, after_choice
from enquete.graphs.laddering.readings import Readings
from enquete.graphs.laddering.signals.base import Past, Value
from enquete.nodes.conversations import Conversation, Turn
from enquete.respondents.quoting import normal


class TurnRecord(Turn):
    """A turn as it is frozen. `choice`: what its question was chosen for, None at the opening; `signals` of the turn with
    those of the next focus; `by`: extract, signal, question (of this turn), next."""

    choice: Choice | None
    depth: Depth
    changes: Changes
    chain: int
    coverage: Coverage
    readings: Readings
    signals: Mapping[str, Value]
    next: Choice | None
    next_question: str
    stop: Reason = ""

    @property
    def past(self) -> Past:
        return Past(
            strategy=self.choice.strategy if self.choice else "",
            focus=self.choice.focus if self.choice else "",
            depth=self.depth,
            new_nodes=self.changes.new_nodes,
            new_edges=self.changes.new_edges,
            chain=self.chain,
            retracted=self.changes.retracted,
            answered=bool(self.answer),
        )


@dataclass(frozen=True)
class Interview(Conversation[TurnRecord]):
    """Before the turn that asks `question`. `question_by`: who worded it, "" where nobody has yet."""

    question: str = ""
    question_by: str = ""
    choice: Choice | None = None
    graph: KnowledgeGraph = field(default_factory=KnowledgeGraph)
    states: States = field(default_factory=dict)

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

    def after(self, turn: TurnRecord) -> Interview:
        """With one turn more."""
        graph = self.graph.applied(turn.changes)
        states = answered_states(self.states, graph, self.focus, turn.depth, turn.changes)
        if turn.next is not None:
            states = after_choice(states, turn.next.focus, turn.next.strategy)
        return replace(
            super().after(turn),
            question=turn.next_question,
            question_by=turn.by["next"],
            choice=turn.next,
            graph=graph,
            states=states,
        )

    @property
    def focus(self) -> str:
        """What the next question is about, "" for no concept."""
        return self.choice.focus if self.choice else ""


def answered_states(states: States, graph: KnowledgeGraph, focus: str, depth: Depth, changes: Changes) -> States:
    """Node states after an answer: the one way, in the pipeline as in reading stored turns back."""
    return after_answer(states, list(graph.standing.nodes), focus, depth, yielded=changes.any_new)
