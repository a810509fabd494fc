"""What came back, reduced to what is stored: text, why it ended, reported usage, who answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self, TypeGuard

from pydantic import JsonValue

from enquete.models.cleaning import clean_text, clean_value
from enquete.models.faults import Tally, Trouble, mask
from enquete.state.interview_context import Prompt

LONGEST_PLACEHOLDER = 5
"""Letters. So short a word is what servers that want no key are given ("none", "EMPTY"), and may well be one of an answer."""

LONGEST_NAME = 300
LONGEST_TOKEN = 40  # characters
HIDDEN_TOKENS = 50_000
"""What a server may read beside our text (templates, the schema, instructions of its own) and be believed."""
TOKENS_PER_CHARACTER = 4
"""At most: a character has four bytes, and tokenizers that know none of it take one token a byte."""
MOST_WRITTEN = 1_000_000
"""Tokens of one reply, thinking included: several times what any model writes at once."""

_FINISH = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "refusal",
}


@dataclass(frozen=True)
class Response:
    """An answered request. Token counts are None when the server did not report them, or reported what cannot be
    (`unbelieved`), never 0.

    `finish`: stop, length, content_filter or refusal. `raw`: JSON of what was reported beside the text, for the audit: refusal,
    finish_reason and usage. `sends`, `timeouts`, `broken`: see Tally; they include this answer's own request.
    """

    text: str
    finish: str
    input_tokens: int | None
    output_tokens: int | None
    model: str
    fingerprint: str
    latency_ms: int
    raw: str
    sends: int = 1
    timeouts: int = 0
    broken: int = 0
    unbelieved: bool = False
    cached_tokens: int = 0


@dataclass(frozen=True)
class Completed:
    """A chat completion as a server sent it, of whatever types: its first choice, that one's message, and the whole."""

    whole: dict[str, JsonValue]
    choice: dict[str, JsonValue]
    message: dict[str, JsonValue]

    @classmethod
    def of(cls, told: JsonValue) -> Self:
        """Raises ValueError with what it is instead."""
        choices = told.get("choices") if isinstance(told, dict) and not told.get("error") else None
        if choices == []:
            raise ValueError("chat completion without choices")
        first = choices[0] if isinstance(choices, list) else None
        message = first.get("message") if isinstance(first, dict) else None
        readable = isinstance(message, dict) and isinstance(message.get("content"), str | list | None)
        if readable and isinstance(told, dict) and isinstance(first, dict) and isinstance(message, dict):
            return cls(told, first, message)
        raise ValueError("body that is no chat completion")

    @property
    def text(self) -> str:
        """Some servers send a list of parts; those that are no text (thinking) are none of the answer."""
        content = self.message.get("content")
        if not isinstance(content, list):
            return str(content or "")
        parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
        texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(text for text in texts if isinstance(text, str))


def completed(told: JsonValue, tally: Tally) -> Completed:
    """Raises Trouble where it is none; it may have been billed."""
    try:
        return Completed.of(told)
    except ValueError as error:
        tally.broken += 1
        raise Trouble(f"sent a {error}", answered=True) from None


def response_from(completed: Completed, prompt: Prompt, model: str, latency_ms: int, key: str) -> Response:
    """The key is masked, should a server have echoed it."""
    secret = "" if key.isalpha() and len(key) <= LONGEST_PLACEHOLDER else key
    text = mask(clean_text(completed.text), secret)
    refusal = mask(clean_text(str(completed.message.get("refusal") or "")), secret)
    reason = str(completed.choice.get("finish_reason") or "")
    usage = clean_value(completed.whole.get("usage"))
    counted = _tokens(usage, prompt, len(text or refusal))
    input_tokens, output_tokens = counted or (None, None)
    raw = {"refusal": refusal or None, "finish_reason": reason or None, "usage": usage or None}
    return Response(
        text=text or refusal,
        finish="refusal" if refusal else _FINISH.get(reason.lower(), "stop"),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        model=mask(clean_text(str(completed.whole.get("model") or model)), secret)[:LONGEST_NAME],
        fingerprint=mask(clean_text(str(completed.whole.get("system_fingerprint") or "")), secret)[:LONGEST_NAME],
        latency_ms=latency_ms,
        raw=mask(json.dumps(raw, ensure_ascii=False), secret),
        unbelieved=counted is None,
        cached_tokens=_cached(usage, input_tokens or 0),
    )


def filtered(message: str, model: str, tally: Tally) -> Response:
    """A prompt that the server's content filter refused with an error: an answer about one agent, not a fault."""
    raw = json.dumps({"refusal": message, "finish_reason": "content_filter", "usage": None})
    counts = (tally.sends, tally.timeouts, tally.broken)
    return Response("", "content_filter", None, None, model, "", 0, raw, *counts)


def _tokens(usage: JsonValue, prompt: Prompt, written: int) -> tuple[int | None, int | None] | None:
    """Reported counts, for a reply of `written` characters; None where they cannot be. A server that reports 0 for a prompt or
    a text that is there did not count."""
    if not usage:
        return None, None
    if not isinstance(usage, dict):
        return None
    given, made = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    asked = len(prompt.system) + sum(len(message["content"]) for message in prompt.messages)
    if not (
        _can_be(given, asked, TOKENS_PER_CHARACTER * asked + HIDDEN_TOKENS) and _can_be(made, written, MOST_WRITTEN)
    ):
        return None
    input_tokens = given or None
    return input_tokens, made if input_tokens and made >= bool(written) else None


def _cached(usage: JsonValue, read: int) -> int:
    """Of the prompt's tokens, those that the server says it took from its cache; 0 where it says nothing that can be."""
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    told = details.get("cached_tokens") if isinstance(details, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= read else 0


def _can_be(count: JsonValue, characters: int, most: int) -> TypeGuard[int]:
    """A 1 for a whole text is `true`, which the SDK takes for a number."""
    return isinstance(count, int) and 0 <= count <= most and (count != 1 or characters <= LONGEST_TOKEN)
