"""Primary questions: which of the questions that a methodology tests a study was made to answer, and their parts of α.

Instrument files name them under `primary:`, requests as METHOD.QUESTION. This module reads both; which share of the
page's error rate a question holds is decided where all tests are known (`analysis/inference.py`, `over_questions`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator

from enquete.instruments.text import shown, suggestion, wrong
from enquete.state.errors import SettingsError

_NAMED = re.compile(r"(?P<method>[^.=\s]+)\.(?P<question>[^.=\s]+)(?:=(?P<part>\S+))?")


def _read_primary(given: object) -> object:
    """Return question → part of α, from a name, a list of names, or names with their parts."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list | tuple):
        if wrong_names := [name for name in given if not isinstance(name, str) or not name]:
            raise wrong(f"{shown(wrong_names[0])} is no question; write names, such as [groups]")
        return dict.fromkeys(given, 1.0)
    if not isinstance(given, Mapping):
        raise wrong(
            f"{shown(given)} names no question; write a name, a list of names, or names with parts: {{groups: 2}}"
        )
    for name, part in given.items():
        if not _is_part(part):
            raise wrong(f"{name}: {shown(part)} is no part; write a number above 0, such as 2")
    return {str(name): float(part) for name, part in given.items()}


def _is_part(given: object) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return math.isfinite(given) and given > 0


PrimaryQuestions = Annotated[dict[str, float], BeforeValidator(_read_primary)]
"""Question → its part of the error rate that all primary questions share."""


def require_known_questions(named: Iterable[str], known: Sequence[str]) -> None:
    """Raise an instrument error for a question that the methodology does not test."""
    for name in named:
        if not known:
            raise wrong(f"{shown(name)}: this methodology names no question that could be primary")
        if name not in known:
            raise wrong(f"{shown(name)} is no question that is tested{suggestion(name, known)}")


def parse_primary(named: Sequence[str], questions: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Return methodology → question → part of α, of what a request names.

    Args:
        named: METHOD.QUESTION or METHOD.QUESTION=PART each.
        questions: The questions that each methodology of the run tests.

    Raises:
        SettingsError: naming what is wrong and what would be right.
    """
    primary: dict[str, dict[str, float]] = {}
    for given in named:
        match = _NAMED.fullmatch(given)
        if match is None:
            raise SettingsError(
                f"primary: {given!r} is not taken; write METHOD.QUESTION or METHOD.QUESTION=PART, such as "
                "longitudinal.drift=2"
            )
        method, question, part = match["method"], match["question"], _part(given, match["part"])
        if method not in questions:
            raise SettingsError(
                f"primary: {given!r}: {method!r} is not among the methodologies of this run, {', '.join(questions)}"
            )
        if question not in questions[method]:
            there = ", ".join(f"{method}.{name}" for name in questions[method]) or "none"
            raise SettingsError(f"primary: {given!r}: {method} tests no question {question!r}; there are: {there}")
        if question in primary.get(method, {}):
            raise SettingsError(f"primary: {method}.{question} is named twice; name it once")
        primary.setdefault(method, {})[question] = part
    return primary


def _part(given: str, part: str | None) -> float:
    try:
        value = 1.0 if part is None else float(part)
    except ValueError:
        value = math.nan
    if not _is_part(value):
        raise SettingsError(f"primary: {given!r}: {part!r} is no part of the error rate; write a number above 0")
    return value
