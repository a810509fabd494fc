"""A server's Batch API: many requests as one file, answered within 24 hours, at half the price where the provider is
OpenAI.

An order is money, and placing one cannot be repeated safely. So it carries a mark (its metadata: run and mark), and
whoever does not know whether an order arrived looks for the mark before ordering again: where the reply was lost, and
where the process was killed between the order and noting its id. Uploading, polling and fetching buy nothing.
Measured by: requests that the server answered, over all batches, none of them twice
(tests/models/test_models_batches.py).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from secrets import token_hex
from typing import Any, Final, Literal, NamedTuple, TypeVar

import openai
from openai.types import Batch
from pydantic import JsonValue, SecretStr

from enquete.ledger.batch_jobs import (
    BatchOrder,
    InFlight,
    asked_in,
    calls_in_flight,
    close,
    close_settled,
    name_of,
    note,
    open_orders,
    orders_placed,
)
from enquete.ledger.budget import Budget
from enquete.ledger.ledger import Ledger
from enquete.models.chat_completions import (
    ModelResponse,
    ResponseFormat,
    completed,
    fallback_of,
    filtered,
    response_from,
)
from enquete.models.faults import (
    PASSING,
    AwaitsBatch,
    NotRead,
    Refused,
    Rejected,
    SendCounts,
    ServerError,
    Trouble,
    Unavailable,
    checked_url,
    complaint,
    connection_fault,
    halted,
    mask,
    read_error,
    rejected,
    shown_url,
    status_fault,
    unavailable,
    without_room,
)
from enquete.models.http_client import BoundedClient
from enquete.models.metered_model import Reservation, Terms, usage_of
from enquete.state.asking import CallKey
from enquete.state.errors import ModelError
from enquete.state.interview_context import Completion, Prompt

ENDPOINT: Final = "/v1/chat/completions"
MOST_LINES, MOST_BYTES = 50_000, 200 * 10**6
"""What OpenAI takes in one file."""
LONGEST_LINE = 4 * 2**20
"""Bytes of one reply; see http_client.MOST_BYTES."""
SECONDS = openai.Timeout(600.0, connect=20.0)
RUN, MARK = "enquete_run", "enquete_mark"  # metadata by which an order is found again
PAGE = 100

Stage = Literal["under way", "completed", "expired", "cancelled", "refused"]
_ENDS: dict[str, Stage] = {
    "completed": "completed", "expired": "expired", "cancelled": "cancelled", "failed": "refused",
}  # fmt: skip


@dataclass(frozen=True)
class BatchJob:
    """A batch at the provider. `refused`: as a whole, before anything was asked; `complaint` says why. Of one that
    expired or was cancelled, requests without a reply were not bought."""

    id: str
    stage: Stage
    done: int
    failed: int
    total: int
    complaint: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class BatchReply:
    """What became of one request. `body`: the chat completion where `status` is 200. `status` 0: it was never asked
    (the batch expired or was cancelled first). `told`: the error's words otherwise."""

    name: str
    status: int
    body: dict[str, JsonValue]
    told: ServerError


class Unanswered(Exception):
    """The server did not answer, or could not: worth asking again. `perhaps`: it may have done what was asked;
    `status`: of its answer, None where there was none."""

    def __init__(self, words: str, *, perhaps: bool = False, status: int | None = None):
        super().__init__(words)
        self.perhaps = perhaps
        self.status = status


class Denied(Exception):
    """The server refuses, whenever it is asked."""

    def __init__(self, status: int, told: ServerError):
        super().__init__(f"answered {status}" + (f": {told.message}" if told.message else ""))
        self.status = status
        self.told = told


