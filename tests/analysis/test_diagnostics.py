"""Verdicts at the bounds, minima, and the rule over all checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from enquete.analysis.diagnostics import THRESHOLDS, Diagnostic, Overall, Threshold, compared, judged, overall


@pytest.mark.parametrize(
    ("value", "verdict", "code"),
    [
        (0.3, "fine", ""),
        (0.1 + 0.2, "fine", ""),  # 0.30000000000000004 lies on the bound
        (0.3001, "caution", "above"),
        (-0.3, "fine", ""),
        (-0.6, "caution", "below"),
        (0.61, "bad", "above"),
    ],
)
def test_on_the_bound_is_still_fine(value: float, verdict: str, code: str) -> None:
    assert compared(value, (-0.3, 0.3), (-0.6, 0.6)) == (verdict, code)


def test_below_a_minimum_nothing_is_computed() -> None:
    few = judged("order_smoothness", 0.9, {"agents": 9, "items": 8})
    assert (few.value, few.n, few.verdict, few.reason_code) == (None, 9, "not computed", "too_few_agents")
    assert judged("order_smoothness", 0.9, {"agents": 10, "items": 7}).reason_code == "too_few_items"
    enough = judged("order_smoothness", 0.9, {"agents": 10, "items": 8}, detail={"p": 1.0})
    assert (enough.verdict, enough.detail) == ("bad", {"agents": 10, "items": 8, "p": 1.0})


def test_no_value_is_no_verdict() -> None:
    counts = {"agents": 10, "items": 8}
    assert judged("order_smoothness", None, counts).reason_code == "undefined"
    assert judged("order_smoothness", float("nan"), counts).value is None
    assert judged("order_smoothness", 0.0, counts, why_not="own_orders").reason_code == "own_orders"


def check(name: str, verdict: str, code: str = "above") -> Diagnostic:
    return Diagnostic(name, 1.0, 10, None, (None, None), verdict, code)  # type: ignore[arg-type]


FINE = [check("zero_drift", "fine", ""), check("test_retest", "fine", "")]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([], Overall("usable", ())),
        ([check("direction_flips", "caution")], Overall("usable with caution", ("direction_flips:above",))),
        ([check("direction_flips", "bad")], Overall("usable with caution", ("direction_flips:above",))),
        (
            [check("direction_flips", "bad"), check("two_components", "bad", "below")],
            Overall("not usable", ("direction_flips:above", "two_components:below")),
        ),
        (
            # decisive: alone enough, named first
            [check("direction_flips", "caution"), check("contentless", "bad")],
            Overall("not usable", ("contentless:above", "direction_flips:above")),
        ),
        ([check("contentless", "not computed", "too_few_agents")], Overall("usable", ())),
        ([check("human_jsd", "not computed", "no_human_marginals")] * 9, Overall("usable", ())),
        ([check("order_smoothness", "not computed", "own_orders")] * 9, Overall("usable", ())),
        (
            [check("coherence", "bad", "no_more_than_chance")],  # the retest shows that answers last
            Overall("usable with caution", ("coherence:no_more_than_chance",)),
        ),
        ([check("coherence", "not computed", "too_few_agents")], Overall("usable", ())),
        ([check("placebo_exposure", "information", "one_run")] * 9, Overall("usable", ())),
    ],
)
def test_the_overall_rule(more: list[Diagnostic], expected: Overall) -> None:
    assert overall([*FINE, *more]) == expected


FEW = "too_few_agents"


@pytest.mark.parametrize(
    ("floors", "verdict"),
    [
        ({"coherence": ("not computed", FEW)}, "cannot be judged"),
        ({"coherence": ("not computed", FEW), "answer_stability": ("fine", "")}, "usable as far as checked"),
        ({"coherence": ("not computed", "no_variation")}, "cannot be judged"),
        ({"coherence": ("not computed", "no_variation"), "answer_stability": ("fine", "")}, "usable as far as checked"),
        ({"coherence": ("fine", ""), "order_smoothness": ("not computed", "too_few_items")}, "cannot be judged"),
        ({"coherence": ("fine", ""), "order_smoothness": ("not computed", "own_orders")}, "usable as far as checked"),
        ({"coherence": ("fine", ""), "order_smoothness": ("bad", "follows_the_order")}, "not usable"),
        ({"coherence": ("bad", "one_answer"), "order_smoothness": ("not computed", "no_variation")}, "not usable"),
        ({"coherence": ("bad", "no_more_than_chance")}, "not usable"),
        ({"coherence": ("bad", "no_more_than_chance"), "answer_stability": ("not computed", FEW)}, "not usable"),
        ({"coherence": ("bad", "no_more_than_chance"), "answer_stability": ("fine", "")}, "usable with caution"),
        ({"coherence": ("caution", "below"), "answer_stability": ("not computed", FEW)}, "usable with caution"),
        ({"test_retest": ("caution", "suspect_caching"), "coherence": ("not computed", FEW)}, "cannot be judged"),
    ],
)
def test_what_cannot_be_told_from_chance_is_not_judged(floors: dict[str, tuple[str, str]], verdict: str) -> None:
    assert overall([FINE[0], *(check(name, *floor) for name, floor in floors.items())]).verdict == verdict


@pytest.mark.parametrize("retest", [[], [check("test_retest", "not computed", "too_few_agents")]])
def test_without_a_retest_usable_is_only_as_far_as_checked(retest: list[Diagnostic]) -> None:
    checks = [check("coherence", "fine", ""), check("contentless", "fine", ""), *retest]
    assert overall(checks) == Overall("usable as far as checked", ("reliability_not_tested",))
    with_caution = overall([*checks, check("direction_flips", "caution")])
    assert with_caution == Overall("usable with caution", ("direction_flips:above",))


@pytest.mark.parametrize(
    "diagnostics",
    [[], [check("placebo_exposure", "information", "one_run")], [check("refusal_rate", "not computed", "undefined")]],
)
def test_where_nothing_was_computed_there_is_nothing_to_judge(diagnostics: list[Diagnostic]) -> None:
    assert overall(diagnostics) == Overall("nothing to judge")


def test_an_unknown_diagnostic_is_refused() -> None:
    with pytest.raises(ValueError, match="no such diagnostic: 'mood'; known are answer_stability"):
        overall([check("mood", "fine")])


@pytest.mark.parametrize("name", THRESHOLDS)
def test_every_threshold_is_complete_and_ordered(name: str) -> None:
    """The bad bound lies outside the caution bound, a benchmark lies inside it, and each row says why."""
    rule = THRESHOLDS[name]
    assert all((rule.formula, rule.least, rule.why_least, rule.source, rule.why))
    (low, high), (worst_low, worst_high) = (
        [-np.inf if b[0] is None else b[0], np.inf if b[1] is None else b[1]] for b in (rule.caution, rule.bad)
    )
    assert worst_low <= low < high <= worst_high
    assert rule.benchmark is None or low <= rule.benchmark <= high


def test_a_proposal_alone_is_never_worse_than_a_caution() -> None:
    rule = Threshold("share", (None, 0.1), (None, 0.3), {"agents": 1}, "", "proposal", "", "")
    verdicts = [
        judged("own", 0.5, {"agents": 5}, rule=replace(rule, basis=basis)).verdict for basis in ("proposal", "people")
    ]
    assert verdicts == ["caution", "bad"]
