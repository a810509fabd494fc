"""A desk without a ledger, for interviews in memory: a synthetic respondent answers, rules do the interviewer's work."""

from __future__ import annotations

import asyncio

from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.procedure import Laddering
from enquete.graphs.laddering.results import stored_interview
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.synthetic import Plant, answer, plant
from enquete.instruments.load import load_shipped
from enquete.state.asking import Language, Participant
from tests.support.memory_desk import MemoryDesk as Memory
from tests.support.memory_desk import Says

INSTRUMENT = load_shipped(LadderingInstrument, "laddering")
CONCEPTS = ("fisheries_2040", "oat_drink")
PLANTS = {name: plant(LadderingSettings(concept=name).topic) for name in CONCEPTS}
PLANT = PLANTS["fisheries_2040"]


def planting(settings: LadderingSettings) -> Plant:
    return PLANTS[settings.concept]


class MemoryDesk(Memory):
    """Of a laddering interview with the synthetic respondent, unless somebody else answers."""

    def __init__(
        self,
        who: Participant,
        language: Language = "de",
        says: Says | None = None,
        seed: int = 0,
        planted: Plant = PLANT,
    ):
        answers = says or (lambda who, block: answer(who, block, language, seed, planting=planted)[0])
        super().__init__(who, answers, language, methodology="laddering", seed=seed)


def interviewed(desk: MemoryDesk, settings: LadderingSettings | None = None) -> Interview:
    """The interview of the desk's participant, to its end."""
    chosen = settings or LadderingSettings()
    laddering = Laddering(INSTRUMENT, chosen, desk.language)
    unit = desk.participants()[0].id
    assert asyncio.run(laddering.conduct(unit, 1, desk)) == "done"
    return stored_interview(unit, desk.values)


def person(number: int = 1, kind: str = "Küstenfischer") -> Participant:
    return Participant(
        id=f"agent:{number}", name=f"Person {number}", stakeholder_type=kind, persona=f"Nr. {number}, lebt am Meer."
    )