class Provider:
    """The Batch API of one server. For one event loop. Methods raise Unanswered and Denied."""

    def __init__(self, base_url: str, api_key: SecretStr | None):
        self._key = api_key.get_secret_value() if api_key else "none"
        self._client = self._made(base_url, BoundedClient(timeout=SECONDS))
        # Replies are read as they come, however many there are; a redirect would take personas elsewhere.
        self._reader = self._made(base_url, openai.DefaultAioHttpClient(timeout=SECONDS, follow_redirects=False))

    def _made(self, base_url: str, http: openai.DefaultAioHttpClient) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            base_url=base_url, api_key=self._key, http_client=http, timeout=SECONDS,
            max_retries=0,  # an order is never sent again unseen
        )  # fmt: skip

    async def upload(self, mark: str, content: bytes) -> str:
        """The file's id; `content`: lines as `line` writes them, of one model."""
        with self._sorted():
            file = await self._client.files.create(file=(f"{mark}.jsonl", content), purpose="batch")
        return file.id

    async def order(self, file: str, *, run: str, mark: str) -> BatchJob:
        """After Unanswered nobody knows whether it was taken: `find` it before anything else."""
        with self._sorted():
            made = await self._client.batches.create(
                input_file_id=file, endpoint=ENDPOINT, completion_window="24h", metadata={RUN: run, MARK: mark}
            )
        return self._order(made)

    async def find(self, run: str, mark: str) -> BatchJob | None:
        """The order of this mark, if it was ever taken; the newest are looked at first. A server that does not page
        shows the same ones again: then that is all."""
        seen: set[str] = set()
        with self._sorted():
            async for listed in self._client.batches.list(limit=PAGE):
                if listed.id in seen:
                    return None
                seen.add(listed.id)
                if (listed.metadata or {}).get(RUN) == run and (listed.metadata or {}).get(MARK) == mark:
                    break
            else:
                return None
        return self._order(listed)

    async def look(self, order: str) -> BatchJob:
        """How far it is."""
        with self._sorted():
            batch = await self._client.batches.retrieve(order)
        return self._order(batch)

    async def fetch(self, order: BatchJob) -> AsyncIterator[BatchReply]:
        """The replies of an order that ended, in no order. A request that is in neither file has none. Lines that
        cannot be read, and those longer than any reply, are left out like those."""
        for file in order.files:
            async for text in self._lines(file):
                reply = self._reply(text)
                if reply is not None:
                    yield reply

    async def _lines(self, file: str) -> AsyncIterator[bytes]:
        rest, is_whole = b"", True
        with self._sorted():
            async with self._reader.files.with_streaming_response.content(file) as response:
                async for piece in response.iter_bytes():
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        if is_whole and len(line) <= LONGEST_LINE:
                            yield line
                        is_whole = True
                    if len(rest) > LONGEST_LINE:
                        rest, is_whole = b"", False
        if is_whole and rest:
            yield rest

    async def aclose(self) -> None:
        await self._client.close()
        await self._reader.close()

    @contextmanager
    def _sorted(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            told = read_error(error.body, self._key)
            denied, status = Denied(error.status_code, told), error.status_code
            if status >= 500 or (status in PASSING and "insufficient_quota" not in told.code):
                raise Unanswered(str(denied), perhaps=status >= 500, status=status) from None
            raise denied from None
        except NotRead as error:
            if error.status is None:  # longer than any answer of its own
                raise Unanswered(str(error), perhaps=True) from None
            raise Denied(error.status, ServerError(mask(str(error), self._key))) from None
        except Exception as error:  # SDK, httpx and aiohttp each have their own; nothing of ours is called in here
            sent, words = connection_fault(error)
            raise Unanswered(words, perhaps=sent) from None

    def _order(self, batch: Batch) -> BatchJob:
        counts = batch.request_counts
        done, failed, total = (counts.completed, counts.failed, counts.total) if counts else (0, 0, 0)
        faults = (batch.errors.data if batch.errors else None) or []
        told = "; ".join(f"{fault.message} ({fault.code})" for fault in faults[:3])
        files = tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)
        stage = _ENDS.get(batch.status, "under way")
        return BatchJob(batch.id, stage, done, failed, total, mask(told, self._key), files)

    def _reply(self, text: bytes) -> BatchReply | None:
        try:
            line = json.loads(text)
            name, response = line["custom_id"], line.get("response") or {}
            status, body = int(response.get("status_code") or 0), response.get("body") or {}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if not isinstance(name, str):
            return None
        if status == 200 and isinstance(body, dict):
            return BatchReply(name, status, body, ServerError(""))
        return BatchReply(name, status, {}, read_error(body or line.get("error"), self._key))


