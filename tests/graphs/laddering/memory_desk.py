"""A desk without a ledger, for interviews in memory: a synthetic respondent answers, rules do the interviewer's work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, JsonValue

from enquete.graphs.laddering.analysis import stored_interview
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.plant import Plant, plant
from enquete.graphs.laddering.procedure import Laddering
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.graphs.laddering.synthetic import answer
from enquete.instruments.load import load_shipped
from enquete.state.asking import Answer, Arm, Block, BlockKey, Language, Participant, Reply
from enquete.state.desk import InterviewerTask

INSTRUMENT = load_shipped(LadderingInstrument, "laddering")
CONCEPTS = ("fisheries_2040", "oat_drink")
PLANTS = {name: plant(LadderingSettings(concept=name).topic) for name in CONCEPTS}
PLANT = PLANTS["fisheries_2040"]
Says = Callable[[Participant, Block], Answer]


def planting(settings: LadderingSettings) -> Plant:
    return PLANTS[settings.concept]


class MemoryDesk:
    """Everything that was asked, worked and frozen is kept in dictionaries, as a ledger would keep it."""

    run = "run_memory"
    main_arm = "main"
    methodology = "laddering"
    phase = "T1"
    asking: Literal["block", "item"] = "block"

    def __init__(
        self,
        who: Participant,
        language: Language = "de",
        says: Says | None = None,
        seed: int = 0,
        planted: Plant = PLANT,
    ):
        self.arm = Arm(seed=seed)
        self.language: Language = language
        self._who = who
        self._says = says or (lambda who, block: answer(who, block, language, seed, planting=planted)[0])
        self.blocks: list[Block] = []
        self.answers_by_key: dict[BlockKey, dict[str, Answer]] = {}
        self.tasks: dict[tuple[str, str], InterviewerTask[Any]] = {}
        self.values: dict[str, JsonValue] = {}
        self.replies: dict[tuple[str, str], BaseModel] = {}

    def participants(self) -> Sequence[Participant]:
        return [self._who]

    def participant(self, participant_id: str) -> Participant:
        return self._who

    def key(self, participant: str, part: str, *, session: str = "", round: int = 0, turn: int = 0) -> BlockKey:
        return BlockKey(self.run, self.arm.id, self.methodology, self.phase, session, round, turn, participant, part)

    def stored(self, key: BlockKey) -> Mapping[str, Answer]:
        return self.answers_by_key.get(key, {})

    async def ask(self, block: Block) -> Reply:
        if block.key not in self.answers_by_key:
            self.blocks.append(block)
            found = self._says(self._who, block)
            self.answers_by_key[block.key] = {found.item: found}
        return Reply("done", tuple(self.answers_by_key[block.key].values()))

    async def work(self, task: InterviewerTask[Any]) -> Any:
        key = (task.purpose, task.subject)
        if key not in self.replies:
            self.tasks[key] = task
            self.replies[key] = task.rule(task.data)
        return self.replies[key]

    def answered_by(self, task: InterviewerTask[Any]) -> str:
        return "rule"

    async def freeze(self, name: str, value: JsonValue) -> JsonValue:
        return self.values.setdefault(name, value)

    def frozen(self, name: str, *, arm: str | None = None) -> JsonValue:
        return self.values.get(name)

    async def answers(
        self, *, arm: str, phase: str | None = None, round: int | None = None
    ) -> AsyncIterator[tuple[BlockKey, Answer]]:
        for key, found in self.answers_by_key.items():
            for one in found.values():
                yield key, one


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
