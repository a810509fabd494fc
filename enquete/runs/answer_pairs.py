"""Pairs of answers to one question, respondent A's and B's, and what became of each.

They are matched from the ledger, which survives whatever a process does not, and pinned in it. The key is the
question's id, an answer's key without run and arm. Two answers are a pair only where both respondents were asked in the
same words: a conversation that went another way asked another question.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from enquete.ledger import queries
from enquete.ledger.ledger import Ledger
from enquete.respondents.critic import (
    CriticQuestion,
)
from enquete.respondents.ground_truth import uniform
from enquete.respondents.kinds import kind_of
from enquete.respondents.ledger_context import LedgerContext
from enquete.runs.planning import CRITIC, planned, rounds_owed
from enquete.runs.run_session import RunSession
from enquete.state.asking import RESPONDED, Answer, Arm, Block, Item

# --- What became of a pair: pinned in the ledger once, read by report, memory and whoever goes on after a kill

REPEATED = 50
"""Pairs of a run that are compared once more: how far a critic can be trusted, what it says twice of a pair tells."""
PAIR, ANNOTATED, COSTS = "pair/", "annotated/", "costs"
UNTOLD: Final = "critic_unannotated"

Winner = Literal["A", "B", "tie", ""]
"""tie: the critic chose by the place, or both say the same. "": no verdict in one of the orders."""


class PairRecord(BaseModel):
    """One question answered by both. Scores by the rubric, None where a grade could not be read."""

    model_config = ConfigDict(frozen=True)

    question_id: str
    answer_id_a: str
    answer_id_b: str
    winner: Winner = ""
    score_a: int | None = None
    score_b: int | None = None
    reason: str = ""
    methodology: str = ""
    phase: str = ""
    participant: str = ""
    question_type: str = ""
    forward: Literal["A", "B", ""] = ""  # who won where A's answer stood first
    backward: Literal["A", "B", ""] = ""  # who won where B's did
    again: Literal["A", "B", ""] = ""  # who won where A's stood first, judged once more
    alike: bool = False  # both say the same: nothing was judged
    value_a: float | None = None
    value_b: float | None = None
    width: float | None = None  # of the scale that both values are on


def winner_of(forward: str, backward: str) -> Winner:
    """A win needs both orders; a split is a tie; without a verdict in one of them nothing is said."""
    if not (forward and backward):
        return ""
    return "tie" if forward != backward else "A" if forward == "A" else "B"


def pair_records(ledger: Ledger, arm: str) -> Iterator[PairRecord]:
    """All pairs of this respondent B, by question."""
    rows = ledger.read(queries.PINNED_LIKE, (CRITIC, arm, f"{PAIR}%")).fetchall()
    return (PairRecord.model_validate_json(value) for _, value in rows)


def annotated(ledger: Ledger, arm: str) -> set[str]:
    """Questions whose result the memory has."""
    return {
        name.removeprefix(ANNOTATED) for name, _ in ledger.read(queries.PINNED_LIKE, (CRITIC, arm, f"{ANNOTATED}%"))
    }


# --- The matching buffer: which of two answers comes first does not matter, and it never outgrows its size

T = TypeVar("T")
Side = Literal["a", "b"]
SIZE: Final = 100


class MatchingBuffer(Generic[T]):
    """Answers that wait for the other respondent's, by question. The oldest goes where there is no more room."""

    def __init__(self, size: int = SIZE):
        self._size = size
        self._waiting: OrderedDict[str, tuple[Side, T]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, question: str, side: Side, answer: T) -> tuple[T, T] | None:
        """(A's, B's) once both are here. The same answer offered again takes its own place."""
        held = self._waiting.pop(question, None)
        if held is not None and held[0] != side:
            return (answer, held[1]) if side == "a" else (held[1], answer)
        self._waiting[question] = (side, answer)
        return None

    def evicted(self) -> list[tuple[Side, T]]:
        """What has to leave, the oldest first."""
        surplus = max(0, len(self._waiting) - self._size)
        return [self._waiting.popitem(last=False)[1] for _ in range(surplus)]

    def rest(self) -> list[tuple[Side, T]]:
        """What is still waiting when nothing more will come; the buffer is empty then."""
        left = list(self._waiting.values())
        self._waiting.clear()
        return left


