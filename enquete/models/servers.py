"""What is known of a server in this process, over all runs and event loops: whether it is there (`ServerHealth`), what
it says of itself (`Facts`), how fast it proves to be (`Speed`) and may be asked (`RateLimiter`)."""

from __future__ import annotations

import asyncio
import math
import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from enquete.state.interview_context import Prompt
from enquete.state.request import ModelLimits

if TYPE_CHECKING:
    from enquete.ledger.shared_limits import SharedPace

# --- Is a server there at all? One `ServerHealth` for each base URL, told of every answer and every fault. A fault
# after an answer begins a silence, the next answer ends it. The server is away once a request that is out of attempts
# could not even connect, or a health probe went unanswered: from then on requests are held back, and one after the
# other asks whether it is back (transport.py).

LONGEST_BACKOFF = 10.0
"""Seconds between tries: a server that is back is found within these."""


def backoff(step: int, first_s: float) -> float:
    """Seconds before try number `step` + 2: doubled each time from `first_s`, bounded, plus up to half of jitter."""
    return min(LONGEST_BACKOFF, first_s * 2.0 ** min(step, 60)) * random.uniform(1.0, 1.5)


class ServerHealth:
    """Times are time.monotonic, in seconds. Safe to use from several event loops."""

    def __init__(self) -> None:
        self.silent_since: float | None = None  # the first fault since the latest answer
        self.away = False
        self.unreachable = False  # at the latest fault it could not even be connected to
        self.accepted = float("-inf")  # when the latest request was sent that got more than "later"
        self.returned = float("-inf")  # when it was last back
        self.next_probe = 0.0
        self.did = ""  # what the latest fault was
        self._probes = 0
        self._lock = threading.Lock()

    def answered(self, sent: float, *, accepted: bool = True) -> None:
        """A request sent at `sent` got any answer of a working server; "try later" is not `accepted`."""
        with self._lock:
            if accepted:
                self.accepted = max(self.accepted, sent)
            if self.silent_since is None or (self.unreachable and sent < self.silent_since):
                return  # behind a closed door work is still going on
            if self.away:
                self.returned = time.monotonic()
            self.silent_since, self.away, self.unreachable = None, False, False

    def failed(self, did: str, *, unreachable: bool = False, away: bool = False) -> None:
        """A request got no answer. `away`: by the server's own fault, as one out of attempts could not connect, or a
        health probe had no answer."""
        with self._lock:
            self.did, self.unreachable, self.away = did, unreachable, self.away or away
            if self.silent_since is None:
                self._begin()

    def waits_anew(self, began: float, patience_s: float) -> None:
        """Who began after it was given up starts the clock anew; that it is away is kept."""
        with self._lock:
            if self.silent_since is not None and began > self.silent_since + patience_s:
                self._begin()

    def takes_probe(self, backoff_s: float) -> bool:
        """Whether it is time for a probe, and whoever asks is to make it."""
        with self._lock:
            now = time.monotonic()
            if now < self.next_probe:
                return False
            self.next_probe = now + backoff(self._probes, backoff_s)
            self._probes += 1
            return True

    @property
    def is_due(self) -> bool:
        """It is there, or it is time to look whether it is."""
        return not self.away or self.next_probe <= time.monotonic()

    def _begin(self) -> None:
        self.silent_since = self.next_probe = time.monotonic()
        self._probes = 0


_HEALTH: dict[str, ServerHealth] = {}
_LIMITERS: dict[tuple[str, str], RateLimiter] = {}


def health_of(base_url: str) -> ServerHealth:
    """The one record of this server in this process."""
    return _HEALTH.setdefault(base_url, ServerHealth())


def rate_limiter_of(base_url: str, model: str) -> RateLimiter:
    """The one for this server and model in this process."""
    return _LIMITERS.setdefault((base_url, model), RateLimiter())


# --- How much may be in flight at once. `Limiter` counts over every event loop, because the façade, a notebook and a
# server may each drive a loop of their own while the user set one number (ENQUETE_CONCURRENCY).


