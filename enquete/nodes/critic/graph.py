"""The critic's graph: grade → pairwise_grading → annotate. It runs after the methodologies and before the synthesis, so that
respondent A waits for nothing of it, and reads everything from the ledger, so that it may be started over at any time.

Its requests draw on the run's budget, after everybody else's. Where that is used up it ends in "short", and the parent's gate
decides; anything else that goes wrong costs a grade or a verdict and never the run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, NotRequired, TypeVar
from weakref import WeakKeyDictionary

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from enquete.checkpoints.usage import Used
from enquete.nodes.critic.annotating import annotate_memory
from enquete.nodes.critic.cost import REPEATED
from enquete.nodes.critic.judging import Judge, Short
from enquete.nodes.critic.outcome import COSTS, PAIR, pair_records
from enquete.nodes.critic.pairs import Pair, matched
from enquete.nodes.planning import CRITIC
from enquete.nodes.run_session import RunSession, using
from enquete.respondents.planted import uniform
from enquete.state.asking import Arm
from enquete.state.channels import merge_by_id
from enquete.state.request import RunRequest

AT_ONCE: Final = 256
"""Pairs whose prompts are in memory together."""
STAGE: Final = ("", CRITIC)
ANSWERS_COST: Final = """
SELECT model, sum(input_tokens), sum(output_tokens), sum(allowance) FROM calls
WHERE arm=? AND purpose='answer' AND methodology NOT IN (SELECT value FROM json_each(?)) GROUP BY model
"""

T = TypeVar("T")
R = TypeVar("R")


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


_MATCHED: WeakKeyDictionary[RunSession, list[Pair]] = WeakKeyDictionary()


async def grade(state: CriticState) -> dict[str, Any]:
    """Every answer that has another to be compared with, by the rubric."""
    async with using(state["run"]) as run_session:
        judge = _judge(run_session)
        pairs = _MATCHED[run_session] = await matched(run_session, judge.second, judge.how.pairs)
        graded = await _each(
            _open(run_session, judge.second, pairs), lambda pair: _both(judge, pair), _told(run_session, 1)
        )
        return {"pairs": len(pairs), "outcome": "" if graded else "short"}


async def _both(judge: Judge, pair: Pair) -> None:
    await judge.grade(pair, "a")
    await judge.grade(pair, "b")


async def pairwise_grading(state: CriticState) -> dict[str, Any]:
    """Every pair in both orders; some once more. What is judged is frozen, with its grades."""
    if state.get("outcome"):
        return {}
    async with using(state["run"]) as run_session:
        judge = _judge(run_session)
        pairs = await _matched(run_session, judge)
        again = _repeated(run_session, pairs)

        async def judged(pair: Pair) -> None:
            found = await judge.judge(pair, again=pair.a.question_id in again)
            await _freeze(run_session, judge.second, f"{PAIR}{found.question_id}", found.model_dump(mode="json"))

        whole = await _each(_open(run_session, judge.second, pairs), judged, _told(run_session, 2))
        n = sum(1 for _ in pair_records(run_session.ledger, judge.second.id))
        return {"judged": n, "outcome": "" if whole else "short"}


async def annotate(state: CriticState) -> dict[str, Any]:
    """The memory is told what became of each answer; then the critic's stage is closed."""
    async with using(state["run"]) as run_session:
        short = state.get("outcome") == "short"
        judge = _judge(run_session)
        told = await annotate_memory(run_session, judge.second, await _matched(run_session, judge))
        await _cost(run_session, judge.second)
        await run_session.ledger.set_stage(*STAGE, "short" if short else "done")
        if not short:
            await run_session.budget.close(CRITIC)
        outcome = "short" if short else "done"
        return {"annotated": told, "outcome": outcome, "outcomes": {CRITIC: outcome}}


async def _cost(run_session: RunSession, second: Arm) -> None:
    """What each respondent's answers cost so far; None in USD where a price is unknown. Coding themes is nobody's answer."""
    costs: dict[str, Any] = {}
    for side, arm in (("a", run_session.record.main), ("b", second)):
        rows = run_session.ledger.read(ANSWERS_COST, (arm.id, json.dumps(list(run_session.record.carried)))).fetchall()
        prices = [run_session.cost_of(model, Used(read, written, lost)) for model, read, written, lost in rows]
        known = [price for price in prices if price is not None]
        costs[side] = {
            "tokens": sum(sum(row[1:]) for row in rows),
            "usd": sum(known) if len(known) == len(prices) else None,
        }
    await run_session.ledger.note(f"{CRITIC}_{COSTS}", json.dumps(costs))


async def _freeze(run_session: RunSession, second: Arm, name: str, value: Any) -> None:
    await run_session.ledger.freeze(second.id, CRITIC, "", name, value)


def _judge(run_session: RunSession) -> Judge:
    """Only runs that have a second respondent come here."""
    second, how = run_session.record.second, run_session.record.critic
    assert second is not None
    assert how is not None
    return Judge(run_session, second, how)


async def _matched(run_session: RunSession, judge: Judge) -> list[Pair]:
    """As the node before found them, or anew in another process."""
    if run_session not in _MATCHED:
        _MATCHED[run_session] = await matched(run_session, judge.second, judge.how.pairs)
    return _MATCHED[run_session]


def _open(run_session: RunSession, second: Arm, pairs: Sequence[Pair]) -> list[Pair]:
    """Those that are not judged yet."""
    settled = {found.question_id for found in pair_records(run_session.ledger, second.id)}
    return [pair for pair in pairs if pair.a.question_id not in settled]


def _repeated(run_session: RunSession, pairs: Sequence[Pair]) -> set[str]:
    """Drawn by the run's seed from all that need a critic."""
    names = [pair.a.question_id for pair in pairs if not pair.alike]
    return set(sorted(names, key=lambda name: uniform(run_session.record.seed, "again", name))[:REPEATED])


def _told(run_session: RunSession, number: int) -> Callable[[int, int], None]:
    """Progress as rounds report it: (pairs done, of all)."""
    report, budget = get_stream_writer(), run_session.budget
    second = run_session.record.second
    row = {"methodology": CRITIC, "phase": "", "arm": second.id if second else "", "round": number}
    return lambda done, total: report(
        {**row, "done": done, "total": total, "tokens": budget.spent, "cap": budget.cap, "expected": budget.expected}
    )


async def _each(items: Sequence[T], work: Callable[[T], Awaitable[R]], tell: Callable[[int, int], None]) -> bool:
    """Some at a time. False once the budget is short: the rest is not begun. A bug ends the node."""
    for start in range(0, len(items), AT_ONCE):
        tell(start, len(items))
        done = await asyncio.gather(*(work(item) for item in items[start : start + AT_ONCE]), return_exceptions=True)
        faults = [one for one in done if isinstance(one, BaseException)]
        for fault in faults:
            if not isinstance(fault, Short):
                raise fault
        if faults:
            return False
    tell(len(items), len(items))
    return True


def critic_graph() -> Any:
    """Compiled, without a checkpointer: nested in the outermost graph, which alone interrupts."""
    builder = StateGraph(CriticState, context_schema=RunRequest, input_schema=CriticInput, output_schema=CriticOutput)
    builder.add_node("grade", grade)
    builder.add_node("pairwise_grading", pairwise_grading)
    builder.add_node("annotate", annotate)
    builder.add_edge(START, "grade")
    builder.add_edge("grade", "pairwise_grading")
    builder.add_edge("pairwise_grading", "annotate")
    builder.add_edge("annotate", END)
    return builder.compile(name=CRITIC)
