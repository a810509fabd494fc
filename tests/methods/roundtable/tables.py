"""Discussions in memory: people at a table, what each says when, and what each was shown before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from enquete.instruments.load import load_shipped
from enquete.methods.roundtable.discussion import Discussion, RoundtableSettings, RoundtableTurn
from enquete.methods.roundtable.instrument import RoundtableInstrument
from enquete.methods.roundtable.procedure import Roundtable
from enquete.runs.conversations import stored_turns
from enquete.state.asking import Answer, Block, Item, Language, Participant, Reply
from tests.support.memory_context import MemoryContext, Works

INSTRUMENT = load_shipped(RoundtableInstrument, "roundtable")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn")

Says = Callable[[str, int, str, bool], object]
"""(name, round, item, whether asked once more) → what is said; None for what `plainly` says."""


def people(n: int, kinds: Sequence[str] = ("person",)) -> list[Participant]:
    return [
        Participant(id=f"agent:{name.lower()}", name=name, stakeholder_type=kinds[place % len(kinds)], persona=name)
        for place, name in enumerate(NAMES[:n])
    ]


def plainly(name: str, round: int, item: str) -> object:
    """Words that nobody else says, in lists of three; sure by half; for it."""
    if item == "position":
        return f"{name}topic{round}."
    if item == "confidence":
        return 0.5
    if item == "stance":
        return "yes"
    if item == "citations":
        return "nothing"
    if item in ("reasoning", "key_points"):
        return f"{name}{item}{round}."
    return "\n".join(f"{name} {item} {letter}{round}" for letter in "abc")


class TableContext(MemoryContext):
    """Several people, and answers to all items of a block."""

    def __init__(
        self,
        sitting: Sequence[Participant],
        says: Says,
        language: Language,
        works: Works | None = None,
        by: str = "rule",
    ):
        super().__init__(
            sitting[0], lambda who, block: Answer("", "ok"), language, methodology="roundtable", works=works, by=by
        )
        self._sitting, self._script = list(sitting), says

    def participants(self) -> Sequence[Participant]:
        return self._sitting

    def participant(self, participant_id: str) -> Participant:
        return next(who for who in self._sitting if who.id == participant_id)

    async def ask(self, block: Block) -> Reply:
        if block.key not in self.answers_by_key:
            self.blocks.append(block)
            self.answers_by_key[block.key] = {item.id: self._answer(item, block) for item in block.items}
        return Reply("done", tuple(self.answers_by_key[block.key].values()))

    def _answer(self, item: Item, block: Block) -> Answer:
        name, again = item.id.removeprefix("again/"), item.id.startswith("again/")
        who = self.participant(block.key.participant).name
        text = self._script(who, block.key.round, name, again)
        text = plainly(who, block.key.round, name) if text is None else text
        if item.kind == "number":
            return Answer(item.id, "ok", value=float(str(text)))
        if item.kind in ("choice", "ranking"):
            return Answer(
                item.id, "ok", data=text if item.kind == "choice" else [option.value for option in item.options]
            )
        if item.kind == "scale":
            return Answer(item.id, "ok", value=4.0)
        return Answer(item.id, "ok" if text else "invalid", text=str(text))


@dataclass(frozen=True)
class Table:
    """A discussion that was held."""

    interview_context: TableContext
    procedure: Roundtable
    talk: Discussion

    def shown(self, name: str, round: int) -> dict[str, str]:
        """heading → text of what somebody was shown before speaking in a round."""
        return dict(self._block(name, round).quoted)

    def told(self, name: str, round: int) -> str:
        return self._block(name, round).instruction

    def asked(self, name: str, round: int) -> list[str]:
        return [item.id for item in self._block(name, round).items]

    def turn(self, name: str, round: int) -> RoundtableTurn:
        return next(
            turn for turn in self.talk.turns if turn.participant == f"agent:{name.lower()}" and turn.round == round
        )

    def _block(self, name: str, round: int) -> Block:
        who = f"agent:{name.lower()}"
        return next(
            b
            for b in self.interview_context.blocks
            if b.key.participant == who and b.key.round == round and b.key.part == "turn"
        )


def hold(
    mode: str,
    n: int = 3,
    says: Says = lambda *_: None,
    *,
    language: Language = "en",
    works: Works | None = None,
    by: str = "rule",
    sitting: Sequence[Participant] = (),
    **given: Any,
) -> Table:
    """A group by hand, in the order of the names; two rounds and nothing private unless `given`. `by`: who `works`."""
    members = ", ".join(NAMES[:n])
    chosen: Mapping[str, Any] = {"rounds": 2, "private": False, "compose": "hand", "members": members, **given}
    settings = RoundtableSettings.model_validate({"mode": mode, **chosen})
    context, procedure = (
        TableContext(sitting or people(n), says, language, works, by),
        Roundtable(INSTRUMENT, settings, language),
    )
    for round in range(1, procedure.rounds + 1):
        for unit in procedure.units(round, context):
            assert asyncio.run(procedure.conduct(unit, round, context)) == "done"
    return Table(context, procedure, stored(procedure, context, "group_01"))


def stored(procedure: Roundtable, context: TableContext, unit: str) -> Discussion:
    talk = procedure.begun(unit, context)
    for turn in stored_turns(context.pinned, unit, RoundtableTurn):
        talk = talk.after(turn)
    return talk
