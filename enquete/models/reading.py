"""Reads the answer object out of a model's text, and recognises a refusal written in prose.

Models wrap, think aloud, draft, correct themselves, and stop in mid-sentence. `read_object` takes the object
that looks most like the answer: the one with most of the wanted keys, after any thinking, the last of equals.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from pydantic import JsonValue

from enquete.models.cleaning import clean_text, clean_value
from enquete.models.scanning import Found, Scan, decode, repair, rescue, scan

LONGEST_TEXT = 2_000_000
ITEM_FIELDS = ("item", "item_id", "id")
"""The fields by which a list of objects names its items."""


class _Candidate(NamedTuple):
    value: dict[str, object]
    level: int  # 0: as it stood in the text; 1: one level down
    source: Found


def read_object(text: str, wanted: Collection[str] = (), *, truncated: bool = False) -> dict[str, JsonValue] | None:
    """The answer object in `text`, or None when there is none. Never raises; time is linear in the text.

    `wanted` are the keys the answer should have: of several objects the best overlap is taken, one nesting level
    is searched, and a list of objects with an `item`, `item_id` or `id` field becomes a dict by that field.
    `truncated` (finish reason "length"): complete members of a cut-off object are kept, the last one is dropped.
    The result can be stored as UTF-8 JSON: no lone surrogates, no NUL, NaN and infinities are None.
    """
    text = clean_text(text[:LONGEST_TEXT])
    scanned = scan(text)
    answer_from = _end_of_thinking(text, scanned.found)
    whole = _without_fragments(text, scanned, answer_from) if truncated else scanned.found
    sources = [*whole, *_from_unclosed(text, scanned, wanted, truncated)]
    candidates = [candidate for source in sources for candidate in _candidates(source)]
    if not candidates:
        return None
    best = max(candidates, key=lambda candidate: _rank(candidate, wanted, answer_from))
    cleaned = clean_value(best.value)
    return cleaned if isinstance(cleaned, dict) else None


def _without_fragments(text: str, scanned: Scan, answer_from: int) -> list[Found]:
    """The objects that are not parts of a cut-off one; `rescue` sees to those."""
    cut = next((start for start in scanned.unclosed if _MEMBER_FOLLOWS.match(text, start + 1)), len(text))
    return [found for found in scanned.found if found.start < cut or found.start >= answer_from > cut]


def _from_unclosed(text: str, scanned: Scan, wanted: Collection[str], truncated: bool) -> Iterator[Found]:
    for start in scanned.unclosed[:4]:
        if truncated:
            yield from _first_useful(rescue(text, start), wanted)
        elif value := repair(text[start:]):
            yield Found(value, start, len(text), exact=False)


def _first_useful(levels: Iterator[Found], wanted: Collection[str]) -> Iterator[Found]:
    """The outermost level that has wanted members: further down lie the parts of the member that was cut."""
    for found in levels:
        if not wanted or any(_overlap(candidate.value, wanted) for candidate in _candidates(found)):
            yield found
            return


def _candidates(source: Found) -> Iterator[_Candidate]:
    for value in _dicts(source.value):
        yield _Candidate(value, 0, source)
        if "properties" in value and value.get("type") == "object":
            continue  # the JSON schema itself, repeated by the model: its properties are not answers
        for part in value.values():
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


def _end_of_thinking(text: str, found: list[Found]) -> int:
    """Where the last `</think>` outside of every object ends, or 0. Its opening tag is often missing."""
    ends = (match.end() for match in _END_OF_THINKING.finditer(text))
    return max((end for end in ends if not any(f.exact and f.start < end < f.end for f in found)), default=0)


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
