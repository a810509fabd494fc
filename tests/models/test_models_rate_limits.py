"""How much is in flight at once and how fast: the limit of the process, and of one model of a server."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from enquete.models.faults import Trouble
from enquete.models.servers import Limiter, Pace, RateLimiter, most_tokens
from enquete.models.transport import MOST_REFUSALS, Request, Transport
from enquete.state.request import ModelLimits
from tests.models.test_models_outage import Ended, ask_all, attempt, failures
from tests.models.test_models_transport import KEY, prompt
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio

# --- The process-wide limit: never exceeded, over loops and cancellations, and never loses a slot.


class Gauge:
    def __init__(self) -> None:
        self.now = self.most = 0
        self.lock = threading.Lock()

    async def hold(self, limiter: Limiter, seconds: float) -> None:
        async with limiter:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            try:
                await asyncio.sleep(seconds)
            finally:
                with self.lock:
                    self.now -= 1


async def until(happened: Callable[[], bool]) -> None:
    """Let the other tasks of the loop run until something has happened; the test's own time limit ends a hang."""
    while not happened():  # noqa: ASYNC110 - nothing of the limiter sets an event
        await asyncio.sleep(0)


@given(size=st.integers(1, 8), cancel=st.sets(st.integers(0, 29)), tries=st.integers(0, 5))
def test_cancelled_waiters_and_holders_give_their_slots_back(size: int, cancel: set[int], tries: int) -> None:
    gauge, limiter = Gauge(), Limiter(size)

    async def main() -> None:
        tasks = [asyncio.create_task(gauge.hold(limiter, 0)) for _ in range(30)]
        for _ in range(tries):
            await asyncio.sleep(0)
        for number in cancel:
            tasks[number].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert gauge.most <= size
    assert limiter.held == 0


def test_one_limit_for_several_event_loops() -> None:
    gauge, limiter = Gauge(), Limiter(3)

    async def main() -> None:
        await asyncio.gather(*(gauge.hold(limiter, 0.002) for _ in range(20)))

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert gauge.most == 3
    assert limiter.held == 0


async def test_resizing_lets_those_who_wait_in_at_once() -> None:
    limiter, release = Limiter(1), asyncio.Event()

    async def hold() -> None:
        async with limiter:
            await release.wait()

    tasks = [asyncio.create_task(hold()) for _ in range(4)]
    await until(lambda: limiter.held == 1)
    limiter.resize(4)
    await until(lambda: limiter.held == 4)
    limiter.resize(1)
    release.set()
    await asyncio.gather(*tasks)
    assert (limiter.held, limiter.size) == (0, 1)


async def test_waiters_of_a_closed_loop_are_passed_over() -> None:
    limiter = Limiter(1)
    dead = asyncio.new_event_loop()
    async with limiter:
        waiter = limiter.__aenter__()
        task = dead.create_task(waiter)
        dead.call_soon(dead.stop)
        await asyncio.to_thread(dead.run_forever)
        assert not task.done()
        dead.close()
        setattr(task, "_log_destroy_pending", False)  # noqa: B010 - its loop was closed on purpose
    async with asyncio.timeout(1), limiter:
        assert limiter.held == 1
    assert limiter.held == 0


def test_a_size_is_positive_and_a_pause_the_longest_one_asked_for() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Limiter(0)
    with pytest.raises(ValueError, match="got -2"):
        Limiter(4).resize(-2)
    limiter = RateLimiter()
    assert limiter.paused_s <= 0
    for asked in (0.05, 0.01, None):
        limiter.refused(time.monotonic(), asked)
    assert 0.03 < limiter.paused_s <= 0.05
    time.sleep(limiter.paused_s)
    assert limiter.paused_s <= 0


# --- 429s cost nobody an answer, fewer are in flight after them, and a model's limits hold: over real HTTP, in short
# times.


@pytest.mark.parametrize(("fault", "header"), [("http_429_text", "0.05"), ("http_429", "0")])
def test_a_server_that_is_busy_for_half_of_the_time_fails_nobody(fault: str, header: str) -> None:
    with ModelServer(latency=0.01, retry_after=header) as server:
        server.busy_s, server.busy_fault = 0.2, fault
        ended = ask_all(server, range(150), patience_s=120)  # a bound: nobody waits that long
        assert failures(ended) == []
        assert server.count(fault) > 0
        assert server.max_in_flight <= 32
        assert min(request.in_flight for request in server.requests[32:]) <= 8  # halved twice at least


def test_a_server_that_says_later_to_half_of_all_requests_fails_nobody() -> None:
    with ModelServer(latency=0.005, faults={"http_503_retry_after": 0.5}, retry_after="0.01") as server:
        ended = ask_all(server, range(60), patience_s=120)
        assert failures(ended) == []
        assert sum(answer.sends for answer in ended) == len(server.requests) > 90


