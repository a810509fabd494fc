"""Oracles: hand derivations, scipy.stats.bootstrap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from enquete.analysis.change.beyond_placebo import minus_placebo


def _arm(values, item="q"):
    return pd.DataFrame({item: np.asarray(values, dtype=float)}, [f"a{i}" for i in range(len(values))])


def test_difference_of_the_same_agents_weighted_by_hand():
    # differences 2, 0, 1, and a3 has no placebo; weights 1, ½, ½: (2 + 0 + ½)/2
    main, placebo = _arm([2, 1, 1, 4]), _arm([0, 1, 0])
    (plain,) = minus_placebo(main, placebo)
    assert (plain.n, plain.n_missing, plain.over_agents.estimate) == (3, 1, 1)
    (weighted,) = minus_placebo(main, placebo, weight={"a1": 0.5, "a2": 0.5})
    assert weighted.over_agents.estimate == pytest.approx(1.25)


def test_interval_over_agents_is_that_of_scipy():
    d = np.random.default_rng(1).exponential(size=50)
    (found,) = minus_placebo(_arm(d), _arm(np.zeros(50)), draws=10_000)
    other = stats.bootstrap((d,), np.mean, n_resamples=10_000, method="BCa", rng=0).confidence_interval
    assert (found.over_agents.low, found.over_agents.high) == pytest.approx((other.low, other.high), abs=0.02)


def test_too_few_agents_and_nobody():
    (two,) = minus_placebo(_arm([1, 2]), _arm([0, 0]))
    assert (two.over_agents.estimate, two.over_agents.reason) == (1.5, "fewer than 3 agents have both arms")
    (nobody,) = minus_placebo(_arm([1.0]), _arm([np.nan]))
    assert (nobody.n, nobody.n_missing, nobody.over_agents.estimate) == (0, 1, None)
    (empty,) = minus_placebo(_arm([]), _arm([]))
    assert (empty.n, empty.over_agents.reason) == (0, "no agent has both arms")


def test_of_runs_without_any_change_hardly_one_shows_an_item_beyond_its_placebo():
    """Twelve items, 40 agents, noise alone in both arms. Intervals item by item exclude 0 somewhere in about half of such runs;
    p by Holm may be below .05 in 5% of them: of 60, with a binomial bound of 1%, in at most 8."""
    rng, shown = np.random.default_rng(1), 0
    names = [f"a{i}" for i in range(40)]
    for _ in range(60):
        main, placebo = (
            pd.DataFrame(np.rint(rng.normal(0, 0.9, (40, 12))), names).rename(columns=str) for _ in range(2)
        )
        shown += any((one.p_holm or 1.0) < 0.05 for one in minus_placebo(main, placebo, draws=100))
    assert shown <= 8


def test_p_is_wilcoxons_and_holms_over_the_items():
    """By hand: six of one sign 2/2⁶ = .03125, twice: .0625; an item without any difference has no p and counts for nothing."""
    moved = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "b": [6.0, 5, 4, 3, 2, 1], "c": [0.0] * 6}, list("uvwxyz"))
    found = minus_placebo(moved, moved * 0)
    assert [one.p for one in found] == [1 / 32, 1 / 32, None]
    assert [one.p_holm for one in found] == [1 / 16, 1 / 16, None]
