"""Strategies side by side: measures over codes by hand, the difference against scipy, the arms of a run apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError
from scipy import stats

import enquete
from enquete.methods.laddering.comparison import compare_strategies, measure_coverage, measure_interviews
from enquete.methods.laddering.evaluation import PRESENTATION
from enquete.methods.laddering.interview import LadderingInterview, TurnRecord
from enquete.methods.laddering.knowledge import KnowledgeGraph
from enquete.methods.laddering.network import pool
from enquete.methods.laddering.settings import LadderingSettings
from enquete.reports.analyses import read_results
from enquete.reports.result_tables import rows_of
from tests.methods.laddering.builders import SETTINGS, graph
from tests.support.charts import results
from tests.support.studies import call_keys, personas
from tests.support.tables import findings

ELEMENT = next(iter(SETTINGS.topic.elements))


def interview(unit: str, known: KnowledgeGraph, turns: int = 2, stop: str = "max_turns") -> LadderingInterview:
    """Over after so many turns, of which only the last one's end is known."""
    records = [TurnRecord.model_construct(turn=n, stop=stop if n == turns else "") for n in range(1, turns + 1)]
    return LadderingInterview(unit, tuple(records), graph=known)


def test_an_element_is_spoken_of_by_code_in_whatever_words() -> None:
    """a1 is linked to the element in one of its two interviews, half of them: both cover it. a2 in one of three: nobody
    does."""
    linked = {"a1": (ELEMENT,)}
    both = [interview("x", graph("a1 f1", "a1>f1", linked)), interview("y", graph("a1"))]
    concepts = pool(both)
    coverage = measure_coverage(both, concepts, SETTINGS)
    assert [covering.elements[ELEMENT].covered for covering in coverage.values()] == [True, True]
    x, y = (SimpleNamespace(**values) for values in measure_interviews(both, concepts, coverage).values())
    assert (x.richness, x.links, x.new_per_turn, y.richness, y.links, y.new_per_turn) == (2, 1, 1.0, 1, 0, 0.5)
    assert x.coverage == 1 / len(SETTINGS.topic.elements)
    three = [interview("x", graph("a2", elements={"a2": (ELEMENT,)})), *(interview(u, graph("a2")) for u in "yz")]
    assert not any(covering.elements_covered for covering in measure_coverage(three, pool(three), SETTINGS).values())


def pair(richness: list[tuple[int, int]]) -> dict[str, list[LadderingInterview]]:
    """Agents with so many concepts by the adaptive and by the fixed questions."""
    named = [" ".join(f"a{n}" for n in range(1, 9))[: 3 * most - 1] for most in range(9)]
    return {
        "static": [interview(str(unit), graph(named[b])) for unit, (_, b) in enumerate(richness)],
        "scored": [interview(str(unit), graph(named[a])) for unit, (a, _) in enumerate(richness)],
    }


def compared(interviews: dict[str, list[LadderingInterview]], strategy: str) -> dict[str, Any]:
    """Rows of the tables, by name."""
    tables = compare_strategies(interviews, LadderingSettings(strategy=strategy))
    return {name: rows_of(frame) for name, frame in tables.items()}


def told(tables: dict[str, Any], n_total: int) -> Any:
    facts = {"n": n_total, "n_total": n_total, "by_rule": False, "mean_richness": 5.0}
    return results(PRESENTATION, tables, facts, methodology="laddering")


def test_the_difference_is_adaptive_less_other_agent_by_agent() -> None:
    by = pair([(5, 3), (4, 3), (6, 2), (3, 3), (5, 4), (7, 4)])
    by["scored"].append(interview("6", graph("a1"), stop=""))  # not over: in no comparison
    tables: Any = compared(by, "static,scored")
    entry = tables["adapting"][0]
    again = stats.ttest_rel([5, 4, 6, 3, 5, 7], [3, 3, 2, 3, 4, 4])
    low, high = again.confidence_interval(0.95)
    assert [entry[key] for key in ("n", "mean", "low", "high", "p")] == pytest.approx(
        [6, 11 / 6, low, high, again.pvalue]
    )
    assert (entry["strategy"], entry["measure"], entry["direction"]) == ("static", "richness", "more")
    assert [row["richness"] for row in tables["strategies_compared"]] == pytest.approx([19 / 6, 5])
    sentence = findings(PRESENTATION, told(tables, 8).analysis)["adapting"].text
    assert sentence.startswith("Adapting helped: adaptive questions found 1.8 more concepts an interview than a fixed")
    assert sentence.endswith("n = 6/8).")


@pytest.mark.parametrize(
    ("richness", "message"),
    [
        ([(2, 4), (3, 5), (2, 5), (1, 3), (2, 4)], "did not help: adaptive questions found 2.2 fewer"),
        ([(3, 3)] * 5, "not certain"),
    ],
)
def test_no_help_and_no_difference_are_said_so(richness: list[tuple[int, int]], message: str) -> None:
    tables: Any = compared(pair(richness), "scored,static")
    assert message in findings(PRESENTATION, told(tables, len(richness)).analysis)["adapting"].text


def test_too_few_are_not_compared() -> None:
    read = told(compared(pair([(5, 1)] * 4), "scored,static"), 4)
    assert "adapting" not in findings(PRESENTATION, read.analysis)
    assert "cannot be said of 4 agents" in read.at("section")


@pytest.mark.parametrize("strategy", ["static,random", "scored,scored", "scored,", "clever"])
def test_strategies_that_cannot_be_compared_are_refused(strategy: str) -> None:
    with pytest.raises(ValidationError, match="strategy"):
        LadderingSettings(strategy=strategy)


@pytest.mark.usefixtures("results_only")
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
    assert set(zip(run.all_responses["arm"], run.all_responses["arm_role"], strict=True)) == {
        ("main", "main"), ("laddering_static", "variant"),
    }  # fmt: skip
    calls = Counter(arm for _, _, arm, *_ in call_keys(run.folder))
    assert calls.keys() == {"main", "laddering_static"}
    joined: Any = run.results["laddering"]
    single: Any = alone.results["laddering"]
    assert joined["arms"] == ["main"]
    for name in ("concepts", "implications", "coverage", "mean_richness"):
        assert joined[name] == single[name]  # the comparison is beside the findings, never in them
    assert single["strategies_compared"] == []
    read = read_results("laddering", PRESENTATION, joined, "en")
    assert [(row["strategy"], row["n"]) for row in joined["strategies_compared"]] == [("scored", 2), ("static", 2)]
    assert "cannot be said of 2 agents" in read.at("section")
    assert "| a fixed script | 2 |" in read.at("section")
