"""Requests gathered into batches over real HTTP: all that wait go together, and whatever becomes of a batch, nobody
pays twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from enquete.ledger.batch_jobs import name_of, sweep_unordered, waited_for
from enquete.ledger.budget import Budget
from enquete.ledger.ledger import Ledger
from enquete.models.batches import BatchQueue
from enquete.models.metered_model import MeteredModel, Terms
from enquete.models.transport import Transport
from enquete.runs.model_server import LIMITER
from enquete.runs.run_session import adopt
from enquete.state.asking import CallKey
from enquete.state.interview_context import Completion, Prompt
from tests.support.ledgers import with_ledger
from tests.support.model_server import ModelServer

SCHEMA = '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}'
Got = Completion | str


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


class BatchContext:
    """A run's metered model whose requests go in batches."""

    def __init__(self, server: ModelServer, ledger: Ledger, *, patience_s: float = 60.0, **limits: int):
        self.ledger = ledger
        self.budget = Budget(10**9, at_once=True)
        self.batch_queue = BatchQueue(server.base_url, None, ledger, patience_s=patience_s, **limits)
        self.budget.when_stopped = self.batch_queue.halt
        self.told: list[tuple[int, int, str]] = []
        self.batch_queue.tell(lambda order, placed, fault: self.told.append((order.number, placed, fault)))
        adopt(self.batch_queue, ledger, self.budget, lambda key, model: Terms(model, 0, 0))
        self._transport = Transport(server.base_url, None, limiter=LIMITER)
        self.model = MeteredModel(ledger, self.budget, self._transport, Terms("m", 0, 0), batches=self.batch_queue)

    def key(self, name: str) -> CallKey:
        return CallKey(self.ledger.run, "main", "m", "T1", "answer", name, 0)

    async def ask(self, *names: str, tokens: int = 500) -> dict[str, Got]:
        async def request(name: str) -> Got:
            prompt = Prompt(f"You are {name}.", ({"role": "user", "content": "?"},), SCHEMA, tokens)
            return await self.model.request(self.key(name), lambda: prompt)

        return dict(zip(names, await asyncio.gather(*map(request, names)), strict=True))

    async def aclose(self) -> None:
        await self.batch_queue.aclose()
        await self._transport.aclose()

    def charged(self) -> int:
        """Tokens that may have been billed without a reply."""
        return int(self.ledger.read("SELECT sum(allowance) FROM calls").fetchone()[0])


Work = Callable[[BatchContext], Awaitable[None]]


def at(server: ModelServer, folder: Path, work: Work, **options: Any) -> None:
    folder.mkdir(exist_ok=True)

    async def run(ledger: Ledger) -> None:
        await sweep_unordered(ledger)
        context = BatchContext(server, ledger, **options)
        try:
            await work(context)
        finally:
            await context.aclose()

    with_ledger(folder, run)


async def until(happened: Callable[[], bool]) -> None:
    for _ in range(3000):
        if happened():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


def sizes(server: ModelServer) -> list[int]:
    """Requests of each batch."""
    return [job.shown["request_counts"]["total"] for job in server.batches.jobs.values()]


def all_settled(got: dict[str, Got]) -> bool:
    return all(isinstance(result, Completion) for result in got.values())


def test_all_who_wait_go_in_one_batch_and_a_file_takes_so_many(server: ModelServer, tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(40)]

    async def work(context: BatchContext) -> None:
        assert all_settled(await context.ask(*names))
        assert (sizes(server), server.count(), server.repeated()) == ([40], 40, {})
        assert context.budget.reserved == 0
        assert context.budget.spent == context.ledger.total("tokens") > 0

    at(server, tmp_path / "one", work)

    async def in_files(context: BatchContext) -> None:
        assert all_settled(await context.ask(*names))
        assert sizes(server) == [40, 16, 16, 8]

    at(server, tmp_path / "lines", in_files, most_lines=16)

    async def by_size(context: BatchContext) -> None:
        assert all_settled(await context.ask("a", "b", "c"))
        assert sizes(server)[4:] == [1, 1, 1]

    at(server, tmp_path / "bytes", by_size, most_bytes=700)


def test_what_failed_or_expired_goes_into_the_next_batch_and_was_not_bought(
    server: ModelServer, tmp_path: Path
) -> None:
    """A line that fails once; then a batch that expires after one of three."""
    server.batches.fails = lambda name, time: time == 0 and len(server.batches.jobs) == 1
    server.batches.a_poll = 2

    async def work(context: BatchContext) -> None:
        assert all_settled(await context.ask("a", "b"))
        server.batches.expires_after = 1
        assert all_settled(await context.ask("c", "d", "e"))
        assert (sizes(server), server.count(), context.charged()) == ([2, 2, 3, 2], 5, 0)

    at(server, tmp_path, work)


