"""Oracles: hand derivations; identities of the histogram's net change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.agreement import weighted_kappa
from enquete.analysis.change import wilcoxon
from enquete.analysis.panel import stability, variation

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30)


def _round(values):
    return pd.Series(values, [f"p{i}" for i in range(len(values))], dtype=float)


def test_swapped_places_are_stable_for_the_panel_but_not_for_panelists():
    # histograms 2·1, 2·5 in both rounds: net change 0, although all four moved
    change = stability(_round([1, 1, 5, 5]), _round([5, 5, 1, 1]), 1, 5)
    assert (change.net_change, change.stable, change.share_changed, change.kappa.kappa) == (0, True, 1, -1)


def test_net_change_and_variation_by_hand():
    # 1 2 3 4 → 2 2 3 5: histogram differences 1, 1, 0, 1, 1: half of 4, over 4 panelists
    change = stability(_round([1, 2, 3, 4, 5]), _round([2, 2, 3, 5, np.nan]), 1, 5)
    assert (change.n_paired, change.n_first_only, change.n_changed) == (4, 1, 2)
    assert (change.net_change, change.stable) == (0.5, False)
    # SD of 1 2 3 4 = √(5/3), mean 2.5; of 2 2 3 5 = √2, mean 3
    assert change.cv_first == pytest.approx(np.sqrt(5 / 3) / 2.5)
    assert change.delta_cv == pytest.approx(np.sqrt(2) / 3 - np.sqrt(5 / 3) / 2.5)
    assert change.wilcoxon.p == 0.5  # two increases: 2/2²


@given(PAIRS)
def test_net_change_never_exceeds_the_share_that_changed(pairs):
    x, y = (_round(wave) for wave in zip(*pairs, strict=True))
    change = stability(x, y, 1, 5)
    assert 0 <= change.net_change <= change.share_changed + 1e-12
    assert (change.kappa, change.wilcoxon) == (weighted_kappa(x, y), wilcoxon(x, y))


def test_nobody_and_bad_input():
    nobody = stability(_round([1]), _round([np.nan]), 1, 5)
    assert (nobody.n_paired, nobody.net_change, nobody.stable, nobody.delta_cv) == (0, None, None, None)
    assert variation([3]) is None
    assert variation([-1, 1]) is None
    with pytest.raises(ValueError, match="second round: participant 'p' occurs more than once"):
        stability(_round([1]), pd.Series([1.0, 2], ["p", "p"]), 1, 5)
    with pytest.raises(ValueError, match="rating 6 is not a point of the scale 1–5"):
        stability(_round([1]), _round([6]), 1, 5)
