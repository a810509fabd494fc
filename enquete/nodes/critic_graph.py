"""The critic's graph: grade → pairwise_grading → annotate. It runs after the methodologies and before the synthesis, so
that respondent A waits for nothing of it, and reads everything from the ledger, so that it may be started over at any
time.

Its requests draw on the run's budget, after everybody else's. Where that is used up it ends in "short", and the
parent's gate decides; anything else that goes wrong costs a grade or a verdict and never the run.

Pairs of answers to one question, respondent A's and B's, and what became of each: matched from the ledger, which
survives whatever a process does not, and pinned in it.

The key is the question's id, an answer's key without run and arm. Two answers are a pair only where both respondents
were asked in the same words: a conversation that went another way asked another question.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final, Generic, Literal, NotRequired, TypeVar
from weakref import WeakKeyDictionary

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from enquete.ledger import queries
from enquete.ledger.connection import DatabaseError
from enquete.ledger.entries import Used
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord
from enquete.memory.recall import LocalMemory, MemoryRecord, Preference
from enquete.nodes.planning import CRITIC, planned, rounds_owed
from enquete.nodes.run_session import RunSession, event_of, using
from enquete.respondents.critic import (
    CriticQuestion,
    comparing,
    grading,
    reason,
    standin_choice,
    standin_grade,
    standin_quality,
    verdict,
)
from enquete.respondents.critic import grade as read_grade
from enquete.respondents.ground_truth import uniform
from enquete.respondents.kinds import kind_of
from enquete.respondents.ledger_context import LedgerContext
from enquete.state.asking import RESPONDED, Answer, Arm, Block, CallKey, Item, Participant
from enquete.state.channels import merge_by_id
from enquete.state.errors import LedgerError
from enquete.state.interview_context import Prompt
from enquete.state.request import CriticSettings, RunRequest

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
    """Whether a reply calls a tool, in words: that is no answer, and nothing is compared with it."""
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


# --- The graph -------------------------------------------------------------------------------------------------------

AT_ONCE: Final = 256
"""Pairs whose prompts are in memory together."""
STAGE: Final = ("", CRITIC)


class CriticInput(TypedDict):
    """What the critic's graph starts from."""

    run: str


class CriticState(CriticInput):
    """The critic at work."""

    pairs: NotRequired[int]
    judged: NotRequired[int]
    annotated: NotRequired[int]
    outcome: NotRequired[str]
    outcomes: Annotated[NotRequired[dict[str, str]], merge_by_id]


class CriticOutput(TypedDict):
    """What it tells its parent."""

    outcomes: Annotated[dict[str, str], merge_by_id]


_MATCHED: WeakKeyDictionary[RunSession, list[AnswerPair]] = WeakKeyDictionary()


async def grade(state: CriticState) -> dict[str, Any]:
    """Every answer that has another to be compared with, by the rubric."""
    async with using(state["run"]) as run_session:
        judge = _judge(run_session)
        pairs = _MATCHED[run_session] = await matched(run_session, judge.second, judge.how.pairs)

        async def both(pair: AnswerPair) -> None:
            await judge.grade(pair, "a")
            await judge.grade(pair, "b")

        graded = await _each(judge, pairs, both, 1)
        return {"pairs": len(pairs), "outcome": "" if graded else "short"}


async def pairwise_grading(state: CriticState) -> dict[str, Any]:
    """Every pair in both orders; some once more. What is judged is pinned, with its grades."""
    if state.get("outcome"):
        return {}
    async with using(state["run"]) as run_session:
        judge = _judge(run_session)
        pairs = await _matched(judge)
        compared = [pair.a.question_id for pair in pairs if not pair.alike]
        again = set(sorted(compared, key=lambda name: uniform(run_session.record.seed, "again", name))[:REPEATED])

        async def judged(pair: AnswerPair) -> None:
            record = await judge.judge(pair, again=pair.a.question_id in again)
            name, value = f"{PAIR}{record.question_id}", record.model_dump(mode="json")
            await run_session.ledger.pin(judge.second.id, CRITIC, "", name, value)

        whole = await _each(judge, pairs, judged, 2)
        n = sum(1 for _ in pair_records(run_session.ledger, judge.second.id))
        return {"judged": n, "outcome": "" if whole else "short"}


