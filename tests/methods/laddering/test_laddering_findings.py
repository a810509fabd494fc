"""Findings of the interviews: shares of interviews with an interval for one singled out, and none where a rule read the
answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from enquete.methods.laddering.evaluation import PRESENTATION
from enquete.methods.registry import methodologies
from enquete.reports.declarations import Analysis, compared
from enquete.reports.findings import FEWEST, KeyFinding
from enquete.reports.health import judge
from tests.support.charts import results
from tests.support.tables import findings

INTERVAL = {"share": 0.4, "low": 0.2, "high": 0.6, "tie": "alone"}
TABLES: dict[str, list[dict[str, Any]]] = {
    "concepts": [
        {"concept": "c1", "label": "calm", "type": "value", "agents": 12, "items": ["turn_12"],
            **INTERVAL},
        {"concept": "c2", "label": "quiet", "type": "attribute", "agents": 9, "items": ["turn_01"], **INTERVAL},
    ],
    "implications": [{"source": "c2", "target": "c1", "relation": "leads_to", "direct": 8, "indirect": 0, "shown": True,
                      "items": ["turn_01", "turn_12"], **INTERVAL}],
    "relations": [{"relation": "leads_to", "label": "leads to"}],
    "types": [{"type": "attribute", "label": "attribute"}, {"type": "value", "label": "value"}],
}  # fmt: skip
FACTS = {
    "n": 20, "n_total": 22, "climbs": True, "by_rule": False, "top_rung": "value", "n_concepts": 2,
    "most_named": "alone", "n_late_new": 1, "n_by_rule": 0, "n_read": 100, "n_answers": 100,
}  # fmt: skip


def findings_of(tables: dict[str, Any] = TABLES, **facts: Any) -> dict[str, KeyFinding]:
    known = {name: value for name, value in {**FACTS, **facts}.items() if name in PRESENTATION.facts}
    return findings(PRESENTATION, results(PRESENTATION, tables, known, methodology="laddering").analysis)


def test_what_leads_to_what_is_a_share_of_interviews() -> None:
    told = findings_of()
    assert list(told) == ["saturation", "concept", "end", "link"]  # `findings` has the last one first
    link = told["link"]
    assert (
        link.text
        == "“quiet” leads to “calm” in 8 interviews (40%, 95% interval 20% to 60% for one of all links; n = 20/22)."
    )
    assert (link.items, link.kind, link.size, link.figure) == (("turn_01", "turn_12"), "position", 0.4, "value_map")
    assert (link.estimate, link.low, link.high) == (0.4, 0.2, 0.6)
    assert told["end"].text.startswith("As value “calm” is named most, in 12 interviews")
    assert "brought 1 of 2 different concepts (n = 20/22)" in told["saturation"].text


def test_ties_rules_and_nothing_are_said_as_such() -> None:
    told = findings_of(
        {**TABLES, "concepts": [{**concept, "tie": "tied"} for concept in TABLES["concepts"]]}, most_named="tied"
    )
    assert told["concept"].text.startswith("Of all concepts “calm” is among those named most, in 12 interviews")
    assert told["end"].text.startswith("As value “calm” is among those named most, in 12 interviews")
    told = findings_of(by_rule=True, n_by_rule=11)
    assert {finding.kind for finding in told.values()} == {"null"}
    assert "a rule stood in for the model and read 11 of 100 answers" in told["by_rule"].text
    assert [finding.kind for finding in findings_of({}, n_concepts=0).values()] == ["null"]
    assert findings_of(n=FEWEST - 1) == {}


def groups(planted: bool) -> dict[str, Any]:
    """Quiet is named by all ten fishers and none of ten members of NGOs, or by half of each; calm by every other
    agent."""
    people = [f"p{n}" for n in range(20)]
    half = np.arange(20) % 2.0
    values = pd.DataFrame({"c1": half, "c2": (np.arange(20) < 10).astype(float) if planted else 1 - half}, index=people)
    kinds = pd.Series(["fisher"] * 10 + ["ngo"] * 10, index=people)
    rows = compared(values, kinds, "concept", ends=dict.fromkeys(values, (0, 1)))
    return {**TABLES, **{name: frame.to_dict("records") for name, frame in rows.items()}}


def test_groups_are_said_to_differ_where_they_were_tested() -> None:
    finding = findings_of(groups(planted=True))["groups"]
    assert "“quiet” is named by 100% of fisher and 0% of ngo" in finding.text
    assert finding.p < 0.01
    none = findings_of(groups(planted=False))["groups"]
    assert none.kind == "null"
    # of 20 agents in two groups who name either with one half, it would take 1.02 at .05/(8 · 2)
    assert none.text.endswith("no difference, however large, would have been found four times in five.")


@pytest.mark.parametrize(
    ("detectable", "told"),
    [(2.0, "a difference of 2.0 would have been found four times in five."),
     (None, "what would have been found is not known.")],
)  # fmt: skip
def test_where_adapting_was_not_found_to_help_it_is_said_what_would_have_been(
    detectable: float | None, told: str
) -> None:
    """Concepts have no scale; None where nothing varied."""
    gap = {
        "strategy": "static", "measure": "richness", "n": 12, "mean": 1.0, "low": -1.0, "high": 3.0, "size": 1.0,
        "direction": "more", "detectable": detectable, "p": 0.3,
    }  # fmt: skip
    null = findings_of({**TABLES, "adapting": [gap]})["adapting"]
    assert (null.kind, null.n) == ("null", 12)
    assert null.text.endswith(f"; {told}")


# --- verdicts of interviews that gave nothing, or that a rule read ----------------------------------------------------


def verdict(
    concepts: list[int], work: list[dict[str, int]], respondent: str = "llm", reading: dict[str, int] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Of as many interviews of ten turns; what the gaps say is fine."""
    rows = pd.DataFrame(
        [
            {"run_id": "r", "arm": "main", "arm_role": "main", "methodology": "laddering", "phase": "T1",
                "session": "", "round": 0,
                "turn": turn, "participant": f"p{who}", "stakeholder_type": "x", "item_id": "answer", "status": "ok",
                "value": None,
                "scale_min": None, "scale_max": None, "attempts": 1, "respondent": respondent, "block": "",
                "distribution": "", "elicitation": "point"}
            for who in range(len(concepts)) for turn in range(10)
        ]
    )  # fmt: skip
    read = {f"n_{key}": n for key, n in (reading or {}).items()}
    analysis = Analysis({"work": pd.DataFrame(work)}, {"n": len(concepts), "n_barren": concepts.count(0), **read})
    standing = judge(methodologies(), {"laddering": analysis}, rows).verdicts["laddering"]
    return standing.verdict, standing.reasons


