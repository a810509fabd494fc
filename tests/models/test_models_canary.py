"""Whose fault is it? A request that the server always refuses fails alone; a server that refuses everybody is waited for."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from pydantic import SecretStr

from enquete.models.faults import SendCounts, Trouble, Unavailable
from enquete.models.servers import Limiter, ServerHealth, health_of
from enquete.models.transport import CONFIRMATIONS, HEALTH_PROBE, MOST_RETURNS, RetryState, Transport
from tests.models.test_models_outage import Ended, ask_all, failures, one, transport_to
from tests.models.test_models_transport import KEY, prompt
from tests.support.model_server import Logged, ModelServer

ATTEMPTS = 3
MOST_SENDS = ATTEMPTS + MOST_RETURNS
"""Of a poisonous request, once a form has worked. Usually it is one more than the attempts, after the first canary; each
canary that happens to be sent before its latest refusal costs another."""


def canaries(server: ModelServer) -> int:
    return sum(request.body["messages"][0]["content"] == HEALTH_PROBE.system for request in list(server.requests))


CHECK = str(HEALTH_PROBE.messages[0]["content"])


def refused(server: ModelServer) -> Counter[str]:
    """How often each question was answered 500."""
    return Counter(asked_in(request) for request in list(server.requests) if "http_500" in request.faults)


def unanswered(server: ModelServer) -> set[str]:
    """The questions that were refused and have not been answered since, but for the canary and the poisoned."""
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


@pytest.mark.parametrize("number", [1, 4, 7])
def test_those_that_are_always_refused_fail_alone_and_soon_whatever_the_patience(number: int) -> None:
    """29 others are answered at once, and then nobody is left to show that the server works (the default patience)."""
    with ModelServer() as server:
        server.poison = "deadly"
        started = time.monotonic()
        ended = ask_all(server, [*range(29), *poisoned(number)], patience_s=180)
        assert time.monotonic() - started < 10
        assert canaries(server) <= CONFIRMATIONS * number
        assert server.count("http_500") == sum(answer.sends for answer in ended[29:])
    lost = failures(ended)
    assert len(lost) == number == len(failures(ended[29:]))
    assert {(error.outage, error.status) for error in lost} == {(False, 500)}
    assert all(ATTEMPTS <= error.sends <= MOST_SENDS for error in lost)
    assert sum(error.sends for error in lost) <= (ATTEMPTS + CONFIRMATIONS) * number


def test_one_left_over_is_charged_for_the_canaries_it_needed() -> None:
    """So that the sum of what calls cost remains what the budget has spent."""
    with ModelServer() as server:
        ask_all(server, ["before"])  # json_schema has worked: no other form is tried
        server.poison = "deadly"
        (error,) = failures([ask_with_room(server, "deadly", lambda: True)])
        assert canaries(server) == error.broken == CONFIRMATIONS
    assert (error.sends, error.outage, error.timeouts) == (ATTEMPTS + 1, False, 0)


def test_without_room_in_the_budget_no_canary_is_sent() -> None:
    with ModelServer() as server:
        ask_all(server, ["before"])
        server.poison = "deadly"
        (error,) = failures([ask_with_room(server, "deadly", lambda: False)])
        assert canaries(server) == 0
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


@pytest.mark.parametrize("fault", ["http_500", "html_body", "no_choices"])
def test_a_server_that_refuses_everybody_for_a_while_fails_nobody(fault: str) -> None:
    """Attempts are over within 0.1 s, it lasts for 1 s; few sends of each prompt, as canaries ask for all of them."""
    with ModelServer(latency=0.005) as server:
        ask_all(server, ["before"])
        server.faults = {fault: 1.0}
        threading.Timer(1.0, server.faults.clear).start()
        ended = ask_all(server, range(10))
        assert canaries(server) > 0
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

    Each lasts until it is noticed. The second 500 begins when all that the first befell are answered (a server that goes to
    and fro more quickly may break one request three times before a canary notices) and befalls those asked from then on.
    """
    with ModelServer(latency=0.01) as server:
        ask_all(server, ["before"])
        server.poison = "deadly"
        server.faults = {"http_500": 1.0}

        async def main() -> list[Ended]:
            transport, again = transport_to(server), asyncio.Event()

            async def late(question: int) -> Ended:
                await again.wait()
                return await one(transport, str(question))

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

            asked = [one(transport, str(question)) for question in (*range(40), *poisoned(7))]
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
        assert canaries(server) > 0
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


def test_a_canary_says_nothing_about_a_later_form() -> None:
    """That a short answer is given in json_schema does not prove that a long one is: its success is not remembered."""
    with ModelServer() as server:
        server.poison = "deadly"
        ask_all(server, ["deadly"])
        before = len(server.requests)
        server.poison = ""

        async def main() -> None:
            transport = transport_to(server)
            server.faults = {"json_schema_500": 1.0}
            answer = await one(transport, "next")
            assert not isinstance(answer, Unavailable)
            await transport.aclose()

        asyncio.run(main())
        assert {request.rung for request in server.requests[before:]} == {"json_schema", "json_object"}


REFUSED = Trouble("answered 500", status=500)


def lost(state: RetryState, health: ServerHealth) -> None:
    """One more fault, and no attempt left."""
    health.failed(REFUSED.message)
    state.note(REFUSED, health)
    state.is_lost = True


def test_an_answer_that_was_under_way_before_the_refusal_confirms_nothing() -> None:
    """Only what was sent after the latest fault shows that the server served others at that time."""
    health, state, early = ServerHealth(), RetryState(ATTEMPTS, 0.01), time.monotonic()
    lost(state, health)
    health.answered(early)
    assert not state.is_decided(health)
    for expected in range(1, CONFIRMATIONS + 1):
        health.answered(time.monotonic())
        assert state.is_decided(health)
        assert state.go_on(health) == (expected < CONFIRMATIONS)
        assert (state.confirmed, state.left) == (expected, 1)
        lost(state, health)
        assert not state.is_decided(health)


def test_a_probe_that_fails_starts_attempts_over_once_the_server_is_back() -> None:
    health, state = ServerHealth(), RetryState(ATTEMPTS, 0.01, confirmed=1)
    lost(state, health)
    health.left(unreachable=False)
    assert health.away
    health.answered(time.monotonic())
    assert state.is_decided(health)
    assert state.go_on(health)
    assert (state.confirmed, state.returns, state.left) == (0, 1, ATTEMPTS)


def test_who_fails_while_others_are_served_is_at_fault_and_a_closed_door_is_nobody_s() -> None:
    health, state = ServerHealth(), RetryState(ATTEMPTS, 0.01)
    for fault in range(ATTEMPTS):
        assert not state.is_at_fault
        state.note(REFUSED, health)
        if fault < ATTEMPTS - 1:
            health.answered(time.monotonic())
    assert state.is_at_fault
    state.note(Trouble("could not be reached", unreachable=True), health)
    assert not state.is_at_fault
    crashing = RetryState(ATTEMPTS, 0.01, returns=MOST_RETURNS)
    crashing.note(REFUSED, health)
    assert crashing.is_at_fault


def test_a_canary_is_short_and_counted() -> None:
    assert len(json.dumps([HEALTH_PROBE.system, *HEALTH_PROBE.messages, HEALTH_PROBE.schema])) < 400
    assert SendCounts(timeouts=1, broken=2, probes=3).unanswered == 6