async def annotate(state: CriticState) -> dict[str, Any]:
    """The memory is told what became of each answer; then the critic's stage is closed."""
    async with using(state["run"]) as run_session:
        outcome = "short" if state.get("outcome") == "short" else "done"
        judge = _judge(run_session)
        told = await annotate_memory(run_session, judge.second, await _matched(judge))
        await _note_costs(run_session, judge.second)
        await run_session.ledger.set_stage(*STAGE, outcome)
        if outcome == "done":
            await run_session.budget.close(CRITIC)
        return {"annotated": told, "outcome": outcome, "outcomes": {CRITIC: outcome}}


async def _note_costs(run_session: RunSession, second: Arm) -> None:
    """What each respondent's answers cost so far; USD None where a price is unknown. Coding is nobody's answer."""
    costs: dict[str, Any] = {}
    for side, arm in (("a", run_session.record.main), ("b", second)):
        rows = run_session.ledger.read(
            queries.ANSWERS_COST, (arm.id, json.dumps(list(run_session.record.carried)))
        ).fetchall()
        prices = [run_session.cost_of(model, Used(read, written, lost)) for model, read, written, lost in rows]
        known = [price for price in prices if price is not None]
        usd = sum(known) if len(known) == len(prices) else None
        costs[side] = {"tokens": sum(sum(row[1:]) for row in rows), "usd": usd}
    await run_session.ledger.note(f"{CRITIC}_{COSTS}", json.dumps(costs))


async def _matched(judge: Judge) -> list[AnswerPair]:
    """As the node before found them, or anew in another process."""
    if judge.run_session not in _MATCHED:
        _MATCHED[judge.run_session] = await matched(judge.run_session, judge.second, judge.how.pairs)
    return _MATCHED[judge.run_session]


async def _each(
    judge: Judge, pairs: Sequence[AnswerPair], work: Callable[[AnswerPair], Awaitable[None]], number: int
) -> bool:
    """Work on all that are not judged yet, some at a time, with progress as rounds report it. False once the budget is
    short: the rest is not begun. A bug ends the node."""
    report, budget = get_stream_writer(), judge.run_session.budget
    settled = {record.question_id for record in pair_records(judge.run_session.ledger, judge.second.id)}
    due = [pair for pair in pairs if pair.a.question_id not in settled]

    def tell(done: int) -> None:
        report(event_of(budget, (CRITIC, "", judge.second.id, number), done, len(due)))

    for start in range(0, len(due), AT_ONCE):
        tell(start)
        done = await asyncio.gather(*map(work, due[start : start + AT_ONCE]), return_exceptions=True)
        faults = [result for result in done if isinstance(result, BaseException)]
        for fault in faults:
            if not isinstance(fault, Short):
                raise fault
        if faults:
            return False
    tell(len(due))
    return True


def critic_graph() -> Any:
    """Compiled, without a checkpointer: nested in the entry graph, which alone interrupts."""
    builder = StateGraph(CriticState, context_schema=RunRequest, input_schema=CriticInput, output_schema=CriticOutput)
    builder.add_node("grade", grade)
    builder.add_node("pairwise_grading", pairwise_grading)
    builder.add_node("annotate", annotate)
    builder.add_edge(START, "grade")
    builder.add_edge("grade", "pairwise_grading")
    builder.add_edge("pairwise_grading", "annotate")
    builder.add_edge("annotate", END)
    return builder.compile(name=CRITIC)


# --- The critic at work: its requests, each filed in the ledger before it is sent, and what was read of the replies.
# A reply that cannot be read is no grade and no verdict; nothing here ends a run. Without a model the stand-in judges
# (respondents/critic.py), through the same prompts, ledger and reader.

Order = Literal["ab", "ba", "again"]


class Short(Exception):
    """The budget is used up, or the run was stopped: no further request may be made."""


