"""Finds JSON in whatever a model wrote around it: exact objects, repairable ones, and ones that were cut off.

Every step is bounded: text arrives from servers that nobody vouches for. The exact decoder is tried first
because it is fast and never guesses; json-repair sees only single balanced pieces of limited size and depth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import json_repair

from enquete.models.cleaning import LONGEST_INTEGER

REPAIR_LIMIT = 32_000
"""Characters. json-repair is written in Python; 2,000 tokens of answer are about 8,000 characters."""
REPAIR_DEPTH = 60
LONGEST_KEY = 500
MOST_FAILURES = 200
MOST_FOUND = 2_000

_OPENING = re.compile(r"[{\[]")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)|[{}\[\],]', re.DOTALL)  # the last string may be cut

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"(?=\s*:\Z)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """A dict or list in the text at [start, end); `exact` when no repair was needed."""

    value: object
    start: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Scan:
    found: list[Found]
    unclosed: list[int]  # where an object or list begins that has no end


@dataclass(slots=True)
class _Budget:
    """Characters that may still be looked at; keeps the whole scan linear in the length of the text."""

    left: int
    failures: int = 0

    def spend(self, characters: int) -> None:
        self.left -= characters
        self.failures += 1

    @property
    def spent(self) -> bool:
        return self.left <= 0 or self.failures >= MOST_FAILURES


def scan(text: str) -> Scan:
    """All outermost objects and lists from left to right, repaired where the exact decoder fails."""
    result = Scan([], [])
    budget = _Budget(4 * len(text) + 100_000)
    position = 0
    while not budget.spent and len(result.found) < MOST_FOUND and (opening := _OPENING.search(text, position)):
        found = _at(text, opening.start(), budget, result.unclosed)
        if found:
            result.found.append(found)
        position = found.end if found else opening.start() + 1
    return result


def _at(text: str, start: int, budget: _Budget, unclosed: list[int]) -> Found | None:
    value, end = decode(text, start)
    if value is not None:
        return Found(value, start, end, exact=True)
    budget.spend(end - start)
    closing, depth, seen = _extent(text, start)
    budget.spend(seen - start)
    if closing is None:
        unclosed.append(start)
        return None
    value = repair(text[start:closing]) if depth <= REPAIR_DEPTH else None
    return Found(value, start, closing, exact=False) if value else None


def decode(text: str, start: int = 0) -> tuple[object | None, int]:
    """(value, end) of the JSON at `start`; (None, how far the decoder came) if there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start)
    except RecursionError:
        return None, start + 1_000
    return (value, end) if isinstance(value, dict | list) else (None, end)


def repair(piece: str) -> object | None:
    """What json-repair makes of one balanced or cut piece, or None; single quotes, trailing commas, comments."""
    if len(piece) > REPAIR_LIMIT or _extent(piece, 0)[1] > REPAIR_DEPTH:
        return None
    try:
        value: object = json_repair.repair_json(piece, return_objects=True, skip_json_loads=True)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):
        return None  # its own faults on garbage; the text then simply holds no object
    return value if isinstance(value, dict | list) else None


def rescue(text: str, start: int) -> Iterator[Found]:
    """What is complete of a cut-off object or list, first at its own level, then one level down
    (`{"answers": {"a": …, "b": …` has no complete member at the top).

    The last member is dropped unless it is a closed object or list: `12` may have been going to be `120`.
    """
    for opening, complete in _open_levels(text, start)[:2]:
        if complete is None:
            continue
        piece = text[opening:complete] + ("}" if text[opening] == "{" else "]")
        value, _ = decode(piece)
        exact = value is not None
        value = value if exact else repair(piece)
        if value:
            yield Found(value, opening, complete, exact)


def key_before(text: str, position: int) -> str | None:
    """The key whose value begins at `position`, or None in a list."""
    before = text[max(0, position - LONGEST_KEY) : position].rstrip()
    if not before.endswith(":"):
        return None
    last = None
    for match in _STRING.finditer(before):
        last = match
    return _unquoted(last[0]) if last else None


def _unquoted(string: str) -> str | None:
    try:
        key = json.loads(string, strict=False)
    except json.JSONDecodeError:
        return None
    return key if isinstance(key, str) else None


def _open_levels(text: str, start: int) -> list[tuple[int, int | None]]:
    """(where it opens, where its last complete member ends) for all that is still open at the end of the text."""
    levels: list[tuple[int, int | None]] = []
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        if token in ("{", "["):
            levels.append((match.start(), None))
            if len(levels) > REPAIR_DEPTH:
                return []
        elif token in ("}", "]"):
            levels.pop()
            if not levels:  # not cut off after all; it was looked at as a whole
                return []
            levels[-1] = (levels[-1][0], match.end())
        elif token == ",":
            levels[-1] = (levels[-1][0], match.start())
    return levels


def _extent(text: str, start: int) -> tuple[int | None, int, int]:
    """(end of the bracket at `start` or None, deepest nesting, how far was looked); gives up on deep nesting."""
    depth = deepest = 0
    seen = start
    for match in _TOKEN.finditer(text, start):
        token, seen = match[0], match.end()
        if token in ("{", "["):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("}", "]"):
            depth -= 1
        if depth == 0 and token != ",":
            return seen, deepest, seen
        if depth > REPAIR_DEPTH:
            break
    return None, deepest, seen


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= LONGEST_INTEGER else None


def _no_number(_: str) -> None:
    return None


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer, parse_constant=_no_number)