def roles(rule: int) -> list[dict[str, int]]:
    """30 turns by three roles; a rule did so many of the first's."""
    return [{"model": 30 - done, "fallback": 0, "rule": done} for done in (rule, 0, 0)]


@pytest.mark.parametrize(
    ("concepts", "message"),
    [([5, 4, 6], "usable as far as checked"), ([5, 0, 6], "usable with caution"), ([0, 0, 0], "not usable")],
)
def test_laddering_is_not_usable_with_0_concepts(concepts: list[int], message: str) -> None:
    assert verdict(concepts, roles(0))[0] == message


def test_laddering_is_not_plainly_usable_when_a_rule_did_the_models_work() -> None:
    """By hand: 4 of 90 is below .05, 5 of 90 above."""
    assert verdict([5, 4, 6], roles(4))[0] == "usable as far as checked"
    assert verdict([5, 4, 6], roles(5)) == ("usable with caution", ("work_by_rule:above",))
    every = [{"model": 0, "fallback": 0, "rule": 30}] * 3
    assert verdict([5, 4, 6], every, "human")[0] == "usable with caution"
    assert verdict([5, 4, 6], every, "synthetic")[0] == "usable as far as checked"  # which the report calls synthetic


@pytest.mark.parametrize(
    ("changed", "message", "reasons"),
    [
        ({}, "usable as far as checked", ("reliability_not_tested",)),
        ({"empty": 19}, "usable with caution", ("answers_without_concepts:above",)),  # 19 of 30 is above .60
        ({"empty": 30, "found": 0}, "not usable", ("answers_without_concepts:above",)),
        ({"invented": 7}, "usable with caution", ("concepts_nobody_said:above",)),  # 7 of 40 is above .15
        ({"unread": 1}, "usable with caution", ("answers_nobody_read:above",)),
    ],
)
def test_how_the_answers_were_read_is_judged(changed: dict[str, int], message: str, reasons: tuple[str, ...]) -> None:
    reading = {"answers": 30, "unread": 0, "empty": 6, "found": 40, "invented": 2, **changed}
    assert verdict([5, 4, 6], roles(0), reading=reading) == (message, reasons)
