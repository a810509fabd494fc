"""Reads the answer object out of a model's text, and recognises a refusal written in prose.

Models wrap, think aloud, draft, correct themselves, and stop in mid-sentence. `read_object` takes the object that looks
most like the answer: the one with most of the wanted keys, after any thinking, the last of equals.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import json_repair
from pydantic import JsonValue

# --- Text and values as they can be stored: UTF-8 without lone surrogates, no NUL, finite numbers, bounded depth ------

DEEPEST = 64
"""Levels kept of a parsed value. No instrument needs ten; more is an accident or an attack."""

LONGEST_INTEGER = 300
"""Digits. Above that a number cannot be read as a double either."""


def clean_text(text: str) -> str:
    """Surrogate pairs joined, lone surrogates replaced by U+FFFD, NUL removed."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def compact(value: object) -> str:
    """A value as JSON without spaces, fit for UTF-8."""
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def clean_value(value: object, depth: int = 0) -> JsonValue:
    """`value` as JSON can hold it; NaN, infinities and whatever lies deeper than `DEEPEST` become None."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**LONGEST_INTEGER else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= DEEPEST:
        return None
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [clean_value(part, depth + 1) for part in value]
    return None


# --- Finds JSON in whatever a model wrote around it: exact objects, repairable ones, and ones that were cut off ------
# Every step is bounded: text arrives from servers that nobody vouches for. The exact decoder is tried first because it
# is fast and never guesses; json-repair sees only single balanced pieces of limited size and depth.

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
    sources: list[Found]
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
    while not budget.spent and len(result.sources) < MOST_FOUND and (opening := _OPENING.search(text, position)):
        source = _at(text, opening.start(), budget, result.unclosed)
        if source:
            result.sources.append(source)
        position = source.end if source else opening.start() + 1
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


LONGEST_TEXT = 2_000_000
ITEM_FIELDS = ("item", "item_id", "id")
"""The fields by which a list of objects names its items."""


class _Candidate(NamedTuple):
    value: dict[str, object]
    level: int  # 0: as it stood in the text; 1: one level down
    source: Found


def read_object(text: str, wanted: Collection[str] = (), *, truncated: bool = False) -> dict[str, JsonValue] | None:
    """The answer object in `text`, or None when there is none. Never raises; time is linear in the text.

    `wanted` are the keys the answer should have: of several objects the best overlap is taken, one nesting level is
    searched, and a list of objects with an `item`, `item_id` or `id` field becomes a dict by that field.
    `truncated` (finish reason "length"): complete members of a cut-off object are kept, the last one is dropped.
    The result can be stored as UTF-8 JSON: no lone surrogates, no NUL, NaN and infinities are None.
    """
    text = clean_text(text[:LONGEST_TEXT])
    if not truncated and (whole := _whole(text, wanted)) is not None:
        return whole
    scanned = scan(text)
    answer_from = _end_of_thinking(text, scanned.sources)
    sources = _sources_of_cut(text, scanned, answer_from, wanted) if truncated else _sources(text, scanned)
    candidates = [candidate for source in sources for candidate in _candidates(source, wanted)]
    if not candidates:
        return None
    best = max(candidates, key=lambda candidate: _rank(candidate, wanted, answer_from))
    cleaned = clean_value(best.value)
    return cleaned if isinstance(cleaned, dict) else None


def _whole(text: str, wanted: Collection[str]) -> dict[str, JsonValue] | None:
    """The text where it is one object with wanted keys alone, as most are: no other candidate is in it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value or not all(key in wanted for key in value):
        return None
    cleaned = clean_value(value)
    return cleaned if isinstance(cleaned, dict) else None


def _sources(text: str, scanned: Scan) -> list[Found]:
    """Everything found, and what is left open at the end closed by repair: the model only forgot a brace."""
    closed = ((start, repair(text[start:])) for start in scanned.unclosed[:4])
    return [*scanned.sources, *(Found(value, start, len(text), exact=False) for start, value in closed if value)]


def _sources_of_cut(text: str, scanned: Scan, answer_from: int, wanted: Collection[str]) -> list[Found]:
    """What is complete. Objects inside the one that was cut off are its parts and no answers of their own."""
    opened = [start for start in scanned.unclosed if _MEMBER_FOLLOWS.match(text, start + 1)]
    cut = next((start for start in opened if start >= answer_from), None)
    if cut is None:
        return scanned.sources
    return [*(source for source in scanned.sources if source.start < cut), *_first_useful(text, cut, wanted)]