class Limiter:
    """At most `size` holders at a time, first come first served; `async with limiter:` holds one slot."""

    def __init__(self, size: int):
        self._lock = threading.RLock()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, Future[None]]] = deque()
        self.held = 0
        self.resize(size)

    def resize(self, size: int) -> None:
        """Takes effect at once for those who wait; holders above a smaller size finish first. Raises ValueError."""
        if size < 1:
            raise ValueError(f"The number of requests in flight must be at least 1, got {size} (ENQUETE_CONCURRENCY).")
        with self._lock:
            self.size = size
            self._hand_out()

    async def __aenter__(self) -> Limiter:
        with self._lock:
            if self.held < self.size and not self._waiting:
                self.held += 1
                return self
            turn: Future[None] = Future()
            self._waiting.append((asyncio.get_running_loop(), turn))
        try:
            await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if not turn.cancelled():  # the slot was given in the meantime
                await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        with self._lock:
            self.held -= 1
            self._hand_out()

    def _hand_out(self) -> None:
        """Give free slots to those who wait, but for whom was cancelled, or whose loop was closed meanwhile."""
        while self._waiting and self.held < self.size:
            loop, turn = self._waiting.popleft()
            if not loop.is_closed() and turn.set_running_or_notify_cancel():
                self.held += 1
                turn.set_result(None)


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


