"""The cap holds whatever the order in which calls reserve and settle."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.ledger.budget import Budget, Claim

pytestmark = pytest.mark.anyio

Call = tuple[int, int, int]  # reserved, used, turns of the loop that it takes


async def run_calls(budget: Budget, calls: list[Call]) -> tuple[list[bool], int]:
    """Whether each call was let through, and the most that was ever spent and reserved."""
    peak = 0

    async def spend(reserved: int, used: int, turns: int) -> bool:
        nonlocal peak
        if not await budget.reserve(reserved):
            return False
        peak = max(peak, budget.spent + budget.reserved)
        for _ in range(turns):
            await asyncio.sleep(0)
        await budget.settle(reserved, used)
        peak = max(peak, budget.spent + budget.reserved)
        return True

    return list(await asyncio.gather(*(spend(*call) for call in calls))), peak


calls_within = st.lists(
    st.integers(1, 100).flatmap(lambda r: st.tuples(st.just(r), st.integers(0, r), st.integers(0, 5))), max_size=60
)


@given(calls_within, st.integers(0, 2000))
def test_spent_never_exceeds_the_cap_while_usage_keeps_to_its_reservation(calls: list[Call], cap: int) -> None:
    budget = Budget(cap)
    through, peak = asyncio.run(run_calls(budget, calls))
    assert peak <= cap
    assert budget.reserved == 0
    assert budget.spent == sum(used for (_, used, _), passed in zip(calls, through, strict=True) if passed)
    assert budget.ran_short == (not all(through))
    for (reserved, _, _), passed in zip(calls, through, strict=True):
        assert passed or budget.spent + reserved > cap or budget.ran_short


@given(calls_within, st.integers(0, 2000), st.integers(1, 50))
def test_usage_above_the_reservation_overshoots_by_no_more_than_that(calls: list[Call], cap: int, excess: int) -> None:
    """Every call uses `excess` more than it reserved; at most those that are let through add it."""
    budget = Budget(cap)
    through, _ = asyncio.run(run_calls(budget, [(reserved, reserved + excess, turns) for reserved, _, turns in calls]))
    assert budget.spent <= cap + excess * sum(through)


def test_256_in_flight_at_once() -> None:
    """1,000 calls of up to 100 tokens that use half on average: the cap is held, and nearly used up."""
    draw = random.Random(7)
    calls = [(r, draw.randint(0, r), draw.randint(1, 9)) for r in (draw.randint(50, 100) for _ in range(1000))]
    budget = Budget(12_500)
    through, peak = asyncio.run(run_calls(budget, calls))
    assert peak <= 12_500
    assert budget.spent > 12_500 - 100
    assert not all(through)


async def test_a_call_that_does_not_fit_waits_for_those_in_flight() -> None:
    budget = Budget(100)
    assert await budget.reserve(80)
    waiting = asyncio.ensure_future(budget.reserve(50))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await budget.settle(80, 30)  # 30 + 50 fit
    assert await waiting
    assert not budget.ran_short


async def test_it_is_short_when_none_is_left_in_flight() -> None:
    budget = Budget(100)
    assert await budget.reserve(80)
    waiting = asyncio.ensure_future(budget.reserve(50))
    await asyncio.sleep(0.01)
    await budget.settle(80, 80)  # 80 + 50 do not fit
    assert not await waiting
    assert budget.ran_short
    assert await budget.reserve(20)  # a smaller one still does


async def test_stop_lets_go_of_everyone_who_waits() -> None:
    budget = Budget(100)
    assert await budget.reserve(80)
    waiting = [asyncio.ensure_future(budget.reserve(50)) for _ in range(5)]
    await asyncio.sleep(0.01)
    await budget.stop("interrupted")
    await budget.stop("a later reason")
    assert await asyncio.gather(*waiting) == [False] * 5
    assert not await budget.reserve(1)
    assert budget.stopped == "interrupted"
    assert not budget.ran_short
    await budget.settle(80, 10)
    assert budget.spent == 10


async def test_a_cancelled_waiter_holds_nothing() -> None:
    budget = Budget(100)
    assert await budget.reserve(80)
    waiting = asyncio.ensure_future(budget.reserve(50))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await budget.settle(80, 0)
    assert await budget.reserve(100)


def test_what_was_spent_before_counts() -> None:
    async def work() -> bool:
        return await Budget(100, spent=90).reserve(20)

    assert not asyncio.run(work())


def test_what_is_left_follows_the_course_of_the_rehearsal_and_what_was_answered() -> None:
    # By hand: half of 100 calls, which the rehearsal says cost .2 of 1,000 tokens, have cost 300: everything is half
    # as dear again, so the other .8 will cost 1,200. Without a course each call costs the same: 300 more.
    known = Claim(2000, likely=1000, likely_calls=100, course=(0.0, 0.2, 1.0), spent=300, calls=50)
    assert known.remaining == 1200
    assert Claim(2000, likely=1000, likely_calls=100, spent=300, calls=50).remaining == 300
    # Three quarters: .2 and half of .8 are .6, or 600; 450 were spent, so .4 of 1,000 cost .75 as much.
    assert Claim(0, likely=1000, likely_calls=100, course=(0.0, 0.2, 1.0), spent=450, calls=75).remaining == 300
    assert Claim(0, likely=1000, likely_calls=100, course=(0.0, 0.2, 1.0), spent=900, calls=140).remaining == 0
    assert Claim(0, likely=1000, likely_calls=100, course=(0.0, 1.0), spent=300, calls=5).remaining == 700
    assert Claim(0, likely=1000, likely_calls=100, spent=300, calls=50, closed=True).remaining == 0
    assert Claim(0, spent=300, calls=50).remaining == 0
    # By hand: 300 of 600 tokens went to requests that were never answered; 30 of 100 calls should have cost 300 of
    # 1,000 and did, so that 700 are to come. Where nothing was answered, everything is.
    assert Claim(0, likely=1000, likely_calls=100, spent=600, unanswered=300, calls=30).remaining == 700
    assert Claim(0, likely=1000, likely_calls=100, spent=5000, unanswered=5000).remaining == 1000
    assert Claim(2000, spent=600, unanswered=300).outstanding.tokens == 1700


async def test_a_request_that_failed_is_no_call_that_was_made() -> None:
    budget = Budget(10_000, claims={"a": Claim(0, likely=1000, likely_calls=10)})
    assert await budget.reserve(500, 0.5, "a")
    await budget.settle(500, 500, 0.5, 0.5, "a", unanswered=(500, 0.5), answered=False)
    assert budget.spent == 500
    assert budget.spent_usd == 0.5
    assert (budget.claims["a"].calls, budget.claims["a"].remaining) == (0, 1000)
    assert budget.expected == 1500


async def test_money_is_held_for_earlier_claims_as_tokens_are() -> None:
    """Of 1 dollar .8 are held for a: b gets none of them, before or while a's requests are in flight, until a is
    over."""
    budget = Budget(10**6, cap_usd=1.0, claims={"a": Claim(0, need_usd=0.8), "b": Claim(0)})
    assert not await budget.reserve(10, 0.3, "b")
    assert budget.deferred
    assert (budget.short_of, budget.refused_usd) == ("usd", 0.3)
    assert await budget.reserve(10, 0.3, "a")
    assert not await budget.reserve(10, 0.3, "b")
    assert not budget.try_reserve(10, 0.3, "b")
    assert budget.try_reserve(10, 0.2, "b")
    await budget.settle(10, 10, 0.3, 0.1, "a")
    assert budget.claims["a"].outstanding.usd == pytest.approx(0.7)
    await budget.close("a")
    assert await budget.reserve(10, 0.3, "b")


async def test_what_is_refused_while_earlier_claims_fill_the_cap_goes_on_once_they_are_over() -> None:
    """By hand: of 100 tokens 70 are in flight for a, which needs 90 in all: b's 40 fit neither now nor beside what a
    still needs, but do once a is over; without a claim before it, the same refusal is final only when nothing is in
    flight."""
    budget = Budget(100, claims={"a": Claim(90), "b": Claim(0)})
    assert await budget.reserve(70, claim="a")
    assert not await budget.reserve(40, claim="b")
    assert budget.deferred
    await budget.settle(70, 50, claim="a")
    await budget.close("a")
    assert await budget.reserve(40, claim="b")
    budget.deferred = False
    await budget.settle(40, 40, claim="b")
    assert not await budget.reserve(40, claim="b")
    assert not budget.deferred


async def test_the_cap_that_stopped_is_named() -> None:
    budget = Budget(100, cap_usd=1.0)
    named: list[str] = []
    for tokens, usd in ((10, 2.0), (200, 0.1)):
        assert not await budget.reserve(tokens, usd)
        named.append(budget.short_of)
    assert named == ["usd", "tokens"]
