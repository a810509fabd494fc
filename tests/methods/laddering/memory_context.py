"""A context without a ledger, for interviews in memory: a synthetic respondent answers, rules do the interviewer's
work; and how much of what was planted they found: a planted link counts if its two thoughts are linked in the graph.

Recall is of what can be found: a turn brings up one thought at most, a beginning or one that hangs on another. An agent
of c chains with t thoughts in all can so give t − c links, and an interview of n turns that hears every beginning n − c
of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from enquete.instruments.load import load_shipped
from enquete.instruments.text import Text
from enquete.methods.laddering.interview import LadderingInterview, stored_interview
from enquete.methods.laddering.knowledge import similarity
from enquete.methods.laddering.procedure import Laddering
from enquete.methods.laddering.settings import LadderingInstrument, LadderingSettings
from enquete.methods.laddering.synthetic import GroundTruth, Thought, answer, ground_truth, links
from enquete.state.asking import Answer, Language, Participant
from tests.support.memory_context import MemoryContext as Memory
from tests.support.memory_context import Says

INSTRUMENT = load_shipped(LadderingInstrument, "laddering")
CONCEPTS = ("fisheries_2040", "oat_drink")
GROUND_TRUTHS = {name: ground_truth(LadderingSettings(concept=name).topic) for name in CONCEPTS}
GROUND_TRUTH = GROUND_TRUTHS["fisheries_2040"]
NOBODYS = ground_truth(LadderingSettings().topic.model_copy(update={"topic": Text(de="Fahrräder", en="Bicycles")}))
"""Of a topic that no pack knows."""


def truth_about(settings: LadderingSettings) -> GroundTruth:
    return GROUND_TRUTHS[settings.concept]


class MemoryContext(Memory):
    """Of a laddering interview with the synthetic respondent, unless somebody else answers."""

    def __init__(
        self,
        who: Participant,
        language: Language = "de",
        says: Says | None = None,
        seed: int = 0,
        planted: GroundTruth = GROUND_TRUTH,
    ):
        answers = says or (lambda who, block: answer(who, block, language, seed, truth=planted)[0])
        super().__init__(who, answers, language, methodology="laddering", seed=seed)


def saying(text: str) -> Says:
    """The same to every question."""
    return lambda who, block: Answer(block.items[0].id, "ok", text=text)


def interviewed(context: MemoryContext, settings: LadderingSettings | None = None) -> LadderingInterview:
    """The interview of the context's participant, to its end."""
    chosen = settings or LadderingSettings()
    laddering = Laddering(INSTRUMENT, chosen, context.language)
    unit = context.participants()[0].id
    assert asyncio.run(laddering.conduct(unit, 1, context)) == "done"
    return stored_interview(unit, context.values)


def person(number: int = 1, kind: str = "Küstenfischer") -> Participant:
    return Participant(
        id=f"agent:{number}", name=f"Person {number}", stakeholder_type=kind, persona=f"Nr. {number}, lebt am Meer."
    )


# --- what they found --------------------------------------------------------------------------------------------------

TYPES = ("Küstenfischer", "Umweltverband", "Wissenschaft", "Angler", "Verwaltung", "Reederei", "Fischhandel",
         "Verbraucher", "Gemeinde", "Rentner")  # fmt: skip
SAME = 0.8  # similarity from which a concept is a planted wording


class Recall(NamedTuple):
    """Planted links that the turns allow to find, and those that were found."""

    found: int
    planted: int

    @property
    def share(self) -> float:
        return self.found / self.planted


def recall(interview: LadderingInterview, who: Participant, settings: LadderingSettings, seed: int = 0) -> Recall:
    carried = truth_about(settings).carried(who, settings.method.id, seed)
    planted = links(carried, truth_about(settings).manner.leads)
    ends = {frozenset((edge.source, edge.target)) for edge in interview.graph.edges.values()}
    recalled = sum(
        any(frozenset((a, b)) in ends for a in _nodes(interview, link.source) for b in _nodes(interview, link.target))
        for link in planted
    )
    return Recall(recalled, min(sum(len(chain.all_thoughts) for chain in carried), settings.turns) - len(carried))


def _nodes(interview: LadderingInterview, thought: Thought) -> list[str]:
    wordings = thought.all_wordings
    return [n.id for n in interview.graph.nodes.values() if any(similarity(n.text, w) >= SAME for w in wordings)]


def study(agents: int, settings: LadderingSettings, language: Language) -> tuple[float, list[LadderingInterview]]:
    """(recall of all planted links, the interviews) of this many agents of ten types."""
    total, interviews = Recall(0, 0), list[LadderingInterview]()
    for number in range(agents):
        who = person(number, TYPES[number % len(TYPES)])
        interview = interviewed(MemoryContext(who, language, planted=truth_about(settings)), settings)
        part = recall(interview, who, settings)
        total = Recall(total.found + part.found, total.planted + part.planted)
        interviews.append(interview)
    return total.share, interviews


def focuses(interview: LadderingInterview) -> Sequence[str]:
    return [turn.choice.focus for turn in interview.turns if turn.choice and turn.choice.focus]
