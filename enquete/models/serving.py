"""What a server says of itself, and how fast it proves to be: its context, its slots, how long to wait for it.

A small server on somebody's own machine reads a question for half a minute before it says anything, serves one or two at a
time, and holds few tokens. It is asked (llama.cpp: /props, LM Studio: /api/v0/models, Ollama: /api/ps, all: /v1/models), and its
own answers tell the rest.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import JsonValue

from enquete.state.interview_context import Prompt

SLOWEST_READING = 10.0
"""Tokens a second that a small server reads while nothing is known of it: one thread of a busy laptop."""
SLOWEST_WRITING = 2.0
LONGEST_WAIT_S = 3600.0
PATIENT = 3.0
"""Times the longest of the latest answers: questions differ, and of a first two one may have waited for the other there."""
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
    own = _count(settings.get("n_ctx")) if isinstance(settings, dict) else None
    entries = [*_entries(studio, "data", model), *_entries(loaded, "models", model), *_entries(listed, "data", model)]
    contexts = (_count(entry.get(name)) for entry in entries for name in _CONTEXTS)
    small = bool(llama) or _has_list(studio, "data") or _has_list(loaded, "models")
    return Facts(own or next(filter(None, contexts), None), _count(llama.get("total_slots")), small)


def _has_list(body: JsonValue, name: str) -> bool:
    return isinstance(body, dict) and isinstance(body.get(name), list)


def _entries(body: JsonValue, name: str, model: str) -> Iterator[dict[str, JsonValue]]:
    """What a list of models says of this one; of the only one where it goes by another name."""
    found = body.get(name) if isinstance(body, dict) else None
    entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    named = [entry for entry in entries if model in (entry.get("id"), entry.get("name"), entry.get("model"))]
    yield from named or (entries if len(entries) == 1 else [])


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None


class Speed:
    """How long a server takes, by its latest answers, reading included, and waiting there if it works on others first."""

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
    """The prompt with `by` characters less, or as many as can go: from the end of each passage that may give way, in its order.

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
    """The short form of a prompt that leaves no room for a reply; as it is where it fits, or where nothing can be shortened."""
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
    """The prompt within a context: as it is; with less room for the reply, down to half; None where that does not fit either.
    `tokens`: of the question."""
    if context is None or tokens + prompt.max_output_tokens <= context:
        return prompt
    room = context - tokens
    if room < shortest_reply(prompt):
        return None
    return replace(prompt, max_output_tokens=room)
