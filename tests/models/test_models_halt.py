"""A run that stops waits for nothing: not for a server that is away, nor for the next try, nor for its turn."""

from __future__ import annotations

import asyncio
import time

import pytest
from pydantic import SecretStr

from enquete.models.chat_completions import Response
from enquete.models.faults import Unavailable
from enquete.models.servers import Limiter
from enquete.models.transport import Transport
from enquete.state.request import ModelLimits
from tests.models.test_models_transport import KEY, prompt
from tests.support.model_server import ModelServer

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


def test_what_is_on_its_way_is_answered_and_what_waits_for_its_turn_is_not_sent() -> None:
    with ModelServer(latency=0.6) as server:
        limits = {"m": ModelLimits(concurrency=1)}
        ended, took = halted_after(made(server.base_url, limits=limits), 0.3)
        assert server.count() == 1
    assert took < 3
    assert [type(each) for each in ended].count(Response) == 1
    assert sum(isinstance(each, Unavailable) and each.short for each in ended) == 3


def test_a_pace_of_one_a_minute_is_not_waited_for() -> None:
    with ModelServer() as server:
        limits = {"m": ModelLimits(requests_per_minute=1)}
        ended, took = halted_after(made(server.base_url, limits=limits), 0.5, requests=2)
    assert took < 2
    assert sum(isinstance(each, Unavailable) for each in ended) == 1
