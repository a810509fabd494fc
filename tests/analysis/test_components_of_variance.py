"""Oracles: lme4's Dyestuff example, expected mean squares by the textbook, planted components."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.probes import variance_components

# Davies & Goldsmith 1972 (lme4: Dyestuff): yield of six batches, five preparations each
DYESTUFF = """1545 1440 1440 1520 1580 1540 1555 1490 1560 1495 1595 1550 1605 1510 1560
1445 1440 1595 1465 1545 1595 1630 1515 1635 1625 1520 1455 1450 1480 1445"""


def _grid(agents, items, replicates, models=1):
    names = ["agent", "item", "model", "replicate"]
    return pd.MultiIndex.from_product([range(k) for k in (agents, items, models, replicates)], names=names).to_frame(
        index=False
    )


def _planted(grid, sizes, rng):
    y = rng.normal(0, sizes["residual"], len(grid))
    for source, sd in sizes.items():
        if source != "residual":
            code = grid.groupby(source.split(" × ")).ngroup().to_numpy()
            y = y + rng.normal(0, sd, code.max() + 1)[code]
    return grid.assign(value=y)


def test_dyestuff_example_of_lme4():
    rows = pd.DataFrame({"batch": np.repeat(list("ABCDEF"), 5), "value": np.array(DYESTUFF.split(), dtype=float)})
    variance = variance_components(rows, [("batch",)])
    batch, residual = variance.components
    assert batch.variance == pytest.approx(1764.05)  # lme4, REML: batch 1764 (1764.05), residual 2451 (2451.25)
    assert residual.variance == pytest.approx(2451.25)
    assert batch.share == pytest.approx(1764.05 / (1764.05 + 2451.25))
    assert (variance.n, variance.balanced, batch.levels) == (30, True, 6)


def test_balanced_crossed_design_is_solved_by_expected_mean_squares():
    # textbook (Searle et al. 1992, two-way crossed, all random, r per cell):
    # σ²_ab = (MS_ab − MS_e)/r, σ²_a = (MS_a − MS_ab)/(br), σ²_b = (MS_b − MS_ab)/(ar)
    a, b, r = 6, 5, 3
    rows = _planted(_grid(a, b, r), {"agent": 2, "item": 1, "agent × item": 1, "residual": 1}, np.random.default_rng(0))
    y = rows["value"].to_numpy().reshape(a, b, r)
    cell, row, column, mean = y.mean(axis=2), y.mean(axis=(1, 2)), y.mean(axis=(0, 2)), y.mean()
    ms_a, ms_b = b * r * ((row - mean) ** 2).sum() / (a - 1), a * r * ((column - mean) ** 2).sum() / (b - 1)
    ms_ab = r * ((cell - row[:, None] - column + mean) ** 2).sum() / ((a - 1) * (b - 1))
    ms_e = ((y - cell[..., None]) ** 2).sum() / (a * b * (r - 1))
    variance = variance_components(rows, [("agent",), ("item",), ("agent", "item")])
    expected = [(ms_a - ms_ab) / (b * r), (ms_b - ms_ab) / (a * r), (ms_ab - ms_e) / r, ms_e]
    assert [c.estimate for c in variance.components] == pytest.approx(expected)


def test_planted_components_are_recovered_on_average_with_gaps():
    # unbalanced: 30 % of the answers missing; unbiased, so the mean over 60 runs comes close
    sizes = {"agent": 1.0, "item": 0.7, "agent × item": 0.5, "model": 0.4, "model × replicate": 0.5, "residual": 0.6}
    rng, grid, sums = np.random.default_rng(1), _grid(20, 8, 3, models=3), {}
    for _ in range(60):
        rows = _planted(grid, sizes, rng)
        variance = variance_components(rows[rng.random(len(rows)) > 0.3])
        assert not variance.balanced
        for component in variance.components:
            sums[component.source] = sums.get(component.source, 0.0) + component.estimate / 60
    for source, estimate in sums.items():
        assert estimate == pytest.approx(sizes.get(source, 0.0) ** 2, abs=0.12), source


def test_negative_estimate_is_set_to_zero_and_says_so():
    # both groups 0, 1: between-group mean square 0, within ½: σ²_g = (0 − ½)/2 = −¼
    rows = pd.DataFrame({"g": ["x", "x", "y", "y"], "value": [0.0, 1, 0, 1]})
    group, residual = variance_components(rows, [("g",)]).components
    assert (group.variance, group.estimate, group.note) == (0, pytest.approx(-0.25), "negative estimate set to 0")
    assert (residual.variance, residual.share) == (pytest.approx(0.5), 1)


def test_sources_that_the_design_cannot_separate_are_left_out_and_named():
    one_run = variance_components(_planted(_grid(6, 4, 1), {"agent": 1, "residual": 1}, np.random.default_rng(2)))
    notes = {c.source: c.note for c in one_run.components}
    assert notes["agent × item"] == "one value a level: part of the residual"
    assert notes["model"] == notes["model × replicate"] == "one level only"
    assert notes["agent × model"] == "cannot be told from agent"
    assert all(
        c.variance is None and c.share is None for c in one_run.components if c.note and "set to 0" not in c.note
    )
    two_models = variance_components(_planted(_grid(6, 4, 1, 2), {"residual": 1}, np.random.default_rng(3)))
    assert {c.source: c.note for c in two_models.components}["model × replicate"] == "cannot be told from model"


def test_shift_scale_and_order_of_rows():
    rows = _planted(_grid(8, 5, 3), {"agent": 1, "item": 1, "residual": 1}, np.random.default_rng(4))
    estimates = [c.estimate for c in variance_components(rows).components if c.estimate is not None]
    turned = variance_components(rows.assign(value=rows["value"] * 10 - 3).sample(frac=1, random_state=0))
    assert [c.estimate for c in turned.components if c.estimate is not None] == pytest.approx(
        [100 * estimate for estimate in estimates], abs=1e-8
    )


def test_missing_rows_and_columns():
    rows = _grid(2, 2, 2).assign(value=np.nan)
    empty = variance_components(rows)
    assert (empty.n, empty.n_missing, empty.reason, empty.components[0].variance) == (0, 8, "fewer than 2 values", None)
    still = variance_components(rows.assign(value=3.0))
    assert all(c.share is None for c in still.components)
    with pytest.raises(ValueError, match="column 'agent' is missing; there are 'item'"):
        variance_components(rows[["item", "model", "replicate", "value"]])