@dataclass(frozen=True)
class Judge:
    """Judges answers of one run. `second`: respondent B."""

    run_session: RunSession
    second: Arm
    how: CriticSettings

    async def grade(self, pair: AnswerPair, side: Side) -> int | None:
        """By the rubric, 1–5; None where the reply holds no grade. What both say alike has one grade. Raises Short."""
        asked = pair.a if side == "a" or pair.alike else pair.b
        text = await self._reply(
            "grade",
            self._within_run(asked),
            lambda: grading(pair.question, asked.answer, self.how.rubric, self.run_session.record.language),
            lambda: standin_grade(self._quality(asked)),
        )
        return read_grade(text)

    async def judge(self, pair: AnswerPair, *, again: bool) -> PairRecord:
        """In both orders, once more in the first if asked `again`; with the grades as they are filed. Raises Short."""
        orders: tuple[Order, ...] = () if pair.alike else ("ab", "ba", "again") if again else ("ab", "ba")
        texts = {order: await self._compare(pair, order) for order in orders}
        won = {order: _winner(order, text) for order, text in texts.items()}
        forward, backward = won.get("ab", ""), won.get("ba", "")
        a, b = pair.a, pair.b
        return PairRecord.model_validate(
            {
                "question_id": a.question_id, "answer_id_a": a.answer_id, "answer_id_b": b.answer_id,
                "winner": "tie" if pair.alike else winner_of(forward, backward), "score_a": await self.grade(pair, "a"),
                "score_b": await self.grade(pair, "b"), "reason": reason(texts.get("ab")), "methodology": a.methodology,
                "phase": a.phase, "participant": a.participant, "question_type": a.kind, "forward": forward,
                "backward": backward, "again": won.get("again", ""), "alike": pair.alike, "value_a": a.value,
                "value_b": b.value, "width": a.width,
            },
        )  # fmt: skip

    async def _compare(self, pair: AnswerPair, order: Order) -> str | None:
        first, then = (pair.b, pair.a) if order == "ba" else (pair.a, pair.b)
        question = pair.a.question_id
        return await self._reply(
            "again" if order == "again" else "compare",
            f"{question}/{'ba' if order == 'ba' else 'ab'}",
            lambda: comparing(
                pair.question, first.answer, then.answer, self.how.rubric, self.run_session.record.language
            ),
            lambda: standin_choice(self.how.model, self._quality(first), self._quality(then), f"{question}/{order}"),
        )

    async def _reply(
        self, purpose: str, subject: str, compose: Callable[[], Prompt], stand_in: Callable[[], str]
    ) -> str | None:
        """The text; None where the request failed for good."""
        record = self.run_session.record
        key = CallKey(record.run_id, self.second.id, CRITIC, "", purpose, subject, 0)
        metered = self.run_session.critic(again=purpose == "again")
        completion = await metered.request(key, compose, None if record.critic_has_model else stand_in)
        if completion == "short":
            raise Short
        return None if completion == "failed" else completion.text

    def _within_run(self, asked: AskedQuestion) -> str:
        """The answer's id without its run's, so that the same run makes the same pairs."""
        return asked.answer_id.removeprefix(f"{self.run_session.record.run_id}/")

    def _quality(self, asked: AskedQuestion) -> float:
        """The planted one."""
        answer, main = self._within_run(asked), self.run_session.record.main
        arm = main if answer.startswith(f"{main.id}/") else self.second
        return standin_quality(arm.model, answer)


def _judge(run_session: RunSession) -> Judge:
    """Only runs that have a second respondent come here."""
    second, how = run_session.record.second, run_session.record.critic
    assert second is not None
    assert how is not None
    return Judge(run_session, second, how)


def _winner(order: Order, text: str | None) -> str:
    """Whose answer won, whichever place it stood in; "" without a verdict."""
    letter = verdict(text)
    if letter is None:
        return ""
    return letter if order != "ba" else "B" if letter == "A" else "A"


# --- What became of each pair, told to the memory: both answers are remembered, their records annotated (respondent_id,
# critic_score, pairwise_winner), then the comparison itself, for preferences over many runs