def test_a_request_fails_after_three_batches_and_alone_where_others_are_answered(
    server: ModelServer, tmp_path: Path
) -> None:
    """`a` never works; `b`, in each of its batches, works in the third."""

    async def work(context: BatchContext) -> None:
        a, b = context.key("a"), context.key("b")
        server.batches.fails = lambda name, time: name == name_of(a) or (name == name_of(b) and time < 2)
        got = await context.ask("a", "b", "c")
        assert (got.pop("a"), all_settled(got), context.budget.stopped) == ("failed", True, "")
        assert (sizes(server), server.count()) == ([3, 2, 2], 2)

    at(server, tmp_path, work)


def test_a_batch_of_which_nothing_is_answered_three_times_pauses_the_run(server: ModelServer, tmp_path: Path) -> None:
    server.batches.fails = lambda name, time: True

    async def work(context: BatchContext) -> None:
        assert set((await context.ask("a", "b")).values()) == {"short"}
        assert "answered none of 2 requests in a batch" in context.budget.stopped
        assert "The server had an error" in context.budget.stopped

    at(server, tmp_path, work)


def test_a_line_missing_from_the_output_may_have_been_bought_and_is_charged(
    server: ModelServer, tmp_path: Path
) -> None:
    """Likewise one too long to be read: here 4 MB and more."""
    server.batches.drops = lambda name: len(server.batches.jobs) == 1
    server.batches.pads = lambda name: 2**22 if len(server.batches.jobs) == 3 else 0

    async def work(context: BatchContext) -> None:
        assert all_settled(await context.ask("a"))
        once = context.charged()
        assert once > 500
        assert all_settled(await context.ask("b"))
        assert (context.charged(), server.count()) == (2 * once, 4)
        assert context.budget.spent == context.ledger.total("tokens")

    at(server, tmp_path, work)


def test_a_form_that_the_server_refuses_is_put_otherwise_in_the_next_batch(server: ModelServer, tmp_path: Path) -> None:
    server.faults["no_json_schema"] = 1.0

    async def work(context: BatchContext) -> None:
        assert all_settled(await context.ask("a", "b"))
        assert [request.rung for request in server.requests] == ["json_schema"] * 2 + ["json_object"] * 2

    at(server, tmp_path, work)


def test_what_is_too_much_at_once_is_halved_until_it_fits_and_follows_one_another(
    server: ModelServer, tmp_path: Path
) -> None:
    """Forty requests of some 575 bytes where 6,000 are taken at once: 40 and 20 are refused, 10 are asked; what is
    asked meanwhile waits its turn. Then 200 bytes, into which not one request goes."""
    server.batches.holds = 6_000

    async def work(context: BatchContext) -> None:
        names = [f"n{number}" for number in range(40)]
        assert all_settled(await context.ask(*names))
        assert (server.count(), server.repeated(), context.charged()) == (40, {}, 0)
        refused = [job.shown["status"] == "failed" for job in server.batches.jobs.values()]
        assert (refused[:2], sum(refused)) == ([True, True], 2)
        assert all(
            len(server.batches.files[job.shown["input_file_id"]]) <= 6_000
            for job in list(server.batches.jobs.values())[2:]
        )

        server.batches.holds = 200
        assert set((await context.ask("a", "b")).values()) == {"short"}
        assert "(1 requests to 'm'): Enqueued token limit reached (token_limit_exceeded)." in context.budget.stopped

    at(server, tmp_path, work)