_TOOL_CALL = re.compile(r'<tool_call>|"(?:tool_calls|function_call)"\s*:')
SIDES: Final[tuple[Side, ...]] = ("a", "b")


def is_tool_call(text: str) -> bool:
    """Return whether a reply calls a tool, in words: that is no answer, and nothing is compared with it."""
    return _TOOL_CALL.search(text) is not None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question as one respondent was asked it, with the answer."""

    question_id: str  # methodology/phase/session/round/turn/participant/item
    answer_id: str  # run/arm/ before it
    methodology: str
    phase: str
    participant: str
    kind: str
    wording: str
    shown: str  # what the critic sees of the question
    answer: str  # "" where there is none
    value: float | None
    width: float | None  # of its scale, where it has one
    unit: tuple[int, str]  # round and unit, to find the other respondent's again


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Both answers to one question; `persona` is of who was asked."""

    a: AskedQuestion
    b: AskedQuestion
    persona: str

    @property
    def question(self) -> CriticQuestion:
        return CriticQuestion(self.persona, self.a.shown)

    @property
    def alike(self) -> bool:
        """Whether both say the same: then neither is better, and no critic needs to be paid."""
        return " ".join(self.a.answer.split()).casefold() == " ".join(self.b.answer.split()).casefold()


async def matched(run_session: RunSession, second: Arm, most: int) -> list[AnswerPair]:
    """All pairs of a run in the order of the plan, or of each stage the `most` that are drawn by the run's seed."""
    pairs: list[AnswerPair] = []
    for name, phase in planned(run_session.record):
        if name in run_session.record.carried:
            continue
        here = [pair async for pair in _of_stage(run_session, name, phase, second)]
        if 0 < most < len(here):
            drawn = sorted(here, key=lambda pair: uniform(run_session.record.seed, "critic", pair.a.question_id))[:most]
            kept = {pair.a.question_id for pair in drawn}
            here = [pair for pair in here if pair.a.question_id in kept]
        pairs += here
    return pairs


async def _of_stage(run_session: RunSession, name: str, phase: str, second: Arm) -> AsyncIterator[AnswerPair]:
    """One methodology in one phase, unit by unit."""
    stage = _Stage(run_session, name, phase, second)
    buffer: MatchingBuffer[AskedQuestion] = MatchingBuffer()
    for number, unit in stage.units():
        for side in SIDES:
            for asked in stage.asked(side, number, unit):
                both = buffer.offer(asked.question_id, side, asked)
                if both:
                    for pair in stage.pairs([both]):
                        yield pair
            for pair in stage.pairs(stage.partners(buffer.evicted())):
                yield pair
        await asyncio.sleep(0)  # the loop is others' too
    for pair in stage.pairs(stage.partners(buffer.rest())):
        yield pair


