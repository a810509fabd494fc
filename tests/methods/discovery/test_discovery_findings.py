"""What is told of discovery interviews that a model read, over tables made by hand; no run of the synthetic respondent,
whose answers a rule reads, has findings on content."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.methods.discovery.evaluation import PRESENTATION
from enquete.reports.declarations import Row, shaped
from enquete.reports.findings import corrected, stated_of
from enquete.reports.views import Names, Results

FACTS: Row = {
    "title": "Shifts", "n": 6, "n_total": 8, "complete": 3, "questions": 7.5, "content": True, "read_by_rule": 0,
    "answers_read": 45, "contradicting": 2,
}  # fmt: skip
BOTH_ASKED = (True, True)


def field(path: str, kind: str, **known: Any) -> Row:
    """A row of the fields; label: the path in capitals."""
    every: Row = {column.name: None for column in PRESENTATION.tables["fields"].stored}
    return every | {"path": path, "label": path.upper(), "type": kind, "n": 6, "n_total": 8} | known


FIELDS = [
    field("goal", "text", different=2),
    field("night", "boolean", n_yes=4, yes_share=4 / 6, low=0.3, high=0.9),
    field("staff", "number", median=12.0, q1=9.5, q3=14.0),
    field("shift", "quantity", unit="hours", median=8.0, q1=7.5, q3=8.5),
    field("part", "object"),
]


def named(value: str, agents: int, **more: Any) -> Row:
    return {
        "path": "goal", "value": value, "place": 1, "agents": agents, "n": 6, "n_total": 8, "share": agents / 6,
        "low": 0.2, "high": 0.9, "tied": 1, "first": True, "told": True, **more,
    }  # fmt: skip


def told(language: str = "en", asked: tuple[bool, ...] = BOTH_ASKED, **facts: Any) -> dict[str, str]:
    """The findings by id."""
    tables = {
        "fields": FIELDS,
        "named": [named("rest", 4), named("pay", 2, first=False, place=2)],
        "contradictions": [
            {"participant": f"a{place}", "turn": 2, "path": "goal", "earlier": "rest", "later": "pay", "asked": was,
             "now": "rest"}
            for place, was in enumerate(asked)
        ],
    }  # fmt: skip
    analysis = shaped(PRESENTATION, tables, {**FACTS, **facts})
    analysis = corrected({"discovery": (PRESENTATION, analysis)})["discovery"]
    found = stated_of(Results("discovery", PRESENTATION, analysis, Names(), language))
    return {finding.id: finding.text for finding in found}


def test_what_a_model_read_is_told() -> None:
    assert told() == {
        "complete": "3 of 6 records of “Shifts” are complete, after 7.5 questions on average (n = 6/8 interviews).",
        "named.goal/rest": "GOAL: most named “rest”, by 4 agents (67%, 95% interval 20% to 90%; n = 6/8).",
        "yes.night": "NIGHT: yes for 4 agents (67%, 95% interval 30% to 90%; n = 6/8).",
        "number.staff": "STAFF: median 12.0, middle half 9.5 to 14.0 (n = 6/8).",
        "number.shift": "SHIFT: median 8.0 hours, middle half 7.5 to 8.5 (n = 6/8).",
        "contradictions": "2 agents said contradictory things about something; each was asked which holds (n = 6/8).",
    }


def test_that_each_was_asked_is_said_only_where_each_was() -> None:
    """An interview whose budget ends may never come to ask which of two statements holds."""
    assert told(asked=(True, False))["contradictions"] == (
        "2 agents said contradictory things about something; not every contradiction was asked about before the "
        "interview ended (n = 6/8)."
    )
    assert "nicht nach jedem Widerspruch" in told("de", asked=(True, False))["contradictions"]


def test_of_what_a_rule_read_nothing_is_told_but_that() -> None:
    assert set(told(content=False, read_by_rule=45)) == {"complete", "by_rule"}


@pytest.mark.parametrize("n", [0, 4])
def test_of_fewer_than_five_interviews_no_number_of_interviews_is_a_finding(n: int) -> None:
    assert not {"complete", "by_rule", "contradictions"} & told(n=n).keys()