class RateLimiter(Limiter):
    """All requests of one model to one server; as a limiter its window: additive increase, multiplicative decrease
    (Chiu & Jain 1989). Halved from what was really in flight, as RFC 5681 does, and once per round trip: a "later" to a
    request that was sent before the last cut says nothing new."""

    def __init__(self) -> None:
        super().__init__(UNLIMITED)
        self.speed = Speed()
        self.facts = Facts()
        self.in_flight = 0
        self._cap = UNLIMITED
        self._cut = float("-inf")
        self._answers = 0
        self._limits = ModelLimits()
        self._pace: Pace | SharedPace = Pace(None, None)
        self._paused_until = 0.0
        self._refused_since: float | None = None  # the first "later" since a request was accepted
        self._ratio = 1.0  # of actual to highest possible tokens: who waits for a turn cannot be corrected any more
        self._window: int | None = None  # tokens of a context, as refusals told
        self._answered = False  # whether anybody ever was
        self._unclear = 0  # refusals that nobody understood, since the latest answer

    def limit(self, limits: ModelLimits, shared: SharedPace | None = None) -> None:
        """Whoever says it last; the same again changes nothing. `shared`: the pace kept with other processes."""
        with self._lock:
            if shared is not None:
                self._pace = shared
            elif limits != self._limits or not isinstance(self._pace, Pace):
                self._pace = Pace(limits.requests_per_minute, limits.tokens_per_minute)
            self._limits = limits
            self.learn(self.facts)

    def learn(self, facts: Facts) -> None:
        """What the server says of itself: what it does not work on waits here, not there. A window that was cut stays
        so and grows up to its cap."""
        with self._lock:
            contexts = [context for context in (facts.context, self._window) if context]
            self.facts, full = replace(facts, context=min(contexts, default=None)), self.size == self._cap
            self._cap = min(self._limits.concurrency or UNLIMITED, facts.slots or UNLIMITED)
            self.resize(self._cap if full else min(self.size, self._cap))

    def learn_window(self, context: int) -> bool:
        """A refusal, or a prompt that was cut, tells how many tokens there may be; False where that was known."""
        with self._lock:
            known = self.facts.context
            if known is not None and known <= context:
                return False
            self._window = context
            self.learn(self.facts)
            return True

    @property
    def paused_s(self) -> float:
        """Seconds until the server wants to be asked again; 0 or less when it may be."""
        return self._paused_until - time.monotonic()

    async def turn(self, prompt: Prompt) -> float:
        """Wait for the model's pace; the tokens this request was counted as, to be `settled`; 0.0: none are counted."""
        tokens = self._ratio * most_tokens(prompt) if self._limits.tokens_per_minute else 0.0
        await self._pace.turn(tokens)
        return tokens

    def settled(self, prompt: Prompt, counted: float, used: int) -> None:
        """Tokens as the server reported them, for a request counted as `counted`."""
        if counted:
            self._pace.correct(counted - used)
            self._ratio += LEARNING * (used / most_tokens(prompt) - self._ratio)

    @contextmanager
    def flight(self) -> Iterator[float]:
        """A request under way; gives the moment it was sent (time.monotonic)."""
        with self._lock:
            self.in_flight += 1
        try:
            yield time.monotonic()
        finally:
            with self._lock:
                self.in_flight -= 1

    def accepted(self) -> None:
        """The server answered with more than "later"."""
        with self._lock:
            self._refused_since = None
            self._answers += 1
            if self.size < self._cap and self._answers >= min(self.size, STEP):
                self._answers = 0
                self.resize(self.size + 1)

    def timed(self, prompt: Prompt, sent: float, took: float, read: int | None, least_s: float) -> None:
        """A request sent at `sent` was answered after `took` seconds. Where that is half of the time it had, and nobody
        said how many the server works on at once, the next ones wait here."""
        self.speed.note(prompt, took, read if self.facts.context else None)
        if took > least_s / 2 and not (self._limits.concurrency or self.facts.slots):
            self.shrink(sent)

    def note_refusal(self) -> int:
        """A request was refused for no known reason: how many since the latest answer; 0 where there never was one."""
        with self._lock:
            self._unclear += 1
            return self._unclear if self._answered else 0

    def forget_refusals(self) -> None:
        """A request was answered."""
        with self._lock:
            self._answered, self._unclear = True, 0

    def refused(self, sent: float, retry_after: float | None) -> None:
        """The server said "later" to a request sent at `sent`: fewer at once, and nobody before it wants."""
        with self._lock:
            now = time.monotonic()
            self._refused_since = self._refused_since or now
            self._paused_until = max(self._paused_until, now + (retry_after or 0.0))
            self.shrink(sent)

    def shrink(self, sent: float) -> None:
        with self._lock:
            if sent > self._cut:
                self._cut, self._answers = time.monotonic(), 0
                self.resize(max(1, min(self.size, self.in_flight) // 2))

    def shut(self, began: float, patience_s: float) -> bool:
        """Whether a request that began at `began` has waited for so long while none was accepted or is under way."""
        since = self._refused_since
        return since is not None and not self.in_flight and time.monotonic() >= max(since, began) + patience_s


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
    kind: str = ""  # llama.cpp, lm-studio, ollama or vllm, where it shows


def facts_of(model: str, props: JsonValue, listed: JsonValue, studio: JsonValue, loaded: JsonValue) -> Facts:
    """From the bodies of /props, /v1/models, /api/v0/models and /api/ps; None for each that is not there."""
    llama = props if isinstance(props, dict) and "default_generation_settings" in props else {}
    settings = llama.get("default_generation_settings")
    context = _count(settings.get("n_ctx")) if isinstance(settings, dict) else None
    lists = [_list(studio, "data"), _list(loaded, "models"), _list(listed, "data")]
    contexts = (_count(entry.get(name)) for each in lists for entry in _entries(each, model) for name in _CONTEXTS)
    small = bool(llama) or lists[0] is not None or lists[1] is not None
    return Facts(
        context or next(filter(None, contexts), None), _count(llama.get("total_slots")), small, _kind(llama, lists)
    )


def _kind(llama: dict[str, JsonValue], lists: list[list[JsonValue] | None]) -> str:
    studio, loaded, listed = lists
    if llama:
        return "llama.cpp"
    if studio is not None:
        return "lm-studio"
    if loaded is not None:
        return "ollama"
    owners = {entry.get("owned_by") for entry in listed or [] if isinstance(entry, dict)}
    return "vllm" if "vllm" in owners else ""


def _list(body: JsonValue, name: str) -> list[JsonValue] | None:
    listed = body.get(name) if isinstance(body, dict) else None
    return listed if isinstance(listed, list) else None


def _entries(listed: list[JsonValue] | None, model: str) -> list[dict[str, JsonValue]]:
    """What a list of models says of this one; of the only one where it goes by another name."""
    entries = [entry for entry in listed or [] if isinstance(entry, dict)]
    named = [entry for entry in entries if model in (entry.get("id"), entry.get("name"), entry.get("model"))]
    return named or (entries if len(entries) == 1 else [])


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None


class Speed:
    """How long a server takes, by its latest answers: reading, and waiting there while it works on others."""

    def __init__(self) -> None:
        self._latest: deque[tuple[float, int]] = deque(maxlen=LATEST)  # seconds, characters of the question
        self.tokens_per_character = 0.0  # by the model's own count of some text

    def note(self, prompt: Prompt, seconds: float, read: int | None) -> None:
        """An answer that took so long; `read`: tokens of the question, None where that was not reported."""
        self._latest.append((seconds, characters(prompt)))
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

    def count(self, prompt: Prompt, tokens: int) -> None:
        """The model's own count of a question."""
        self.tokens_per_character = max(self.tokens_per_character, tokens / with_schema(prompt))

    def count_at_least(self, prompt: Prompt, tokens: int) -> None:
        """The model refused or cut a question: it has so many tokens or more."""
        self.tokens_per_character = max(self.tokens_per_character, TOKENS_PER_CHARACTER, tokens / with_schema(prompt))

    def tokens(self, prompt: Prompt) -> int:
        """Of a question, as it goes by this model's own count, or at least."""
        return round(with_schema(prompt) * (self.tokens_per_character or TOKENS_PER_CHARACTER))


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
