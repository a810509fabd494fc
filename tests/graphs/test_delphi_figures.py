"""Delphi's figures show what was found: no median where nobody stands, ratings as they are spread, ties as ties."""

from __future__ import annotations

from typing import Any

from enquete.graphs.delphi.figures import figures
from enquete.reports.figures import chosen, named
from enquete.reports.figures.canvas import Figure

RATING: dict[str, Any] = {
    "dimension": "importance", "n_responded": 4, "n_total": 5, "mean": 3.0, "iqr": 0.0, "label": "consensus", "agreement": 1.0,
    "distribution": {"1": 0, "2": 0, "3": 4, "4": 0, "5": 0},
}  # fmt: skip


def rating(theme: str, round_: int, q1: float, median: float, q3: float, **more: Any) -> dict[str, Any]:
    item = f"theme:{theme}/importance"
    return {**RATING, "theme": theme, "item": item, "round": round_, "q1": q1, "median": median, "q3": q3, **more}


SPLIT = rating("t2", 3, 1.0, 3.0, 5.0, label="disagreement", iqr=4.0, mean=2.9, agreement=-1.0,
               distribution={"1": 2, "2": 0, "3": 0, "4": 0, "5": 2})  # fmt: skip
FOUND: dict[str, Any] = {
    "themes": [{"id": "t1", "label": "Quotas"}, {"id": "t2", "label": "Seals"}],
    "dimensions": [{"dimension": "importance", "scale_min": 1, "scale_max": 5}],
    "rounds": {"2": {"n_responded": 8, "n_total": 10}, "3": {"n_responded": 7, "n_total": 10}},
    "ratings": [rating("t1", 2, 2.0, 3.0, 5.0), rating("t2", 2, 4.0, 4.0, 4.0), rating("t1", 3, 3.0, 3.0, 3.0), SPLIT],
    "disagreements": [SPLIT],
    "ranking": [{"by": "consensus", "dimension": "importance", "round": 3, "themes": [
        {"theme": "t1", "rank": 1.5, "low": 1.0, "high": 1.5}, {"theme": "t2", "rank": 1.5, "low": 1.5, "high": 2.0}]}],
}  # fmt: skip


def delphi(name: str) -> Figure:
    return chosen(f"delphi/{name}", named("delphi", figures(FOUND, "en")))


def trace(one: Figure, name: str) -> dict[str, Any]:
    (found,) = [each for each in one.spec["data"] if each.get("name") == name]
    return found


def test_a_split_theme_has_quartiles_and_no_median() -> None:
    """Nobody stands at 3, the median of 1, 1, 5, 5."""
    split = trace(delphi("convergence"), "round 3, split: quartiles without a median")
    assert (split["type"], split["base"], split["x"]) == ("bar", [1.0], [4.0])
    assert trace(delphi("convergence"), "round 3")["x"] == [3.0]  # the other theme
    second = trace(delphi("convergence"), "round 2")
    assert second["error_x"]["array"] == [2.0, 0.0]
    assert second["error_x"]["arrayminus"] == [1.0, 0.0]


def test_themes_are_in_the_last_round_s_order_of_importance() -> None:
    assert delphi("convergence").spec["layout"]["yaxis"]["ticktext"] == ["Quotas", "Seals"]  # means 3.0 and 2.9


def test_dissent_is_shown_as_it_is_spread() -> None:
    one = delphi("dissent")
    assert one.spec["data"][0]["y"] == [2, 0, 0, 0, 2]
    assert one.spec["data"][0]["meta"]["links"][4] == "delphi?item_id=theme%3At2%2Fimportance&round=3&value=5"
    assert "1: 2, 2: 0, 3: 0, 4: 0, 5: 2" in one.alt


def test_tied_themes_share_a_rank() -> None:
    one = delphi("ranking")
    assert one.spec["layout"]["yaxis"]["ticktext"] == ["Quotas  <b>1–2</b>", "Seals  <b>1–2</b>"]
    band = trace(one, "tied: shared ranks")
    assert (band["base"], band["x"]) == ([1, 1], [1, 1])
