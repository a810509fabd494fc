"""A chat completion as it is asked for and as it came.

How one server wants to be asked for JSON is found out once per (base URL, model) and remembered (`FormatFallback`):

    json_schema (strict)  →  json_object  →  prompt only

Some servers accept a response_format and ignore it, so the form of a reply stands in the messages with every format: in
few words where the prompt says it itself, else as the text of the schema. Where nothing but the prompt can tell what is
allowed, below json_schema, that text stands there in any case. It comes last: what is before it keeps a server's prefix
cache. Parameters that a server rejects (temperature and seed on reasoning models, one of the two names of the output
limit) are dropped and remembered. Steps are relative to the form a request had, so that 256 requests refused at once
step down once.

What came back is reduced to what is stored (`ModelResponse`): text, why it ended, reported usage, who answered.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple, TypeGuard
from urllib.parse import urlsplit

from pydantic import JsonValue

from enquete.models.faults import SendCounts, Trouble, mask
from enquete.models.parsing import clean_text, clean_value, read_finish_reason
from enquete.state.interview_context import Prompt

SCHEMA_LINE: Final = "JSON schema:"
"""A line of its own in the prompt; the next line is the schema in compact JSON."""

LIMITS: Final = frozenset({"max_tokens", "max_completion_tokens"})
DROPPABLE: Final = LIMITS | {"temperature", "seed"}


class ResponseFormat(IntEnum):
    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    PROMPT = 2

    @property
    def below(self) -> ResponseFormat | None:
        return ResponseFormat(self + 1) if self < ResponseFormat.PROMPT else None


@dataclass(frozen=True, slots=True)
class RequestForm:
    """How one request is put. A server's complaint is about this form, whatever was learnt since."""

    reply_format: ResponseFormat
    dropped: frozenset[str]

    def body(self, prompt: Prompt, *, model: str, temperature: float, seed: int) -> dict[str, JsonValue]:
        """Of a chat completion, every field."""
        fields: dict[str, JsonValue] = {
            "max_completion_tokens": prompt.max_output_tokens,
            "max_tokens": prompt.max_output_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        return {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in messages(prompt, self.reply_format)],
            **{name: value for name, value in fields.items() if name not in self.dropped},
            **(format_field(self.reply_format, prompt.schema) if prompt.schema else {}),
        }


class FormatFallback:
    """What is known about one server and model. Shared by all requests to it, whichever thread they run in."""

    def __init__(self, dropped: frozenset[str] = frozenset()):
        self._lock = threading.Lock()
        self._format = ResponseFormat.JSON_SCHEMA
        self._dropped = dropped
        self._worked: set[ResponseFormat] = set()

    def form(self, lowest: ResponseFormat = ResponseFormat.JSON_SCHEMA) -> RequestForm:
        """The form for the next request; `lowest` is a format that the sender already had to step down to."""
        with self._lock:
            return RequestForm(max(self._format, lowest), self._dropped)

    def has_worked(self, reply_format: ResponseFormat) -> bool:
        return reply_format in self._worked

    def worked(self, form: RequestForm) -> None:
        """An answer came. A format that was only tried is kept, unless a better one has worked in the meantime."""
        if form.reply_format in self._worked:
            return
        with self._lock:
            self._worked.add(form.reply_format)
            if not any(better in self._worked for better in ResponseFormat if better < form.reply_format):
                self._format = max(self._format, form.reply_format)

    def after(self, form: RequestForm, about: str) -> ResponseFormat | None:
        """The format on which to ask again after a refusal of a request in `form`; None if it is a rejection for good.

        `about`: the field that the server complains about, "response_format", "unknown" or "" (see faults.complaint).
        A complaint about one field or the response format is remembered at once. A 400 that names nothing is tried on
        the next format and remembered only if that works: it may be about this one prompt.
        """
        below = form.reply_format.below
        with self._lock:
            dropped = self._dropped | {about}
            # It does not help to drop what was not sent, nor the last output limit.
            if about in DROPPABLE and about not in form.dropped and not dropped >= LIMITS:
                self._dropped = dropped
                return form.reply_format
            if about == "response_format" and below is not None:
                self._format = max(self._format, below)
        return below if about in ("response_format", "unknown") else None


