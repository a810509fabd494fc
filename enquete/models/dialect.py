"""How one server wants to be asked for JSON: a ladder, found out once per (base URL, model) and remembered.

    json_schema (strict)  →  json_object  →  prompt only

Some servers accept a response_format and ignore it, so the form of a reply stands in the messages on every rung: in few
words where the prompt says it itself, else as the text of the schema. Where nothing but the prompt can tell what is
allowed, below json_schema, that text stands there in any case. It comes last: what is before it keeps a server's prefix
cache. Parameters that a server rejects (temperature and seed on reasoning models, one of the two names of the output
limit) are dropped and remembered.

Steps are relative to the form a request had, so that 256 requests refused at once step down once.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from enquete.models.cleaning import clean_text
from enquete.state.interview_context import Prompt

SCHEMA_LINE: Final = "JSON schema:"
"""A line of its own in the prompt; the next line is the schema in compact JSON."""

LIMITS: Final = frozenset({"max_tokens", "max_completion_tokens"})
DROPPABLE: Final = LIMITS | {"temperature", "seed"}


class Rung(IntEnum):
    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    PROMPT = 2

    @property
    def below(self) -> Rung | None:
        return Rung(self + 1) if self < Rung.PROMPT else None


@dataclass(frozen=True, slots=True)
class Form:
    """How one request is put. A server's complaint is about this form, whatever was learnt since."""

    rung: Rung
    dropped: frozenset[str]

    def body(self, prompt: Prompt, *, temperature: float, seed: int) -> dict[str, JsonValue]:
        """The request's fields beside model and messages."""
        fields: dict[str, JsonValue] = {
            "max_completion_tokens": prompt.max_output_tokens,
            "max_tokens": prompt.max_output_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        kept = {name: value for name, value in fields.items() if name not in self.dropped}
        return kept | (response_format(self.rung, prompt.schema) if prompt.schema else {})


class Dialect:
    """What is known about one server and model. Shared by all requests to it, whichever thread they run in."""

    def __init__(self, dropped: frozenset[str] = frozenset()):
        self._lock = threading.Lock()
        self._rung = Rung.JSON_SCHEMA
        self._dropped = dropped
        self._worked: set[Rung] = set()

    def form(self, lowest: Rung = Rung.JSON_SCHEMA) -> Form:
        """The form for the next request; `lowest` is a rung that the sender already had to step down to."""
        with self._lock:
            return Form(max(self._rung, lowest), self._dropped)

    def has_worked(self, rung: Rung) -> bool:
        return rung in self._worked

    def worked(self, form: Form) -> None:
        """An answer came. A rung that was only tried is kept, unless a better one has worked in the meantime."""
        if form.rung in self._worked:
            return
        with self._lock:
            self._worked.add(form.rung)
            if not any(better in self._worked for better in Rung if better < form.rung):
                self._rung = max(self._rung, form.rung)

    def step_down(self, form: Form) -> Rung | None:
        """The server does not know this form's rung: the next one for everybody, or None at the last."""
        below = form.rung.below
        if below is not None:
            with self._lock:
                self._rung = max(self._rung, below)
        return below

    def drop(self, form: Form, field: str) -> bool:
        """The server rejects `field`. False if that does not help: it was not sent, or is the last output limit."""
        if field in form.dropped:
            return False
        with self._lock:
            dropped = self._dropped | {field}
            if dropped >= LIMITS:
                return False
            self._dropped = dropped
        return True


_DIALECTS: dict[tuple[str, str], Dialect] = {}
_DIALECTS_LOCK = threading.Lock()


def dialect_of(base_url: str, model: str) -> Dialect:
    """The one dialect of this server and model in this process."""
    with _DIALECTS_LOCK:
        if (base_url, model) not in _DIALECTS:
            official = urlsplit(base_url).hostname == "api.openai.com"
            # Everybody else gets both names: some servers silently ignore max_completion_tokens.
            _DIALECTS[base_url, model] = Dialect(frozenset({"max_tokens"}) if official else frozenset())
        return _DIALECTS[base_url, model]


def adapt(dialect: Dialect, form: Form, about: str) -> Rung | None:
    """The rung on which to ask again after a refusal of the request's form; None if it is a rejection for good.

    `about`: the field that the server complains about, "response_format", "unknown" or "" (see faults.complaint).

    A complaint about one field or the response format is remembered at once. A 400 that names nothing is tried on
    the next rung and remembered only if that works: it may be about this one prompt.
    """
    if about in DROPPABLE and dialect.drop(form, about):
        return form.rung
    if about == "response_format":
        return dialect.step_down(form)
    return form.rung.below if about == "unknown" else None


def request_body(model: str, turns: list[tuple[str, str]], fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Of a chat completion. `turns`: (role, content)."""
    return {"model": model, "messages": [{"role": role, "content": content} for role, content in turns], **fields}


def messages(prompt: Prompt, rung: Rung) -> list[tuple[str, str]]:
    """(role, content), fit for UTF-8; with the schema, where there is one, at the end of the last user message, unless the
    prompt says its form and the schema is sent beside it."""
    turns = [(str(turn["role"]), clean_text(turn["content"])) for turn in prompt.messages]
    if not prompt.schema or (prompt.says_form and rung is Rung.JSON_SCHEMA):
        return [("system", clean_text(prompt.system)), *turns]
    schema = f"{SCHEMA_LINE}\n{prompt.schema}"
    if turns and turns[-1][0] == "user":
        turns[-1] = ("user", f"{turns[-1][1]}\n\n{schema}")
    else:
        turns.append(("user", schema))
    return [("system", clean_text(prompt.system)), *turns]


def response_format(rung: Rung, schema: str) -> dict[str, JsonValue]:
    """The `response_format` field of a rung; nothing on the last."""
    if rung is Rung.PROMPT:
        return {}
    if rung is Rung.JSON_OBJECT:
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
