"""What is known of a server in this process, over all runs and event loops: whether it is there (`ServerHealth`), what
it says of itself (`Facts`), how fast it proves to be (`Speed`) and may be asked (`RateLimiter`)."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue

from enquete.state.interview_context import Prompt
from enquete.state.request import ModelLimits

if TYPE_CHECKING:
    from enquete.models.chat_completions import ModelResponse
    from enquete.models.transport import Transport


# --- Is a server there at all? One `ServerHealth` for each base URL, told of every answer and every fault. A fault
# after an answer begins a silence, the next answer ends it. The server is away once a request that is out of attempts
# could not even connect, or a health probe went unanswered: from then on requests are held back, and one after the
# other asks whether it is back (transport.py).

LONGEST_BACKOFF = 10.0
"""Seconds between tries: a server that is back is found within these."""
TRIES_WITHIN_PATIENCE = 16


def backoff(step: int, first_s: float, longest_s: float = LONGEST_BACKOFF) -> float:
    """Seconds before try number `step` + 2: doubled each time from `first_s`, bounded, plus up to half of jitter."""
    return min(longest_s, first_s * 2.0 ** min(step, 60)) * random.uniform(1.0, 1.5)


def longest_backoff(first_s: float, patience_s: float) -> float:
    """At most ten seconds, and so short that a server is given up on many tries, not on two or three."""
    return max(first_s, min(LONGEST_BACKOFF, patience_s / TRIES_WITHIN_PATIENCE))


class ServerHealth:
    """Times are time.monotonic, in seconds. Safe to use from several event loops."""

    def __init__(self) -> None:
        self.silent_since: float | None = None  # the first fault since the latest answer
        self.away = False
        self.unreachable = False  # it is away, and could not even be connected to
        self.accepted = float("-inf")  # when the latest request was sent that got more than "later"
        self.returned = float("-inf")  # when it was last back
        self.next_probe = 0.0
        self._probes = 0
        self.did = ""  # what the latest fault was
        self._lock = threading.Lock()

    def answered(self, sent: float, *, accepted: bool = True) -> None:
        """A request sent at `sent` got any answer of a working server; "try later" is not `accepted`."""
        if accepted and sent > self.accepted:
            self.accepted = sent
        if self.silent_since is None:
            return
        with self._lock:
            if self.silent_since is None or (self.unreachable and sent < self.silent_since):
                return  # behind a closed door work is still going on
            if self.away:
                self.returned = time.monotonic()
            self.silent_since, self.away, self.unreachable = None, False, False

    def failed(self, did: str) -> None:
        """A request got no answer."""
        with self._lock:
            self.did = did
            if self.silent_since is None:
                self._begin()

    def left(self, *, unreachable: bool) -> None:
        """The server's own fault: a request out of attempts could not connect, or a health probe had no answer."""
        with self._lock:
            if self.silent_since is None:
                self._begin()
            self.away = True
            self.unreachable = unreachable

    def waits_anew(self, began: float, patience_s: float) -> None:
        """Who began after it was given up starts the clock anew; that it is away is kept."""
        with self._lock:
            if self.silent_since is not None and began > self.silent_since + patience_s:
                self._begin()

    def takes_probe(self, backoff_s: float, longest_s: float) -> bool:
        """Whether it is time for a probe, and whoever asks is to make it."""
        with self._lock:
            now = time.monotonic()
            if now < self.next_probe:
                return False
            self.next_probe = now + backoff(self._probes, backoff_s, longest_s)
            self._probes += 1
            return True

    @property
    def is_probed(self) -> bool:
        """Whether anybody has asked since the clock started; before that nobody is given up."""
        return self._probes > 0

    @property
    def is_due(self) -> bool:
        """It is there, or it is time to look whether it is."""
        return not self.away or self.next_probe <= time.monotonic()

    def absence(self) -> tuple[float, str] | None:
        """Seconds since the last answer before it went away, and what its latest fault was; None while it is there."""
        since = self.silent_since
        return (time.monotonic() - since, self.did) if since is not None and self.away else None

    def _begin(self) -> None:
        self.silent_since = self.next_probe = time.monotonic()
        self._probes = 0


