"""Verdicts of interviews that gave nothing, or that a rule read."""

from __future__ import annotations

import pandas as pd
import pytest

from enquete.graphs.registry import methodologies
from enquete.reports.declarations import Analysis
from enquete.reports.health import judge


def verdict(
    concepts: list[int], work: list[dict[str, int]], respondent: str = "llm", reading: dict[str, int] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Of as many interviews of ten turns; what the gaps say is fine."""
    rows = pd.DataFrame(
        [
            {
                "run_id": "r", "arm": "main", "arm_role": "main", "methodology": "laddering", "phase": "T1",
                "session": "", "round": 0,
                "turn": turn, "participant": f"p{who}", "stakeholder_type": "x", "item_id": "answer", "status": "ok",
                "value": None,
                "scale_min": None, "scale_max": None, "attempts": 1, "respondent": respondent, "block": "",
                "distribution": "",
                "elicitation": "point",
            }
            for who in range(len(concepts)) for turn in range(10)
        ]
    )  # fmt: skip
    read = {f"n_{key}": n for key, n in (reading or {}).items()}
    found = Analysis({"work": pd.DataFrame(work)}, {"n": len(concepts), "n_barren": concepts.count(0), **read})
    one = judge(methodologies(), {"laddering": found}, rows).verdicts["laddering"]
    return one.verdict, one.reasons


def roles(rule: int) -> list[dict[str, int]]:
    """30 turns by three roles; a rule did so many of the first's."""
    return [{"model": 30 - done, "fallback": 0, "rule": done} for done in (rule, 0, 0)]


@pytest.mark.parametrize(
    ("concepts", "said"),
    [([5, 4, 6], "usable as far as checked"), ([5, 0, 6], "usable with caution"), ([0, 0, 0], "not usable")],
)
def test_laddering_is_not_usable_with_0_concepts(concepts: list[int], said: str) -> None:
    assert verdict(concepts, roles(0))[0] == said


def test_laddering_is_not_plainly_usable_when_a_rule_did_the_models_work() -> None:
    """By hand: 4 of 90 is below .05, 5 of 90 above."""
    assert verdict([5, 4, 6], roles(4))[0] == "usable as far as checked"
    assert verdict([5, 4, 6], roles(5)) == ("usable with caution", ("work_by_rule:above",))
    every = [{"model": 0, "fallback": 0, "rule": 30}] * 3
    assert verdict([5, 4, 6], every, "human")[0] == "usable with caution"
    assert verdict([5, 4, 6], every, "synthetic")[0] == "usable as far as checked"  # which the report calls synthetic


@pytest.mark.parametrize(
    ("changed", "said", "reasons"),
    [
        ({}, "usable as far as checked", ("reliability_not_tested",)),
        ({"empty": 19}, "usable with caution", ("answers_without_concepts:above",)),  # 19 of 30 is above .60
        ({"empty": 30, "found": 0}, "not usable", ("answers_without_concepts:above",)),
        ({"invented": 7}, "usable with caution", ("concepts_nobody_said:above",)),  # 7 of 40 is above .15
        ({"unread": 1}, "usable with caution", ("answers_nobody_read:above",)),
    ],
)
def test_how_the_answers_were_read_is_judged(changed: dict[str, int], said: str, reasons: tuple[str, ...]) -> None:
    reading = {"answers": 30, "unread": 0, "empty": 6, "found": 40, "invented": 2, **changed}
    assert verdict([5, 4, 6], roles(0), reading=reading) == (said, reasons)