TOLD: Final = {
    "question_id", "answer_id_a", "answer_id_b", "methodology", "question_type", "score_a", "score_b", "reason"
}  # fmt: skip
"""Fields of a comparison that the memory keeps as they are."""
NOTED_AT_ONCE: Final = 100
"""Pairs between two looks at the ledger: as many are told again, to no effect, after a kill."""
log = logging.getLogger("enquete")


async def annotate_memory(run_session: RunSession, second: Arm, pairs: Sequence[AnswerPair]) -> int:
    """How many pairs the memory was told of. What it could not be told is noted, and tried again by the next walk; it
    never ends a run. A replay says nothing new."""
    if run_session.record.replay_of:
        return 0
    known, by_id = annotated(run_session.ledger, second.id), {pair.a.question_id: pair for pair in pairs}
    judged = [record for record in pair_records(run_session.ledger, second.id) if record.question_id in by_id]
    left = [record for record in judged if record.question_id not in known]
    from enquete.analysis.preference import position_bias  # noqa: PLC0415 - no question waits for scipy

    orders = [record.forward for record in judged], [record.backward for record in judged]
    usable = position_bias(*orders).verdict != "unusable"
    told: list[str] = []
    try:
        for start in range(0, len(left), NOTED_AT_ONCE):
            some = [(record, by_id[record.question_id]) for record in left[start : start + NOTED_AT_ONCE]]
            done = await asyncio.to_thread(_tell, run_session, second, some, usable)
            told += done
            await asyncio.gather(
                *(run_session.ledger.pin(second.id, CRITIC, "", f"{ANNOTATED}{name}", True) for name in done)
            )
    except (LedgerError, DatabaseError, OSError) as error:
        log.warning("memory: comparisons could not be noted: %s", error)
    await run_session.ledger.note(UNTOLD, str(len(left) - len(told)))
    return len(told)


def _tell(
    run_session: RunSession, second: Arm, some: Sequence[tuple[PairRecord, AnswerPair]], usable: bool
) -> list[str]:
    """Questions of which both records took the result. The word of an unusable critic is no preference."""
    record, people = run_session.record, {who.id: who for who in run_session.population}
    a, b = (f"{arm.model}, temperature {arm.temperature:g}" for arm in (record.main, second))
    winners: dict[str, Literal["a", "b", "tie"]] = {"A": "a", "B": "b", "tie": "tie"}
    done = []
    with LocalMemory.opened(run_session.interviews) as memory:
        memory.remember([_remembered(record, asked, people) for _, pair in some for asked in (pair.a, pair.b)])
        for result, _ in some:
            sides = (
                (result.answer_id_a, record.main, result.score_a, "A"),
                (result.answer_id_b, second, result.score_b, "B"),
            )
            won = {letter: result.winner == letter for letter in "AB"} if result.winner in ("A", "B") else {}
            taken = [
                memory.annotate(
                    answer, {"respondent_id": arm.id, "critic_score": score, "pairwise_winner": won.get(letter)}
                )
                for answer, arm, score, letter in sides
            ]
            if all(taken):
                done.append(result.question_id)
            if usable and result.winner and not result.alike and a != b:
                kind = people[result.participant].stakeholder_type if result.participant in people else ""
                memory.remember_preference(
                    Preference(
                        **result.model_dump(include=TOLD), run_id=record.run_id, stakeholder_type=kind, a=a, b=b,
                        winner=winners[result.winner],
                    ),
                )  # fmt: skip
    return done


def _remembered(record: RunRecord, asked: AskedQuestion, people: Mapping[str, Participant]) -> MemoryRecord:
    who = people.get(asked.participant)
    return MemoryRecord(
        id=asked.answer_id, kind="answer", text=f"{asked.wording.strip()}\n{asked.answer}", sim_id=record.sim_id,
        run_id=record.run_id, participant=asked.participant, agent_name=who.name if who else "",
        stakeholder_type=who.stakeholder_type if who else "", methodology=asked.methodology, phase=asked.phase,
        answer_ids=[asked.answer_id],
    )  # fmt: skip