_HEALTH: dict[str, ServerHealth] = {}
_LIMITERS: dict[tuple[str, str], RateLimiter] = {}
_KNOWN_LOCK = threading.Lock()


def health_of(base_url: str) -> ServerHealth:
    """The one record of this server in this process."""
    with _KNOWN_LOCK:
        return _HEALTH.setdefault(base_url, ServerHealth())


def rate_limiter_of(base_url: str, model: str) -> RateLimiter:
    """The one for this server and model in this process."""
    with _KNOWN_LOCK:
        return _LIMITERS.setdefault((base_url, model), RateLimiter())


# --- How much may be in flight at once. `Limiter` counts over every event loop, because the façade, a notebook and a
# server may each drive a loop of their own while the user set one number (ENQUETE_CONCURRENCY).


class Limiter:
    """At most `size` holders at a time, first come first served; `async with limiter:` holds one slot."""

    def __init__(self, size: int):
        self._lock = threading.Lock()
        self._size = _at_least_one(size)
        self._held = 0
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    @property
    def size(self) -> int:
        return self._size

    @property
    def held(self) -> int:
        """Slots in use now."""
        return self._held

    def resize(self, size: int) -> None:
        """Takes effect at once for those who wait; holders above a smaller size finish first. Raises ValueError."""
        with self._lock:
            self._size = _at_least_one(size)
            self._hand_out()

    async def __aenter__(self) -> Limiter:
        with self._lock:
            if self._held < self._size and not self._waiting:
                self._held += 1
                return self
            loop = asyncio.get_running_loop()
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, turn))
        try:
            await turn
        except asyncio.CancelledError:
            self._abandon(loop, turn)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        with self._lock:
            self._held -= 1
            self._hand_out()

    def _hand_out(self) -> None:
        """Give free slots to those who wait. The caller holds the lock."""
        here = asyncio._get_running_loop()
        while self._waiting and self._held < self._size:
            loop, turn = self._waiting.popleft()
            try:
                # To wake the loop that one is in, by a byte through a socket, would take a call's time to no end.
                (loop.call_soon if loop is here else loop.call_soon_threadsafe)(self._hand_over, turn)
            except RuntimeError:  # that loop was closed while it waited: its turn goes to the next
                continue
            self._held += 1

    def _hand_over(self, turn: asyncio.Future[None]) -> None:
        if turn.done():  # cancelled between being chosen and being told
            self._release()
        else:
            turn.set_result(None)

    def _abandon(self, loop: asyncio.AbstractEventLoop, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():  # the slot was already given
            self._release()
            return
        with self._lock:
            if (loop, turn) in self._waiting:
                self._waiting.remove((loop, turn))


def _at_least_one(size: int) -> int:
    if size < 1:
        raise ValueError(f"The number of requests in flight must be at least 1, got {size} (ENQUETE_CONCURRENCY).")
    return size


# --- How fast one model of one server may be asked: one `RateLimiter` for each
#     pause      the server said when to come back (Retry-After)
#     window     requests in flight: at most the model's own cap and the server's slots, halved when the server says
#                "later" or takes long, growing again
#     pace       requests and tokens a minute, kept by spacing
#
# No library fits: aiolimiter belongs to one event loop and cannot be corrected by actual usage.

UNLIMITED = 4096
"""Requests in flight of a model without a cap of its own: what settings allow at most for the whole process."""
STEP = 8
"""Answers for one more request in flight; in a window smaller than this, as many as the window is wide."""
LEARNING = 0.1
"""Weight of the latest request in the learnt ratio of actual to highest possible tokens."""


class Window(Limiter):
    """Requests allowed in flight: additive increase, multiplicative decrease (Chiu & Jain 1989).

    Halved from what was really in flight, as RFC 5681 does, and once per round trip: a "later" to a request that was
    sent before the last cut says nothing new.
    """

    def __init__(self) -> None:
        super().__init__(UNLIMITED)
        self._changing = threading.Lock()
        self._cap = UNLIMITED
        self._cut = float("-inf")
        self._answers = 0

    def cap(self, cap: int) -> None:
        """The model's own limit. A window that was cut stays so and grows up to it."""
        with self._changing:
            if cap != self._cap:
                full = self.size == self._cap
                self._cap = cap
                self.resize(cap if full else min(self.size, cap))

    def grow(self) -> None:
        """One answer."""
        if self.size >= self._cap:
            return
        with self._changing:
            self._answers += 1
            if self._answers >= min(self.size, STEP) and self.size < self._cap:
                self._answers = 0
                self.resize(self.size + 1)

    def shrink(self, sent: float, in_flight: int) -> None:
        """One "later" to a request sent at `sent` (time.monotonic), with so many in flight, itself included."""
        with self._changing:
            if sent > self._cut:
                self._cut = time.monotonic()
                self._answers = 0
                self.resize(max(1, min(self.size, in_flight) // 2))


class Pace:
    """Requests and tokens a minute, by spacing: no burst, as servers count in shorter times than a minute.

    Within any minute at most `requests` are sent, and at most `tokens` and the tokens of one request.
    """

    def __init__(self, requests: int | None, tokens: int | None):
        self._lock = threading.Lock()
        self._request_s = 60 / requests if requests else 0.0
        self._token_s = 60 / tokens if tokens else 0.0
        self._requests_free = self._tokens_free = 0.0  # from when on the next may go (time.monotonic)

    async def turn(self, tokens: float) -> None:
        """Wait for one's turn, first come first served. Who is cancelled gives it back."""
        wait = self._take(tokens)
        if wait <= 0:
            return
        try:
            await asyncio.sleep(wait)
        except asyncio.CancelledError:
            self.correct(tokens, requests=1)
            raise

    def correct(self, tokens: float, requests: int = 0) -> None:
        """So many were taken but not used; negative: used but not taken."""
        with self._lock:
            self._tokens_free -= tokens * self._token_s
            self._requests_free -= requests * self._request_s

    def _take(self, tokens: float) -> float:
        with self._lock:
            now = time.monotonic()
            start = max(now, self._requests_free, self._tokens_free)
            self._requests_free = start + self._request_s
            self._tokens_free = start + tokens * self._token_s
            return start - now


class Paced(Protocol):
    """Requests and tokens a minute: `Pace`, or one that is kept with other processes."""

    async def turn(self, tokens: float) -> None: ...

    def correct(self, tokens: float, requests: int = 0) -> None: ...


class RateLimiter:
    """All requests of one model to one server."""

    def __init__(self) -> None:
        self.window = Window()
        self.speed = Speed()
        self.facts = Facts()
        self._lock = threading.Lock()
        self._limits = ModelLimits()
        self._pace: Paced | None = None
        self._is_shared = False
        self._paused_until = 0.0
        self._in_flight = 0
        self._refused_since: float | None = None  # the first "later" since a request was accepted
        self._ratio = 1.0  # of actual to highest possible tokens: who waits for a turn cannot be corrected any more

    def limit(self, limits: ModelLimits, shared: Paced | None = None) -> None:
        """Whoever says it last; the same again changes nothing. `shared`: the pace kept with other processes."""
        with self._lock:
            if limits != self._limits or self._is_shared or shared is not None:
                paced = limits.requests_per_minute or limits.tokens_per_minute
                pace = Pace(limits.requests_per_minute, limits.tokens_per_minute) if paced else None
                self._pace, self._is_shared = shared or pace, shared is not None
                self._limits = limits
        self._cap()

    def learn(self, facts: Facts) -> None:
        """What the server says of itself: what it does not work on waits here, not there."""
        if facts != self.facts:
            self.facts = facts
            self._cap()

    def _cap(self) -> None:
        self.window.cap(min(self._limits.concurrency or UNLIMITED, self.facts.slots or UNLIMITED))

    @property
    def paused_s(self) -> float:
        """Seconds until the server wants to be asked again; 0 or less when it may be."""
        return self._paused_until - time.monotonic()

    async def pause_over(self) -> None:
        while (left := self.paused_s) > 0:  # noqa: ASYNC110 - may be extended meanwhile
            await asyncio.sleep(left)

    def patience(self, prompt: Prompt, least_s: float) -> float:
        """Seconds to wait for the answer to a request under way, by what is known now."""
        return self.speed.patience(prompt, least_s, small=self.facts.small)

    def timed(self, prompt: Prompt, sent: float, took: float, read: int | None, least_s: float) -> None:
        """A request sent at `sent` was answered after `took` seconds. Where that is half of the time it had, and nobody
        said how many the server works on at once, the next ones wait here."""
        self.speed.note(prompt, took, read if self.facts.context else None)
        if took > least_s / 2 and not (self._limits.concurrency or self.facts.slots):
            self.window.shrink(sent, self._in_flight)

    async def turn(self, prompt: Prompt) -> float:
        """Wait for the model's pace; the tokens this request was counted as, to be `settled`; 0.0: none are counted."""
        if (pace := self._pace) is None:
            return 0.0
        tokens = self._ratio * most_tokens(prompt) if self._limits.tokens_per_minute else 0.0
        await pace.turn(tokens)
        return tokens

    def settled(self, prompt: Prompt, counted: float, used: int) -> None:
        """Tokens as the server reported them, for a request counted as `counted`."""
        if counted and (pace := self._pace):
            pace.correct(counted - used)
            self._ratio += LEARNING * (used / most_tokens(prompt) - self._ratio)

    @contextmanager
    def flight(self) -> Iterator[float]:
        """A request under way; gives the moment it was sent (time.monotonic)."""
        with self._lock:
            self._in_flight += 1
        try:
            yield time.monotonic()
        finally:
            with self._lock:
                self._in_flight -= 1

    def accepted(self) -> None:
        """The server answered with more than "later"."""
        self._refused_since = None
        self.window.grow()

    def refused(self, sent: float, retry_after: float | None) -> None:
        """The server said "later" to a request sent at `sent`: fewer at once, and nobody before it wants."""
        with self._lock:
            now = time.monotonic()
            self._refused_since = self._refused_since or now
            self._paused_until = max(self._paused_until, now + (retry_after or 0.0))
        self.window.shrink(sent, self._in_flight)

    def shut(self, began: float, patience_s: float) -> bool:
        """Whether a request that began at `began` has waited for so long while none was accepted or is under way."""
        since = self._refused_since
        return since is not None and not self._in_flight and time.monotonic() >= max(since, began) + patience_s


def most_tokens(prompt: Prompt) -> float:
    """Tokens of prompt and schema by their bytes (four each), and the longest reply."""
    return (with_schema(prompt) - 1) / 4 + prompt.max_output_tokens


# --- What a server says of itself, and how fast it proves to be. A small server on somebody's own machine reads a
# question for half a minute before it says anything, serves one or two at a time, and holds few tokens. It is asked
# (llama.cpp: /props, LM Studio: /api/v0/models, Ollama: /api/ps, all: /v1/models), and its own answers tell the rest.

SLOWEST_READING = 10.0
"""Tokens a second that a small server reads while nothing is known of it: one thread of a busy laptop."""
SLOWEST_WRITING = 2.0
LONGEST_WAIT_S = 3600.0
PATIENT = 3.0
"""Times the longest of the latest answers: questions differ, and of a first two one may have waited for the other."""
LATEST = 8
TOKENS_PER_CHARACTER = 0.25
"""While none was measured; few texts have fewer, so that nothing is held to be too long that is not."""
SHORTEST_ROOM = 64
KEPT_OF_PASSAGE = 200
"""Characters that stay of a persona or a memory, however small the context."""
CUT = " […]"
_CONTEXTS = ("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length")


@dataclass(frozen=True)
class Facts:
    """What a server says of a model. None: it does not say. `small`: one that runs on somebody's own machine."""

    context: int | None = None  # tokens of question and reply of one request
    slots: int | None = None  # requests that it works on at once
    small: bool = False


def facts_of(model: str, props: JsonValue, listed: JsonValue, studio: JsonValue, loaded: JsonValue) -> Facts:
    """From the bodies of /props, /v1/models, /api/v0/models and /api/ps; None for each that is not there."""
    llama = props if isinstance(props, dict) and "default_generation_settings" in props else {}
    settings = llama.get("default_generation_settings")
    context = _count(settings.get("n_ctx")) if isinstance(settings, dict) else None
    entries = [*_entries(studio, "data", model), *_entries(loaded, "models", model), *_entries(listed, "data", model)]
    contexts = (_count(entry.get(name)) for entry in entries for name in _CONTEXTS)
    small = bool(llama) or _has_list(studio, "data") or _has_list(loaded, "models")
    return Facts(context or next(filter(None, contexts), None), _count(llama.get("total_slots")), small)


def _has_list(body: JsonValue, name: str) -> bool:
    return isinstance(body, dict) and isinstance(body.get(name), list)


def _entries(body: JsonValue, name: str, model: str) -> Iterator[dict[str, JsonValue]]:
    """What a list of models says of this one; of the only one where it goes by another name."""
    listed = body.get(name) if isinstance(body, dict) else None
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    named = [entry for entry in entries if model in (entry.get("id"), entry.get("name"), entry.get("model"))]
    yield from named or (entries if len(entries) == 1 else [])


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None


class Speed:
    """How long a server takes, by its latest answers: reading, and waiting there while it works on others."""

    def __init__(self) -> None:
        self._latest: deque[tuple[float, int]] = deque(maxlen=LATEST)  # seconds, characters of the question
        self._tokens_per_character = 0.0

    def note(self, prompt: Prompt, seconds: float, read: int | None) -> None:
        """An answer that took so long; `read`: tokens of the question, None where that was not reported."""
        asked = characters(prompt)
        self._latest.append((seconds, asked))
        if read:
            self.count(prompt, read)

    def patience(self, prompt: Prompt, least_s: float, *, small: bool) -> float:
        """Seconds to wait for an answer: the least that was asked for, or as long as this server takes."""
        asked = characters(prompt)
        known = max((seconds * max(1.0, asked / size) for seconds, size in self._latest), default=0.0)
        waits = [least_s, PATIENT * known]
        if small:
            waits.append(self.tokens(prompt) / SLOWEST_READING + prompt.max_output_tokens / SLOWEST_WRITING)
        return min(max(waits), max(least_s, LONGEST_WAIT_S))

    @property
    def is_counted(self) -> bool:
        """Whether the model's own count of some text is known."""
        return self._tokens_per_character > 0

    def count(self, prompt: Prompt, tokens: int) -> None:
        """The model's own count of a question."""
        self._tokens_per_character = max(self._tokens_per_character, tokens / with_schema(prompt))

    def tokens(self, prompt: Prompt) -> int:
        """Of a question, as it goes by this model's own count, or at least."""
        return round(with_schema(prompt) * (self._tokens_per_character or TOKENS_PER_CHARACTER))


def shortened(prompt: Prompt, by: int) -> Prompt:
    """The prompt with `by` characters less, or as many as can go: from the end of each passage that may give way, in
    its order.

    Each keeps a beginning, so that nobody loses persona or memories altogether, and says where it was cut.
    """
    system = prompt.system
    for passage in prompt.shortens:
        if by > 0 and passage in system and len(passage) > KEPT_OF_PASSAGE + by // 50:
            kept = passage[: max(KEPT_OF_PASSAGE, len(passage) - by - len(CUT))].rsplit(maxsplit=1)[0]
            by -= len(passage) - len(kept) - len(CUT)
            system = system.replace(passage, kept + CUT, 1)
    return replace(prompt, system=system) if system != prompt.system else prompt


def within(prompt: Prompt, context: int, speed: Speed) -> Prompt:
    """The short form of a prompt that leaves no room for a reply; as it is if it fits or cannot be shortened."""
    tokens = speed.tokens(prompt)
    if fitted(prompt, context, tokens) is not None:
        return prompt
    excess = tokens + shortest_reply(prompt) - context + context // 50
    return shortened(prompt, math.ceil(excess * with_schema(prompt) / tokens))


def shortest_reply(prompt: Prompt) -> int:
    return max(SHORTEST_ROOM, -(-prompt.max_output_tokens // 2))


def characters(prompt: Prompt) -> int:
    return 1 + len(prompt.system) + sum(len(message["content"]) for message in prompt.messages)


def with_schema(prompt: Prompt) -> int:
    return characters(prompt) + len(prompt.schema)


def fitted(prompt: Prompt, context: int | None, tokens: int) -> Prompt | None:
    """The prompt within a context: as it is; with less room for the reply, down to half; None where neither fits.
    `tokens`: of the question."""
    if context is None or tokens + prompt.max_output_tokens <= context:
        return prompt
    room = context - tokens
    if room < shortest_reply(prompt):
        return None
    return replace(prompt, max_output_tokens=room)


# --- Several servers of one model. An agent stays with one, whose prefix cache then holds persona and memory.
#
# Which one says weighted rendezvous hashing (Thaler & Ravishankar 1998; the score is Schindelhauer & Schomaker's,
# 2005), so every process says the same, shares are as the weights, and a server that is away moves its own agents and
# nobody else: each to the next in its own order, and back once it has answered a probe (transport.py).

log = logging.getLogger("enquete")


def score(url: str, weight: float, agent: str) -> float:
    """The agent's server is the one with the highest."""
    drawn = int.from_bytes(blake2b(f"{url}\0{agent}".encode(), digest_size=8).digest(), "big")
    return -weight / math.log((drawn + 0.5) / 2**64)


class Fleet:
    """See `metered.Sender`. Limits and pauses are each server's own; requests in flight count for the process."""

    def __init__(self, servers: Sequence[tuple[Transport, float]]):
        """`servers`: each with its weight, above 0."""
        self._servers = tuple(servers)
        self._away: set[Transport] = set()

    def order(self, agent: str) -> list[Transport]:
        """All, the agent's own first."""
        pairs = sorted(self._servers, key=lambda pair: -score(pair[0].base_url, pair[1], agent))
        return [server for server, _ in pairs]

    async def send(
        self,
        prompt: Prompt,
        *,
        model: str,
        temperature: float,
        seed: int,
        room: Callable[[], bool] | None = None,
        agent: str = "",
    ) -> ModelResponse:
        """As `Transport.send`; an outage is one of all servers."""
        first, *others = self.order(agent)
        asked = first.send(prompt, model=model, temperature=temperature, seed=seed, room=room, alternates=others)
        try:
            return await asked
        finally:
            self._tell()

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        order = self.order(agent)
        return await next((server for server in order if not server.health.away), order[0]).fit(prompt, model)

    @property
    def waits_for(self) -> str:
        """Which server it is that left last, once all have."""
        servers = [server for server, _ in self._servers]
        servers.sort(key=lambda server: server.health.silent_since or math.inf)
        waits = [server.waits_for for server in servers]
        return waits[-1] if all(waits) else ""

    def halt(self) -> None:
        for server, _ in self._servers:
            server.halt()

    async def aclose(self) -> None:
        for server, _ in self._servers:
            await server.aclose()

    def _tell(self) -> None:
        """Each departure and return once."""
        away = {server for server, _ in self._servers if server.health.away}
        for server in away - self._away:
            did = server.health.did or "did not answer"
            log.warning(
                "The model server %s %s. Its agents are asked at the others until it is back.", server.shown, did
            )
        for server in self._away - away:
            log.warning("The model server %s is back.", server.shown)
        self._away = away
