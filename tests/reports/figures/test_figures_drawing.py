"""Figures: what is on them is what the findings say, in both languages, and what cannot be drawn says why."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("plotly", reason="the extra 'figures' is not installed")

from enquete.graphs.registry import dotted_paths
from enquete.reports import figures
from enquete.state.asking import Language
from enquete.state.errors import InputError


def drawn(name: str, results: dict[str, Any], language: Language) -> Any:
    return figures.draw(name, dotted_paths(), results, language)


def wave(mean: float, n: int = 4) -> dict[str, Any]:
    return {"mean": mean, "n_responded": n, "n_total": 5}


def shift(low: float | None, estimate: float, high: float | None) -> dict[str, Any]:
    return {"effects": {"hodges_lehmann": {"estimate": estimate, "low": low, "high": high}}}


LONGITUDINAL: dict[str, Any] = {
    "waves": {"T0": {"n_responded": 8, "n_total": 10}, "T1": {"n_responded": 9, "n_total": 10}},
    "items": [
        {"item": "a", "wording": "First?", "scale_min": 1, "scale_max": 5, "waves": {"T0": wave(2.0), "T1": wave(3.5)}},
        {
            "item": "b",
            "wording": "Second?",
            "scale_min": 1,
            "scale_max": 5,
            "waves": {"T0": wave(4.0), "T1": {"mean": None}},
        },
    ],
    "drift": {"items": [{"item": "a", **shift(0.5, 1.5, 2.0)}, {"item": "b", **shift(None, 0.0, None)}]},
}
RATING = {"dimension": "importance", "n_responded": 4, "n_total": 5, "mean": 3.0}
DELPHI: dict[str, Any] = {
    "themes": [{"id": "t1", "label": "Quotas"}, {"id": "t2", "label": "Seals"}],
    "dimensions": [{"dimension": "importance", "scale_min": 1, "scale_max": 5}],
    "rounds": {"2": {"n_responded": 8, "n_total": 10}, "3": {"n_responded": 7, "n_total": 10}},
    "ratings": [
        {**RATING, "theme": "t1", "round": 2, "median": 3.0, "q1": 2.0, "q3": 5.0},
        {**RATING, "theme": "t1", "round": 3, "median": 3.0, "q1": 3.0, "q3": 3.0},
        {**RATING, "theme": "t2", "round": 2, "median": 4.0, "q1": 4.0, "q3": 4.0},
        {**RATING, "theme": "t2", "round": 3, "median": 4.0, "q1": 4.0, "q3": 5.0},
    ],
}
SCENARIO: dict[str, Any] = {
    "asked": {"n_responded": 18, "n_total": 20},
    "scenarios": [{"scenario": "s", "label": "Recovery"}],
    "polarity": {
        "scenarios": [
            {"scenario": "s", "wish": 0.7, "expectation": -0.1, "n_responded": 4, "n_total": 5,
             "by_type": [{"stakeholder_type": "Fisher", "wish": 1.0, "expectation": 0.0, "n_responded": 1, "n_total": 1},
                         {"stakeholder_type": "NGO", "wish": None, "expectation": None, "n_responded": 0, "n_total": 1}]},
            {"scenario": "nobody", "wish": None, "expectation": None, "n_responded": 0, "n_total": 5, "by_type": []},
        ]
    },
}  # fmt: skip
DIVERSITY: dict[str, Any] = {
    "participation": {"sort": {"n_responded": 48, "n_total": 60}},
    "statements": [{"item": "x", "short": "rest", "mean": 1.5, "sd": 0.5, "n_responded": 4, "n_total": 5}],
    "pca": {
        "components": [{"explained": 0.44}, {"explained": 0.28}],
        "scores": [{"participant": "p", "scores": [0.1, 0.2, 0.0]}, {"participant": "q", "scores": [-0.1, 0.3, 0.0]}],
    },
    "archetypes": [{"archetype": "A", "name": "for rest"}],
    "members": [{"participant": "p", "archetype": "A", "name": "Kai", "stakeholder_type": "Fisher"}],
}
BOX = {"lines": [], "agents": 4}
LADDERING: dict[str, Any] = {
    "answers": {"n_responded": 28, "n_total": 30},
    "value_map": {
        "cut_off": 3,
        "levels": ["attribute", "value"],
        "boxes": [{**BOX, "id": "c1", "label": "short trips", "level": 0, "x": 100.0},
                  {**BOX, "id": "c2", "label": "time at home", "level": 1, "x": 200.0}],
        "links": [{"source": "c1", "target": "c2", "direct": 3, "indirect": 0},
                  {"source": "c1", "target": "gone", "direct": 9, "indirect": 0}],
    },
}  # fmt: skip
FINDINGS = {
    "longitudinal": LONGITUDINAL,
    "delphi": DELPHI,
    "scenario": SCENARIO,
    "diversity": DIVERSITY,
    "laddering": LADDERING,
}


def named(figure: Any, name: str) -> Any:
    (trace,) = [trace for trace in figure.data if trace.name and trace.name.startswith(name)]
    return trace


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_every_figure_says_who_answered(name: str, language: Language) -> None:
    figure = drawn(name, FINDINGS, language)
    note = figure.layout.title.subtitle.text
    assert {"de": "simulierte Befragte", "en": "simulated respondents"}[language] in note
    assert {"de": " von ", "en": " of "}[language] in note
    assert figure.to_json()  # what a notebook is given


def test_dumbbells_and_shifts() -> None:
    figure = drawn("longitudinal", FINDINGS, "en")
    assert list(named(figure, "T0").x) == [2.0, 4.0]
    assert list(named(figure, "T1").x) == [3.5]  # nobody answered the second item at T1: no dot, not 0
    sure = named(figure, "95% interval")
    assert (sure.x[0], sure.error_x.array[0], sure.error_x.arrayminus[0]) == (1.5, 0.5, 1.0)
    assert list(named(figure, "estimate without").x) == [0.0]
    assert "T0: 8 of 10 answers" in figure.layout.title.subtitle.text


def test_one_wave_has_no_shift() -> None:
    items = [{**item, "waves": {"T1": item["waves"]["T0"]}} for item in LONGITUDINAL["items"]]
    figure = drawn("longitudinal", {"longitudinal": {"items": items, "waves": {}}}, "en")
    assert figure.layout.title.text == "Longitudinal: means by item"
    assert "xaxis2" not in figure.layout


def test_themes_are_in_the_last_round_s_order_of_importance() -> None:
    figure = drawn("delphi", FINDINGS, "en")
    assert list(figure.layout.yaxis.ticktext) == ["Seals", "Quotas"]
    second = named(figure, "round 2")
    assert list(second.x) == [3.0, 4.0]
    assert list(second.error_x.array) == [2.0, 0.0]
    assert list(second.error_x.arrayminus) == [1.0, 0.0]


def test_scenarios_and_groups_without_a_place_are_left_out() -> None:
    figure = drawn("scenario", FINDINGS, "en")
    dot = named(figure, "Recovery")
    assert (dot.x[0], dot.y[0]) == (-0.1, 0.7)
    assert len(figure.data) == 2  # the scenario's dot and its groups; nothing of the one that nobody placed
    assert len(figure.data[0].x) == 1


def test_agents_by_type_or_ranks_without_a_plane() -> None:
    figure = drawn("diversity", FINDINGS, "en")
    assert named(figure, "type A: 1 agents: for rest").text[0] == "Kai, Fisher"
    assert list(named(figure, "of no type").x) == [-0.1]
    assert figure.layout.xaxis.title.text == "component 1 (44% of variance)"
    assert figure.layout.yaxis.title.text == "component 2 (28% of variance)"
    ranks = drawn("diversity", {"diversity": {**DIVERSITY, "pca": {"scores": []}}}, "en")
    assert ranks.data[0].x[0] == 1.5


def test_a_value_map_rises_from_the_lowest_level() -> None:
    figure = drawn("laddering", FINDINGS, "en")
    link, low, high = figure.data
    assert (list(link.x), list(link.y)) == ([100.0, 150.0, 200.0], [0, 0.5, 1])  # none to a concept off the map
    assert (low.name, low.y[0], high.name, high.y[0]) == ("attribute", 0, "value", 1)
    assert [note.text for note in figure.layout.annotations] == ["short trips", "time at home"]
    assert "links that at least 3 agents gave" in figure.layout.title.subtitle.text


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_nothing_to_draw_says_so(name: str, language: Language) -> None:
    with pytest.raises(InputError, match=name):
        drawn(name, {name: {}}, language)


def test_unknown_figures_name_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"there are figures of .*longitudinal"):
        drawn("delphy", FINDINGS, "en")
    with pytest.raises(InputError, match="only of delphi"):
        drawn("scenario", {"delphi": DELPHI}, "en")
    assert set(figures.drawable(dotted_paths())) >= FINDINGS.keys()