@pytest.mark.parametrize(
    ("meddle", "words"),
    [
        ("refuse", "refused batch 1 as a whole (2 requests to 'm'): No such model (refused)."),
        ("cancel", "Batch batch_1 was cancelled at the provider after 0 of 2 requests. Resume to ask for the others"),
        ("elsewhere", "has no Batch API: it answered 404"),
        ("closed", "no batch could be ordered for 0.2 s (ENQUETE_PATIENCE_S)"),
    ],
)
def test_what_would_befall_every_batch_pauses_the_run_with_the_providers_words(
    server: ModelServer, tmp_path: Path, meddle: str, words: str
) -> None:
    if meddle == "refuse":
        server.batches.refuses = "No such model"
    elif meddle == "elsewhere":
        server.base_url += "/elsewhere"
    elif meddle == "closed":
        server.vanish()

    async def work(context: BatchContext) -> None:
        if meddle == "cancel":
            server.batches.stop_at("poll")
            asking = asyncio.ensure_future(context.ask("a", "b"))
            await asyncio.to_thread(server.batches.stopped.wait, 10)
            server.batches.jobs["batch_1"].shown["status"] = "cancelling"
            server.batches.go_on()
            got = await asking
        else:
            got = await context.ask("a", "b")
        assert set(got.values()) == {"short"}
        assert words in context.budget.stopped
        assert (server.count(), context.charged()) == (0, 0)
        assert waited_for(context.ledger) == ""

    at(server, tmp_path, work, patience_s=0.2)


def test_a_server_that_is_gone_for_a_while_is_looked_for_until_it_is_back(server: ModelServer, tmp_path: Path) -> None:
    """Longer than the run is patient: what is ordered is worth waiting for."""

    async def work(context: BatchContext) -> None:
        server.batches.held = True
        asking = asyncio.ensure_future(context.ask("a", "b"))
        await until(lambda: server.batches.polls > 0)
        server.vanish()
        await until(lambda: any(fault for _, _, fault in context.told))
        server.batches.held = False
        server.come_back()
        assert all_settled(await asking)
        assert (sizes(server), server.count()) == ([2], 2)
        assert "could not be reached" in " ".join(fault for _, _, fault in context.told)

    at(server, tmp_path, work, patience_s=0.0)


def test_an_order_whose_reply_was_lost_is_found_and_not_placed_again(server: ModelServer, tmp_path: Path) -> None:
    server.batches.loses_reply = True

    async def work(context: BatchContext) -> None:
        assert all_settled(await context.ask("a", "b"))
        assert (sizes(server), server.count()) == ([2], 2)

    at(server, tmp_path, work)


def test_what_an_earlier_session_ordered_is_settled_whether_or_not_it_is_asked_for(
    server: ModelServer, tmp_path: Path
) -> None:
    """Of three that stand when the run pauses one fails and one has no reply: both are asked again when somebody
    asks."""

    async def pauses(context: BatchContext) -> None:
        server.batches.held = True
        asking = asyncio.ensure_future(context.ask("a", "b", "c"))
        await until(lambda: server.batches.polls > 0)
        await context.budget.stop("interrupted")
        assert set((await asking).values()) == {"short"}
        assert (context.ledger.total("tokens"), waited_for(context.ledger)) == (0, "batch 1 of 1: 0 of 3 done")

    async def goes_on(context: BatchContext) -> None:
        held = context.budget.reserved
        assert held > 3 * 500
        b, c = (name_of(context.key(name)) for name in "bc")
        server.batches.fails = lambda name, time: name == b and time == 0
        server.batches.drops = lambda name: name == c and len(server.batches.jobs) == 1
        server.batches.held = False
        await until(lambda: context.budget.reserved == 0)
        assert isinstance(context.ledger.settled(context.key("a")), Completion)
        assert context.charged() == context.ledger.read("SELECT reserved FROM calls WHERE subject='c'").fetchone()[0]
        assert all_settled(await context.ask("a", "b", "c"))
        assert (sizes(server), server.count()) == ([3, 2], 4)
        assert context.budget.spent == context.ledger.total("tokens")

    at(server, tmp_path, pauses)
    at(server, tmp_path, goes_on)


def test_an_order_that_is_refused_while_nobody_looks_pauses_the_next_session(
    server: ModelServer, tmp_path: Path
) -> None:
    async def pauses(context: BatchContext) -> None:
        server.batches.held = True
        asking = asyncio.ensure_future(context.ask("a"))
        await until(lambda: server.batches.polls > 0)
        context.batch_queue.halt()
        assert await asking == {"a": "short"}

    async def is_told(context: BatchContext) -> None:
        errors = {"data": [{"code": "x", "line": None, "message": "No credit left", "param": None}]}
        server.batches.jobs["batch_1"].shown.update(status="failed", errors=errors)
        assert await context.ask("a") == {"a": "short"}
        assert "refused batch 1 as a whole (1 requests to 'm'): No credit left (x)" in context.budget.stopped

    async def asks_again(context: BatchContext) -> None:
        server.batches.held = False
        assert all_settled(await context.ask("a"))
        assert (sizes(server), context.charged()) == ([1, 1], 0)

    for work in (pauses, is_told, asks_again):
        at(server, tmp_path, work)
