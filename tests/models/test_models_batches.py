"""Orders at a Batch API over real HTTP: found again, never placed twice, and every reply sorted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from enquete.models.batches import LONGEST_LINE, BatchJob, BatchReply, Provider, Unanswered, line
from tests.support.model_server import ModelServer

KEY = "sk-secret-of-the-tests"
Work = Callable[[Provider], Awaitable[None]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def at(server: ModelServer, work: Work) -> None:
    async def run() -> None:
        provider = Provider(server.base_url, SecretStr(KEY))
        try:
            await work(provider)
        finally:
            await provider.aclose()

    asyncio.run(run())


def asked(*names: str) -> dict[str, Any]:
    return {
        name: {"model": "m", "messages": [{"role": "system", "content": name}, {"role": "user", "content": "ä?"}]}
        for name in names
    }


async def ordered(provider: Provider, bodies: dict[str, Any], *, run: str, mark: str) -> BatchJob:
    file = await provider.upload(mark, b"".join(line(name, body) for name, body in bodies.items()))
    return await provider.order(file, run=run, mark=mark)


async def fetched(provider: Provider, order: BatchJob) -> dict[str, BatchReply]:
    return {reply.name: reply async for reply in provider.fetch(order)}


def test_an_order_is_polled_and_fetched(server: ModelServer) -> None:
    """Two of three lines at the first poll, the third at the second."""
    server.batches.a_poll = 2

    async def work(provider: Provider) -> None:
        order = await ordered(provider, asked(*"abc"), run="r", mark="1")
        assert (order.stage, server.count()) == ("under way", 0)
        seen = [await provider.look(order.id) for _ in range(2)]
        assert [(progress.stage, progress.done, progress.failed, progress.total) for progress in seen] == [
            ("under way", 2, 0, 3),
            ("completed", 3, 0, 3),
        ]
        replies = await fetched(provider, seen[1])
        assert {name: reply.status for name, reply in replies.items()} == {"a": 200, "b": 200, "c": 200}
        assert [request.body["messages"][0]["content"] for request in server.requests] == ["a", "b", "c"]

    at(server, work)


def test_after_a_kill_an_order_is_found_by_its_run_and_mark(server: ModelServer) -> None:
    """Another run's of the same mark is not it, however new; one beyond the first page of 100 is not overlooked."""

    async def work(provider: Provider) -> None:
        first = await ordered(provider, asked("a"), run="r", mark="1")
        await ordered(provider, asked("b"), run="other", mark="1")
        newer = server.batches.jobs["batch_2"]
        for number in range(3, 103):
            server.batches.jobs[f"batch_{number}"] = replace(newer, shown=newer.shown | {"id": f"batch_{number}"})
        batch = await provider.find("r", "1")
        assert batch is not None
        assert batch.id == first.id
        assert await provider.find("r", "2") is None

    at(server, work)


def test_a_list_that_does_not_page_has_an_end(server: ModelServer) -> None:
    """Every page is the first one again, and says that there are more."""

    async def work(provider: Provider) -> None:
        await ordered(provider, asked("a"), run="r", mark="1")
        for number in range(2, 103):
            server.batches.jobs[f"batch_{number}"] = server.batches.jobs["batch_1"]
        assert await provider.find("r", "2") is None

    at(server, work)


def test_a_closed_door_took_no_order(server: ModelServer) -> None:
    server.base_url = "http://127.0.0.1:9/v1"

    async def work(provider: Provider) -> None:
        with pytest.raises(Unanswered) as closed:
            await provider.order("file-1", run="r", mark="1")
        assert not closed.value.perhaps

    at(server, work)


def test_what_failed_or_expired_says_so_and_was_not_bought(server: ModelServer) -> None:
    server.batches.fails = lambda name, time: name == "b"
    server.batches.expires_after = 2

    async def work(provider: Provider) -> None:
        ended = await provider.look((await ordered(provider, asked(*"abc"), run="r", mark="1")).id)
        assert (ended.stage, ended.done, ended.failed) == ("expired", 1, 2)
        replies = await fetched(provider, ended)
        assert {name: (reply.status, reply.told.message) for name, reply in replies.items()} == {"a": (200, ""),
            "b": (500, "The server had an error"), "c": (0, "This request was not executed")}  # fmt: skip
        assert server.count() == 1

    at(server, work)


def test_an_order_refused_as_a_whole_says_why(server: ModelServer) -> None:
    two = asked("a") | {"b": asked("b")["b"] | {"model": "n"}}

    async def work(provider: Provider) -> None:
        order = await ordered(provider, two, run="r", mark="1")
        assert (order.stage, order.complaint) == ("refused", "mismatched_model in line 2 (mismatched_model)")

    at(server, work)


def test_a_file_whose_lines_cannot_be_read_gives_no_replies(server: ModelServer) -> None:
    lines = [b"{", b"[]", b"1", b'{"custom_id": 1}', b'{"response": null}', b'{"custom_id": "a", "response": 7}']
    server.batches.files["odd"] = b"\n".join(
        [*lines, b'{"custom_id": "b", "error": {"message": "no ' + KEY.encode() + b'"}}']
    )

    async def work(provider: Provider) -> None:
        replies = await fetched(provider, BatchJob("x", "completed", 0, 0, 0, files=("odd",)))
        assert {name: reply.told.message for name, reply in replies.items()} == {"b": "no ***"}

    at(server, work)


def test_a_line_longer_than_any_reply_is_left_out_and_the_next_is_read(server: ModelServer) -> None:
    server.batches.pads = lambda name: LONGEST_LINE if name == "a" else 0

    async def work(provider: Provider) -> None:
        ended = await provider.look((await ordered(provider, asked("a", "b"), run="r", mark="1")).id)
        assert (await fetched(provider, ended)).keys() == {"b"}

    at(server, work)
