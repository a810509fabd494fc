"""What a methodology's templates make of findings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from enquete.reports.evaluation import Evaluation
from enquete.reports.views import render
from enquete.state.asking import Language


def texts(evaluation: Evaluation, data: Mapping[str, Any], language: Language = "en") -> tuple[str, str]:
    """Section and appendix, as the report prints them. Tables are as wide as their heads, and nothing is left
    unfilled."""
    assert isinstance(evaluation.section, str)
    assert isinstance(evaluation.appendix, str)
    facts = {"found": data, "title": "", **evaluation.shown(data, language)}
    section, appendix = (render(each, language, **facts) for each in (evaluation.section, evaluation.appendix))
    for text in (section, appendix):
        assert not re.search(r"\b(nan|None|Undefined)\b|\{\w*\}", text)
        require_even_tables(text)
    return section, appendix


def require_even_tables(text: str) -> None:
    """Every line of a table has as many cells as its head, and a ruler stands below the head."""
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        head, ruler, *rows = block.strip().splitlines()
        assert set(ruler) <= set("|-: "), head
        assert {cells(line) for line in (head, ruler, *rows)} == {cells(head)}, block


def cells(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def prose(section: str) -> int:
    """Words outside tables."""
    return sum(len(line.split()) for line in section.splitlines() if not line.startswith("|"))


def row(text: str, start: str) -> list[str]:
    """The cells of the first table row that begins with `start`."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