_FALLBACKS: dict[tuple[str, str], FormatFallback] = {}
_FALLBACKS_LOCK = threading.Lock()


def fallback_of(base_url: str, model: str) -> FormatFallback:
    """The one fallback of this server and model in this process."""
    with _FALLBACKS_LOCK:
        if (base_url, model) not in _FALLBACKS:
            official = urlsplit(base_url).hostname == "api.openai.com"
            # Everybody else gets both names: some servers silently ignore max_completion_tokens.
            _FALLBACKS[base_url, model] = FormatFallback(frozenset({"max_tokens"}) if official else frozenset())
        return _FALLBACKS[base_url, model]


def messages(prompt: Prompt, reply_format: ResponseFormat) -> list[tuple[str, str]]:
    """(role, content), fit for UTF-8; with the schema, where there is one, at the end of the last user message, unless
    the prompt says its form and the schema is sent beside it."""
    turns = [(str(turn["role"]), clean_text(turn["content"])) for turn in prompt.messages]
    if not prompt.schema or (prompt.says_form and reply_format is ResponseFormat.JSON_SCHEMA):
        return [("system", clean_text(prompt.system)), *turns]
    schema = f"{SCHEMA_LINE}\n{prompt.schema}"
    if turns and turns[-1][0] == "user":
        turns[-1] = ("user", f"{turns[-1][1]}\n\n{schema}")
    else:
        turns.append(("user", schema))
    return [("system", clean_text(prompt.system)), *turns]


def format_field(reply_format: ResponseFormat, schema: str) -> dict[str, JsonValue]:
    """The `response_format` field of a format; nothing on the last."""
    if reply_format is ResponseFormat.PROMPT:
        return {}
    if reply_format is ResponseFormat.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": _strict_schema(schema)}}


@lru_cache(maxsize=512)  # thousands of agents are asked the same block; callers do not change the result
def _strict_schema(schema: str) -> dict[str, JsonValue]:
    closed = _closed(json.loads(schema))
    return {"name": "answer", "schema": closed, "strict": _is_strict(closed)}