def _first_useful(text: str, cut: int, wanted: Collection[str]) -> Iterator[Found]:
    """The outermost level that has wanted members; below a wanted key lie only the parts of a cut answer."""
    for source in rescue(text, cut):
        if source.start > cut and key_before(text, source.start) in wanted:
            return
        if not wanted or any(_overlap(candidate.value, wanted) for candidate in _candidates(source, wanted)):
            yield source
            return


def _candidates(source: Found, wanted: Collection[str]) -> Iterator[_Candidate]:
    for value in _dicts(source.value):
        yield _Candidate(value, 0, source)
        if "properties" in value and value.get("type") == "object":
            continue  # the JSON schema itself, repeated by the model: its properties are not answers
        for part in (part for key, part in value.items() if key not in wanted):  # below an answer are only its parts
            yield from (_Candidate(inner, 1, source) for inner in _dicts(part))


def _dicts(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        objects = [part for part in value if isinstance(part, dict)]
        if by_item := _by_item(objects):
            yield by_item
        yield from objects


def _by_item(objects: list[dict[str, object]]) -> dict[str, object]:
    """`[{"item": "a", "value": 4}, …]` as `{"a": {"value": 4}, …}`; empty unless every object names its item."""
    for field in ITEM_FIELDS:
        if objects and all(isinstance(part.get(field), str | int) for part in objects):
            return {str(part[field]): {key: part[key] for key in part if key != field} for part in objects}
    return {}


def _overlap(value: dict[str, object], wanted: Collection[str]) -> int:
    return sum(key in value for key in wanted)


def _rank(candidate: _Candidate, wanted: Collection[str], answer_from: int) -> tuple[bool, int, int, int, bool, int]:
    source, overlap = candidate.source, _overlap(candidate.value, wanted)
    after_thinking = source.start >= answer_from and (not wanted or overlap > 0)
    span = 0 if wanted else source.end - source.start  # with nothing wanted the longest object is the answer
    return after_thinking, overlap, -candidate.level, span, source.exact, source.start


_MEMBER_FOLLOWS = re.compile(r"\s*[\"'{\[]")
_END_OF_THINKING = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def _end_of_thinking(text: str, sources: list[Found]) -> int:
    """Where the last `</think>` outside of every object ends, or 0. Its opening tag is often missing."""
    ends = (match.end() for match in _END_OF_THINKING.finditer(text))
    return max((end for end in ends if not any(f.exact and f.start < end < f.end for f in sources)), default=0)


_REFUSALS = re.compile(
    r"""
    \bas\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b
    | \bals\ (?:eine?\ )?(?:ki|künstliche\ intelligenz|(?:großes\ )?sprachmodell)\b
    | \bi(?:\ am|['’]m)\ (?:sorry|afraid)\b[^.]{0,60}\b(?:can(?:no|['’])t|can\ not|unable|won['’]t|not\ able)\b
    | \bi(?:\ am|['’]m)\ (?:unable|not\ able|not\ comfortable|not\ allowed)\b
    | \bi\ (?:can(?:no|['’])t|can\ not|won['’]t|will\ not|must\ decline|decline|refuse|would\ rather\ not)\b
      [^.]{0,40}?(?:\b(?:help|assist|answer|comply|provide|fulfil|fulfill|participate|continue|engage|role-?play|discuss
      |take\ part|respond|do\ (?:that|this)|share|to)\b)
    | \b(?:es\ )?tut\ mir\ (?:sehr\ )?leid\b[^.]{0,80}\b(?:nicht|kein\w*)\b
    | \bich\ (?:kann|darf|möchte|werde|will)\b[^.]{0,80}\b(?:nicht|kein\w*)\b[^.]{0,40}
      \b(?:beantworten|antworten|helfen|teilnehmen|äußern|unterstützen|machen|geben|erfüllen|sagen|nachkommen|tun)\b
    | \bdas\ kann\ ich\ (?:leider\ )?nicht\b | \bich\ (?:verweigere|lehne)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def looks_like_refusal(text: str) -> bool:
    """A German or English refusal in prose. Text that holds an object is an answer, whatever it says in it."""
    opening = clean_text(text[:LONGEST_TEXT])
    opening = opening[_end_of_thinking(opening, []) :].lstrip()[:600]
    has_object = any(decode(opening, match.start())[0] is not None for match in re.finditer(r"\{", opening))
    return not has_object and _REFUSALS.search(opening) is not None
