"""A methodology whose units behave as a test says: done, with a bug, slow, or unable to write."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from enquete.state.errors import LedgerError
from enquete.state.seam import (
    Answer,
    Block,
    Desk,
    Item,
    Language,
    Methodology,
    Option,
    Outcome,
    Participant,
    Plan,
    Truth,
)

Behaviour = Literal["bug", "ledger", "slow", "short"]

behaviour: dict[str, Behaviour] = {}
"""By unit; a unit not named asks its one question."""
finished: list[str] = []
"""Units that came to their end, in that order."""

ITEM = Item(id="i", kind="scale", wording="?", options=tuple(Option(value=n, label="") for n in range(1, 6)))


class FickleInstrument(BaseModel):
    pass


class FickleSettings(BaseModel):
    pass


class Fickle:
    rounds = 1

    def units(self, round: int, desk: Desk) -> Sequence[str]:
        return [who.id for who in desk.participants()]

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        return [Block(key=desk.key(unit, "items"), instruction="?", items=(ITEM,))]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        how = behaviour.get(unit)
        if how == "bug":
            raise ZeroDivisionError(f"planted in {unit}")
        if how == "ledger":
            raise LedgerError("the disk is full")
        if how == "short":
            return "short"
        if how == "slow":
            await asyncio.sleep(0.2)
        for block in self.blocks(unit, round, desk):
            await desk.ask(block)
        finished.append(unit)
        return "done"

    async def between(self, round: int, desk: Desk) -> Literal["end"]:
        return "end"


def procedure(instrument: FickleInstrument, settings: FickleSettings, language: Language) -> Fickle:
    return Fickle()


def plan(instrument: FickleInstrument, settings: FickleSettings, agents: int, asking: str) -> Plan:
    return Plan(calls={"answer": (agents, agents)}, rows={"T1": (agents, agents)})


def planted(instrument: FickleInstrument) -> Truth:
    def answer(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        return [Answer(item.id, "ok", 3.0) for item in block.items]

    return answer


def analyse() -> dict[str, None]:
    return {}


METHODOLOGY = Methodology(
    name="fickle",
    title={"de": "Launisch", "en": "Fickle"},
    default=False,
    order=99,
    phases=("T1",),
    instrument=FickleInstrument,
    settings=FickleSettings,
    procedure=procedure,
    plan=plan,
    synthetic=planted,
    analyse=analyse,
    present="",
)
