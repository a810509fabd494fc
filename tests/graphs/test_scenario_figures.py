"""The scenario figures show what was found: who was placed, groups that are large enough."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.graphs.scenario.figures import figures
from enquete.reports.figures import chosen, named
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.labels import Box, sides


def group(kind: str, n: int, **more: Any) -> dict[str, Any]:
    return {"stakeholder_type": kind, "n_responded": n, "n_total": n, **more}


FOUND: dict[str, Any] = {
    "asked": {"n_responded": 18, "n_total": 20, "agents_responded": 18, "agents_total": 20},
    "scenarios": [{"scenario": "s", "label": "Recovery"}, {"scenario": "c", "label": "Collapse"}],
    "dimensions": [{"dimension": "desirability", "label": "Desirability", "scale_min": 1, "scale_max": 7}],
    "ratings": [
        {"scenario": "s", "dimension": "desirability", "item": "s/desirability", "n_responded": 18, "n_total": 20, "mean": 6.0,
         "by_type": [group("Fisher", 9, mean=6.5), group("NGO", 5, mean=5.0), group("EU", 4, mean=1.0)]},
    ],
    "polarity": {
        "desirability": "desirability",
        "scenarios": [
            {"scenario": "s", "wish": 0.7, "expectation": -0.1, "n_responded": 18, "n_total": 20,
             "by_type": [group("Fisher", 9, wish=1.0, expectation=0.0), group("EU", 4, wish=0.1, expectation=0.1),
                         group("NGO", 5, wish=None, expectation=None)]},
            {"scenario": "c", "wish": None, "expectation": None, "n_responded": 0, "n_total": 20, "by_type": []},
        ],
    },
}  # fmt: skip


def drawn(name: str, **more: Any) -> Figure:
    return chosen(f"scenario/{name}", named("scenario", figures({**FOUND, **more}, "en")))


def test_scenarios_and_groups_without_a_place_and_small_groups_are_left_out() -> None:
    small, large = drawn("quadrants").spec["data"]
    assert (large["x"], large["y"], large["text"]) == ([-0.1], [0.7], ["<b>Recovery</b>"])
    assert (small["x"], small["y"]) == ([0.0], [1.0])  # the nine fishers alone


def test_means_by_group_the_largest_first() -> None:
    """On a scale from 1 to 7 a mean of 6.0 lies at 5/6, 6.5 at 5.5/6, 5.0 at 4/6; below the name of the dimension."""
    one = drawn("groups")
    (cells,) = one.spec["data"]
    assert one.spec["layout"]["xaxis"]["ticktext"] == ["all (20)", "Fisher (9)", "NGO (5)"]
    assert one.spec["layout"]["yaxis"]["ticktext"] == ["<b>Desirability (1–7)</b>", "Recovery", "Collapse"]
    assert cells["z"][1] == [pytest.approx(5 / 6), pytest.approx(5.5 / 6), pytest.approx(4 / 6)]
    assert cells["text"][1] == ["6.0", "6.5", "5.0"]
    assert cells["meta"]["links"][1][1] == "scenario?item_id=s%2Fdesirability&stakeholder_type=Fisher"


def test_without_large_groups_the_dimensions_stand_side_by_side() -> None:
    one = drawn("groups", ratings=[{**FOUND["ratings"][0], "by_type": [group("Fisher", 4, mean=6.5)]}])
    assert one.spec["layout"]["xaxis"]["ticktext"] == ["Desirability (1–7)"]
    assert one.spec["data"][0]["text"] == [["6.0"], [""]]


def test_labels_keep_off_other_points_and_the_edge() -> None:
    """The first has a point to its right and must not cross the left edge; above it there is room."""
    page = Box(0, 0, 200, 100)
    (side,) = sides([(10.0, 50.0)], ["a label"], page, others=[(30.0, 50.0)])
    assert side == "top right" or side.startswith(("top", "bottom"))
    assert sides([(100.0, 50.0)], ["a"], page) == ["middle right"]
