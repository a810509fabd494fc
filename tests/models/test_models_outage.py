"""A server that goes away and comes back, stays away, or refuses one request or everybody; and a run that waits for
nothing any more: over real HTTP, in short times.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from enquete.models.chat_replies import ModelResponse
from enquete.models.faults import SendCounts, Trouble, Unavailable
from enquete.models.servers import Limiter, ServerHealth, backoff, health_of
from enquete.models.transport import CONFIRMATIONS, HEALTH_PROBE, MOST_RETURNS, Request, Transport
from enquete.state.request import ModelLimits
from tests.models.test_models_transport import KEY, prompt
from tests.support.model_server import Logged, ModelServer

# --- A server that goes away and comes back, stays away, or fails one request alone: over real HTTP, in short times.

Ended = ModelResponse | Unavailable


def transport_to(server: ModelServer, limiter: Limiter | None = None, **options: float) -> Transport:
    return Transport(
        server.base_url, SecretStr(KEY), limiter=limiter or Limiter(32), timeout_s=options.get("timeout_s", 5),
        backoff_s=options.get("backoff_s", 0.02), patience_s=options.get("patience_s", 10),
    )  # fmt: skip


async def attempt(transport: Transport, question: str) -> Ended:
    try:
        return await transport.send(prompt(question), model="m", temperature=0, seed=0)
    except Unavailable as error:
        return error


def ask_all(server: ModelServer, questions: Iterable[object], **options: float) -> list[Ended]:
    async def main() -> list[Ended]:
        transport = transport_to(server, **options)
        try:
            return await asyncio.gather(*(attempt(transport, str(question)) for question in questions))
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


@pytest.mark.parametrize("fault", ["http_500", "timeout"])
def test_open_but_broken_is_an_outage_too_when_it_befalls_several(fault: str) -> None:
    with ModelServer(faults={fault: 1.0}) as server:
        lost = failures(ask_all(server, range(6), patience_s=0.5, timeout_s=0.2))
    assert len(lost) == 6
    assert all(error.outage for error in lost)


def test_time_outs_are_waited_for_as_well() -> None:
    """Also by whoever was sent as a probe right before the server was back, and timed out after others were
    answered."""
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
            await attempt(transport, "before")  # json_schema has worked: no other form is tried
            server.poison = "deadly"
            healthy = [asyncio.create_task(stream(transport, number)) for number in range(4)]
            poisoned = await attempt(transport, "deadly")
            stop.set()
            others = [answer for answers in await asyncio.gather(*healthy) for answer in answers]
            await transport.aclose()
            return poisoned, others

        async def stream(transport: Transport, number: int) -> list[Ended]:
            answers = []
            while not stop.is_set():
                answers.append(await attempt(transport, f"healthy {number} {len(answers)}"))
            return answers

        stop = threading.Event()
        poisoned, others = asyncio.run(main())
    assert isinstance(poisoned, Unavailable)
    assert (poisoned.sends, poisoned.outage, poisoned.status) == (3, False, 500)
    assert failures(others) == []


@settings(max_examples=12)
@given(cancel=st.sets(st.integers(0, 39)), after=st.floats(0, 0.03))
def test_cancelling_while_the_server_is_away_leaks_no_slot(cancel: set[int], after: float) -> None:
    async def main() -> None:
        limiter = Limiter(4)
        transport = transport_to(AWAY, limiter, patience_s=0.06, backoff_s=0.005)
        tasks = [asyncio.create_task(attempt(transport, str(number))) for number in range(40)]
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


def test_a_server_is_away_until_it_answers_and_who_asks_later_waits_anew() -> None:
    health = ServerHealth()
    health.failed("broke the connection")
    assert not health.away  # one fault proves nothing
    before = time.monotonic()
    health.answered(before)
    assert (health.silent_since, health.returned) == (None, float("-inf"))
    health.failed("is gone", unreachable=True, away=True)
    health.answered(before)
    assert health.away
    sent = time.monotonic()
    health.answered(sent)
    assert not health.away
    assert health.accepted == sent <= health.returned
    health.failed("is odd", away=True)
    health.answered(before)  # what it works on is an answer, where it is not even the door that is closed
    assert not health.away
    health = ServerHealth()
    health.failed("is gone", unreachable=True, away=True)
    old = health.silent_since
    assert old is not None
    assert health.takes_probe(1.0)
    assert not health.takes_probe(1.0)
    health.waits_anew(old + 1, 1.0)
    assert (health.silent_since, health.takes_probe(1.0)) == (old, False)
    health.waits_anew(old + 2, 1.0)
    assert health.away
    assert health.unreachable
    assert health.silent_since is not None
    assert health.silent_since >= old
    assert health.takes_probe(1.0)  # at once


def test_probes_are_short_counted_and_ever_rarer() -> None:
    health, waits = ServerHealth(), []
    health.failed("is odd", away=True)
    for _ in range(6):
        health.next_probe = time.monotonic()
        assert health.takes_probe(1.0)
        waits.append(health.next_probe - time.monotonic())
    assert all(step <= wait + 0.1 <= 1.5 * step + 0.2 for step, wait in zip((1, 2, 4, 8, 10, 10), waits, strict=True))
    assert len(json.dumps([HEALTH_PROBE.system, *HEALTH_PROBE.messages, HEALTH_PROBE.schema])) < 400
    assert SendCounts(timeouts=1, broken=2, probes=3).unanswered == 6


@given(step=st.integers(-3, 10_000), first=st.floats(0.001, 100))
def test_a_back_off_is_bounded(step: int, first: float) -> None:
    """10 s and half of jitter."""
    assert 0 < backoff(step, first) <= 15


# --- Whose fault is it? A request that the server always refuses fails alone; a server that refuses everybody is
# waited for.

ATTEMPTS = 3
MOST_SENDS = ATTEMPTS + MOST_RETURNS
"""Of a poisonous request, once a form has worked. Usually it is one more than the attempts, after the first probe; each
probe that happens to be sent before its latest refusal costs another."""


def probes(server: ModelServer) -> int:
    return sum(request.body["messages"][0]["content"] == HEALTH_PROBE.system for request in list(server.requests))


CHECK = str(HEALTH_PROBE.messages[0]["content"])


def refused(server: ModelServer) -> Counter[str]:
    """How often each question was answered 500."""
    return Counter(asked_in(request) for request in list(server.requests) if "http_500" in request.faults)


def unanswered(server: ModelServer) -> set[str]:
    """The questions that were refused and have not been answered since, but for the probe and the poisoned."""
    latest = {asked_in(request): bool(request.faults) for request in list(server.requests)}
    return {question for question, faulty in latest.items() if faulty and question.isdecimal()}


def asked_in(request: Logged) -> str:
    return str(request.body["messages"][-1]["content"]).partition("\n")[0]  # the schema follows


def gone(server: ModelServer) -> bool:
    """Whether the client has noticed that nobody is at home."""
    return health_of(server.base_url).unreachable


async def until(happened: Callable[[], bool]) -> None:
    while not happened():  # noqa: ASYNC110 - the server is in another thread
        await asyncio.sleep(0.005)


def poisoned(number: int) -> list[str]:
    return [f"deadly {each}" for each in range(number)]


@pytest.mark.parametrize("number", [1, 7])
def test_those_that_are_always_refused_fail_alone_and_soon_whatever_the_patience(number: int) -> None:
    """29 others are answered at once, and then nobody is left to show that the server works (the default patience)."""
    with ModelServer() as server:
        server.poison = "deadly"
        started = time.monotonic()
        ended = ask_all(server, [*range(29), *poisoned(number)], patience_s=180)
        assert time.monotonic() - started < 10
        assert probes(server) <= CONFIRMATIONS * number
        assert server.count("http_500") == sum(answer.sends for answer in ended[29:])
    lost = failures(ended)
    assert len(lost) == number == len(failures(ended[29:]))
    assert {(error.outage, error.status) for error in lost} == {(False, 500)}
    assert all(ATTEMPTS <= error.sends <= MOST_SENDS for error in lost)
    assert sum(error.sends for error in lost) <= (ATTEMPTS + CONFIRMATIONS) * number


def test_one_left_over_is_charged_for_its_probes_and_has_none_without_room() -> None:
    # So that the sum of what calls cost remains what the budget has spent.
    with ModelServer() as server:
        ask_all(server, ["before"])  # json_schema has worked: no other form is tried
        server.poison = "deadly"
        (error,) = failures([ask_with_room(server, "deadly", lambda: True)])
        assert probes(server) == error.broken == CONFIRMATIONS
    assert (error.sends, error.outage, error.timeouts) == (ATTEMPTS + 1, False, 0)
    with ModelServer() as server:
        ask_all(server, ["before"])
        server.poison = "deadly"
        (error,) = failures([ask_with_room(server, "deadly", lambda: False)])
        assert probes(server) == 0
    assert error.short


def ask_with_room(server: ModelServer, question: str, room: Callable[[], bool]) -> Unavailable:
    async def main() -> Unavailable:
        transport = Transport(server.base_url, SecretStr(KEY), limiter=Limiter(4), backoff_s=0.02)
        try:
            await transport.send(prompt(question), model="m", temperature=0, seed=0, room=room)
        except Unavailable as error:
            return error
        finally:
            await transport.aclose()
        raise AssertionError("it was answered")

    return asyncio.run(main())


@pytest.mark.parametrize("fault", ["http_500", "no_choices"])
def test_a_server_that_refuses_everybody_for_a_while_fails_nobody(fault: str) -> None:
    """Attempts are over within 0.1 s, it lasts for 1 s; few sends of each prompt, as probes ask for all of them."""
    with ModelServer(latency=0.005) as server:
        ask_all(server, ["before"])
        server.faults = {fault: 1.0}
        threading.Timer(1.0, server.faults.clear).start()
        ended = ask_all(server, range(10))
        assert probes(server) > 0
    assert failures(ended) == []
    assert max(answer.sends for answer in ended) <= 2 * ATTEMPTS


def test_a_gateway_without_a_server_behind_it_for_a_while_fails_nobody() -> None:
    """503 without a Retry-After, then answers."""
    with ModelServer(latency=0.005, retry_after="") as server:
        ask_all(server, ["before"])
        server.faults = {"http_503_retry_after": 1.0}
        threading.Timer(1.0, server.faults.clear).start()
        assert failures(ask_all(server, range(36))) == []


def test_in_an_outage_only_those_fail_that_are_refused_after_it_too() -> None:
    """500 to everybody, then nobody at home, then 500 again, and seven that are never answered in between and after.

    Each lasts until it is noticed. The second 500 begins when all that the first befell are answered (a server that
    goes to and fro more quickly may break one request three times before a probe notices) and befalls those asked from
    then on.
    """
    with ModelServer(latency=0.01) as server:
        ask_all(server, ["before"])
        server.poison = "deadly"
        server.faults = {"http_500": 1.0}

        async def main() -> list[Ended]:
            transport, again = transport_to(server), asyncio.Event()

            async def late(question: int) -> Ended:
                await again.wait()
                return await attempt(transport, str(question))

            async def outages() -> None:
                await until(lambda: refused(server)[CHECK] > 0)
                server.faults.clear()
                server.vanish()
                await until(lambda: gone(server))
                server.come_back()
                await until(lambda: not unanswered(server))
                before = refused(server)[CHECK]
                server.faults["http_500"] = 1.0
                again.set()
                await until(lambda: refused(server)[CHECK] > before)
                server.faults.clear()

            asked = [attempt(transport, str(question)) for question in (*range(40), *poisoned(7))]
            try:
                return (await asyncio.gather(outages(), *asked, *(late(question) for question in range(40, 60))))[1:]
            finally:
                await transport.aclose()

        ended = asyncio.run(main())
    lost = failures(ended)
    assert len(lost) == len(failures(ended[40:47])) == 7
    assert not any(error.outage for error in lost)


@pytest.mark.parametrize("number", [1, 7])
def test_a_server_that_refuses_everybody_for_good_is_an_outage_however_few_are_left(number: int) -> None:
    with ModelServer() as server:
        ask_all(server, ["before"])
        server.faults = {"http_500": 1.0}
        lost = failures(ask_all(server, range(number), patience_s=1.5))
        assert probes(server) > 0
    assert len(lost) == number
    assert all(error.outage for error in lost)


def test_a_poisonous_request_before_anything_has_worked_is_tried_in_every_form_and_no_more() -> None:
    """As when only what failed is asked again: three attempts in each of three forms, and usually one more."""
    with ModelServer() as server:
        server.poison = "deadly"
        lost = failures(ask_all(server, poisoned(7), patience_s=180))
    assert len(lost) == 7
    assert not any(error.outage for error in lost)
    assert all(error.sends <= 3 * ATTEMPTS + MOST_RETURNS for error in lost)


def test_a_probe_says_nothing_about_a_later_form() -> None:
    """That a short answer is given in json_schema does not prove that a long one is: its success is not remembered."""
    with ModelServer() as server:
        server.poison = "deadly"
        ask_all(server, ["deadly"])
        before = len(server.requests)
        server.poison = ""

        async def main() -> None:
            transport = transport_to(server)
            server.faults = {"json_schema_500": 1.0}
            answer = await attempt(transport, "next")
            assert not isinstance(answer, Unavailable)
            await transport.aclose()

        asyncio.run(main())
        assert {request.rung for request in server.requests[before:]} == {"json_schema", "json_object"}


REFUSED = Trouble("answered 502", status=502)


def request_to(number: int) -> tuple[Request, ServerHealth]:
    """A request that was not sent yet, and what is known of its server, which no other test has by this number."""
    transport = Transport(f"http://127.0.0.1:1/{number}", None, limiter=Limiter(1), backoff_s=0.01)
    return Request(transport, prompt(), "m", 0, 0, None), transport.health


def lost(request: Request, health: ServerHealth) -> None:
    """One more fault, and no attempt left."""
    health.failed(REFUSED.message)
    request._left = 1
    request._wait_after(REFUSED)


def test_an_answer_confirms_what_was_sent_after_the_fault_and_a_failed_probe_starts_over() -> None:
    # Only what was sent after the latest fault shows that the server served others at that time.
    early = time.monotonic()
    request, health = request_to(1)
    lost(request, health)
    health.answered(early)
    assert not request._goes_on()
    for confirmed in range(1, CONFIRMATIONS):
        health.answered(time.monotonic())
        assert request._goes_on()
        assert (request._confirmed, request._left) == (confirmed, 1)
        lost(request, health)
        assert not request._goes_on()
    health.answered(time.monotonic())
    with pytest.raises(Unavailable):
        request._goes_on()
    request, health = request_to(2)
    request._confirmed = 1
    lost(request, health)
    health.failed("is odd", away=True)
    assert health.away
    health.answered(time.monotonic())
    assert request._goes_on()
    assert (request._confirmed, request.returns, request._left) == (0, 1, ATTEMPTS)


def test_who_fails_while_others_are_served_is_at_fault_and_a_closed_door_is_nobody_s() -> None:
    request, health = request_to(3)
    for _ in range(ATTEMPTS - 1):
        request._wait_after(REFUSED)
        health.answered(time.monotonic())
    with pytest.raises(Unavailable) as caught:
        request._wait_after(REFUSED)
    assert not caught.value.outage
    request._wait_after(Trouble("could not be reached", unreachable=True))
    assert health.unreachable
    before = request._left, request._fault
    assert request._wait_after(Trouble("could not be reached", unreachable=True)) == 0  # it looked
    assert (request._left, request._fault) == before
    crashing, health = request_to(4)
    crashing.returns = MOST_RETURNS
    with pytest.raises(Unavailable):
        lost(crashing, health)


# --- A run that stops waits for nothing: not for a server that is away, nor for the next try, nor for its turn.

CLOSED = "http://127.0.0.1:9/v1"  # discard: nobody listens there


def made(url: str, **options: float | Limiter | dict[str, ModelLimits]) -> Transport:
    chosen = {"limiter": Limiter(8), "timeout_s": 30.0, "backoff_s": 30.0, "patience_s": 600.0, **options}
    return Transport(url, SecretStr(KEY), **chosen)  # type: ignore[arg-type]


def halted_after(transport: Transport, seconds: float, requests: int = 4) -> tuple[list[object], float]:
    """What became of the requests, and the seconds from the halt to their end."""

    async def main() -> tuple[list[object], float]:
        asked = [
            asyncio.create_task(transport.send(prompt(str(i)), model="m", temperature=0, seed=0))
            for i in range(requests)
        ]
        await asyncio.sleep(seconds)
        transport.halt()
        await asyncio.sleep(0)
        transport.halt()  # as each request does that the server refuses for good, while others are being told
        began = time.monotonic()
        ended = await asyncio.gather(*asked, return_exceptions=True)
        took = time.monotonic() - began
        await transport.aclose()
        return list(ended), took

    return asyncio.run(main())


@pytest.mark.parametrize("backoff_s", [0.02, 30.0])
def test_waits_for_a_server_that_is_away_and_for_the_next_try_end_at_once(backoff_s: float) -> None:
    """0.02 s: attempts are used up, everybody waits for the server. 30 s: all are between two attempts."""
    ended, took = halted_after(made(CLOSED, backoff_s=backoff_s), 0.8)
    assert took < 2
    for error in ended:
        assert isinstance(error, Unavailable)
        assert error.short  # to be asked when the run goes on, and nobody's fault
        assert not error.outage


def test_on_a_halt_what_is_on_its_way_is_answered_and_no_turn_or_pace_waited_for() -> None:
    with ModelServer(latency=0.6) as server:
        limits = {"m": ModelLimits(concurrency=1)}
        ended, took = halted_after(made(server.base_url, limits=limits), 0.3)
        assert server.count() == 1
    assert took < 3
    assert [type(each) for each in ended].count(ModelResponse) == 1
    assert sum(isinstance(each, Unavailable) and each.short for each in ended) == 3
    with ModelServer() as server:
        limits = {"m": ModelLimits(requests_per_minute=1)}
        ended, took = halted_after(made(server.base_url, limits=limits), 0.5, requests=2)
    assert took < 2
    assert sum(isinstance(each, Unavailable) for each in ended) == 1