def test_the_window_finds_what_a_server_can_take() -> None:
    """Room for 4 of 32: after the first second most requests find a place, though nobody was told how many there
    are."""
    with ModelServer(latency=0.02, retry_after="") as server:
        server.capacity = 4
        ended = ask_all(server, range(140))
        assert failures(ended) == []
        settled = server.requests[len(server.requests) // 2 :]
        assert sum(request.in_flight for request in settled) / len(settled) <= 6
        assert sum(1 for request in settled if not request.faults) > len(settled) / 2


@pytest.mark.parametrize(
    ("fault", "header"), [("http_429_text", "0.02"), ("http_503_retry_after", "0.02"), ("http_429", "999999999999")]
)
def test_one_that_accepts_nothing_is_an_outage(fault: str, header: str) -> None:
    """Also one that wants to be asked again in thirty thousand years: nobody waits for longer than they are patient."""
    with ModelServer(faults={fault: 1.0}, retry_after=header) as server:
        started = time.monotonic()
        lost = failures(ask_all(server, range(20), patience_s=0.6))
        assert 0.6 <= time.monotonic() - started < 4
        assert len(server.requests) < 400
    assert len(lost) == 20
    assert all(error.outage for error in lost)
    assert any("Overloaded" in str(error) or "answered 429" in str(error) for error in lost)


def test_later_once_too_often_fails_alone() -> None:
    """While others are accepted, one request is told "later" a hundred times: no outage."""
    with ModelServer(faults={"http_429": 1.0}) as server:

        async def main() -> Ended:
            transport = Transport(
                server.base_url, SecretStr(KEY), limiter=Limiter(4), backoff_s=1e-20
            )  # short however often doubled
            rate_limiter = transport.rate_limiter("m")
            accepting = asyncio.create_task(accept(rate_limiter))
            ended = await attempt(transport, "never")
            accepting.cancel()
            await transport.aclose()
            return ended

        async def accept(rate_limiter: RateLimiter) -> None:
            while True:
                rate_limiter.accepted()
                await asyncio.sleep(0.001)

        (error,) = failures([asyncio.run(main())])
    assert (error.sends, error.outage, error.status) == (MOST_REFUSALS, False, 429)


def with_limits(server: ModelServer, requests: int, limits: ModelLimits, limiter: Limiter) -> list[Ended]:
    async def main() -> list[Ended]:
        transport = Transport(server.base_url, SecretStr(KEY), limiter=limiter, limits={"m": limits})
        try:
            return await asyncio.gather(*(attempt(transport, f"question {number:03}") for number in range(requests)))
        finally:
            await transport.aclose()

    return asyncio.run(main())


async def test_tokens_a_minute_hold_and_estimates_are_corrected() -> None:
    """Sent one by one, so that each correction counts: 8 requests, at 60,000 tokens a minute (1000 a second), take as
    long as their usage asks for, which is less than what they could have cost."""
    with ModelServer() as server:
        limits = ModelLimits(tokens_per_minute=60_000)
        spent, began = server.tokens, time.monotonic()
        transport = Transport(server.base_url, SecretStr(KEY), limiter=Limiter(1), limits={"m": limits})
        for number in range(8):
            await attempt(transport, f"question {number:03}")
        await transport.aclose()
        took = time.monotonic() - began
        last = server.tokens - spent
    assert took >= 0.8 * (last * 7 / 8) / 1000  # the last one's own share lies after it
    assert took <= 8 * most_tokens(prompt("question 000")) / 1000 * 0.8


def test_a_cap_of_its_own_within_the_cap_of_the_process() -> None:
    with ModelServer(latency=0.2) as server:
        with_limits(server, 12, ModelLimits(concurrency=3), Limiter(8))
        assert server.max_in_flight == 3
        with_limits(server, 12, ModelLimits(concurrency=20), Limiter(5))
        assert server.max_in_flight == 5  # raised again, to what the process allows


async def test_who_waits_for_one_model_holds_no_slot_of_the_process() -> None:
    """One slot for all; model "m" may be asked once a minute, its second question must not keep the other model
    waiting."""
    with ModelServer() as server:
        limiter = Limiter(1)
        limits = {"m": ModelLimits(requests_per_minute=1)}
        transport = Transport(server.base_url, SecretStr(KEY), limiter=limiter, limits=limits)
        await attempt(transport, "first")
        second = asyncio.create_task(attempt(transport, "second"))
        await asyncio.sleep(0.05)
        assert limiter.held == 0
        async with asyncio.timeout(5):
            await transport.send(prompt(), model="other", temperature=0, seed=0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        assert transport.rate_limiter("m").held == limiter.held == 0
        await transport.aclose()


@settings(max_examples=25)
@given(cancel=st.sets(st.integers(0, 19)), after=st.floats(0, 0.02))
def test_cancelling_in_any_queue_leaks_no_slot_and_gives_the_turn_back(cancel: set[int], after: float) -> None:
    limiter, rate_limiter = Limiter(3), RateLimiter()
    rate_limiter.limit(ModelLimits(requests_per_minute=60_000, concurrency=5))  # a turn every millisecond

    async def hold() -> None:
        async with rate_limiter:
            await rate_limiter.turn(prompt())
            async with limiter:
                with rate_limiter.flight():
                    await asyncio.sleep(0.001)

    async def main() -> None:
        tasks = [asyncio.create_task(hold()) for _ in range(20)]
        await asyncio.sleep(after)
        for number in cancel:
            tasks[number].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert limiter.held == rate_limiter.held == 0
    assert rate_limiter.in_flight == 0


def test_a_window_shrinks_once_a_burst_and_grows_with_answers_and_keeps_what_it_learnt() -> None:
    # 32 sent before the first "later" came: 16 once, not 1. The next round trip may halve again, never below one.
    window = RateLimiter()
    sent = time.monotonic()
    for window.in_flight in range(32, 0, -1):
        window.refused(sent, None)
    assert window.size == 16
    window.in_flight = 32
    for expected in (8, 4, 2, 1, 1):
        window.refused(time.monotonic() + 1, None)
        assert window.size == expected
    # From 1 to 8 by 1 + 2 + … + 7 = 28 answers, from there to the cap of 10 by 8 each.
    window = RateLimiter()
    window.limit(ModelLimits(concurrency=10))
    assert window.size == 10
    window.in_flight = 2
    window.refused(time.monotonic(), None)
    sizes = []
    for _ in range(28 + 16):
        window.accepted()
        sizes.append(window.size)
    assert (sizes[26], sizes[27], sizes[34], sizes[35], sizes[-1]) == (7, 8, 8, 9, 10)
    window.accepted()
    assert window.size == 10
    window = RateLimiter()
    window.limit(ModelLimits(concurrency=8))
    window.in_flight = 8
    window.refused(time.monotonic(), None)
    window.limit(ModelLimits())
    assert window.size == 4
    window.limit(ModelLimits(concurrency=2))
    assert window.size == 2


@given(amounts=st.lists(st.floats(0, 500), min_size=1, max_size=30))
def test_no_minute_exceeds_the_pace(amounts: list[float]) -> None:
    """Turns as planned: 60 requests and 6000 tokens a minute, so one second a request and 10 ms a token."""
    pace = Pace(60, 6000)
    now = time.monotonic()
    starts = [pace._take(amount) + time.monotonic() - now for amount in amounts]
    for place, start in enumerate(starts):
        within = [amount for at, amount in zip(starts, amounts, strict=True) if start <= at < start + 59.9]
        assert len(within) <= 60
        assert sum(within[:-1]) <= 6000
        if place:
            assert start - starts[place - 1] >= max(1, amounts[place - 1] / 100) - 0.1


def test_the_same_limits_said_again_keep_the_pace() -> None:
    rate_limiter = RateLimiter()
    limits = ModelLimits(requests_per_minute=1)
    rate_limiter.limit(limits)

    async def main() -> bool:
        await rate_limiter.turn(prompt())
        rate_limiter.limit(limits)
        try:
            async with asyncio.timeout(0.05):
                await rate_limiter.turn(prompt())
        except TimeoutError:
            return True
        return False

    assert asyncio.run(main())


def test_a_retry_after_is_believed_and_one_of_nothing_is_none() -> None:
    """Retry-After: 0 asks for a request at once, and again: it is backed off from as where there is no such header."""
    transport = Transport("http://127.0.0.1:1/later", None, limiter=Limiter(1), backoff_s=1.0)
    request, rate_limiter = Request(transport, prompt(), "m", 0, 0, None), transport.rate_limiter("m")
    waits = [request._wait_after(Trouble("later", status=429, retry_after=0.0)) for _ in range(3)]
    assert all(step <= wait <= 1.5 * step for step, wait in zip((1, 2, 4), waits, strict=True))
    rate_limiter.refused(time.monotonic(), 30.0)
    assert request._wait_after(Trouble("later", status=429, retry_after=30.0)) == 0  # beyond everybody's pause
    assert 29 <= rate_limiter.paused_s <= 30
    assert request._left == 3  # nothing was used up
