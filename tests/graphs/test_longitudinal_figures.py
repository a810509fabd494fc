"""The longitudinal figures show what was found; expected numbers are derived by hand beside each test."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from enquete.graphs.longitudinal.figures import figures
from enquete.graphs.longitudinal.slopes import _spread
from enquete.reports.figures import chosen, named
from enquete.reports.figures.canvas import Figure


def wave(*counts: int) -> dict[str, Any]:
    """Answers to the points 1, 2, … of a scale."""
    n = sum(counts)
    mean = sum(point * count for point, count in enumerate(counts, start=1)) / n
    distribution = {str(point): count for point, count in enumerate(counts, start=1)}
    return {"mean": mean, "n_responded": n, "n_total": n, "distribution": distribution}


def item(name: str, wording: str, first: dict[str, Any], second: dict[str, Any], **more: Any) -> dict[str, Any]:
    known = {"item": name, "wording": wording, "family": "f", "scale_min": 1, "scale_max": 5, "reverse_keyed": False}
    return {**known, "waves": {"T0": first, "T1": second}, **more}


def change(
    name: str, low: float, mean: float, high: float, p: float, by_type: dict[str, tuple[int, float]]
) -> dict[str, Any]:
    groups = [{"stakeholder_type": kind, "n": n, "mean_change": value} for kind, (n, value) in by_type.items()]
    effects = {"mean_change": {"estimate": mean, "low": low, "high": high}}
    return {"item": name, "n": 10, "mean_change": mean, "p_holm": p, "effects": effects, "by_type": groups}


COUNTED = {"n_responded": 20, "n_total": 20, "agents_responded": 10, "agents_total": 10}
FOUND: dict[str, Any] = {
    "waves": {"T0": COUNTED, "T1": COUNTED},
    "pairing": {"agents_paired": 10, "agents_total": 10},
    "items": [
        item("a", "Quotas are fair.", wave(2, 3, 4, 1, 0), wave(0, 2, 4, 3, 1)),
        item("b", "Control is a burden.", wave(0, 0, 10, 0, 0), wave(0, 0, 10, 0, 0), reverse_keyed=True),
    ],
    "drift": {
        "interpretable": True,
        "families": [{"family": "f", "label": "Rules"}],
        "items": [
            change("a", 0.4, 0.9, 1.4, 0.001, {"NGO": (6, 1.2), "Fisher": (5, 0.5), "EU": (4, 3.0)}),
            change("b", -0.1, 0.0, 0.1, 1.0, {"NGO": (6, 0.0), "Fisher": (5, 0.1), "EU": (4, 0.0)}),
        ],
        "minus_placebo": {
            "items": [{"item": "b", "placebo": 0.25, "n": 10, "p_holm": 0.01, "difference": {"low": -0.5, "estimate": -0.3, "high": -0.2}}]
        },
    },
}  # fmt: skip


def drawn(name: str, **more: Any) -> Figure:
    return chosen(f"longitudinal/{name}", named("longitudinal", figures({**FOUND, **more}, "en")))


def trace(one: Figure, name: str, axis: str = "x") -> dict[str, Any]:
    (found,) = [each for each in one.spec["data"] if (each.get("name"), each.get("xaxis", "x")) == (name, axis)]
    return found


def test_changes_with_their_intervals_and_the_placebo_as_worded() -> None:
    """The placebo's 0.25 is rekeyed; of a reverse-keyed statement it is −0.25 as worded, and −0.5 to −0.2 are 0.2 to 0.5."""
    one = drawn("drift")
    sure = trace(one, "change at p < 0.05 (Holm)")
    assert (sure["x"], sure["y"]) == ([0.9], [0])
    assert (sure["error_x"]["array"], sure["error_x"]["arrayminus"]) == (pytest.approx([0.5]), pytest.approx([0.5]))
    assert trace(one, "no change at p < 0.05 (Holm)")["x"] == [0.0]
    assert trace(one, "placebo: asked again with a neutral memory")["x"] == [-0.25]
    beyond = trace(one, "change at p < 0.05 (Holm)", "x2")
    assert (beyond["x"], beyond["y"]) == ([0.3], [1])
    assert (beyond["error_x"]["array"], beyond["error_x"]["arrayminus"]) == (pytest.approx([0.2]), pytest.approx([0.1]))
    assert "Largest change: Quotas are fair, +0.90." in one.alt


def test_what_was_not_tested_is_not_called_a_change() -> None:
    one = drawn("drift", drift={**FOUND["drift"], "interpretable": False})
    assert {each.get("name") for each in one.spec["data"]} == {
        "not tested",
        "placebo: asked again with a neutral memory",
    }
    assert "not tested" in one.alt
    assert "cannot be compared" in one.note


def test_bars_part_in_the_middle_of_the_scale() -> None:
    """2, 3, 4, 1, 0 of 10: left of 0 lie .2 + .3 + half of .4 = .7, so the bars begin at −.7, −.5, −.2, .2, .3."""
    bars = [each for each in drawn("answers").spec["data"] if each["type"] == "bar"]
    assert [each["base"][0] for each in bars] == pytest.approx([-0.7, -0.5, -0.2, 0.2, 0.3])
    assert [each["x"][0] for each in bars] == pytest.approx([0.2, 0.3, 0.4, 0.1, 0.0])


def test_one_wave_has_answers_and_no_change() -> None:
    items = [{**one, "waves": {"T1": one["waves"]["T1"]}} for one in FOUND["items"]]
    found = figures({"waves": {"T1": COUNTED}, "items": items, "drift": None}, "en")
    assert [each.name for each in found] == ["answers"]


def test_groups_below_five_are_left_out() -> None:
    one = drawn("groups")
    (cells,) = one.spec["data"]
    assert [text.split(" ")[0] for text in one.spec["layout"]["xaxis"]["ticktext"]] == ["all", "NGO", "Fisher"]
    assert cells["z"][0] == [0.9, 1.2, 0.5]
    assert "NGO, +1.2" in one.alt  # not the four of the EU


def test_labels_lie_over_one_another_nowhere_and_stay_beside_the_plot() -> None:
    """Three labels of 20 px that want to stand at 95, 96 and 97 of 100 px: the last reaches a line below it."""
    middles = _spread([95.0, 96.0, 97.0], [20.0, 20.0, 20.0], 100.0)
    assert [later - earlier for earlier, later in pairwise(middles)] == pytest.approx([20, 20])
    assert middles[-1] + 10 <= 102
    assert _spread([10.0, 90.0], [20.0, 20.0], 100.0) == [10.0, 90.0]
