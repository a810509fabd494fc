"""Findings of a Delphi: every number follows from the answers by pandas and scipy alone, and nothing untested is a difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.findings import findings
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.instruments.load import load_shipped
from enquete.reports.context import AnalysisContext
from enquete.reports.key_findings import FEWEST, MOST_WORDS, KeyFinding

INSTRUMENT = load_shipped(DelphiInstrument, "delphi")
THEMES = {"quota": "The large ones have nearly all the quotas, which is not how it should be any longer.", "sales": "Sales",
          "rest": "Rest"}  # fmt: skip
CODED = {"themes": [{"id": key, "label": label, "description": "", "statements": []} for key, label in THEMES.items()]}
FISHERS, NGOS = 6, 8
# Theme → ratings in rounds 2 and 3, fishers first. Quotas split the groups; sales are agreed upon once revised.
RATINGS = {
    "quota": ([5] * 5 + [4] + [1] * 7 + [2], [5] * 6 + [1] * 7 + [2]),
    "sales": ([4, 5, 3, 4, 5, 3, 4, 4, 5, 3, 4, 5, 2, 4], [4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 5, 3, 4]),
    "rest": ([3, 2, 4, 3, 3, 1, 5, 3, 3, 2, 4, 3, 3, 3], [3, 3, 3, 3, 3, 2, 4, 3, 3, 3, 3, 3, 3, 3]),
}


def table(ratings: dict[str, Sequence[Sequence[float]]], agents: int = FISHERS + NGOS) -> pd.DataFrame:
    rows = [
        {"phase": "T1", "round": number, "run_id": "r", "participant": f"p{who:02}", "agent_name": f"P{who}", "arm": "main",
         "stakeholder_type": "SmallScaleFisher" if who < FISHERS else "EnvironmentalNGO", "status": "ok", "text": "",
         "item_id": f"theme:{theme}/{dimension}", "value": float(value) if dimension == "importance" else 3.0}
        for theme, rounds in ratings.items()
        for number, values in enumerate(rounds, start=2)
        for who, value in enumerate(values[:agents])
        for dimension in ("importance", "plausibility")
    ]  # fmt: skip
    return pd.DataFrame(rows)


def stated(frame: pd.DataFrame) -> dict[str, KeyFinding]:
    found = analyse(frame, INSTRUMENT, None, AnalysisContext(language="en", frozen={"themes": CODED}))  # type: ignore[dict-item]
    listed = list(findings(found, "en"))
    assert all(len(one.text.split()) <= MOST_WORDS and one.kind for one in listed)
    return {one.id.partition(".")[0]: one for one in reversed(listed)}


FRAME = table(RATINGS)


def last(theme: str) -> pd.Series:
    own = FRAME[FRAME["round"].eq(3) & FRAME["item_id"].eq(f"theme:{theme}/importance")]
    return own.set_index("participant")["value"]


def test_groups_are_said_to_differ_where_they_were_tested():
    one, x = stated(FRAME)["groups"], last("quota")
    fishers, ngos = x[:FISHERS], x[FISHERS:]
    h = stats.kruskal(fishers, ngos).statistic
    # Whoever is a fisher rates 5: of the C(14, 6) = 3003 relabellings none but this one gives as large an H; three themes.
    assert one.numbers == pytest.approx(
        {"mean": fishers.mean(), "mean_lowest": ngos.mean(), "effect": h / 13, "n": 14, "p": 3 / 3003}
    )
    assert (one.kind, one.items) == ("difference", ("theme:quota/importance",))
    assert "5.00 among small scale fisher, 1.12 among environmental NGO" in one.text
    assert "“The large ones have nearly all the quotas" in one.text


def test_camps_are_counted_at_the_points_that_are_named():
    one, x = stated(FRAME)["camps"], last("quota")
    low, high = stats.binomtest(6, 14).proportion_ci(method="wilson")
    assert one.numbers == pytest.approx(
        {"low_at": 2, "high_at": 5, "below": (x <= 2).sum(), "above": (x >= 5).sum(), "share": 6 / 14, "low": low,
         "high": high, "agreement": agreement(x), "n": 14}
    )  # fmt: skip


def agreement(x: pd.Series, points: int = 5) -> float:
    """Van der Eijk's A (2001), layer by layer."""
    counts = np.array([(x == point).sum() for point in range(1, points + 1)], dtype=float)
    total, found = counts.sum(), 0.0
    while counts.sum() > 1e-9:
        pattern = counts > 0
        least = counts[pattern].min()
        found += pattern.sum() * least / total * _layer(pattern)
        counts = np.where(pattern, counts - least, 0)
    return found


def _layer(pattern: np.ndarray) -> float:
    k, s = len(pattern), int(pattern.sum())
    if s == k:
        return 0.0
    if s == 1:
        return 1.0
    triples = [(pattern[i], pattern[j], pattern[m]) for i in range(k) for j in range(i + 1, k) for m in range(j + 1, k)]
    unimodal = sum(t in ((True, True, False), (False, True, True)) for t in triples)
    bimodal = sum(t == (True, False, True) for t in triples)
    u = ((k - 2) * unimodal - (k - 1) * bimodal) / ((k - 2) * (unimodal + bimodal))
    return u * (1 - (s - 1) / (k - 1))


def test_the_most_important_theme_is_one_that_is_not_disputed():
    one, x = stated(FRAME)["highest"], last("sales")
    reach = stats.t.ppf(0.975, 13) * x.std() / 14**0.5
    q1, median, q3 = np.percentile(x, [25, 50, 75])
    assert one.numbers == pytest.approx(
        {
            "median": median,
            "q1": q1,
            "q3": q3,
            "mean": x.mean(),
            "low": x.mean() - reach,
            "high": x.mean() + reach,
            "n": 14,
        }
    )
    assert "“Sales”, median 4 on 1–5" in one.text


def test_themes_that_tie_are_said_to_tie():
    tied = stated(table({**RATINGS, "rest": RATINGS["sales"]}))["tied"]
    assert tied.numbers["tied"] == 2


def test_agreement_and_dispute_are_counted():
    assert stated(FRAME)["agreed"].numbers == {"agreed": 2, "disputed": 1, "themes": 3, "n": 14}


def test_feedback_is_measured_by_the_distance_from_the_medians_before():
    one = stated(FRAME)["revision"]
    first, second = (
        FRAME[FRAME["round"].eq(number)].pivot(index="participant", columns="item_id", values="value")
        for number in (2, 3)
    )
    before, after = ((wave - first.median()).abs().mean(axis=1) for wave in (first, second))
    closer = int((after < before - 1e-9).sum())
    assert {k: one.numbers[k] for k in ("before", "after", "closer")} == pytest.approx(
        {"before": before.mean(), "after": after.mean(), "closer": closer}
    )
    p = stats.wilcoxon(before, after, method=stats.PermutationMethod(n_resamples=np.inf)).pvalue
    assert one.p == pytest.approx(p)
    assert one.kind == "difference"


def test_feedback_that_moves_nobody_is_a_null():
    same = stated(table({theme: (rounds[0], rounds[0]) for theme, rounds in RATINGS.items()}))
    assert (same["revision"].kind, same["revision"].p) == ("null", None)


@pytest.mark.parametrize("agents", [1, FEWEST - 1])
def test_too_few_agents_carry_no_direction(agents):
    assert {one.kind for one in stated(table(RATINGS, agents)).values()} <= {"null"}


def test_before_a_revision_nothing_is_said_about_it():
    assert stated(FRAME[FRAME["round"].eq(2)]).keys() == {"groups", "highest", "agreed"}
