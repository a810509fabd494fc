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
    assert plain.unit == "agents"


def test_interval_over_agents_is_that_of_scipy():
    d = np.random.default_rng(1).exponential(size=50)
    (found,) = minus_placebo(_arm(d), _arm(np.zeros(50)), draws=10_000)
    other = stats.bootstrap((d,), np.mean, n_resamples=10_000, method="BCa", rng=0).confidence_interval
    assert (found.over_agents.low, found.over_agents.high) == pytest.approx((other.low, other.high), abs=0.02)


def test_too_few_agents_and_nobody():
    (two,) = minus_placebo(_arm([1, 2]), _arm([0, 0]))
    assert (two.over_agents.estimate, two.over_agents.reason) == (1.5, "fewer than 3 agents have both arms")
    assert (two.excludes_zero, two.unit) == (None, "none")
    (nobody,) = minus_placebo(_arm([1.0]), _arm([np.nan]))
    assert (nobody.n, nobody.n_missing, nobody.over_agents.estimate) == (0, 1, None)
    (empty,) = minus_placebo(_arm([]), _arm([]))
    assert (empty.n, empty.over_agents.reason) == (0, "no agent has both arms")
