"""The request for a chat completion, and how a server wants it put.

How one server wants to be asked for JSON is found out once per (base URL, model) and remembered (`FormatFallback`):

    json_schema (strict)  →  json_object  →  prompt only

Some servers accept a response_format and ignore it, so the form of a reply stands in the messages with every format: in
few words where the prompt says it itself, else as the text of the schema. Where nothing but the prompt can tell what is
allowed, below json_schema, that text stands there in any case. It comes last: what is before it keeps a server's prefix
cache. Parameters that a server rejects (temperature and seed on reasoning models, one of the two names of the output
limit) are dropped, or lowered to what it takes, and remembered. Steps are relative to the form a request had, so that
256 requests refused at once step down once.

What came back is read in chat_replies.py.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from enquete.models.parsing import clean_text
from enquete.models.server_profiles import Meaning, PrefixCache, Verdict
from enquete.state.interview_context import Prompt

SCHEMA_LINE: Final = "JSON schema:"
"""A line of its own in the prompt; the next line is the schema in compact JSON."""

LIMITS: Final = frozenset({"max_tokens", "max_completion_tokens"})
DROPPABLE: Final = LIMITS | {"temperature", "seed", "prompt_cache_key"}
CACHE_KEY: Final = "prompt_cache_key"
UNASKED: Final = LIMITS | {CACHE_KEY}
"""Fields that nobody sets: where one is left out, nothing was sent otherwise than asked for."""
SHARED_SCHEMA: Final = '{"type":"object"}'
"""Of every questionnaire, for servers that read the schema before the system message; the prompt says the form."""
CACHE_KEY_LETTERS = 32
MAX_ROOM_FACTOR = 8
"""Times the room that a reply needs, for models that think before they write."""

log = logging.getLogger("enquete")


class ResponseFormat(IntEnum):
    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    PROMPT = 2

    @property
    def below(self) -> ResponseFormat | None:
        return ResponseFormat(self + 1) if self < ResponseFormat.PROMPT else None


@dataclass(frozen=True, slots=True)
class RequestForm:
    """How one request is put. A server's complaint is about this form, whatever was learnt since.

    Attributes:
        dropped: Fields that this server does not take.
        limits: The most that it takes of a field, by the field's name.
        extra: Fields that it wants beside the usual ones, each value as JSON.
        system_in_question: Whether the system message stands in front of the question, as it takes none.
        shares_schema: Whether all questionnaires are sent one schema, so that a server caches what they have in common.
        names_cache: Whether a key is sent under which the server keeps an agent's prompts together.
    """

    reply_format: ResponseFormat
    dropped: frozenset[str] = frozenset()
    limits: tuple[tuple[str, float], ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    system_in_question: bool = False
    shares_schema: bool = False
    names_cache: bool = False

    def body(self, prompt: Prompt, *, model: str, temperature: float, seed: int) -> dict[str, JsonValue]:
        """Build the JSON body of a chat-completion request."""
        fields: dict[str, JsonValue] = {
            "max_completion_tokens": prompt.max_output_tokens,
            "max_tokens": prompt.max_output_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        for name, most in self.limits:
            value = fields.get(name)
            if isinstance(value, int | float) and value > most:
                fields[name] = int(most) if isinstance(value, int) else most

        turns = messages(prompt, self.reply_format)
        if self.system_in_question:
            turns = _fold_system(turns)
        body: dict[str, JsonValue] = {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in turns],
        }
        body |= {name: value for name, value in fields.items() if name not in self.dropped}
        if prompt.schema:
            body |= format_field(self.reply_format, self._schema(prompt))
        if self.names_cache and CACHE_KEY not in self.dropped:
            body[CACHE_KEY] = hashlib.sha256(prompt.system.encode(errors="replace")).hexdigest()[:CACHE_KEY_LETTERS]
        body |= {name: json.loads(value) for name, value in self.extra}
        return body

    def _schema(self, prompt: Prompt) -> str:
        if self.shares_schema and prompt.says_form and self.reply_format is ResponseFormat.JSON_SCHEMA:
            return SHARED_SCHEMA
        return prompt.schema

    def deviations(self, prompt: Prompt, temperature: float) -> dict[str, JsonValue]:
        """Return what was sent otherwise than asked for: the value that was sent, None where none was."""
        changed: dict[str, JsonValue] = {name: json.loads(value) for name, value in self.extra}
        changed |= dict.fromkeys(self.dropped - UNASKED)
        if self.dropped >= LIMITS:
            changed["max_tokens"] = None
        asked = {"temperature": temperature, "max_tokens": prompt.max_output_tokens}
        for name, most in self.limits:
            if name in asked and asked[name] > most and name not in changed:
                changed[name] = most
        if self.system_in_question:
            changed["system"] = None
        return changed


class FormatFallback:
    """What is known about one server and model. Shared by all requests to it, whichever thread they run in."""

    def __init__(self, dropped: frozenset[str] = frozenset(), name: str = ""):
        """`name`: of server and model, for people to read."""
        self._lock = threading.Lock()
        self._form = RequestForm(ResponseFormat.JSON_SCHEMA, dropped)
        self._worked: set[ResponseFormat] = set()
        self._knows_cache = False
        self._name = name
        self._roomy_since = 0.0
        self.room_factor = 1
        """How many times the room of a reply this model needs, as it thinks before it writes."""

    def form(self, lowest: ResponseFormat = ResponseFormat.JSON_SCHEMA) -> RequestForm:
        """The form for the next request; `lowest` is a format that the sender already had to step down to."""
        with self._lock:
            if lowest <= self._form.reply_format:
                return self._form
            return replace(self._form, reply_format=lowest)

    def leave_out(self, fields: frozenset[str]) -> None:
        """Fields that this model has no word for."""
        with self._lock:
            self._form = replace(self._form, dropped=self._form.dropped | fields)

    def use_cache(self, cache: PrefixCache) -> None:
        """Put requests so that the server can cache their beginning; what it refused of that since stays left out."""
        with self._lock:
            if not self._knows_cache:
                self._knows_cache = True
                self._form = replace(self._form, shares_schema=cache.schema_first, names_cache=cache.key)

    def has_worked(self, reply_format: ResponseFormat) -> bool:
        return reply_format in self._worked

    def worked(self, form: RequestForm) -> None:
        """An answer came. A format that was only tried is kept, unless a better one has worked in the meantime."""
        if form.reply_format in self._worked:
            return
        with self._lock:
            self._worked.add(form.reply_format)
            if not any(better in self._worked for better in ResponseFormat if better < form.reply_format):
                self._step_to(form.reply_format)

    def after(self, form: RequestForm, verdict: Verdict) -> ResponseFormat | None:
        """The format on which to ask again after a refusal of a request in `form`; None if it is a rejection for good.

        A complaint about one field or the response format is remembered at once. A refusal that names nothing is tried
        on the next format and remembered only if that works: it may be about this one prompt.
        """
        below = form.reply_format.below
        if verdict.means is Meaning.UNCLEAR:
            return below
        with self._lock:
            if verdict.means is Meaning.NO_SYSTEM_ROLE and not form.system_in_question:
                folded = replace(self._form, system_in_question=True)
                self._learn(folded, "takes no system message: its text stands in front of the question")
                return form.reply_format
            if verdict.means is not Meaning.PARAMETER:
                return None
            if verdict.parameter == "response_format" and form.shares_schema:
                self._form = replace(self._form, shares_schema=False)
                return form.reply_format
            if verdict.parameter == "response_format":
                if below is not None:
                    self._step_to(below)
                return below
            return form.reply_format if self._adapt(form, verdict) else None

    def send_extra(self, form: RequestForm, fields: Mapping[str, JsonValue]) -> bool:
        """Send these fields from now on; False where a request in `form` had them, or they are not taken."""
        with self._lock:
            return not fields.keys() & form.dropped and self._add(form, fields)

    def _add(self, form: RequestForm, fields: Mapping[str, JsonValue]) -> bool:
        wanted = {name: json.dumps(value) for name, value in fields.items()}
        if wanted.items() <= dict(form.extra).items():
            return False
        extra = dict(self._form.extra) | wanted
        shown = ", ".join(f"{name}: {value}" for name, value in wanted.items())
        self._learn(replace(self._form, extra=tuple(extra.items())), f"is asked with {shown}, as it wants")
        return True

    def give_more_room(self, began: float) -> bool:
        """Have replies of this model given more room; False where a request that `began` then had it."""
        with self._lock:
            if self.room_factor >= MAX_ROOM_FACTOR:
                return began < self._roomy_since
            self.room_factor, self._roomy_since = MAX_ROOM_FACTOR, time.monotonic()
            told = "%s spends the room of its replies on thinking: from now on they get %d times as much."
            log.warning(told, self._name, MAX_ROOM_FACTOR)
            return True

    def _adapt(self, form: RequestForm, verdict: Verdict) -> bool:
        """Leave out, lower or set what the server complains about; False where that was done already."""
        name, sent = verdict.parameter, dict(form.extra)
        if verdict.send:
            return self._add(form, verdict.send)
        if verdict.limit is not None:
            names = LIMITS if name in LIMITS else {name}
            known, had = dict(self._form.limits), dict(form.limits)
            if had.get(name, float("inf")) <= verdict.limit:
                return False
            if known.get(name, float("inf")) > verdict.limit:
                limits = known | dict.fromkeys(sorted(names), verdict.limit)
                limited = replace(self._form, limits=tuple(limits.items()))
                self._learn(limited, f"takes a {name} of at most {verdict.limit:g}")
            return True
        # It does not help to drop what was not sent, nor the last output limit.
        dropped = self._form.dropped | {name}
        if name not in DROPPABLE | sent.keys() or name in form.dropped or dropped >= LIMITS:
            return False
        extra = tuple((field, value) for field, value in self._form.extra if field != name)
        if name not in self._form.dropped:
            told = (
                "" if name in UNASKED else f"does not take {name}: it is left out, and the server's own default holds"
            )
            self._learn(replace(self._form, dropped=dropped, extra=extra), told)
        return True

    def _step_to(self, reply_format: ResponseFormat) -> None:
        if reply_format > self._form.reply_format:
            self._form = replace(self._form, reply_format=reply_format)

    def _learn(self, form: RequestForm, told: str) -> None:
        if form == self._form:
            return
        self._form = form
        if told:
            log.warning("%s %s.", self._name, told)


_FALLBACKS: dict[tuple[str, str], FormatFallback] = {}
_FALLBACKS_LOCK = threading.Lock()


def fallback_of(base_url: str, model: str) -> FormatFallback:
    """The one fallback of this server and model in this process."""
    with _FALLBACKS_LOCK:
        if (base_url, model) not in _FALLBACKS:
            host = urlsplit(base_url).hostname
            # Everybody else gets both names: some servers silently ignore max_completion_tokens.
            dropped = frozenset({"max_tokens"}) if host == "api.openai.com" else frozenset[str]()
            _FALLBACKS[base_url, model] = FormatFallback(dropped, f"The model {model!r} at {host or base_url}")
        return _FALLBACKS[base_url, model]


def _fold_system(turns: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The system message's text in front of the first question."""
    (_, system), (role, first), *rest = turns
    return [(role, f"{system}\n\n{first}"), *rest]


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
