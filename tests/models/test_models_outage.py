"""A server that goes away and comes back, stays away, or fails one request alone: over real HTTP, in short times."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from enquete.models.chat_completions import Response
from enquete.models.faults import Unavailable
from enquete.models.servers import Limiter, ServerHealth, backoff
from enquete.models.transport import Transport
from tests.models.test_models_transport import KEY, prompt
from tests.support.model_server import ModelServer

Ended = Response | Unavailable


def transport_to(server: ModelServer, limiter: Limiter | None = None, **options: float) -> Transport:
    return Transport(
        server.base_url,
        SecretStr(KEY),
        limiter=limiter or Limiter(32),
        timeout_s=options.get("timeout_s", 5),
        backoff_s=options.get("backoff_s", 0.02),
        patience_s=options.get("patience_s", 10),
    )


async def one(transport: Transport, question: str) -> Ended:
    try:
        return await transport.send(prompt(question), model="m", temperature=0, seed=0)
    except Unavailable as error:
        return error


def ask_all(server: ModelServer, questions: Iterable[object], **options: float) -> list[Ended]:
    async def main() -> list[Ended]:
        transport = transport_to(server, **options)
        try:
            return await asyncio.gather(*(one(transport, str(question)) for question in questions))
        finally:
            await transport.aclose()

    return asyncio.run(main())


def failures(ended: Iterable[Ended]) -> list[Unavailable]:
    return [error for error in ended if isinstance(error, Unavailable)]


def test_a_server_that_vanishes_and_returns_fails_nobody() -> None:
    """Attempts are over within 0.1 s, the server is away for 0.7 s: without waiting everybody would fail."""
    with ModelServer(latency=0.02) as server:
        server.vanish(0.7, after=40)
        ended = ask_all(server, range(100))
        assert failures(ended) == []
        gap = max(
            later.time - earlier.time for earlier, later in zip(server.requests, server.requests[1:], strict=False)
        )
        assert gap >= 0.65  # it was away
        assert server.max_in_flight <= 32


def test_it_may_vanish_again_and_again() -> None:
    with ModelServer(latency=0.02) as server:
        server.vanish(0.3, after=20)
        again = threading.Thread(target=lambda: (server.wait_for(70), server.vanish(0.3)))
        again.start()
        ended = ask_all(server, range(100))
        again.join(10)
        assert failures(ended) == []


def test_few_ask_whether_it_is_back() -> None:
    """64 requests against a closed door for 1 s: three attempts each at most, then one probe every 0.02 s, doubling."""
    with ModelServer() as server:
        server.vanish(1.0)
        ended = ask_all(server, range(64))
        assert failures(ended) == []
        tries = sum(answer.sends for answer in ended)
        assert tries <= 64 * 3 + 64 * 2 + 10


def test_one_that_stays_away_is_an_outage_for_everybody() -> None:
    with ModelServer(latency=0.02) as server:
        server.vanish(after=40)
        started = time.monotonic()
        ended = ask_all(server, range(100), patience_s=0.8)
        took = time.monotonic() - started
    lost = failures(ended)
    assert len(lost) >= 100 - 40
    assert all(error.outage for error in lost)
    assert 0.8 <= took < 4  # loaded machines
    assert "could not be reached" in str(lost[0])
    assert "no request has got through for 0.8 s (ENQUETE_PATIENCE_S)" in str(lost[0])


@pytest.mark.parametrize("fault", ["http_500", "disconnect", "timeout", "html_body"])
def test_open_but_broken_is_an_outage_too_when_it_befalls_several(fault: str) -> None:
    with ModelServer(faults={fault: 1.0}) as server:
        lost = failures(ask_all(server, range(6), patience_s=0.5, timeout_s=0.2))
    assert len(lost) == 6
    assert all(error.outage for error in lost)


def test_time_outs_are_waited_for_as_well() -> None:
    """Also by whoever was sent as a probe right before the server was back, and timed out after others were answered."""
    with ModelServer(faults={"timeout": 1.0}) as server:
        timer = threading.Timer(1.8, server.faults.clear)  # longer than three attempts of 0.4 s
        timer.start()
        ended = ask_all(server, range(8), timeout_s=0.4)
        timer.join()
    assert failures(ended) == []


def test_a_run_taken_up_again_is_given_patience_anew_and_begins_with_a_probe() -> None:
    with ModelServer() as server:
        server.vanish()
        assert all(error.outage for error in failures(ask_all(server, range(3), patience_s=0.3)))
        time.sleep(0.3)
        threading.Timer(0.4, server.come_back).start()
        assert failures(ask_all(server, range(3), patience_s=5)) == []


def test_a_poisonous_request_fails_alone_after_three_attempts() -> None:
    """Others are answered all the while, so it is not the server: 3 sends, no outage, nobody else fails."""
    with ModelServer(latency=0.005) as server:

        async def main() -> tuple[Ended, list[Ended]]:
            transport = transport_to(server, backoff_s=0.15)
            await one(transport, "before")  # json_schema has worked: no other form is tried
            server.poison = "deadly"
            healthy = [asyncio.create_task(stream(transport, number)) for number in range(4)]
            poisoned = await one(transport, "deadly")
            stop.set()
            others = [answer for answers in await asyncio.gather(*healthy) for answer in answers]
            await transport.aclose()
            return poisoned, others

        async def stream(transport: Transport, number: int) -> list[Ended]:
            answers = []
            while not stop.is_set():
                answers.append(await one(transport, f"healthy {number} {len(answers)}"))
            return answers

        stop = threading.Event()
        poisoned, others = asyncio.run(main())
    assert isinstance(poisoned, Unavailable)
    assert (poisoned.sends, poisoned.outage, poisoned.status) == (3, False, 500)
    assert failures(others) == []


def test_a_poisonous_request_that_is_left_over_ends_without_an_outage() -> None:
    with ModelServer() as server:
        ask_all(server, ["before"])
        server.poison = "deadly"
        (error,) = failures(ask_all(server, ["deadly"], patience_s=0.3))
    assert not error.outage
    assert error.sends > 3  # once more after the first canary


@settings(max_examples=12)
@given(cancel=st.sets(st.integers(0, 39)), after=st.floats(0, 0.03))
def test_cancelling_while_the_server_is_away_leaks_no_slot(cancel: set[int], after: float) -> None:
    async def main() -> None:
        limiter = Limiter(4)
        transport = transport_to(AWAY, limiter, patience_s=0.06, backoff_s=0.005)
        tasks = [asyncio.create_task(one(transport, str(number))) for number in range(40)]
        await asyncio.sleep(after)
        for number in cancel:
            tasks[number].cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert Counter(type(end) for end in ended)[Unavailable] >= 40 - len(cancel)
        assert limiter.held == 0
        await transport.aclose()

    asyncio.run(main())


class _Away(ModelServer):
    """No server at all."""

    def __init__(self) -> None:
        self.base_url = "http://127.0.0.1:1/v1"


AWAY = _Away()


def test_several_event_loops_wait_for_one_server() -> None:
    with ModelServer() as server:
        server.vanish(0.5)
        ended: list[Ended] = []
        threads = [threading.Thread(target=lambda: ended.extend(ask_all(server, range(10)))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert len(ended) == 30
    assert failures(ended) == []


def test_a_server_is_away_until_it_answers_and_work_still_going_on_behind_a_closed_door_is_no_answer() -> None:
    health = ServerHealth()
    health.failed("broke the connection")
    assert not health.away  # one fault proves nothing
    before = time.monotonic()
    health.answered(before)
    assert (health.silent_since, health.returned) == (None, float("-inf"))
    health.left(unreachable=True)
    health.answered(before)
    assert health.away
    sent = time.monotonic()
    health.answered(sent)
    assert not health.away
    assert health.accepted == sent <= health.returned
    health.left(unreachable=False)
    health.answered(before)  # what it works on is an answer, where it is not even the door that is closed
    assert not health.away


def test_who_asks_after_it_was_given_up_keeps_what_is_known_and_starts_the_clock_anew() -> None:
    health = ServerHealth()
    health.left(unreachable=True)
    old = health.silent_since
    assert old is not None
    assert health.takes_probe(1.0, 10.0)
    assert not health.takes_probe(1.0, 10.0)
    health.waits_anew(old + 1, 1.0)
    assert (health.silent_since, health.takes_probe(1.0, 10.0)) == (old, False)
    health.waits_anew(old + 2, 1.0)
    assert health.away
    assert health.unreachable
    assert health.silent_since is not None
    assert health.silent_since >= old
    assert health.takes_probe(1.0, 10.0)  # at once


def test_probes_come_ever_more_rarely() -> None:
    health, waits = ServerHealth(), []
    health.left(unreachable=False)
    for _ in range(6):
        health.next_probe = time.monotonic()
        assert health.takes_probe(1.0, 10.0)
        waits.append(health.next_probe - time.monotonic())
    assert all(step <= wait + 0.1 <= 1.5 * step + 0.2 for step, wait in zip((1, 2, 4, 8, 10, 10), waits, strict=True))


@given(step=st.integers(-3, 10_000), first=st.floats(0.001, 100))
def test_a_back_off_is_bounded(step: int, first: float) -> None:
    """10 s and half of jitter."""
    assert 0 < backoff(step, first) <= 15
