"""Drift minus placebo: what the simulation changed beyond what being asked again with a neutral memory changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from enquete.analysis.bootstrap import (
    DRAWS,
    FEWEST,
    LEVEL,
    Floats,
    Interval,
    bca,
    draws_within,
    resampled_counts,
    without,
)
from enquete.analysis.change.paired import require_unique

CHUNK = 4_000_000  # agents × resamples held at once

Run = tuple[pd.DataFrame, pd.DataFrame]
"""Δ of the main arm and Δ of the placebo arm of one run, both agents × items (rekeyed)."""


@dataclass(frozen=True, slots=True)
class MinusPlacebo:
    """One item. `verdict` rests on the runs where there are three or more, else on the agents of the only run."""

    item: str
    n: int  # agents with Δ in both arms, of the first run
    n_missing: int
    over_agents: Interval  # of the first run
    n_runs: int  # runs that have the figure
    over_runs: Interval | None  # runs resampled; None below three runs
    t_low: float | None  # Student's t over the runs' means: wider, and apter for few runs
    t_high: float | None
    excludes_zero: bool | None
    unit: str  # what excludes_zero rests on: "runs", "agents" or "none"


def minus_placebo(
    runs: Sequence[Run],
    *,
    weight: Mapping[str, float] | pd.Series[float] | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> list[MinusPlacebo]:
    """D = Σ wₐ(Δₐ,main − Δₐ,placebo)/Σ wₐ by item, over the agents that have both, with intervals.

    Over agents: BCa, agents resampled with all their items (first run). Agents of one run share a prompt and a model, so
    this says nothing about another run. Over runs (three or more): percentile bootstrap of the runs' D and Student's t,
    mean ± t·SD/√R, which is the one `excludes_zero` reads because with R runs no resample lies beyond the extreme run.

    runs: the first is the main one. weight: by participant, such as .5 for agents without memory; 1 where unnamed.
    Resamples are bounded by the number of agents (4,000 at 5,000). Describes these runs.
    Raises ValueError without a run or on a doubled label.
    """
    if not runs:
        raise ValueError("runs: at least one pair (main, placebo) of Δ tables is needed")
    differences = [_difference(run) for run in runs]
    w = [_weights(weight, d.index) for d in differences]
    items = list(differences[0].columns)
    agents = _over_agents(differences[0], w[0], draws_within(len(differences[0]), draws), level, seed)
    means = np.array([_means(d.reindex(columns=items).to_numpy(), v) for d, v in zip(differences, w, strict=True)])
    known = differences[0].notna().sum()
    return [
        _item(str(item), int(known[item]), len(differences[0]), interval, means[:, column], draws, level, seed)
        for column, (item, interval) in enumerate(zip(items, agents, strict=True))
    ]


def _difference(run: Run) -> pd.DataFrame:
    main, placebo = run
    require_unique(main, "main arm")
    require_unique(placebo, "placebo arm")
    rows, items = main.index.union(placebo.index), list(dict.fromkeys([*main.columns, *placebo.columns]))
    a, b = (arm.reindex(index=rows, columns=items).astype(float) for arm in (main, placebo))
    return a - b


def _weights(weight: Mapping[str, float] | pd.Series[float] | None, participants: pd.Index[str]) -> Floats:
    if weight is None:
        return np.ones(len(participants))
    return np.asarray(pd.Series(weight, dtype=float).reindex(participants).fillna(1.0), dtype=np.float64)


def _means(d: Floats, w: Floats) -> Floats:
    """Weighted means by column, NaN where no weight is left."""
    known = ~np.isnan(d)
    with np.errstate(invalid="ignore"):
        return np.asarray((w @ np.where(known, d, 0.0)) / (w @ known))


def _over_agents(difference: pd.DataFrame, w: Floats, draws: int, level: float, seed: int) -> list[Interval]:
    d = difference.to_numpy(dtype=np.float64)
    known = ~np.isnan(d)
    mass, load = known * w[:, None], np.where(known, d, 0.0) * w[:, None]
    resampled = _resampled(mass, load, draws, np.random.default_rng(seed)) if len(d) else np.empty((0, d.shape[1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        total = load.sum(axis=0) / mass.sum(axis=0)
        spared = (load.sum(axis=0) - load) / (mass.sum(axis=0) - mass)
    found = []
    for column in range(d.shape[1]):
        n = int(known[:, column].sum())
        if n < FEWEST:
            reason = f"fewer than {FEWEST} agents have both arms" if n else "no agent has both arms"
            found.append(without(float(total[column]), level, reason))
            continue
        jackknife = spared[known[:, column], column]
        found.append(bca(float(total[column]), resampled[:, column], jackknife, level=level))
    return found


def _resampled(mass: Floats, load: Floats, draws: int, rng: np.random.Generator) -> Floats:
    n = len(mass)
    step = max(1, CHUNK // n)
    parts = []
    for start in range(0, draws, step):
        drawn = resampled_counts(np.ones(n), min(step, draws - start), rng)
        with np.errstate(invalid="ignore"):
            parts.append((drawn @ load) / (drawn @ mass))
    return np.concatenate(parts)


def _item(
    item: str, n: int, total: int, agents: Interval, means: Floats, draws: int, level: float, seed: int
) -> MinusPlacebo:
    means = means[~np.isnan(means)]
    runs, t_low, t_high = _over_runs(means, draws, level, seed) if means.size >= FEWEST else (None, None, None)
    low, high, unit = (agents.low, agents.high, "agents") if runs is None else (t_low, t_high, "runs")
    excludes = None if low is None or high is None else bool(low > 0 or high < 0)
    unit = "none" if excludes is None else unit
    return MinusPlacebo(item, n, total - n, agents, int(means.size), runs, t_low, t_high, excludes, unit)


def _over_runs(means: Floats, draws: int, level: float, seed: int) -> tuple[Interval, float | None, float | None]:
    estimate = float(means.mean())
    drawn = np.random.default_rng(seed).choice(means, size=(draws_within(means.size, draws), means.size))
    # A jackknife that does not differ makes `bca` take plain percentiles: corrections from a handful of runs are noise.
    interval = bca(estimate, drawn.mean(axis=1), np.full(means.size, estimate), level=level)
    if np.ptp(means) == 0:
        return interval, None, None
    half = float(stats.t.ppf((1 + level) / 2, means.size - 1) * means.std(ddof=1) / np.sqrt(means.size))
    return interval, estimate - half, estimate + half
