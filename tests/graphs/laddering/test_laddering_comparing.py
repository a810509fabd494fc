"""Strategies side by side: measures over codes by hand, the difference against scipy, the arms of a run apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from scipy import stats

import enquete
from enquete.graphs.laddering.comparing import compared, covered, measured, told
from enquete.graphs.laddering.interview import Interview, TurnRecord
from enquete.graphs.laddering.knowledge import KnowledgeGraph
from enquete.graphs.laddering.network import pool
from enquete.graphs.laddering.results import EVALUATION
from enquete.graphs.laddering.settings import LadderingSettings
from tests.graphs.laddering.builders import SETTINGS, graph
from tests.support.studies import call_keys, personas
from tests.support.texts import texts

ELEMENT = next(iter(SETTINGS.topic.elements))


def interview(unit: str, known: KnowledgeGraph, turns: int = 2, stop: str = "max_turns") -> Interview:
    """Over after so many turns, of which only the last one's end is known."""
    records = [TurnRecord.model_construct(turn=n, stop=stop if n == turns else "") for n in range(1, turns + 1)]
    return Interview(unit, tuple(records), graph=known)


def test_an_element_is_spoken_of_by_code_in_whatever_words() -> None:
    """a1 is linked to the element in one of its two interviews, half of them: both cover it. a2 in one of three: nobody does."""
    linked = {"a1": (ELEMENT,)}
    both = [interview("x", graph("a1 f1", "a1>f1", linked)), interview("y", graph("a1"))]
    concepts = pool(both)
    coverage = covered(both, concepts, SETTINGS)
    assert [one.elements[ELEMENT].covered for one in coverage.values()] == [True, True]
    x, y = measured(both, concepts, coverage).values()
    assert (x.richness, x.links, x.new_per_turn, y.richness, y.links, y.new_per_turn) == (2, 1, 1.0, 1, 0, 0.5)
    assert x.coverage == 1 / len(SETTINGS.topic.elements)
    three = [interview("x", graph("a2", elements={"a2": (ELEMENT,)})), *(interview(u, graph("a2")) for u in "yz")]
    assert not any(one.elements_covered for one in covered(three, pool(three), SETTINGS).values())


def pair(richness: list[tuple[int, int]]) -> dict[str, list[Interview]]:
    """Agents with so many concepts by the adaptive and by the fixed questions."""
    named = [" ".join(f"a{n}" for n in range(1, 9))[: 3 * most - 1] for most in range(9)]
    return {
        "static": [interview(str(unit), graph(named[b])) for unit, (_, b) in enumerate(richness)],
        "scored": [interview(str(unit), graph(named[a])) for unit, (a, _) in enumerate(richness)],
    }


def test_the_difference_is_adaptive_less_other_agent_by_agent() -> None:
    by = pair([(5, 3), (4, 3), (6, 2), (3, 3), (5, 4), (7, 4)])
    by["scored"].append(interview("6", graph("a1"), stop=""))  # not over: in no comparison
    found = compared(by, LadderingSettings(strategy="static,scored"))
    (one,) = found["differences"]
    again = stats.ttest_rel([5, 4, 6, 3, 5, 7], [3, 3, 2, 3, 4, 4])
    low, high = again.confidence_interval(0.95)
    assert one["richness"] == pytest.approx({"n": 6, "mean": 11 / 6, "low": low, "high": high})
    assert one["p"] == pytest.approx(again.pvalue)
    assert (one["strategy"], one["verdict"], found["codes"]) == ("static", "more", 7)
    assert [row["richness"] for row in found["strategies"]] == pytest.approx([19 / 6, 5])
    (sentence,) = [text for _, text in told(found, 8, "en")]
    assert sentence.startswith("Adapting helped: adaptive questions found 1.8 more concepts an interview than a fixed")
    assert sentence.endswith("n = 6/8).")


@pytest.mark.parametrize(
    ("richness", "verdict"),
    [([(2, 4), (3, 5), (2, 5), (1, 3), (2, 4)], "fewer"), ([(3, 3)] * 5, "alike"), ([(5, 1)] * 4, "few")],
)
def test_no_help_no_difference_and_too_few_are_said_so(richness: list[tuple[int, int]], verdict: str) -> None:
    found = compared(pair(richness), LadderingSettings(strategy="scored,static"))
    ((one, text),) = told(found, len(richness), "en")
    assert one["verdict"] == verdict
    said = {"fewer": "did not help: adaptive questions found 2.2 fewer", "alike": "not certain", "few": "of 4 agents"}
    assert said[verdict] in text


@pytest.mark.parametrize("strategy", ["static,random", "scored,scored", "scored,", "clever"])
def test_strategies_that_cannot_be_compared_are_refused(strategy: str) -> None:
    with pytest.raises(ValidationError, match="strategy"):
        LadderingSettings(strategy=strategy)


def test_both_strategies_are_arms_of_one_run_and_nothing_mixes_them(tmp_path: Path) -> None:
    settings: Any = {"turns": 4, "strategy": "scored,static"}
    expected = enquete.estimate(
        personas(tmp_path, 2), out=str(tmp_path / "o"), methods=["laddering"], settings={"laddering": settings}
    )
    assert {line.arm for line in expected.lines} == {"main", "laddering_static"}
    run, alone = (
        enquete.conduct_interviews(
            personas(tmp_path, 2), out=str(tmp_path / out), methods=["laddering"], budget_tokens=10**8, language="en",
            settings={"laddering": {**settings, "strategy": strategy}},
        )
        for out, strategy in (("both", "scored,static"), ("alone", "scored"))
    )  # fmt: skip
    assert run.status == "completed"
    assert set(zip(run.responses["arm"], run.responses["arm_role"], strict=True)) == {
        ("main", "main"), ("laddering_static", "variant"),
    }  # fmt: skip
    calls = Counter(arm for _, _, arm, *_ in call_keys(run.folder))
    assert calls.keys() == {"main", "laddering_static"}
    found, single = run.results["laddering"], alone.results["laddering"]
    assert found["arms"] == ["main"]
    for name in ("concepts", "implications", "turns", "agents", "coverage", "measures"):
        assert found[name] == single[name]  # the comparison is beside the findings, never in them
    comparison: Any = found["comparison"]
    assert single["comparison"] == {}
    assert [(row["strategy"], row["n"]) for row in comparison["strategies"]] == [("scored", 2), ("static", 2)]
    section, appendix = texts(EVALUATION, found, "en")
    assert "cannot be said of 2 agents" in section
    assert "| a fixed script | 2 | 4.0 |" in section
    assert "another strategy" not in appendix