def line(name: str, body: Mapping[str, JsonValue]) -> bytes:
    """One request of a file."""
    asked = {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


# --- what came of a request in a batch, sorted: an answer, refused in this form, or worth another batch ---------------


class Came(NamedTuple):
    """What came of a request: its reply, None where its batch ended without one; and the batch."""

    reply: BatchReply | None
    order: BatchJob


def read(came: Came, prompt: Prompt, model: str, counts: SendCounts, key: str) -> ModelResponse:
    """Raises Refused, Trouble, and Unavailable with `outage` where somebody cancelled the batch. Counts in `counts`
    what was sent and what may have been billed."""
    reply = came.reply
    if reply is None or reply.status == 0:
        raise _unanswered(came, counts)
    counts.sends += 1
    if reply.status == 200:
        return response_from(completed(reply.body, counts), prompt, model, 0, key, counts)
    raise status_fault(reply.status, reply.told)


def _unanswered(came: Came, counts: SendCounts) -> Exception:
    """Of a batch that ran to its end every request was sent, whatever became of its reply; of any other it was not."""
    reply, order = came
    if order.stage == "cancelled":
        return paused(
            f"Batch {order.id} was cancelled at the provider after {order.done} of {order.total} requests. Resume to "
            "ask for the others in another."
        )
    if reply is None and order.stage == "completed":
        counts.sends += 1
        counts.broken += 1
        return Trouble("ended a batch without a reply to this request")
    return Trouble(reply.told.message if reply and reply.told.message else "did not get to it before its batch expired")


def paused(words: str) -> Unavailable:
    """What stops a batch would stop the next one too: the run pauses with these words."""
    return Unavailable(words, SendCounts(), outage=True)


# --- Requests of a run gathered into batches: each waits until no more come, then all go in one file, and its reply
# comes hours later. waits until nothing moves → as many to a file as it takes → placed as an order → its reply: read,
# or asked again in the next batch Nothing moves when neither a request nor a reply came while the ledger was written
# back ten times: whoever works on an answer writes or asks something sooner than that. A pause leaves what is ordered
# where it is, and gives back what is not. Measured by: requests that the server answered, and batches that they came
# in (tests/models/test_models_batch_queue.py).

# --- One order at a Batch API, from the first byte to its last reply: noted before each step, so that a kill between
# two of them is no second order, and looked at ever more rarely until it has ended.
#
#     noted → uploaded → noted → ordered → noted → looked at, after half a second, later once a minute → its replies
#
# A server that is away is waited for: as long as the run is patient before anything is ordered, for ever afterwards.

FIRST_POLL_S, GROWTH, LONGEST_POLL_S = 0.5, 1.5, 60.0
LOOKS = 3
"""Times that the list of batches is searched for an order that may have arrived: it may be listed a moment later."""


class Halted(Exception):
    """The run stops before this was ordered."""


T = TypeVar("T")
Report = Callable[[BatchOrder, int, str], None]
"""Told how far an order is, how many the run has placed, and what is wrong with the server ("" while it answers)."""


class Ordering:
    """Places orders of one run and follows them. For one event loop."""

    def __init__(self, provider: Provider, ledger: Ledger, shown: str, patience_s: float):
        """`shown`: the server, for people."""
        self._provider = provider
        self._ledger = ledger
        self._shown = shown
        self._patience_s = patience_s
        self.report: Report = lambda order, placed, fault: None
        self._halted = asyncio.Event()
        self._placed = orders_placed(ledger)

    def halt(self) -> None:
        """Wait for nothing more."""
        self._halted.set()

    @property
    def is_halted(self) -> bool:
        return self._halted.is_set()

    async def place(self, model: str, asked: Mapping[str, int], content: bytes) -> BatchOrder:
        """`asked`: see ledger/batch_jobs.py. Raises AwaitsBatch where it may have been placed; after Halted,
        Unavailable and Rejected it was not."""
        self._placed += 1
        order = await note(self._ledger, BatchOrder(token_hex(8), self._placed, model, len(asked)), asked)
        try:
            file = await self._patiently(lambda: self._provider.upload(order.mark, content))
            order = await note(self._ledger, replace(order, file=file))
            made = await self._patiently(lambda: self._ordered(order))
        except Denied as denied:
            await close(self._ledger, order)
            raise self._refusal(denied, model) from None
        except (Halted, Unavailable):
            await close(self._ledger, order)
            raise
        return await note(self._ledger, replace(order, id=made.id))

    async def _ordered(self, order: BatchOrder) -> BatchJob:
        """Raises Unanswered where it was certainly not taken, AwaitsBatch where nobody can tell."""
        try:
            return await self._provider.order(order.file, run=self._ledger.run, mark=order.mark)
        except Unanswered as away:
            if not away.perhaps:
                raise
            made = await self.searched(order)
            if made is not None:
                return made
            if away.status is not None:  # it answered, and nothing has come of it
                raise
            raise AwaitsBatch(
                f"The model server {self._shown} {away}, and whether batch {order.number} was taken cannot be told "
                "yet: resume to look again."
            ) from None

    async def searched(self, order: BatchOrder) -> BatchJob | None:
        """The order by its mark. Raises AwaitsBatch where the run pauses before that is known."""
        for wait in _growing(1.0):
            seen = await self._answered(order, lambda: self._provider.find(self._ledger.run, order.mark))
            if seen is not None or wait >= GROWTH**LOOKS:
                return seen
            await self._sleep(wait)
        raise AssertionError  # it grows for ever

    async def followed(self, order: BatchOrder) -> BatchJob:
        """The order once it has ended. Raises AwaitsBatch."""
        for wait in _growing(FIRST_POLL_S):
            self.report(order, self._placed, "")
            await self._sleep(wait)
            seen = await self._answered(order, partial(self._provider.look, order.id))
            if (seen.done, seen.failed) != (order.done, order.failed):
                order = await note(self._ledger, replace(order, done=seen.done, failed=seen.failed))
            if seen.stage != "under way":
                self.report(order, self._placed, "")
                return seen
        raise AssertionError

    async def fetched(
        self, order: BatchOrder, ended: BatchJob, deliver: Callable[[BatchReply], Awaitable[None]]
    ) -> None:
        """Every reply delivered, some of them twice where the connection broke. Raises AwaitsBatch."""

        async def replies() -> None:
            try:
                async for reply in self._provider.fetch(ended):
                    await deliver(reply)
            except Denied as denied:
                if denied.status != 404:  # kept for thirty days, and gone
                    raise

        await self._answered(order, replies)

    async def _answered(self, order: BatchOrder, ask: Callable[[], Awaitable[T]]) -> T:
        """Once it is ordered the server is asked for as long as it takes. Raises AwaitsBatch where the run pauses, or
        the server refuses."""
        for wait in _growing(FIRST_POLL_S):
            try:
                return await ask()
            except Unanswered as away:
                self.report(order, self._placed, str(away))
            except Denied as denied:
                raise AwaitsBatch(self._unknown(order, denied)) from None
            await self._sleep(wait)
        raise AssertionError

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Before anything is ordered. Raises Halted, Unavailable with `outage`."""
        began = time.monotonic()
        for wait in _growing(FIRST_POLL_S):
            if self.is_halted:
                raise Halted
            try:
                return await work()
            except Unanswered as away:
                if time.monotonic() - began >= self._patience_s:
                    words = (
                        f"The model server {self._shown} {away}; no batch could be ordered for {self._patience_s:g} s"
                    )
                    raise paused(f"{words} (ENQUETE_PATIENCE_S).") from None
            await self._waited(min(wait, self._patience_s))
        raise AssertionError

    async def _sleep(self, seconds: float) -> None:
        """Raises AwaitsBatch where the run pauses."""
        if not await self._waited(seconds):
            raise AwaitsBatch

    async def _waited(self, seconds: float) -> bool:
        """False where the run pauses."""
        try:
            await asyncio.wait_for(self._halted.wait(), seconds)
        except TimeoutError:
            return True
        return False

    def _refusal(self, denied: Denied, model: str) -> Exception:
        if denied.status in (404, 405, 501):
            words = f"The model server {self._shown} has no Batch API: it {denied}. Begin the study anew without batch."
            return Rejected(words, SendCounts(), "LLM_BASE_URL")
        return rejected(self._shown, Refused(denied.status, denied.told), model, SendCounts())

    def _unknown(self, order: BatchOrder, denied: Denied) -> str:
        return (
            f"The model server {self._shown} {denied} when it was asked for batch {order.number} "
            f"({order.id or order.mark}), which is paid for: resume with the key and the server it was ordered with."
        )


def _growing(first: float) -> Iterator[float]:
    wait = first
    while True:
        yield wait
        wait = min(wait * GROWTH, LONGEST_POLL_S)


PASSES, PASS_S = 10, 0.05
ATTEMPTS = 3
"""Batches in which one request is sent before it fails."""
TOO_MUCH = "token_limit_exceeded"
"""OpenAI's code where an account's batches together ask more of a model than it takes at once."""
AT_ONCE = 64
"""Replies that are given out before the ledger is written back: more would only wait in memory."""

Settle = Callable[[InFlight, int, Came], Awaitable[None]]
"""Of a call that an earlier session ordered, the longest reply in tokens, and what came."""


@dataclass
class _Queued:
    """A request that waits for its batch, then for its reply. `longest`: tokens of that."""

    name: str
    line: bytes
    longest: int
    came: asyncio.Future[Came]

    def end(self, came: Came | BaseException) -> None:
        if self.came.done():
            return
        if isinstance(came, Came):
            self.came.set_result(came)
        else:
            self.came.set_exception(came)


class _Crowded(Exception):
    """The provider holds as much as it takes at once: ask again, in smaller files, when it holds less."""


class _Share:
    """Bytes of requests to one model that the provider holds for us, and the most that it has not refused."""

    def __init__(self) -> None:
        self.most = sys.maxsize
        self.held = 0
        self.freed = asyncio.Event()

    def refused(self, size: int) -> None:
        """So many bytes beside what is held else."""
        self.most = max(self.held - size, size // 2)

    def give_back(self, size: int) -> None:
        self.held -= size
        self.freed.set()


class BatchQueue:
    """The batches of one run. For one event loop."""

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr | None,
        ledger: Ledger,
        *,
        patience_s: float,
        most_lines: int = MOST_LINES,
        most_bytes: int = MOST_BYTES,
    ):
        """`most_lines`, `most_bytes`: of one file."""
        self.base_url = checked_url(base_url)
        self.key = api_key.get_secret_value() if api_key else ""
        self.shown = mask(shown_url(self.base_url), self.key)
        self._ledger = ledger
        self._provider = Provider(self.base_url, api_key)
        self._ordering = Ordering(self._provider, ledger, self.shown, patience_s)
        self._most_lines = most_lines
        self._most_bytes = most_bytes
        self._waiting: defaultdict[str, list[_Queued]] = defaultdict(list)
        self._shares: defaultdict[str, _Share] = defaultdict(_Share)  # by model
        self._moves = 0  # requests and replies that came
        self._stirred = asyncio.Event()
        self._earlier: dict[str, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._start(self._collect())

    def tell(self, report: Report) -> None:
        """How far the batches are is for `report`."""
        self._ordering.report = report

    async def send(
        self, key: CallKey, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool]
    ) -> ModelResponse:
        """The server's answer. Raises what `Transport.send` does, and AwaitsBatch where the run pauses first."""
        fallback, counts = fallback_of(self.base_url, model), SendCounts()
        lowest, failures = ResponseFormat.JSON_SCHEMA, 0
        while True:
            self._cover(counts, room)
            form = fallback.form(lowest)
            body = form.body(prompt, model=model, temperature=temperature, seed=seed)
            try:
                came = await self._asked(key, model, line(name_of(key), body), prompt.max_output_tokens)
                response = read(came, prompt, model, counts, self.key)
            except _Crowded:
                continue
            except Halted:
                raise halted(self.shown, counts) from None
            except Refused as refused:
                if refused.by_filter:
                    return filtered(refused.told.message, model, counts)
                looser = fallback.after(form, complaint(refused.status, refused.told))
                if looser is None:
                    raise rejected(self.shown, refused, model, counts) from None
                lowest = max(lowest, looser)
            except Trouble as trouble:
                failures += 1
                if failures == ATTEMPTS:
                    raise self._given_up(trouble, came, model, counts) from None
            else:
                if prompt.schema:
                    fallback.worked(form)
                return response

    def _cover(self, counts: SendCounts, room: Callable[[], bool]) -> None:
        """A request that may have been billed needs another reservation. Raises Unavailable with `short`."""
        if counts.unanswered > counts.covered:
            if not room():
                raise without_room(self.shown, counts)
            counts.covered += 1

    def _given_up(self, trouble: Trouble, came: Came, model: str, counts: SendCounts) -> Exception:
        """Alone where others of its batch were answered."""
        if came.order.done:
            return unavailable(self.shown, trouble, model, counts)
        return paused(
            f"The model server {self.shown} answered none of {came.order.total} requests in a batch, the last time "
            f"with: {trouble.message}."
        )

    async def _asked(self, key: CallKey, model: str, request: bytes, longest: int) -> Came:
        """Raises Halted where it was not ordered, AwaitsBatch where it is."""
        if self._ordering.is_halted:
            raise Halted
        queued = _Queued(name_of(key), request, longest, asyncio.get_running_loop().create_future())
        self._waiting[model].append(queued)
        self._moves += 1
        self._stirred.set()
        return await queued.came

    async def _collect(self) -> None:
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            try:
                await self._quiet()
            except Exception as error:  # nobody may wait for ever
                self._give_back(error)
            waiting, self._waiting = self._waiting, defaultdict(list)
            for model, requests in waiting.items():
                for file in self._files(requests, min(self._most_bytes, self._shares[model].most)):
                    self._start(self._fill(model, file))

    async def _quiet(self) -> None:
        passes, seen = 0, -1
        while passes < PASSES:
            passes, seen = passes + 1 if seen == self._moves else 0, self._moves
            await asyncio.sleep(PASS_S)
            await self._ledger.drain()

    def _files(self, requests: Sequence[_Queued], most_bytes: int) -> Iterator[list[_Queued]]:
        file: list[_Queued] = []
        size = 0
        for queued in requests:
            if file and (len(file) == self._most_lines or size + len(queued.line) > most_bytes):
                yield file
                file, size = [], 0
            file.append(queued)
            size += len(queued.line)
        yield file

    async def _fill(self, model: str, file: list[_Queued]) -> None:
        """One batch, from the order to its last reply. Whatever goes wrong is for those who wait."""
        waiting = {queued.name: queued for queued in file}
        share, size = self._shares[model], sum(len(queued.line) for queued in file)

        async def deliver(reply: BatchReply) -> None:
            if reply.name in waiting:
                waiting[reply.name].end(Came(reply, ended))
                self._moves += 1
                if self._moves % AT_ONCE == 0:
                    await self._ledger.drain()

        await self._turn(share, size)
        try:
            if size > share.most and len(file) > 1:  # gathered before the provider refused as much
                raise _Crowded
            order = await self._placed(model, file)
            ended = await self._ended(order, share, size)
            await self._ordering.fetched(order, ended, deliver)
            for queued in file:
                queued.end(Came(None, ended))
            await note(self._ledger, replace(order, done=ended.done, failed=ended.failed, ended=True))
        except Exception as error:
            for queued in file:
                queued.end(error)
        finally:
            share.give_back(size)

    async def _turn(self, share: _Share, size: int) -> None:
        """Until the provider holds so much less that it takes so many bytes, as far as it has told."""
        while share.held and share.held + size > share.most and not self._ordering.is_halted:
            share.freed.clear()
            await share.freed.wait()
        share.held += size

    async def _placed(self, model: str, file: list[_Queued]) -> BatchOrder:
        content = b"".join(queued.line for queued in file)
        for queued in file:
            queued.line = b""
        return await self._ordering.place(model, {queued.name: queued.longest for queued in file}, content)

    async def _ended(self, order: BatchOrder, share: _Share | None = None, size: int = 0) -> BatchJob:
        """Raises AwaitsBatch, and where the provider refused the batch _Crowded or Unavailable with `outage`. `share`:
        of its model, with `size` bytes of it; None for an order that cannot be divided any more."""
        ended = await self._ordering.followed(order)
        if ended.stage == "refused":
            await close(self._ledger, order)
            if share and TOO_MUCH in ended.complaint and (order.total > 1 or share.held > size):
                share.refused(size)
                raise _Crowded
            raise paused(
                f"The model server {self.shown} refused batch {order.number} as a whole ({order.total} requests to "
                f"{order.model!r}): {ended.complaint or 'no reason given'}."
            )
        return ended

    # --- what an earlier session ordered ---------------------------------------------------------------------------

    def adopt(self, settle: Settle) -> list[tuple[InFlight, int]]:
        """Follow what earlier sessions ordered, and settle it as it comes. Gives the calls that are owed a reply."""
        longest: dict[str, tuple[BatchOrder, int]] = {}
        for order in open_orders(self._ledger):
            longest |= {name: (order, tokens) for name, tokens in asked_in(self._ledger, order.mark).items()}
        calls = calls_in_flight(self._ledger, longest.__contains__)
        by_order: defaultdict[BatchOrder, dict[str, tuple[InFlight, int]]] = defaultdict(dict)
        for name, call in calls.items():
            order, tokens = longest[name]
            by_order[order][name] = call, tokens
        for order, owed in by_order.items():
            over = asyncio.get_running_loop().create_future()
            self._earlier |= dict.fromkeys(owed, over)
            self._start(self._settle_earlier(order, owed, settle, over))
        return [pair for owed in by_order.values() for pair in owed.values()]

    async def earlier(self, key: CallKey) -> None:
        """Until an earlier session's order of this call is settled. Raises AwaitsBatch where the run pauses first,
        ModelError where it was refused."""
        over = self._earlier.get(name_of(key))
        if over is not None:
            await asyncio.shield(over)

    async def _settle_earlier(
        self, order: BatchOrder, owed: dict[str, tuple[InFlight, int]], settle: Settle, over: asyncio.Future[None]
    ) -> None:
        ready: list[Coroutine[Any, Any, None]] = []

        async def deliver(reply: BatchReply | None, name: str = "") -> None:
            call = owed.pop(reply.name if reply else name, None)
            if call:
                ready.append(settle(*call, Came(reply, ended)))  # type: ignore[arg-type]
            if len(ready) >= AT_ONCE:
                await flush()

        async def flush() -> None:
            settling = list(ready)
            ready.clear()
            await asyncio.gather(*settling)

        try:
            job = BatchJob(order.id, "under way", 0, 0, 0) if order.id else await self._ordering.searched(order)
            if job is None:
                ended = BatchJob("", "completed", 0, 0, order.total)  # it may have been taken all the same
            else:
                order = await note(self._ledger, replace(order, id=job.id))
                ended = await self._ended(order)
                await self._ordering.fetched(order, ended, deliver)
            for name in list(owed):
                await deliver(None, name)
            await flush()
            await note(self._ledger, replace(order, done=ended.done, failed=ended.failed, ended=True))
            over.set_result(None)
        except Exception as error:
            over.set_exception(error)
            over.exception()  # nobody may ever ask for any of it again

    # --- the end ---------------------------------------------------------------------------------------------------

    def halt(self) -> None:
        """Order nothing more and wait for no reply; what is ordered stays so."""
        self._ordering.halt()
        self._give_back(Halted())
        for share in self._shares.values():
            share.freed.set()

    def _give_back(self, why: Exception) -> None:
        for queued in chain.from_iterable(self._waiting.values()):
            queued.end(why)
        self._waiting.clear()

    async def aclose(self) -> None:
        """Before the ledger."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await close_settled(self._ledger)
        await self._provider.aclose()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class EarlierBatches:
    """What they hold of the budget, and how they are settled."""

    def __init__(self, ledger: Ledger, budget: Budget, terms: Callable[[CallKey, str], Terms], key: str):
        """`terms`: on which a model is used for a call. `key`: the server's, to be masked."""
        self._ledger = ledger
        self._budget = budget
        self._terms = terms
        self._key = key
        self._reservations: dict[int, Reservation] = {}

    def take(self, call: InFlight, longest: int) -> None:
        """`longest`: tokens of the longest reply."""
        terms, read_ = self._terms(call.key, call.model), call.tokens - longest
        reservation = Reservation(self._budget, read_, call.tokens, terms.cost(read_, longest), terms.claim, None)
        reservation.take()
        self._reservations[call.id] = reservation

    async def settle(self, call: InFlight, longest: int, came: Came) -> None:
        """A reply is filed as it would have been; whatever else came leaves the call to be asked again."""
        reservation, counts = self._reservations.pop(call.id), SendCounts()
        prompt = Prompt(call.system, tuple(json.loads(call.messages)), "", longest)
        completion = None
        try:
            response = read(came, prompt, call.model, counts, self._key)
            completion, usage = Completion(response.text, response.finish), usage_of(response, prompt, reservation)
            await self._ledger.settle(call.key, completion, usage)
        except (Refused, Trouble, ModelError) as error:
            usage = reservation.lost(counts.broken, counts.sends)
            await self._ledger.fail(call.key, str(error), usage)
        await reservation.settle(usage, self._terms(call.key, call.model), answered=completion is not None)
