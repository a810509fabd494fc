"""Comparisons in the scenario findings against figures by hand, and what the report makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.graphs.scenario.results import EVALUATION
from tests.graphs.test_scenario_analysis import (
    ALL,
    INSTRUMENT,
    SCENARIOS,
    THEMES,
    TYPES,
    A,
    C,
    find,
    of_ones_own,
    table,
)
from tests.support.texts import row, texts

GROUPS = (("fisher", 7, 5), ("industry", 1, 5), ("angler", 4, 3))
TYPES.update({f"{kind[0]}{i}": kind for kind, _, n in GROUPS for i in range(n)})


def one(entries: list[dict[str, Any]], **wanted: str) -> dict[str, Any]:
    (found,) = [entry for entry in entries if all(entry[key] == value for key, value in wanted.items())]
    return found


def test_pairs_of_scenarios_are_compared_within_agents() -> None:
    """a: 7 → 1, b: 5 → 2, so d = −6, −3: both signs fall in 2 of 4 sign patterns; Walsh averages −6, −4.5, −3."""
    entry = one(find(ALL)["pairwise"], dimension="desirability", first="erholung", second="kollaps")
    assert (entry["n"], entry["n_missing"], entry["n_total"]) == (2, 2, 4)
    assert (entry["p"], entry["rank_biserial"], entry["hodges_lehmann"]) == (0.5, -1, -4.5)
    assert entry["p_holm"] == 1  # six pairs: 6 · 0.5 > 1
    assert len(find(ALL)["pairwise"]) == 4 * 6


def test_types_with_enough_ratings_are_compared_and_smaller_ones_are_in_no_effect() -> None:
    """Recovery: five fishers wish 7, five of the industry 1, and three anglers 4, who are too few to speak for a group.
    Ranks 8 and 3: H = 12/110·(40²/5 + 15²/5) − 33 = 6.818, over its ties 1 − 240/990 = 9; ε² = 9/9. Two of C(10, 5) = 252
    relabellings part the ten as far."""
    found = find({f"{kind[0]}{i}": {"erholung": [value] * 4} for kind, value, n in GROUPS for i in range(n)})
    entry = one(found["group_tests"], item="erholung/desirability")
    assert (entry["n"], entry["n_total"], entry["groups"]) == (10, 13, {"fisher": 5, "industry": 5})
    assert (entry["h"], entry["epsilon_squared"]) == (pytest.approx(9), pytest.approx(1))
    assert (entry["p"], entry["method"]) == (pytest.approx(2 / 252), "exact permutation")
    assert entry["p_holm"] == pytest.approx(4 * 2 / 252)  # the other three scenarios were not rated


def test_nothing_to_compare_gives_a_reason_and_none() -> None:
    entry = one(find({"a": A})["group_tests"], item="kollaps/fairness")
    assert (entry["reason"], entry["p"], entry["p_holm"]) == ("fewer than 3 values", None, None)
    assert find({"c": C})["pairwise"][0]["p"] is None


def test_quadrants_stand_on_the_midpoint_and_on_the_agents_own_means() -> None:
    """a wishes 7, 1, 4, 1 (mean 3.25) and expects 2, 6, 4, 5 (4.25): (3.75/3, −2.25/3). b wishes 5, 2, 3, 6 (4) and expects
    6, 2, 4, 5 (4.25): (1/3, 1.75/3). c rated one scenario and has no mean to compare with."""
    entry = one(find(ALL)["polarity"]["scenarios"], scenario="erholung")
    own = entry["agent_centred"]
    assert (own["n_responded"], own["n_total"]) == (2, 4)
    assert own["wish"] == pytest.approx((1.25 + 1 / 3) / 2)
    assert own["expectation"] == pytest.approx((-0.75 + 1.75 / 3) / 2)
    assert (own["quadrant"], entry["quadrant"]) == ("wished_unexpected", "undecided")
    assert {kind["stakeholder_type"] for kind in own["by_type"]} == {"fisher | small", "industry"}


def test_polarity_has_its_share_between_types() -> None:
    """Fishers are (7, 2): (1)·(−2/3); industry (5, 6): (1/3)·(2/3). Polarity lies between the types altogether, by chance in
    2 of 252 relabellings; no other scenario was rated."""
    sides = {"f": [7.0, 2.0, 7.0, 7.0], "i": [5.0, 6.0, 5.0, 5.0]}
    found = find({f"{kind}{i}": {"erholung": ratings} for kind, ratings in sides.items() for i in range(5)})
    entry = one(found["polarity_tests"], scenario="erholung")
    assert (entry["eta_squared"], entry["n"]) == (pytest.approx(1), 10)
    assert (entry["p"], entry["p_holm"]) == (pytest.approx(2 / 252), pytest.approx(2 / 252))
    assert find({"a": {"erholung": [5]}}, of_ones_own())["polarity_tests"] == []


def test_spread_has_agreement_and_bimodality() -> None:
    rating = one(find(ALL)["ratings"], item="erholung/desirability")
    # 7, 5, 6: three raters, too few for the small-sample kurtosis of the coefficient
    assert rating["agreement"] is not None
    assert rating["bimodality"] is None


def test_themes_are_counted_against_the_answers_of_each_type() -> None:
    found = find(ALL, **{"themes/erholung": THEMES})
    assert found["open"]["scenarios"][0]["by_type"] == [
        {"stakeholder_type": "fisher | small", "n_responded": 2, "n_total": 2},
        {"stakeholder_type": "industry", "n_responded": 1, "n_total": 2},
    ]
    said = find(
        {f"{kind[0]}{i}": {"erholung": [value] * 4} for kind, value, n in GROUPS for i in range(n)},
        **{
            "themes/erholung": {
                "themes": [{"id": "t", "label": "Go | on", "statements": ["f0|erholung/open", "a0|erholung/open"]}]
            }
        },
    )
    # of thirteen answers two; of five fishers one; three anglers are too few for a column
    assert row(texts(EVALUATION, said)[1], "Go \\| on") == ["Go \\| on", "2 / 13", "1 / 5", "0 / 5"]


def test_the_file_holds_every_comparison() -> None:
    matrix = EVALUATION.files(find(ALL), table(ALL), "T1")["polarity_matrix.json"]
    assert isinstance(matrix, dict)
    assert {"pairwise", "group_tests", "polarity_tests", "unit_of_inference"} <= matrix.keys()
    assert len(matrix["group_tests"]) == len(SCENARIOS) * len(INSTRUMENT.dimensions)
