"""Oracles: scipy.stats.wilcoxon for the pairs, Holm by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.analysis.agreement import pairwise_wilcoxon


def test_every_pair_is_tested_within_raters_and_adjusted_over_all():
    rng = np.random.default_rng(0)
    ratings = pd.DataFrame(rng.normal([0, 0.1, 1.5], 1, (25, 3)), columns=list("abc"))
    ratings.iloc[0, 0] = np.nan
    pairs = pairwise_wilcoxon(ratings)
    assert [(pair.first, pair.second, pair.test.n) for pair in pairs] == [
        ("a", "b", 24),
        ("a", "c", 24),
        ("b", "c", 25),
    ]
    p = [stats.wilcoxon((ratings[b] - ratings[a]).dropna(), method="exact").pvalue for a, b in ("ab", "ac", "bc")]
    assert [pair.test.p for pair in pairs] == pytest.approx(p)
    low, middle, high = np.argsort(p)
    assert pairs[low].p_holm == pytest.approx(3 * p[low])
    assert pairs[middle].p_holm == pytest.approx(max(3 * p[low], 2 * p[middle]))
    assert pairs[high].p_holm == pytest.approx(max(3 * p[low], 2 * p[middle], p[high]))


def test_direction_no_variation_and_doubled_things():
    up, = pairwise_wilcoxon(pd.DataFrame({"low": [1, 1, 2], "high": [2, 3, 5]}))  # fmt: skip
    assert up.test.rank_biserial == 1
    still, = pairwise_wilcoxon(pd.DataFrame({"x": [1, 2], "y": [1, 2]}))  # fmt: skip
    assert (still.test.note, still.p_holm) == ("no variation", None)
    assert pairwise_wilcoxon(pd.DataFrame({"only": [1.0]})) == []
    with pytest.raises(ValueError, match="ratings: item 'x' occurs more than once"):
        pairwise_wilcoxon(pd.DataFrame([[1, 2]], columns=["x", "x"]))
