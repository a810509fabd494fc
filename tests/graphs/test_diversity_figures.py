"""The diversity figures show what was found: types, the tree, factors and what sets them apart."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.graphs.diversity.figures import figures
from enquete.reports.figures import chosen, named
from enquete.reports.figures.canvas import Figure

FACTOR = {
    "factor": 1, "bipolar": False, "n_flagged": 2, "z": {"x": 1.2, "y": -0.3, "w": -0.9}, "array": {"x": 1, "y": 0, "w": -1},
    "distinguishing": [{"item": "x", "level": 0.01}, {"item": "y", "level": None}],
}  # fmt: skip
OTHER = {
    **FACTOR,
    "factor": 2,
    "z": {"x": -1.0, "y": -0.2, "w": 1.2},
    "array": {"x": -1, "y": 0, "w": 1},
    "distinguishing": [],
}
EIGENVALUES = [
    {"rank": 1, "eigenvalue": 5.0, "chance_mean": 2.0, "chance_95": 2.4},
    {"rank": 2, "eigenvalue": 1.0, "chance_mean": 1.8, "chance_95": 2.1},
]
FOUND: dict[str, Any] = {
    "participation": {"agents_analysed": 4, "agents_total": 5},
    "grid": {"distribution": {"-1": 1, "0": 1, "1": 1}},
    "statements": [
        {"item": item, "short": short, "mean": mean, "sd": 0.5, "n_responded": 4, "n_total": 5}
        for item, short, mean in (("x", "rest", 0.5), ("y", "trade", -0.2), ("w", "fleets", -0.3))
    ],
    "pca": {
        "first_two": 0.72, "components": [{"explained": 0.44}, {"explained": 0.28}],
        "scores": [{"participant": "p", "scores": [0.1, 0.2, 0.0]}, {"participant": "q", "scores": [-0.1, 0.3, 0.0]}],
    },
    "archetypes": [{"archetype": "A", "name": "for rest"}],
    "members": [{"participant": "p", "archetype": "A", "name": "Kai", "stakeholder_type": "SmallFisher"}],
    "tree": {"n_agents": 4, "ends": [{"n": 1, "archetypes": {"A": 1}}, {"n": 1, "archetypes": {"A": 1}}, {"n": 2, "archetypes": {"": 2}}],
             "joins": [[0, 1, 2.0], [3, 2, 5.0]]},
    "q": {"factors": [FACTOR, OTHER], "number": {"parallel": 1, "used": 2, "eigenvalues": EIGENVALUES}},
}  # fmt: skip


def drawn(name: str, **more: Any) -> Figure:
    return chosen(f"diversity/{name}", named("diversity", figures({**FOUND, **more}, "en")))


def test_agents_stand_on_the_plane_in_the_colour_of_their_type() -> None:
    one = drawn("pca")
    typed, untyped = one.spec["data"]
    assert (typed["name"], typed["x"], typed["hovertext"]) == (
        "type A, 1 agents: for rest",
        [0.1],
        ["Kai, small fisher"],
    )
    assert (untyped["name"], untyped["x"]) == ("of no type", [-0.1])
    assert one.spec["layout"]["xaxis"]["title"]["text"] == "component 1 (44% of variance)"
    assert "4 of 5 agents" in one.note


def test_where_there_are_no_types_none_are_named() -> None:
    one = drawn("pca", archetypes=[], members=[], tree={})
    assert "no types were found" in one.title
    assert not one.lead


def test_statements_are_filled_where_they_set_a_factor_apart_the_most_disputed_on_top() -> None:
    """x: 1.2 and −1.0, w: −0.9 and 1.2, y: −0.3 and −0.2: deviations from their means 2.42, 2.205, .005."""
    one = drawn("statements")
    assert one.spec["layout"]["yaxis"]["ticktext"] == ["rest", "fleets", "trade"]
    first = next(each for each in one.spec["data"] if each.get("name", "").startswith("view 1"))
    assert first["marker"]["symbol"] == ["circle", "circle-open", "circle-open"]
    assert first["x"] == [1.2, -0.9, -0.3]


def test_without_factors_there_are_mean_ranks() -> None:
    one = drawn("statements", q={})
    assert one.spec["data"][0]["x"] == [0.5, -0.2, -0.3]
    assert "no shared views" in one.title


def test_a_grid_holds_every_statement_in_its_place() -> None:
    first, second = drawn("factors").spec["data"]
    assert (first["x"], first["text"]) == ([-1, 0, 1], [["fleets", "trade", "<b>rest</b>"]])
    assert second["text"] == [["rest", "trade", "fleets"]]
    assert "View 1: at the top rest; at the bottom fleets." in drawn("factors").alt


def test_a_grid_too_wide_for_texts_holds_numbers() -> None:
    wide = {str(place): 1 for place in range(-6, 7)}
    one = drawn("factors", grid={"distribution": wide})
    assert [text for text in one.spec["data"][0]["text"][0] if text] == ["3", "2", "<b>1</b>"]
    assert "numbers" in one.note


def test_factors_above_chance_are_filled() -> None:
    own = drawn("scree").spec["data"][0]
    assert own["marker"]["symbol"] == ["circle", "circle-open"]


def test_branches_join_where_they_are_alike_and_keep_the_colour_of_their_type() -> None:
    """Ends at 0, 1 and 2; the first two join at 2.0 over 0.5, that and the third at 5.0."""
    typed, mixed = drawn("tree").spec["data"]
    assert (typed["name"], typed["x"], typed["y"]) == ("type A only", [0, 0, 1, 1, None], [0, 2.0, 2.0, 0, None])
    assert (mixed["x"], mixed["y"]) == ([0.5, 0.5, 2, 2, None], [2.0, 5.0, 5.0, 0, None])
    assert drawn("tree").spec["layout"]["xaxis"]["ticktext"] == ["1", "1", "2"]


@pytest.mark.parametrize("missing", ["pca", "tree", "q", "statements"])
def test_what_is_missing_is_left_out(missing: str) -> None:
    names = [one.name for one in figures({**FOUND, missing: {}, "q": {}}, "en")]
    assert names
    assert missing not in names or missing == "statements"
