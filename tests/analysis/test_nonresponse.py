"""Rates of gaps, where they lie, and whether types differ: by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest

from enquete.analysis.diagnostics import Diagnostic
from enquete.analysis.quality import nonresponse
from tests.support.answer_frames import answer_frame


def checks_of(statuses: np.ndarray, types: list[str] | None = None) -> dict[str, Diagnostic]:
    rows = answer_frame(np.ones(statuses.shape), statuses=statuses, types=types)
    return {diagnostic.name: diagnostic for diagnostic in nonresponse(rows)}


def spread(n: int, status: str) -> np.ndarray:
    """Ten agents × ten items, with n gaps spread so that no agent and no item has many."""
    statuses = np.full((10, 10), "ok", dtype=object)
    for k in range(n):
        statuses[k % 10, (k + k // 10) % 10] = status
    return statuses


@pytest.mark.parametrize(("n", "verdict"), [(0, "fine"), (5, "fine"), (6, "caution"), (20, "caution"), (21, "bad")])
@pytest.mark.parametrize(("status", "name"), [("refused", "refusal_rate"), ("invalid", "missing_rate")])
def test_rates_at_their_bounds(n: int, verdict: str, status: str, name: str) -> None:
    diagnostic = checks_of(spread(n, status))[name]
    assert (diagnostic.value, diagnostic.verdict, diagnostic.n) == (n / 100, verdict, 100)


def test_what_was_never_asked_does_not_count() -> None:
    diagnostic = checks_of(np.array([["not_reached"] * 30 + ["ok"] * 19 + ["failed"]]))["missing_rate"]
    assert (diagnostic.value, diagnostic.n, diagnostic.detail["n_not_reached"]) == (0.05, 20, 30)
    assert checks_of(np.full((1, 19), "ok"))["missing_rate"].reason_code == "too_few_answers"


def test_one_item_that_a_type_refuses_is_found_below_five_per_cent() -> None:
    """By hand: 8 refusals of 10 in one of 40 cells, 8 of 400 (.02) overall. P(X ≥ 8 | 10, .05) = 1.6e-9, times 40."""
    statuses = np.full((20, 20), "ok", dtype=object)
    statuses[:8, 3] = "refused"
    diagnostic = checks_of(statuses, ["a"] * 10 + ["b"] * 10)["refusal_rate"]
    assert (diagnostic.value, diagnostic.verdict, diagnostic.reason_code) == (0.02, "caution", "cells_above")
    cell = diagnostic.detail["cells_above"][0]  # type: ignore[index, call-overload]
    assert cell == {"item": "i03", "type": "a", "rate": 0.8, "n": 10, "p_holm": pytest.approx(6.41e-8, rel=0.02)}  # type: ignore[comparison-overlap]


def test_wrong_rows_are_named() -> None:
    rows = answer_frame([[1]])
    with pytest.raises(ValueError, match=r"lack the column\(s\) item"):
        nonresponse(rows.drop(columns="item"))
    with pytest.raises(ValueError, match="status 'lost' is unknown; known are ok"):
        nonresponse(rows.assign(status="lost"))
    assert {diagnostic.verdict for diagnostic in nonresponse(rows.iloc[:0])} == {"not computed"}
