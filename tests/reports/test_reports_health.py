"""Instrument health at its thresholds. Tables are small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from enquete.reports.health import entropy, examine, judged
from enquete.reports.health_text import CHECKS, WHY, flag, health_table, spelt

DRIFT = {"longitudinal": {"kind": "drift", "drift": {"interpretable": True}}}


def row(who: int, item: str, value: float | None, **more) -> dict:
    return {
        "arm_role": "main", "methodology": "longitudinal", "phase": "T1", "round": 0, "participant": f"p{who}",
        "item_id": item, "status": "ok" if value is not None else "refused", "value": value, "scale_min": 1, "scale_max": 5,
        "reverse_keyed": False, **more,
    }  # fmt: skip


def waves(pairs: list[list[tuple[float, float]]]) -> pd.DataFrame:
    """One list an agent, one (T0, T1) an item."""
    return pd.DataFrame(
        [
            row(who, f"i{item}", value, phase=phase)
            for who, items in enumerate(pairs)
            for item, both in enumerate(items)
            for phase, value in zip(("T0", "T1"), both, strict=True)
        ]
    )


def verdicts(results: dict, frame: pd.DataFrame, name: str) -> list[tuple[str, float | None]]:
    return [(one.verdict, one.value) for one in examine(results, frame).diagnostics if one.id == name]


@pytest.mark.parametrize(("still", "verdict"), [(8, "ok"), (9, "flagged")])
def test_more_than_eighty_per_cent_without_any_drift_is_flagged(still, verdict):
    frame = waves([[(3, 3), (2, 2)]] * still + [[(3, 4), (2, 2)]] * (10 - still))
    assert verdicts(DRIFT, frame, "zero_drift") == [(verdict, still / 10)]


@pytest.mark.parametrize(("turned", "verdict"), [(4, "ok"), (5, "flagged")])
def test_more_than_eighty_per_cent_turning_round_is_flagged(turned, verdict):
    # 2 → 4 crosses the midpoint 3 on one of two items, which is half; 3 → 5 and 4 → 5 cross nothing
    frame = waves([[(2, 4), (4, 5)]] * turned + [[(3, 5), (4, 5)]] * (5 - turned))
    assert verdicts(DRIFT, frame, "flipping") == [(verdict, turned / 5)]


@pytest.mark.parametrize(
    ("results", "why"),
    [
        ({"longitudinal": {"kind": "experience_effect"}}, "reconstructed"),
        ({"longitudinal": {"kind": None}}, "one_wave"),
        ({}, "one_wave"),
        ({"longitudinal": {"kind": "drift", "drift": {"interpretable": False}}}, "incomparable"),
    ],
)
def test_what_cannot_be_computed_is_never_a_pass(results, why):
    found = [one for one in examine(results, waves([[(3, 3)]])).diagnostics if one.id in ("zero_drift", "flipping")]
    assert [(one.verdict, one.value, one.why) for one in found] == [("not_computable", None, why)] * 2


@pytest.mark.parametrize(("share", "verdict"), [(0.3, "ok"), (0.2999, "flagged"), (None, "not_computable")])
def test_the_first_two_components(share, verdict):
    frame = pd.DataFrame([row(1, "s", 1, methodology="diversity", scale_min=-3, scale_max=3)])
    found = {"diversity": {"pca": {"first_two": share, "n_agents": 1}}}
    assert verdicts(found, frame, "two_components") == [(verdict, share)]


@pytest.mark.parametrize(("same", "verdict"), [(9, "ok"), (10, "flagged")])
def test_ratings_that_nobody_revises(same, verdict):
    frame = pd.DataFrame([row(1, "theme:a/x", 1, methodology="delphi", round=3)])
    found = {"delphi": {"unchanged": {"n_agents": same, "n_agents_paired": 10, "n_agents_total": 12}}}
    assert verdicts(found, frame, "unrevised") == [(verdict, same / 10)]
    assert verdicts({"delphi": {"unchanged": None}}, frame, "unrevised") == [("not_computable", None)]


@pytest.mark.parametrize(("share", "verdict"), [(0.99, "ok"), (1.0, "flagged"), (None, "not_computable")])
def test_scenarios_that_everybody_finds_alike(share, verdict):
    frame = pd.DataFrame([row(1, "a/wish", 4, methodology="scenario", scale_max=7)])
    alike = [
        {"dimension": "wish", "share": share, "n_complete": 3},
        {"dimension": "fair", "share": 1.0, "n_complete": 3},
    ]
    found = {"scenario": {"polarity": {"desirability": "wish"}, "alike": alike}}
    assert verdicts(found, frame, "alike") == [(verdict, share)]


def test_acquiescence_is_the_mean_of_both_keyings_off_the_midpoint():
    # forward 4, reversed 3.1: (4 + 3.1) / 2 − 3 = .55 > .5; with 3: exactly .5, which is still fine
    for last, verdict in ((3.1, "flagged"), (3.0, "ok")):
        frame = pd.DataFrame([row(1, "a", 4), row(1, "b", last, reverse_keyed=True)])
        assert [v for v, _ in verdicts({}, frame, "acquiescence")] == [verdict]
    assert verdicts({}, pd.DataFrame([row(1, "a", 5)]), "acquiescence") == [("not_computable", None)]


@pytest.mark.parametrize(("missing", "verdict"), [(1, "ok"), (2, "flagged")])
def test_more_than_five_per_cent_refused_is_flagged(missing, verdict):
    frame = pd.DataFrame([row(i, "a", None if i < missing else 3) for i in range(20)])
    assert verdicts({}, frame, "refused") == [(verdict, missing / 20)]
    frame["status"] = "not_reached"
    assert verdicts({}, frame, "refused") == [("not_computable", None)]


def test_the_shape_of_an_item():
    # 1, 3, 3, 5 and a refusal: midpoint 2 of 4, ends 2 of 4, mean 3;
    # H = −(½ ln ½ + 2 · ¼ ln ¼) = 1.5 ln 2, over ln 5
    frame = pd.DataFrame([row(i, "a", v) for i, v in enumerate((1, 3, 3, 5, None))])
    (shape,) = examine({}, frame).shapes
    assert (shape.n, shape.n_total, shape.mean, shape.midpoint, shape.ends) == (4, 5, 3.0, 0.5, 0.5)
    assert shape.entropy == pytest.approx(1.5 * math.log(2) / math.log(5))


def test_a_scale_without_a_midpoint_has_no_share_of_it():
    frame = pd.DataFrame([row(1, "a", 2, scale_max=4)])
    (shape,) = examine({}, frame).shapes
    assert shape.midpoint is None
    assert verdicts({}, frame, "style_midpoint") == [("not_computable", None)]


def test_entropy_is_one_when_uniform_and_zero_when_all_agree():
    assert entropy(np.array([1.0, 2, 3, 4, 5]), 5) == pytest.approx(1)
    assert entropy(np.array([2.0, 2, 2]), 5) == 0
    assert entropy(np.array([2.0]), 5) is None


@pytest.mark.parametrize(("ends", "verdict"), [(11, "flagged"), (12, "ok"), (46, "ok"), (47, "flagged")])
def test_endpoints_are_compared_with_half_and_twice_what_people_do(ends, verdict):
    # of 80 answers: 11 = .1375 < .145 ≤ 12 = .15; 46 = .575 ≤ .58 < 47 = .5875
    frame = pd.DataFrame([row(i, "a", 5 if i < ends else 2) for i in range(80)])
    assert verdicts({}, frame, "style_ends") == [(verdict, ends / 80)]


def test_revisions_and_the_places_of_a_forced_grid_are_no_style():
    revised = [row(i, "theme:a/x", 5, methodology="delphi", round=r) for i in range(20) for r in (2, 3)]
    found = [one for one in examine({}, pd.DataFrame(revised)).diagnostics if one.id == "style_ends"]
    assert [one.n for one in found] == [20]
    grid = pd.DataFrame([row(1, "s", 3, methodology="diversity", scale_min=-3, scale_max=3)])
    assert verdicts({}, grid, "style_ends") == []


def test_items_that_nearly_all_answer_alike_count_only_with_enough_answers():
    few = pd.DataFrame([row(i, "a", 3) for i in range(9)])  # fewer than two a scale point
    assert verdicts({}, few, "flat_items") == [("not_computable", None)]
    enough = pd.DataFrame([row(i, "a", 3) for i in range(10)])
    assert verdicts({}, enough, "flat_items") == [("flagged", 1.0)]


def test_other_arms_are_not_read():
    frame = pd.DataFrame([row(1, "a", 3), row(1, "a", 5, arm_role="b")])
    (shape,) = examine({}, frame).shapes
    assert (shape.n, shape.mean) == (1, 3.0)


def test_every_check_and_reason_has_words_and_a_flag_stands_alone():
    frame = waves([[(3, 3)]] * 10)
    health = examine(DRIFT, frame)
    assert {one.id for one in health.diagnostics} <= CHECKS.keys()
    assert {one.why for one in health.diagnostics if one.why} <= WHY.keys()
    (still,) = [one for one in health.flagged if one.id == "zero_drift"]
    assert flag(still, "Längsschnitt", "de") == (
        "Längsschnitt: Agenten ohne jede Veränderung (100 %; in Ordnung: ≤ 80 %; n = 10). "
        "Die Erinnerung bleibt fast ohne Wirkung auf die Antworten."
    )
    assert "not computable: all statements are keyed alike" in health_table(health, {}, "en")


def test_short_flags_of_analyses_become_sentences():
    assert spelt("longitudinal: baseline reconstructed", "en").startswith("Longitudinal: T0 was reconstructed after")
    assert spelt("longitudinal: drift not interpretable: Das Modell war a, dann b", "de").endswith(
        "Das Modell war a, dann b."
    )
    assert spelt("delphi: something new", "de") == "delphi: something new"


def test_a_check_exactly_on_its_threshold_is_fine():
    assert judged("x", "m", 0.5, 1, 1, least=0.5, most=0.5).verdict == "ok"
    assert judged("x", "m", None, 0, 1, why="no_pca").verdict == "not_computable"
