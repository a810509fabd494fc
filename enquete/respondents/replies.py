"""How a model's reply becomes answers: strict about values (see kinds/), lenient about the wrapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from enquete.models.parsing import looks_like_refusal, read_object
from enquete.respondents.kinds import kind_of
from enquete.respondents.kinds.numerals import DECIMAL, parse_number
from enquete.respondents.questions import Names
from enquete.simulations.digest import unmarked
from enquete.state.asking import Answer, Item
from enquete.state.interview_context import Completion

NAMES = "names "
"""What a note begins with that lists the entries of a memory which the words rest on: others see the words without marks."""


@dataclass
class Reading:
    """What one reply gave: answers by item, items declined in so many words, and what was wrong with the whole."""

    answers: dict[str, Answer] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    unknown: int = 0
    unreadable: bool = False
    refused: bool = False
    cut_off: bool = False


def read_reply(completion: Completion, items: Sequence[Item], names: Names) -> Reading:
    """Answers that can be taken from a reply; items not in `answers` are still open.

    `names`: under which names they were asked for. An item's id is one too, as a run's earlier calls may have had it.
    """
    cut_off = completion.finish == "length"
    refused = completion.finish in ("refusal", "content_filter")
    wanted = {item.id for item in items}
    called = {names[item.id]: item.id for item in items}
    read = None if refused else read_object(completion.text, wanted={*wanted, *called}, truncated=cut_off)
    found = None if read is None else {called.get(name, name): given for name, given in read.items()}
    if found is None or not wanted & found.keys():
        refused = refused or (found is None and looks_like_refusal(completion.text))
        return Reading(unreadable=True, refused=refused, cut_off=cut_off, unknown=len(found or ()))
    reading = Reading(cut_off=cut_off, unknown=len(found.keys() - wanted))
    for item in items:
        given = found.get(item.id)
        answer = read_answer(item, given)
        if answer is not None:
            reading.answers[item.id] = answer
        elif item.id in found and _declined(item, given):
            reading.declined.add(item.id)
    if reading.unknown:
        _note_unknown(reading)
    return reading


def _note_unknown(reading: Reading) -> None:
    """Unknown item ids are ignored and counted: the count is a note on the first answer."""
    for answer in reading.answers.values():
        answer.notes = (*answer.notes, f"{reading.unknown} unknown items ignored")
        return


def _declined(item: Item, given: JsonValue) -> bool:
    """An explicit null: the respondent was asked and gave no value."""
    if not isinstance(given, dict):
        return given is None
    return any(name in given and given[name] is None for name in ("value", "text", *kind_of(item).schema(item)))


def read_answer(item: Item, given: JsonValue) -> Answer | None:
    """One item's answer, or None where what was given is no answer to it."""
    members: dict[str, JsonValue] = given if isinstance(given, dict) else {"value": given}
    found = kind_of(item).read(item, members, given)
    if found is None:
        return None
    reason = members.get("reason", members.get("text")) if item.reason else ""
    text, named = unmarked(found.text or (reason.strip() if isinstance(reason, str) else ""))
    confidence, notes = _confidence(item, members)
    notes = ("no reason given", *notes) if item.reason and not text else notes
    notes = (NAMES + " ".join(named), *notes) if named else notes
    found.text, found.confidence, found.notes = text, confidence, (*found.notes, *notes)
    return found


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
