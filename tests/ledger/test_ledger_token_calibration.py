"""What calls are billed decides how many go at once and what each holds; the cap holds whatever a server bills."""

from __future__ import annotations

import asyncio
import random

import pytest

from enquete.ledger.budget import DEAREST, FIRST_WAVE, GROWTH, MARGIN, MEASURED, WITHOUT_ANSWER, Budget, CostKind

pytestmark = pytest.mark.anyio

KIND, OTHER = CostKind("m", "answer"), CostKind("m", "themes")
BOUND, LONGEST = 1100, 500  # tokens of a question, at most, and of the reply it asks for
CALL = BOUND + LONGEST
NARROW = 300 * CALL  # room for all calls of a test, and not for two that are billed at DEAREST


async def settled(budget: Budget) -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Calls:
    """Calls of one kind that were asked for; those that may go, in order."""

    def __init__(self, budget: Budget, number: int, kind: CostKind = KIND):
        self.budget = budget
        self.kind = kind
        self.going = 0
        self.tasks = [asyncio.ensure_future(self._one()) for _ in range(number)]

    async def _one(self) -> None:
        granted = await self.budget.reserve(CALL, 0.0, "", self.kind)
        self.going += granted

    async def end(self, used: int, *, answered: bool = True) -> None:
        lost = (used, 0.0) if not answered else (0, 0.0)
        await self.budget.settle(CALL, used, answered=answered, unanswered=lost, kind=self.kind)
        await settled(self.budget)


async def test_a_first_wave_measures_then_more_go() -> None:
    calls = Calls(budget := Budget(NARROW), 100)
    await settled(budget)
    assert calls.going == FIRST_WAVE
    await calls.end(CALL)
    assert calls.going == 1 + GROWTH
    await calls.end(CALL)
    assert calls.going == 2 + 2 * GROWTH
    other = Calls(budget, 100, OTHER)  # its server keeps to the limit: no wave of its own
    await calls.end(CALL)
    assert calls.going + other.going == 3 + 3 * GROWTH
    for _ in range(MEASURED - 3):
        await calls.end(CALL)
    assert calls.going + other.going == 200
    await budget.stop("enough")
    await asyncio.gather(*calls.tasks, *other.tasks)  # nobody is left waiting


@pytest.mark.parametrize(("cap_usd", "going"), [(None, 12), (7 * DEAREST * 0.01, 7)])
async def test_as_many_go_first_as_the_caps_bear_whatever_they_are_billed(cap_usd: float | None, going: int) -> None:
    budget = Budget(12 * DEAREST * CALL, cap_usd=cap_usd)
    calls = [asyncio.ensure_future(budget.reserve(CALL, 0.01, "", KIND)) for _ in range(20)]
    await settled(budget)
    assert sum(call.done() for call in calls) == going
    await budget.stop("enough")
    await asyncio.gather(*calls)


async def test_each_kind_of_work_is_measured_where_the_limit_is_ignored() -> None:
    budget = Budget(10**9)
    calls = Calls(budget, 10)
    await settled(budget)
    await calls.end(CALL + 1000)
    other = Calls(budget, 10, OTHER)
    await settled(budget)
    assert other.going == FIRST_WAVE
    # Reserved as the dearest call of the model, and more; the one under way of the first kind, too.
    assert budget.calibration.reserved_excess.tokens == (calls.going - 1 + other.going) * round(1000 * MARGIN)
    await other.end(CALL + 10)
    assert budget.calibration.excess(OTHER).tokens == round(10 * MARGIN)
    await budget.stop("enough")
    await asyncio.gather(*calls.tasks, *other.tasks)


async def test_without_answers_more_may_try() -> None:
    """Whether a server is away is told by several requests, not by the first two."""
    calls = Calls(budget := Budget(NARROW), 100)
    await settled(budget)
    assert budget.try_reserve(CALL, kind=KIND)  # to be sent again
    await settled(budget)
    assert calls.going == WITHOUT_ANSWER
    await budget.stop("enough")
    await asyncio.gather(*calls.tasks)


async def test_money_is_held_by_itself() -> None:
    """A reply within the tokens of a generous bound may still cost more than they were reserved at."""
    budget = Budget(10**9, cap_usd=1.0)
    assert await budget.reserve(CALL, 0.01, "", KIND)
    await budget.settle(CALL, CALL - 100, 0.01, 0.25, kind=KIND)
    assert budget.calibration.excess(KIND) == (0, pytest.approx(0.24 * MARGIN))
    assert await budget.reserve(CALL, 0.01, "", KIND)
    assert await budget.reserve(CALL, 0.01, "", KIND)
    assert not budget.try_reserve(CALL, 0.01, "", KIND)  # .25 + 3 × .31 > 1
    assert budget.short_of == "usd"


REPLIES = {
    "the same": lambda draw: 1.0,
    "even": lambda draw: draw.uniform(0.3, 1),
    "skewed": lambda draw: draw.lognormvariate(-0.5, 0.6),  # the dearest of 100 is five times the median
}


@pytest.mark.parametrize(("replies", "factor"), [("the same", 200), ("even", 10), ("skewed", 10), ("skewed", 200)])
def test_256_in_flight_overshoot_by_a_twentieth_at_most(replies: str, factor: int) -> None:
    """Caps of 12 to 240 calls of a server that bills `factor` times the longest reply."""

    async def overshoot(calls: int, seed: int) -> float:
        draw, slots = random.Random(seed), asyncio.Semaphore(256)
        budget = Budget(calls * (600 + factor * LONGEST))

        async def spend() -> None:
            async with slots:
                if await budget.reserve(CALL, 0.0, "", KIND):
                    used = 600 + int(factor * LONGEST * REPLIES[replies](draw))
                    for _ in range(draw.randint(3, 10)):
                        await asyncio.sleep(0)
                    await budget.settle(CALL, used, kind=KIND)

        await asyncio.gather(*(spend() for _ in range(500)))
        return budget.spent / budget.cap - 1

    overshoots = [asyncio.run(overshoot(calls, seed)) for seed, calls in enumerate((12, 60, 240))]
    assert max(overshoots) <= 0.05, overshoots