class _Stage:
    """What both respondents were asked in one stage."""

    def __init__(self, run_session: RunSession, name: str, phase: str, second: Arm):
        self._run_session, self._name, self._phase = run_session, name, phase
        self._arms: dict[Side, Arm] = {"a": run_session.record.main, "b": second}
        self._units: dict[tuple[str, int], frozenset[str]] = {}
        self._people = {who.id: who for who in run_session.population}

    def units(self) -> Iterator[tuple[int, str]]:
        """(round, unit) of both respondents, each once."""
        procedure = self._run_session.procedure(self._name)
        for number in range(1, procedure.rounds + 1):
            both = (self._run_session.units(self._name, self._phase, number, arm.id) for arm in self._asking(number))
            for unit in dict.fromkeys(unit for units in both for unit in units):
                yield number, unit

    def _asking(self, number: int) -> list[Arm]:
        rounds = self._run_session.procedure(self._name).rounds
        arms = self._arms.values()
        return [arm for arm in arms if number in rounds_owed(rounds, self._context(arm))]

    def _units_of(self, arm: Arm, number: int) -> frozenset[str]:
        """An arm that asks some of the agents has other units."""
        if (arm.id, number) not in self._units:
            self._units[arm.id, number] = frozenset(self._run_session.units(self._name, self._phase, number, arm.id))
        return self._units[arm.id, number]

    def _context(self, arm: Arm) -> LedgerContext:
        return self._run_session.context(self._name, self._phase, arm.id)

    def asked(self, side: Side, number: int, unit: str) -> Iterator[AskedQuestion]:
        """What this unit was asked in this round, answered or not."""
        context = self._context(self._arms[side])
        for block in self._blocks(side, number, unit):
            stored = context.stored(block.key)
            for item in block.items:
                yield self._one(block, item, stored.get(item.id), (number, unit))

    def _blocks(self, side: Side, number: int, unit: str) -> Sequence[Block]:
        arm = self._arms[side]
        if unit not in self._units_of(arm, number):
            return ()
        try:
            blocks: Sequence[Block] = self._run_session.procedure(self._name).blocks(unit, number, self._context(arm))
        except Exception:  # a unit that a recorded bug broke owes nothing that could be compared
            if (arm.id, self._name, self._phase, number, unit) in self._run_session.failed_units:
                return ()
            raise
        return blocks

    def _one(self, block: Block, item: Item, answer: Answer | None, unit: tuple[int, str]) -> AskedQuestion:
        key = block.key
        names = (key.methodology, key.phase, key.session, key.round, key.turn, key.participant, item.id)
        question = "/".join(map(str, names))
        return AskedQuestion(
            question_id=question,
            answer_id=f"{key.run}/{key.arm}/{question}",
            methodology=key.methodology,
            phase=key.phase,
            participant=key.participant,
            kind=item.kind,
            wording=f"{item.about}\n{item.wording}",
            shown="\n\n".join(part for part in (block.instruction, item.about, item.wording, _options(item)) if part),
            answer=answer_text(item, answer),
            value=answer.value if answer and answer.status in RESPONDED else None,
            width=_width(item),
            unit=unit,
        )

    def partners(self, left: Iterable[tuple[Side, AskedQuestion]]) -> Iterator[tuple[AskedQuestion, AskedQuestion]]:
        """A's answers that left the buffer alone, with B's from the ledger. A B's that left is found by its A's.

        A group that discusses was asked more than the buffer holds: what B was asked is made once for all of it.
        """
        alone = (asked for side, asked in left if side == "a")
        for unit, ours in groupby(alone, key=lambda asked: asked.unit):
            theirs = {question.question_id: question for question in self.asked("b", *unit)}
            yield from ((question, theirs[question.question_id]) for question in ours if question.question_id in theirs)

    def pairs(self, both: Iterable[tuple[AskedQuestion, AskedQuestion]]) -> Iterator[AnswerPair]:
        """Those of which neither is missing, refused or a tool call, and that answer the same question."""
        for a, b in both:
            who = self._people.get(a.participant)
            if a.answer and b.answer and a.wording == b.wording:
                yield AnswerPair(a, b, who.persona if who else "")


def _options(item: Item) -> str:
    return "; ".join(f"{option.value} = {option.label}" for option in item.options if option.label)


def _width(item: Item) -> float | None:
    points = [option.value for option in item.options if isinstance(option.value, int)]
    return float(max(points) - min(points)) if item.kind == "scale" and len(points) > 1 else None


def answer_text(item: Item, answer: Answer | None) -> str:
    """An answer as people read it: the chosen option with its label, the words. "" where there is none to compare."""
    if answer is None or answer.status not in RESPONDED or is_tool_call(answer.text):
        return ""
    return "\n".join(part for part in (_closed(item, answer), answer.text.strip()) if part)


def _closed(item: Item, answer: Answer) -> str:
    if answer.value is not None:
        label = next((option.label for option in item.options if option.value == answer.value and option.label), "")
        return f"{answer.value:g} = {label}" if label else f"{answer.value:g}"
    if answer.data is None:
        return ""
    return kind_of(item).chosen(item, answer.data) or json.dumps(answer.data, ensure_ascii=False)
