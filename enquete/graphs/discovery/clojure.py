"""Data as Clojure writes it: EDN, and the data in a source file, in which texts are put together by `(str …)`.

Maps become dicts, vectors, lists and sets lists, keywords and symbols texts without their colon. A `def` gives its
value; `(str …)` a text; a call with one argument whose name holds "json" (clj2json-pretty, say) that argument as JSON;
any other form nothing. Libraries read EDN alone, and stop at what a source file has beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_DEPTH = 100

_TOKEN = re.compile(
    r"""
      (?P<skip>[\s,]+|;[^\n]*)
    | (?P<drop>\#_)
    | (?P<open>\#:{1,2}[\w.\-]*\s*\{|\#\{|\#\(|[({\[])
    | (?P<close>[)}\]])
    | (?P<text>\#?"(?:[^"\\]|\\.)*")
    | (?P<mark>'|`|~@?|@|\^|\#'|\#(?=[A-Za-z]))
    | (?P<char>\\(?:newline|space|tab|return|u[0-9a-fA-F]{4}|.))
    | (?P<atom>[^\s,;"(){}\[\]]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[NM]?")
_CLOSED_BY = {"(": ")", "{": "}", "[": "]"}


class ClojureError(ValueError):
    """What cannot be read, and in which line."""


class _Sign:
    """Stands where a file has no data."""


CODE, DROPPED = _Sign(), _Sign()
"""A form that is code; one that the file itself leaves out (#_)."""


def forms(text: str) -> Iterator[Any]:
    """The values of a file's forms, one after another. Raises ClojureError."""
    reader = _Reader(text)
    while not reader.is_at_end:
        form = reader.form(0)
        if not isinstance(form, _Sign):
            yield form


class _Reader:
    def __init__(self, text: str):
        self._text = text
        self._tokens = self._read()
        self._next = next(self._tokens, None)

    @property
    def is_at_end(self) -> bool:
        return self._next is None

    def _read(self) -> Iterator[tuple[str, str, int]]:
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise ClojureError(f"line {self._line(at)}: a text without its end")
            at = found.end()
            if found.lastgroup != "skip":
                yield str(found.lastgroup), found[0], found.start()

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1

    def _take(self) -> tuple[str, str, int]:
        if self._next is None:
            raise ClojureError(f"line {self._line(len(self._text))}: the file ends within a form")
        taken, self._next = self._next, next(self._tokens, None)
        return taken

    def form(self, depth: int) -> Any:
        kind, text, at = self._take()
        if depth > MOST_DEPTH:
            raise ClojureError(f"line {self._line(at)}: nested deeper than {MOST_DEPTH}")
        match kind:
            case "drop":
                self._kept(depth + 1)
                return DROPPED
            case "mark":  # a quote, a tag, metadata: what follows stands for itself
                if text in ("^", "#"):
                    self._kept(depth + 1)
                return self._kept(depth + 1)
            case "open":
                return self._held(text, at, depth)
            case "close":
                raise ClojureError(f"line {self._line(at)}: {text} closes nothing")
            case "text":
                return _ESCAPE.sub(lambda one: _unescaped(one[1]), text[text.index('"') + 1 : -1])
            case "char":
                return text[1:]
        return _atom(text)

    def _kept(self, depth: int) -> Any:
        """The next form that is not left out: `#_ #_ a b` leaves out two."""
        while (form := self.form(depth)) is DROPPED:
            pass
        return form

    def _held(self, opening: str, at: int, depth: int) -> Any:
        parts, closing = [], _CLOSED_BY[opening[-1]]
        while True:
            if self._next is None:
                raise ClojureError(f"line {self._line(at)}: {opening} is never closed")
            kind, text, where = self._next
            if kind == "close":
                self._take()
                if text != closing:
                    raise ClojureError(f"line {self._line(where)}: {text} where {closing} was expected")
                break
            part = self.form(depth + 1)
            if part is not DROPPED:
                parts.append(None if part is CODE and closing != ")" else part)
        if opening in ("(", "#("):
            return _evaluated(parts)
        if opening == "[" or opening == "#{":
            return parts
        if len(parts) % 2:
            raise ClojureError(f"line {self._line(at)}: a map with a key that has no value")
        return {str(key): value for key, value in zip(parts[::2], parts[1::2], strict=True)}


def _unescaped(code: str) -> str:
    return chr(int(code[1:], 16)) if code[0] == "u" and len(code) == 5 else _ESCAPED.get(code, code)


def _atom(text: str) -> Any:
    if _NUMBER.fullmatch(text):
        plain = text.rstrip("NM")
        return float(plain) if re.search(r"[.eE]", plain) else int(plain)
    return {"true": True, "false": False, "nil": None}.get(text, text.lstrip(":") if text.startswith(":") else text)


def _evaluated(parts: list[Any]) -> Any:
    match parts:
        case ["def" | "defonce", str(), *_, value]:
            return value
        case ["str", *texts]:
            return "".join("" if one is None or one is CODE else str(one) for one in texts)
        case [str() as name, value] if "json" in name and not isinstance(value, _Sign):
            return json.dumps(value, ensure_ascii=False)
    return CODE
