"""What a report says of findings: a methodology's section and its part of the appendix."""

from __future__ import annotations

from typing import Any

from enquete.reports.evaluation import Evaluation
from enquete.reports.templates import render
from enquete.state.asking import Language


def told(own: Evaluation, found: Any, language: Language) -> tuple[str, str]:
    """Section and appendix, Markdown."""
    facts = {"found": found, "title": "Title", **own.shown(found, language)}
    assert isinstance(own.section, str)
    assert isinstance(own.appendix, str)
    return render(own.section, language, **facts), render(own.appendix, language, **facts)
