"""How a model's reply becomes answers.

Strict about values ("3", " 4 ", 3.0 and "-2" are numbers; true, 3.5 and "high" are not), lenient about the wrapping.
How a distribution over the options is read: distributions.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from enquete.models.parsing import looks_like_refusal, read_object
from enquete.respondents.distributions import read_distribution
from enquete.respondents.numbers import DECIMAL, INTEGER, parse_number
from enquete.state.seam import Answer, Completion, Item


@dataclass
class Reading:
    """What one reply gave: answers by item, items declined in so many words, and what was wrong with the whole."""

    answers: dict[str, Answer] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    unknown: int = 0
    unreadable: bool = False
    refused: bool = False
    cut_off: bool = False


def read_reply(completion: Completion, items: Sequence[Item]) -> Reading:
    """Answers that can be taken from a reply; items not in `answers` are still open."""
    cut_off = completion.finish == "length"
    refused = completion.finish in ("refusal", "content_filter")
    wanted = {item.id for item in items}
    found = None if refused else read_object(completion.text, wanted=wanted, truncated=cut_off)
    if found is None or not wanted & found.keys():
        refused = refused or (found is None and looks_like_refusal(completion.text))
        return Reading(unreadable=True, refused=refused, cut_off=cut_off, unknown=len(found or ()))
    reading = Reading(cut_off=cut_off, unknown=len(found.keys() - wanted))
    for item in items:
        given = found.get(item.id)
        answer = read_answer(item, given)
        if answer is not None:
            reading.answers[item.id] = answer
        elif item.id in found and _declined(given):
            reading.declined.add(item.id)
    if reading.unknown:
        _note_unknown(reading)
    return reading


def _note_unknown(reading: Reading) -> None:
    """Unknown item ids are ignored and counted: the count is a note on the first answer."""
    for item, answer in reading.answers.items():
        reading.answers[item] = replace(answer, notes=(*answer.notes, f"{reading.unknown} unknown items ignored"))
        return


def _declined(given: JsonValue) -> bool:
    """An explicit null: the respondent was asked and gave no value."""
    if not isinstance(given, dict):
        return given is None
    return any(name in given and given[name] is None for name in ("value", "text", "probabilities"))


def read_answer(item: Item, given: JsonValue) -> Answer | None:
    """One item's answer, or None where what was given is no answer to it."""
    bare: dict[str, JsonValue] = {"text" if item.kind == "text" else "value": given}
    members = given if isinstance(given, dict) else bare
    confidence, notes = _confidence(item, members)
    if item.kind == "text":
        text = _text(members.get("text", members.get("value")))
        return Answer(item.id, "ok", text=text, confidence=confidence, notes=notes) if text else None
    reason = _text(members.get("reason", members.get("text"))) if item.reason else ""
    notes = ("no reason given", *notes) if item.reason and not reason else notes
    found = _distribution(item, given, members) if item.elicitation == "distribution" else _point(item, members)
    return found and replace(found, text=reason, confidence=confidence, notes=(*found.notes, *notes))


def _distribution(item: Item, given: JsonValue, members: dict[str, JsonValue]) -> Answer | None:
    """Under `probabilities`, or, where the wrapping is missing, as the whole of what was given."""
    return read_distribution(item, members.get("probabilities", given))


def _point(item: Item, members: dict[str, JsonValue]) -> Answer | None:
    if item.kind == "choice":
        choice = _choice(item, members.get("value"))
        return None if choice is None else Answer(item.id, "ok", data=choice)
    value = _number(item, members.get("value"))
    return None if value is None else Answer(item.id, "ok", value=value)


def _number(item: Item, given: JsonValue) -> float | None:
    """A scale point or a number in range; None for anything else."""
    value = parse_number(given, INTEGER if item.kind == "scale" else DECIMAL)
    if value is None:
        return None
    if item.kind == "scale":
        return value if any(value == option.value for option in item.options) else None
    low = -math.inf if item.minimum is None else item.minimum
    high = math.inf if item.maximum is None else item.maximum
    return value if low <= value <= high else None


def _choice(item: Item, given: JsonValue) -> int | str | None:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    for option in item.options:
        if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip() == str(option.value):
            return option.value
    return None


def _text(given: JsonValue) -> str:
    return given.strip() if isinstance(given, str) else ""


def _confidence(item: Item, members: dict[str, JsonValue]) -> tuple[float | None, tuple[str, ...]]:
    """Confidence 0–1 and notes. A value above 1 and up to 100 is read as per cent, and noted."""
    if not item.confidence:
        return None, ()
    value = parse_number(members.get("confidence"), DECIMAL)
    if value is None:
        return None, ("no confidence given",)
    if 0 <= value <= 1:
        return value, ()
    if 1 < value <= 100:
        return value / 100, (f"confidence {value:g} read as {value / 100:g}",)
    return None, (f"confidence {value:g} is out of range",)
