"""Reads the answer object out of a model's text, and recognises a refusal written in prose.

Models wrap, think aloud, draft, correct themselves, and stop in mid-sentence. `read_object` takes the object that looks
most like the answer: the one with most of the wanted keys, after any thinking, the last of equals. Of an object that is
never closed it takes only the members that a comma ends: the last one may be half of what was going to be said,
whatever reason the server gives for the end.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import json_repair
from pydantic import JsonValue

from enquete.state.numbers import read_written_float

# --- Why a reply ended, as servers say it ---------------------------------------------------------------------------

_FINISH_REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "stop": (
        "stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete", "completed", "tool_calls", "tool_use",
        "function_call",
    ),
    "length": (
        "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded", "max_length",
    ),
    "content_filter": (
        "content_filter", "content_filtered", "safety", "image_safety", "prohibited_content", "blocklist", "spii",
        "recitation", "sensitive", "guardrail_intervened", "error_toxic",
    ),
    "refusal": ("refusal",),
}  # fmt: skip
_FINISHES: Final = {reason: finish for finish, reasons in _FINISH_REASONS.items() for reason in reasons}


def read_finish_reason(reason: object) -> str:
    """Return why a reply ended: stop, length, content_filter, refusal, or other.

    A reason that is missing or that nobody here knows ("error", "insufficient_system_resource") is "other", never
    "stop": such a reply may have broken off anywhere.
    """
    return _FINISHES.get(str(reason or "").strip().lower(), "other")


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
    """A dict or list in the text at [start, end).

    `exact`: no repair was needed. `is_closed`: it has its own closing bracket, so that nothing of it is missing.
    """

    value: object
    start: int
    end: int
    exact: bool
    is_closed: bool = True


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
    """Return what json-repair makes of one balanced piece: single quotes, trailing commas, comments.

    None where it had to guess: where a string in quotes has no end, or where words were left out. Then the value may be
    half of what was written ("1 500" becomes 1), and the question is asked again.
    """
    if len(piece) > REPAIR_LIMIT or _extent(piece, 0)[1] > REPAIR_DEPTH:
        return None
    try:
        value, steps = json_repair.repair_json(piece, return_objects=True, skip_json_loads=True, logging=True)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):
        return None  # its own faults on garbage; the text then simply holds no object
    if not isinstance(value, dict | list):
        return None
    told = [str(step["text"]) for step in steps]
    is_guess = _has_open_string(told) or _written_characters(value) != _characters_of(piece, told)
    return None if is_guess else value


def _has_open_string(steps: list[str]) -> bool:
    """Return whether json-repair ended a string that began with a quotation mark and has none at its end.

    It says the same of a word without any quotation marks, which is whole.
    """
    ended = sum("missed the closing quote" in step for step in steps)
    unquoted = sum("found a literal instead of a quote" in step for step in steps)
    return ended > unquoted


_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_NOT_COMPARED = re.compile(r"\\.|[\s{}\[\]\"',:\\]", re.DOTALL)
_DECIMAL_NUMBER = re.compile(r"\d+\.\d+")
_COMMENT = "comment: "


def _characters_of(piece: str, steps: list[str]) -> Counter[str]:
    """Count the characters of a piece of JSON without brackets, quotation marks and the comments that were read."""
    counted = _count_characters(piece)
    for step in steps:
        if "Found" in step and _COMMENT in step:
            comment = step.partition(_COMMENT)[2].removesuffix(", ignoring")
            counted -= _count_characters(comment)
    return counted


def _written_characters(value: object) -> Counter[str]:
    return _count_characters(json.dumps(value, ensure_ascii=False))


def _count_characters(text: str) -> Counter[str]:
    text = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    text = _DECIMAL_NUMBER.sub(lambda match: match[0].rstrip("0").rstrip("."), text)  # 4.0 and 4 are one number
    bare = _NOT_COMPARED.sub("", text).casefold()
    return Counter(bare.replace("none", "null"))


def rescue(text: str, start: int) -> Iterator[Found]:
    """Yield what is complete of an unclosed object or list, first at its own level, then one level down
    (`{"answers": {"a": …, "b": …` has no complete member at the top).

    Complete is what a comma ends; the last member never is: `12` may have been going to be `120`. Nothing is repaired
    here but the missing bracket, as a repair could take half a sentence for a whole one.
    """
    for opening, complete in _open_levels(text, start)[:2]:
        if complete is None:
            continue
        piece = text[opening:complete] + ("}" if text[opening] == "{" else "]")
        value, _ = decode(piece)
        if value:
            yield Found(value, opening, complete, exact=False, is_closed=False)


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
    """(where it opens, where its last comma stands) for all that is still open at the end of the text."""
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


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=read_written_float, parse_constant=_no_number)


LONGEST_TEXT = 2_000_000
ITEM_FIELDS = ("item", "item_id", "id")
"""The fields by which a list of objects names its items."""


class _Candidate(NamedTuple):
    value: dict[str, object]
    level: int  # 0: as it stood in the text; 1: one level down
    source: Found


class ReadObject(NamedTuple):
    """The answer object of a reply, or None, and how much of it was there.

    `is_closed`: the object has its closing bracket. `is_exact`: it is valid JSON as it stands. `breaks_off`: the text
    ends inside an object.
    """

    members: dict[str, JsonValue] | None
    is_closed: bool
    is_exact: bool
    breaks_off: bool


def read_object(text: str, wanted: Collection[str] = ()) -> dict[str, JsonValue] | None:
    """Return the answer object in `text`, or None when there is none; see `read_reply_object`."""
    return read_reply_object(text, wanted).members


def read_reply_object(text: str, wanted: Collection[str] = ()) -> ReadObject:
    """Find the answer object in a reply. Never raises; time is linear in the text.

    Of an object that is not closed, only the members before its last comma are taken.

    Args:
        text: the reply. What is taken of it can be stored as UTF-8 JSON: no lone surrogates, no NUL, NaN and infinities
            are None.
        wanted: the keys that the answer should have. Of several objects the best overlap is taken, one nesting level is
            searched, and a list of objects with an `item`, `item_id` or `id` field becomes a dict by that field.
    """
    text = clean_text(text[:LONGEST_TEXT])
    if (whole := _whole(text, wanted)) is not None:
        return ReadObject(whole, is_closed=True, is_exact=True, breaks_off=False)
    scanned = scan(text)
    answer_from = _end_of_thinking(text, scanned.sources)
    cut = _find_cut(text, scanned, answer_from)
    sources = scanned.sources if cut is None else _sources_of_cut(text, scanned, cut, wanted)
    candidates = [candidate for source in sources for candidate in _candidates(source, wanted)]
    if not candidates:
        return ReadObject(None, is_closed=False, is_exact=False, breaks_off=cut is not None)
    best = max(candidates, key=lambda candidate: _rank(candidate, wanted, answer_from))
    cleaned = clean_value(best.value)
    members = cleaned if isinstance(cleaned, dict) else None
    return ReadObject(members, best.source.is_closed, best.source.exact, breaks_off=cut is not None)


def _whole(text: str, wanted: Collection[str]) -> dict[str, JsonValue] | None:
    """The text where it is one object with wanted keys alone, as most are: no other candidate is in it."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value or not all(key in wanted for key in value):
        return None
    cleaned = clean_value(value)
    return cleaned if isinstance(cleaned, dict) else None


def _find_cut(text: str, scanned: Scan, answer_from: int) -> int | None:
    """Return where the object begins in which the text breaks off, or None; thinking is left out."""
    opened = (start for start in scanned.unclosed if _MEMBER_FOLLOWS.match(text, start + 1))
    return next((start for start in opened if start >= answer_from), None)


def _sources_of_cut(text: str, scanned: Scan, cut: int, wanted: Collection[str]) -> list[Found]:
    """Return what stands before the object that is not closed, and its own complete members.

    Objects inside it are its parts and no answers of their own. Where one stands in it after words, the model may have
    begun anew: then a member of what it left is no answer either.
    """
    before = [source for source in scanned.sources if source.start < cut]
    after = (source for source in scanned.sources if source.start > cut)
    if any(_is_new_start(text, source, wanted) for source in after):
        return before
    return [*before, *_first_useful(text, cut, wanted)]


def _is_new_start(text: str, source: Found, wanted: Collection[str]) -> bool:
    if any(_overlap(candidate.value, wanted) for candidate in _candidates(source, wanted)):
        is_member = key_before(text, source.start) is not None
        return not is_member and not text[: source.start].rstrip().endswith((",", "["))
    return False


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
