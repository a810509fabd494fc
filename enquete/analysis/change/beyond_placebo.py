"""Drift minus placebo: what the simulation changed beyond what being asked again with a neutral memory changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.bootstrap import DRAWS, FEWEST, LEVEL, Interval, bca, draws_within, resampled_counts, without
from enquete.analysis.change.paired import holm, wilcoxon
from enquete.analysis.joining import Floats, joined

CHUNK = 4_000_000  # agents × resamples held at once


@dataclass(frozen=True, slots=True)
class MinusPlacebo:
    """One item."""

    item: str
    n: int  # agents with Δ in both arms
    n_missing: int
    over_agents: Interval
    p: float | None  # None where no agent's Δ differs between the arms
    p_holm: float | None  # over all items of the table


def minus_placebo(
    main: pd.DataFrame,
    placebo: pd.DataFrame,
    *,
    weight: Mapping[str, float] | pd.Series[float] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[MinusPlacebo]:
    """D = Σ wₐ(Δₐ,main − Δₐ,placebo)/Σ wₐ by item, over the agents that have both, with a BCa interval and Wilcoxon's p.

    The intervals are each item's own: of twelve items without any change one excludes 0 in every other run. What counts is p
    after Holm: signed-rank test of Δₐ,main − Δₐ,placebo, unweighted, zeros left out.
    Agents are resampled with all their items. Those of one run share a prompt and a model, so this says nothing about another
    run.

    main, placebo: Δ of either arm, agents × items (rekeyed). weight: by participant, such as .5 for agents without memory;
    1 where unnamed. Resamples are bounded by the number of agents (4,000 at 5,000). Raises ValueError on a doubled label.
    """
    first, second = joined(main, placebo, ("main arm", "placebo arm"))
    difference = first - second
    w = _weights(weight, difference.index)
    known = difference.notna().sum()
    intervals = _over_agents(difference, w, draws_within(len(difference), draws), seed)
    ps = [wilcoxon(np.zeros(len(difference)), difference[item]).p for item in difference.columns]
    return [
        MinusPlacebo(str(item), int(known[item]), len(difference) - int(known[item]), interval, p, adjusted)
        for item, interval, p, adjusted in zip(difference.columns, intervals, ps, holm(ps), strict=True)
    ]


def _weights(weight: Mapping[str, float] | pd.Series[float] | None, participants: pd.Index[str]) -> Floats:
    if weight is None:
        return np.ones(len(participants))
    return np.asarray(pd.Series(weight, dtype=float).reindex(participants).fillna(1.0), dtype=np.float64)


def _over_agents(difference: pd.DataFrame, w: Floats, draws: int, seed: int) -> list[Interval]:
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
            found.append(without(float(total[column]), LEVEL, reason))
            continue
        jackknife = spared[known[:, column], column]
        found.append(bca(float(total[column]), resampled[:, column], jackknife))
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
