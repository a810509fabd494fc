"""The critic at work: it grades both respondents' answers, compares them, and tells the memory.

Its graph is graphs/comparison.py. It runs after the methodologies and before the synthesis, so that respondent A waits
for nothing of it, and reads everything from the ledger, so that it may be started over at any time. Requests draw on
the run's budget, after everybody else's; where that is used up the critic ends in "short", and the parent's gate
decides. Anything else that goes wrong costs a grade or a verdict and never the run. Each request is filed in the ledger
before it is sent. Without a model the stand-in judges (respondents/critic.py), through the same prompts, ledger and
reader.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from langgraph.config import get_stream_writer

from enquete.ledger import queries
from enquete.ledger.connection import DatabaseError
from enquete.ledger.entries import Used
from enquete.ledger.record import RunRecord
from enquete.memory.recall import LocalMemory, MemoryRecord, Preference
from enquete.respondents.critic import (
    comparing,
    grading,
    reason,
    standin_choice,
    standin_grade,
    standin_quality,
    verdict,
)
from enquete.respondents.critic import grade as read_grade
from enquete.runs.answer_pairs import (
    ANNOTATED,
    COSTS,
    UNTOLD,
    AnswerPair,
    AskedQuestion,
    PairRecord,
    Side,
    annotated,
    matched,
    pair_records,
    winner_of,
)
from enquete.runs.planning import CRITIC
from enquete.runs.run_session import RunSession, event_of
from enquete.state.asking import Arm, CallKey, Participant
from enquete.state.errors import LedgerError
from enquete.state.interview_context import Prompt
from enquete.state.request import CriticSettings

AT_ONCE: Final = 256
"""Pairs whose prompts are in memory together."""
_matched: WeakKeyDictionary[RunSession, list[AnswerPair]] = WeakKeyDictionary()
"""Pairs by run, from one node of the graph to the next."""


async def match_pairs(judge: Judge) -> list[AnswerPair]:
    """Return the pairs to be judged: as an earlier node of this process found them, else found anew in the ledger."""
    if judge.run_session not in _matched:
        _matched[judge.run_session] = await matched(judge.run_session, judge.second, judge.how.pairs)
    return _matched[judge.run_session]


async def match_pairs_anew(judge: Judge) -> list[AnswerPair]:
    """Return the pairs to be judged, with what was answered since."""
    _matched.pop(judge.run_session, None)
    return await match_pairs(judge)


async def note_costs(run_session: RunSession, second: Arm) -> None:
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


async def judge_each(
    judge: Judge, pairs: Sequence[AnswerPair], work: Callable[[AnswerPair], Awaitable[None]], number: int
) -> bool:
    """Work on every pair that is not judged yet, some at a time, with progress as rounds report it.

    Returns:
        Whether all was done; False once the budget is short: then the rest is not begun. A bug ends the node.
    """
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


def judge_of(run_session: RunSession) -> Judge:
    """Return the critic of a run that has a second respondent; no other run comes here."""
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
