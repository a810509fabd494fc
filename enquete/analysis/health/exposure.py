"""Probes of what moves answers: a topic the simulation never touched, a neutral digest, a median that nobody gave.

Formulas, bounds and minima are those of `health_thresholds.PROBES`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.answers import Answers, Flags, Floats, aligned
from enquete.analysis.change.paired import ItemTest, paired_by_item
from enquete.analysis.health.diagnostics import DECIMALS, Detail, Diagnostic, Ruling, judged
from enquete.analysis.health.thresholds import ALPHA, LEAST_PULL, SHIFT, THRESHOLDS

# --- negative control ------------------------------------------------------------------------------------------------


def negative_control(before: Answers, after: Answers, items: Collection[str]) -> Diagnostic:
    """Drift of items on which nothing happened: any that is Holm-significant (Wilcoxon) is too many.

    Items with fewer than 20 pairs are left out and named. Raises ValueError for no items, or one that a wave lacks.
    """
    both = aligned([before, after])
    if not items or (unknown := sorted(set(items) - set(both.items))):
        raise ValueError(
            f"negative_control needs items of both waves, not {unknown[0]!r}"
            if items
            else "negative_control needs items"
        )
    own: Flags = both.items.isin(list(items))
    x, y = (pd.DataFrame(wave[:, own], columns=both.items[own]) for wave in both.values)
    n = x.notna().sum()
    tested = n.index[n >= THRESHOLDS["negative_control"].least["agents"]]
    tests = paired_by_item(x[tested], y[tested])
    drifted = [one for one in tests if one.p_holm is not None and one.p_holm < ALPHA]
    large = any(abs(one.test.mean_change or 0.0) > SHIFT for one in drifted)
    ruling = Ruling("bad" if large else "caution", "control_drifted") if drifted else Ruling("fine", "")
    detail: Detail = {
        "items": {one.item: _drift(one) for one in tests},
        "drifted": [one.item for one in drifted],
        "too_few_pairs": [str(item) for item in n.index.difference(tested)],
    }
    counts = {"agents": int(n[tested].min()) if len(tested) else int(n.max())}
    return judged("negative_control", float(len(drifted)), counts, detail=detail, ruling=ruling)


def _drift(one: ItemTest) -> dict[str, float | int | None]:
    """mean_change in points of a five-point scale."""
    return {"n": one.test.n, "mean_change": one.test.mean_change, "p_holm": one.p_holm}


# --- placebo exposure ------------------------------------------------------------------------------------------------


def placebo_exposure(before: Answers, after: Answers, placebo_before: Answers, placebo_after: Answers) -> Diagnostic:
    """Mean |Δ| under the real digest minus mean |Δ| under the neutral one, with Student's interval of 95% over agents.

    Information without a verdict either way, because agents of one run share its shocks. The first waves may be the same
    answers.
    """
    four = aligned([before, after, placebo_before, placebo_after])
    first, second, placebo_first, placebo_second = four.values
    kept: Flags = np.asarray(~np.isnan(first).all(axis=1))
    sign = np.where(four.reverse, -1.0, 1.0)
    real, placebo = (second - first)[kept], (placebo_second - placebo_first)[kept]
    amount, directed = (
        np.nanmean(x, axis=1) if x.size else np.empty(0)
        for x in (np.abs(real) - np.abs(placebo), sign * (real - placebo))
    )
    value, low, high = student(amount)
    detail: Detail = {
        "low": low,
        "high": high,
        "directed": float(directed.mean()) if directed.size else None,
    }
    ruling = Ruling("information", "one_run") if low is not None else None
    counts = {"agents": amount.size}
    return judged("placebo_exposure", value, counts, detail=detail, ruling=ruling)


def student(x: Floats) -> tuple[float | None, float | None, float | None]:
    """Mean and its two-sided interval of 95%, x̄ ± t·s/√n with n − 1 degrees of freedom; None where n does not allow it."""
    if x.size < 2:
        return (float(x.mean()) if x.size else None), None, None
    mean = float(x.mean())
    half = float(scipy.special.stdtrit(x.size - 1, 0.975) * x.std(ddof=1) / np.sqrt(x.size))
    return mean, mean - half, mean + half


# --- false median ----------------------------------------------------------------------------------------------------


def false_median(
    first: Answers,
    after_true: Answers,
    after_bogus: Answers,
    *,
    true_median: Mapping[str, float],
    bogus_median: Mapping[str, float],
) -> Diagnostic:
    """How far revised ratings follow a median that nobody gave, against how far they follow the real one.

    first: ratings before feedback; after_true, after_bogus: revisions after either median was shown, by item. Items whose
    medians are equal say nothing and are left out. Caution from half the pull of the true median.
    """
    three = aligned([first, after_true, after_bogus])
    told = [str(i) for i in three.items if str(i) in bogus_median and str(i) in true_median]
    told = [item for item in told if true_median[item] != bogus_median[item]]
    own: Flags = three.items.isin(told)
    columns = first.items.get_indexer(three.items[own])
    low, high = first.low[columns], first.high[columns]
    x, with_true, with_bogus = (values[:, own] for values in three.values)
    shown = [np.array([m[i] for i in three.items[own]], dtype=float) for m in (true_median, bogus_median)]
    true, bogus = ((m - (low + high) / 2) * 4 / (high - low) for m in shown)
    pull_true, n_true = pull(x, with_true, true)
    value, n_bogus = pull(x, with_bogus, bogus)
    agents = int((~np.isnan(x)).any(axis=1).sum())
    half = max(0.5 * (pull_true or 0.0), LEAST_PULL)
    detail: Detail = {"pull_true": pull_true, "n_gaps_true": n_true, "n_gaps_bogus": n_bogus, "items": told}
    return judged(
        "false_median",
        value,
        {"answers": min(n_true, n_bogus), "agents": agents},
        detail=detail,
        caution=(None, half),
        benchmark=pull_true,
        why_not="" if told else "no_bogus_median",
        ruling=_sycophancy(value, half),
    )


def _sycophancy(value: float | None, half: float) -> Ruling | None:
    """On the bound already is too much, unlike elsewhere: half the true median's pull is no little."""
    if value is None:
        return None
    return Ruling("caution", "follows_any_median") if round(value - half, DECIMALS) >= 0 else Ruling("fine", "")


def pull(before: Floats, after: Floats, median: Floats) -> tuple[float | None, int]:
    """Σ s·sign(g)/Σ|g| over ratings with a gap g = median − before ≠ 0 and revision s = after − before; and how many.

    before, after: agents × items, median by item, in one unit. 1: all go all the way; 0: nobody is moved; None: no gap.
    """
    gap = median - before
    known = ~np.isnan(gap + after) & (np.abs(gap) > 1e-9)
    total = float(np.abs(gap[known]).sum())
    toward = float(((after - before) * np.sign(gap))[known].sum())
    return (toward / total if total else None), int(known.sum())