def _closed(node: JsonValue) -> JsonValue:
    """The schema with `additionalProperties: false` on objects with named properties, as strict mode demands."""
    if isinstance(node, list):
        return [_closed(part) for part in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(part) for key, part in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


def _is_strict(node: JsonValue) -> bool:
    """Strict mode wants every property required and no free-form objects; a looser schema is sent as not strict."""
    if isinstance(node, list):
        return all(_is_strict(part) for part in node)
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object":
        properties, required = node.get("properties"), node.get("required")
        named = set(properties) if isinstance(properties, dict) else set()
        listed = {str(name) for name in required} if isinstance(required, list) else set()
        if node.get("additionalProperties") is not False or named != listed:
            return False
    return all(_is_strict(part) for part in node.values())


# --- what came back --------------------------------------------------------------------------------------------------

LONGEST_PLACEHOLDER = 5
"""Letters. Servers that want no key are given so short a word ("none", "EMPTY"); it may well be one of an answer."""

LONGEST_NAME = 300
LONGEST_TOKEN = 40  # characters
HIDDEN_TOKENS = 50_000
"""What a server may read beside our text (templates, the schema, instructions of its own) and be believed."""
TOKENS_PER_CHARACTER = 4
"""At most: a character has four bytes, and tokenizers that know none of it take one token a byte."""
MOST_WRITTEN = 1_000_000
"""Tokens of one reply, thinking included: several times what any model writes at once."""


@dataclass(frozen=True)
class ModelResponse:
    """An answered request. Token counts are None when the server did not report them, or reported what cannot be
    (`unbelieved`), never 0.

    `finish`: stop, length, content_filter, refusal or other. `raw`: JSON of what was reported beside the text, for the
    audit: refusal, finish_reason and usage. `sends`, `timeouts`, `broken`: see SendCounts; they include this answer's
    own request.
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


class ChatCompletion(NamedTuple):
    """A chat completion as a server sent it, of whatever types: the whole, its first choice, that one's message."""

    whole: dict[str, JsonValue]
    choice: dict[str, JsonValue]
    message: dict[str, JsonValue]


def completed(body: JsonValue, counts: SendCounts) -> ChatCompletion:
    """Raises Trouble where it is none; it may have been billed."""
    whole = body if isinstance(body, dict) and not body.get("error") else {}
    choices = whole.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if isinstance(first, dict) and isinstance(message, dict) and isinstance(message.get("content"), str | list | None):
        return ChatCompletion(whole, first, message)
    counts.broken += 1
    raise Trouble(f"sent a {'chat completion without choices' if choices == [] else 'body that is no chat completion'}")


def _text(content: JsonValue) -> str:
    """Some servers send a list of parts; those that are no text (thinking) are none of the answer."""
    if not isinstance(content, list):
        return str(content or "")
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def response_from(
    completion: ChatCompletion, prompt: Prompt, model: str, latency_ms: int, key: str, counts: SendCounts
) -> ModelResponse:
    """The key is masked, should a server have echoed it."""
    secret = "" if key.isalpha() and len(key) <= LONGEST_PLACEHOLDER else key

    def clean(value: object) -> str:
        return mask(clean_text(str(value or "")), secret)

    text, refusal = clean(_text(completion.message.get("content"))), clean(completion.message.get("refusal"))
    reason = str(completion.choice.get("finish_reason") or "")
    usage = clean_value(completion.whole.get("usage"))
    counted = _tokens(usage, prompt, len(text or refusal))
    input_tokens, output_tokens = counted or (None, None)
    raw = {"refusal": refusal or None, "finish_reason": reason or None, "usage": usage or None}
    return ModelResponse(
        text=text or refusal,
        finish="refusal" if refusal else read_finish_reason(reason),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        model=clean(completion.whole.get("model") or model)[:LONGEST_NAME],
        fingerprint=clean(completion.whole.get("system_fingerprint"))[:LONGEST_NAME],
        latency_ms=latency_ms,
        raw=mask(json.dumps(raw, ensure_ascii=False), secret),
        sends=counts.sends,
        timeouts=counts.timeouts,
        broken=counts.broken + counts.probes,
        unbelieved=counted is None,
        cached_tokens=_cached(usage, input_tokens or 0),
    )


def filtered(message: str, model: str, counts: SendCounts) -> ModelResponse:
    """A prompt that the server's content filter refused with an error: an answer about one agent, not a fault."""
    raw = json.dumps({"refusal": message, "finish_reason": "content_filter", "usage": None})
    broken = counts.broken + counts.probes
    return ModelResponse("", "content_filter", None, None, model, "", 0, raw, counts.sends, counts.timeouts, broken)


def _tokens(usage: JsonValue, prompt: Prompt, written: int) -> tuple[int | None, int | None] | None:
    """Reported counts, for a reply of `written` characters; None where they cannot be. A server that reports 0 for a
    prompt or a text that is there did not count."""
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
    """Of the prompt's tokens, those that the server says it had cached; 0 where it says nothing that can be."""
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    told = details.get("cached_tokens") if isinstance(details, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= read else 0


def _can_be(count: JsonValue, characters: int, most: int) -> TypeGuard[int]:
    """A 1 for a whole text is `true`, which the SDK takes for a number."""
    return isinstance(count, int) and 0 <= count <= most and (count != 1 or characters <= LONGEST_TOKEN)
