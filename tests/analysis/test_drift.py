"""Expected numbers are derived by hand beside each test."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.change import delta_matrix, drift_per_agent, population_drift

RANGES = {"a": (1, 5), "b": (1, 5), "c": (1, 7)}


@pytest.fixture
def delta():
    return pd.DataFrame(
        {"a": [2.0, 0.0, np.nan], "b": [-1.0, 0.0, np.nan], "c": [3.0, np.nan, np.nan]}, ["x", "y", "z"]
    )


def test_delta_is_missing_where_either_wave_is():
    before = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    after = pd.DataFrame({"a": [3, 5], "b": [1, 1]}, index=["x", "z"])
    change = delta_matrix(before, after)
    assert change.loc["x", "a"] == 2
    assert change.drop(index="x")["a"].isna().all()
    assert change["b"].isna().all()


def test_drift_by_hand(delta):
    drift = drift_per_agent(delta, RANGES, pd.Series({"x": True, "y": False}))
    x = drift.loc["x"]
    assert x["mean_abs"] == pytest.approx((2 + 1 + 3) / 3)
    assert x["mean_abs_share"] == pytest.approx((2 / 4 + 1 / 4 + 3 / 6) / 3)
    assert x["mean_signed"] == pytest.approx((2 - 1 + 3) / 3)
    assert (x["share_changed"], x["n_items"], x["weight"]) == (1, 3, 1)
    y = drift.loc["y"]
    assert (y["mean_abs"], y["share_changed"], y["n_items"], y["weight"]) == (0, 0, 2, 0.5)
    z = drift.loc["z"]
    assert (z["n_items"], z["weight"]) == (0, 0.5)
    assert np.isnan([z["mean_abs"], z["mean_signed"], z["share_changed"]]).all()


def test_weighted_and_unweighted_side_by_side(delta):
    population = population_drift(drift_per_agent(delta, RANGES, pd.Series({"x": True, "y": False})))
    assert (population.n_agents, population.n_without_pairs, population.n_memoryless) == (2, 1, 1)
    assert population.mean_abs == pytest.approx((1 * 2 + 0.5 * 0) / 1.5)
    assert population.mean_abs_unweighted == pytest.approx(1.0)
    assert population.mean_signed == pytest.approx((2 - 1 + 3) / 3 / 1.5)


def test_nobody_to_average():
    empty = pd.DataFrame({"a": [np.nan]}, index=["x"])
    population = population_drift(drift_per_agent(empty, RANGES, pd.Series({"x": True})))
    assert (population.n_agents, population.mean_abs, population.mean_abs_unweighted) == (0, None, None)
    memoryless = drift_per_agent(pd.DataFrame({"a": [1.0]}, index=["x"]), RANGES, pd.Series({"x": False}), 0.0)
    assert population_drift(memoryless, 0.0).mean_abs is None


def test_bad_input_is_named(delta):
    memory = pd.Series({"x": True})
    with pytest.raises(ValueError, match=r"item 'c' has no scale range; known: 'a'"):
        drift_per_agent(delta, {"a": (1, 5), "b": (1, 5)}, memory)
    with pytest.raises(ValueError, match="'x', item 'c': a change of 3 exceeds the width of its scale, 2"):
        drift_per_agent(delta, RANGES | {"c": (1, 3)}, memory)
    with pytest.raises(ValueError, match="between 0 and 1, not 2"):
        drift_per_agent(delta, RANGES, memory, 2)
    with pytest.raises(ValueError, match="5–5 is empty"):
        drift_per_agent(delta, RANGES | {"a": (5, 5)}, memory)


@given(st.lists(st.lists(st.integers(-4, 4), min_size=2, max_size=2), min_size=1, max_size=12), st.booleans())
def test_bounds_and_order_of_agents(rows, memory):
    delta = pd.DataFrame(rows, columns=["a", "b"], index=[f"p{i}" for i in range(len(rows))], dtype=float)
    has = pd.Series(memory, index=delta.index)
    drift = drift_per_agent(delta, RANGES, has)
    assert (drift["mean_abs"] + 1e-12 >= drift["mean_signed"].abs()).all()
    assert drift["mean_abs_share"].between(0, 1).all()
    turned = drift_per_agent(delta[::-1], RANGES, has)
    pd.testing.assert_frame_equal(turned.sort_index(), drift.sort_index())
    assert population_drift(drift).mean_abs == pytest.approx(population_drift(turned).mean_abs)
