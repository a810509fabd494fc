"""Validators: what a response is held to. None changes it; each says what was expected and what was found.

A mode names those that it wants, with what they need (`Check`); required sections and the range of confidence are checked
in every mode. They go by counts and words, so they see form and not quality.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictInt

from enquete.graphs.roundtable.modes.context import Context
from enquete.graphs.roundtable.responses import Response, Stance, Violation
from enquete.instruments.reading import Line, suggestion, wrong
from enquete.instruments.text import Part

Rounds = Literal["all", "first", "later"]

_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):]|\(?[a-z][.)])\s*", re.IGNORECASE)
_INLINE = re.compile(r"\s*(?:;|(?<!\S)\(?\d{1,2}[.)](?=\s))\s*")
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"”“)]+(?=\S)")
NOTHING = re.compile(r"(?:nothing|none|n/a|nichts|keine?[rs]?|entfällt|–|-)[.!]?", re.IGNORECASE)
"""How a part is left empty: the structure layer asks for the word."""


@dataclass(frozen=True)
class Held:
    """A response with what it is held to: `role_stance` is its role's."""

    response: Response
    context: Context
    role_stance: Stance
    marks: tuple[str, ...]  # words by which its role's perspective is known
    missing: tuple[str, ...]  # items that got no answer
    first: bool


class Words(Part):
    """Beginnings of words that must not occur, in each language."""

    de: tuple[Line, ...] = ()
    en: tuple[Line, ...] = ()


def _known(name: str) -> str:
    if name not in CHECKS:
        raise wrong(f"'{name}' is no check{suggestion(name, tuple(CHECKS))}")
    return name


class Check(Part):
    """A validator of a mode. `least`: entries or questions; `of`: section of the last round, all of whose entries by `by` are to
    be answered; `roles` and `rounds`: whose and when, everybody's and always unless named."""

    check: Annotated[Line, AfterValidator(_known)]
    section: str = ""
    least: Annotated[StrictInt, Field(ge=0, le=20)] = 0
    of: str = ""
    by: str = ""
    words: Words = Words()
    roles: tuple[Line, ...] = ()
    rounds: Rounds = "all"

    def applies(self, held: Held) -> bool:
        return (not self.roles or held.context.role in self.roles) and in_round(self.rounds, held.first)


def in_round(rounds: Rounds, first: bool) -> bool:
    return rounds == "all" or (rounds == "first") == first


def entries(text: str) -> list[str]:
    """What a list in words holds: its lines without their marks; of a single line what stands between semicolons or numbers,
    else its sentences."""
    if NOTHING.fullmatch(text.strip()):
        return []
    lines = [_MARK.sub("", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) == 1:
        parts = [part for part in _INLINE.split(lines[0]) if part]
        lines = parts if len(parts) > 1 else _SENTENCE.split(lines[0])
    return lines


# --- of every mode -------------------------------------------------------------------------------------------------------


def required(held: Held) -> Iterator[Violation]:
    """Every part that was asked for says something."""
    for name in held.missing:
        yield Violation(check="required", expected="1", actual="0", part=name)


def confidence_range(held: Held) -> Iterator[Violation]:
    """Said between 0 and 1."""
    raw = held.response.raw_confidence
    if raw is not None:
        yield Violation(check="confidence", expected="0–1", actual=f"{raw:g}", part="confidence")


# --- that a mode may name ------------------------------------------------------------------------------------------------


def stance(held: Held, check: Check) -> Violation | None:
    """The role's own, where it has one."""
    if not held.role_stance or held.response.stance == held.role_stance:
        return None
    return Violation(check="stance", expected=held.role_stance, actual=held.response.stance, part="stance")


def at_least(held: Held, check: Check) -> Violation | None:
    """Entries in a section."""
    n = len(entries(held.response.sections.get(check.section, "")))
    return None if n >= check.least else _few(check, check.least, n)


def questions(held: Held, check: Check) -> Violation | None:
    """Enough questions, and more of them than statements, in everything that was said apart from the lists."""
    said = held.response
    sentences = [one for text in (said.position, *said.sections.values(), said.reasoning) for one in _sentences(text)]
    asked = sum(one.rstrip('"”“»)').endswith("?") for one in sentences)
    stated = len(sentences) - asked
    if asked >= check.least and asked > stated:
        return None
    return Violation(check=check.check, expected=f"≥ {max(check.least, stated + 1)} ?", actual=f"{asked} ?, {stated} .")


def without(held: Held, check: Check) -> Violation | None:
    """None of these words."""
    said, words = held.response, getattr(check.words, held.context.language)
    texts = (
        (said.sections.get(check.section, ""),)
        if check.section
        else (said.position, said.reasoning, *said.sections.values())
    )
    found = [word for word in words if re.search(rf"\b{re.escape(word)}", " ".join(texts), re.IGNORECASE)]
    return Violation(check=check.check, expected="–", actual=", ".join(found), part=check.section) if found else None


def answers_all(held: Held, check: Check) -> Violation | None:
    """As many entries as the others made in the round before."""
    rounds = held.context.rounds
    last = rounds[max(rounds)] if rounds else ()
    due = sum(len(entries(voice.response.sections.get(check.of, ""))) for voice in last if voice.role == check.by)
    n = len(entries(held.response.sections.get(check.section, "")))
    return None if n >= due else _few(check, due, n)


def names_role(held: Held, check: Check) -> Violation | None:
    """The section shows the role's perspective: by its name or one of its words."""
    text = held.response.sections.get(check.section, "")
    if any(mark.casefold() in text.casefold() for mark in held.marks):
        return None
    return Violation(check=check.check, expected=", ".join(held.marks), actual=text[:120], part=check.section)


def _few(check: Check, least: int, n: int) -> Violation:
    return Violation(check=check.check, expected=str(least), actual=str(n), part=check.section)


def _sentences(text: str) -> list[str]:
    return [
        one
        for line in text.splitlines()
        for one in _SENTENCE.split(_MARK.sub("", line).strip())
        if any(map(str.isalnum, one))
    ]


CHECKS: Mapping[str, Callable[[Held, Check], Violation | None]] = {
    "stance": stance,
    "at_least": at_least,
    "questions": questions,
    "without": without,
    "answers_all": answers_all,
    "names_role": names_role,
}
