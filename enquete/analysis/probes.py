"""What arms that ask again show: repeats of one occasion, and exposure to memories and medians."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.agreement import components, stratified_kappa, weighted_kappa
from enquete.analysis.answers import Aligned, Answers, Flags, aligned
from enquete.analysis.change import paired_by_item
from enquete.analysis.diagnostics import (
    ALPHA,
    DECIMALS,
    LEAST_PULL,
    SHIFT,
    THRESHOLDS,
    Detail,
    Diagnostic,
    Ruling,
    compared,
    judged,
)
from enquete.analysis.estimates import Floats

HALF_OF = 0.5  # of the agreement on retest: more of it under another's persona is bad
SURELY, RATHER = 1.645, 1.282  # standard errors: 95% and 90% one-sided
MOST_GROUPS = 20  # of agents, for the jackknife


def retest(main: Answers, again: Answers, *, temperature: float) -> Diagnostic:
    """Agreement with a fresh repeat. All equal at a temperature above 0: "suspect_caching", no retest at all."""
    both = aligned([main, again])
    value, ruling = _kappa(both), None
    if value is not None:
        ruling = compared(value, THRESHOLDS["test_retest"].caution, THRESHOLDS["test_retest"].bad)
        if temperature > 0 and _changed(both) == 0:
            ruling = Ruling("caution", "suspect_caching")
    detail = {**_comparison(both), "temperature": temperature}
    return judged("test_retest", value, both.counts, detail=detail, why_not=_unvaried(both), ruling=ruling)


def option_order(main: Answers, reversed_: Answers) -> list[Diagnostic]:
    """Agreement, and mean shift, between the options as written and reversed, where the order shown did differ."""
    both = aligned([main, reversed_])
    both = both.keeping(_other_order(main, reversed_, both))
    why_not = "" if both.counts["answers"] else "same_option_order"
    x, y = both.values
    shift = float(np.nanmean(y - x)) if not why_not else None
    detail = _comparison(both)
    kappa = judged("option_order", _kappa(both), both.counts, detail=detail, why_not=why_not or _unvaried(both))
    return [kappa, judged("option_order_shift", shift, both.counts, detail=detail, why_not=why_not)]


def _other_order(main: Answers, probe: Answers, both: Aligned) -> Flags:
    """Where both option orders are known and differ."""
    names = {order: code for code, order in enumerate(dict.fromkeys([*main.orders, *probe.orders]))}
    of_main, of_probe = (np.array([*(names[order] for order in table.orders), -1]) for table in (main, probe))
    first, second = both.part([of_main[main.option_order].astype(float), of_probe[probe.option_order].astype(float)])
    differs: Flags = (first != second) & (first >= 0) & (second >= 0)
    return differs


def item_order(orders: Sequence[Answers]) -> Diagnostic:
    """ICC(A,1) over two or more orders of the items, among agents to whom the order did differ.

    Raises ValueError for fewer than two arms.
    """
    both = aligned(_several(orders, "item_order"))
    places = both.part([table.position for table in orders])
    differs = np.logical_or.reduce([place != places[0] for place in places[1:]])
    known = ~np.isnan(np.stack([*places, *both.values])).any(axis=0)
    both = both.keeping((differs & known).any(axis=1)[:, None])
    variances = components(both.values)
    value = variances.icc if variances else None
    why_not = "" if both.counts["answers"] else "same_item_order"
    return judged("item_order", value, both.counts, detail={"n_orders": len(orders)}, why_not=why_not)


def paraphrase(wordings: Sequence[Answers]) -> Diagnostic:
    """Share of variance between two or more wordings of the same items. Raises ValueError for fewer than two arms."""
    both = aligned(_several(wordings, "paraphrase"))
    variances = components(both.values)
    counts = {**both.counts, "contrasts": variances.n_items * (variances.n_arms - 1) if variances else 0}
    detail: Detail = {"n_wordings": len(wordings)}
    if variances:
        detail = {**detail, "between_agents": variances.between_agents, "between_wordings": variances.between_arms}
        detail = {**detail, "error": variances.error}
    return judged("paraphrase", variances.share_of_arms if variances else None, counts, detail=detail)


def _several(tables: Sequence[Answers], name: str) -> Sequence[Answers]:
    if len(tables) < 2:
        raise ValueError(f"{name} compares at least two arms; {len(tables)} was given")
    return tables


def persona_swap(main: Answers, swapped: Answers, again: Answers) -> Diagnostic:
    """Share of the agreement on retest that is lost under another agent's persona; see `_persona`."""
    return _persona("persona_swap", main, swapped, again)


def null_persona(main: Answers, null: Answers, again: Answers) -> Diagnostic:
    """Share of the agreement on retest that is lost without any persona; see `_persona`."""
    return _persona("null_persona", main, null, again)


def _persona(name: str, main: Answers, probe: Answers, again: Answers) -> Diagnostic:
    """1 − κ_probe/κ_retest over the same answers: 1 where only the persona tells agents apart, 0 where it is ignored.

    Shares of changed answers would not do: noise changes them under any persona. Caution where less than .8 is lost and
    κ_probe surely lies above 0 (90%, one-sided), bad where it surely lies above half of κ_retest (95%); SE by jackknife
    over agents. Not computed where κ_retest is not surely above 0 itself: then test_retest says why.

    300 runs each, 12 items of like or of different means, other personas of another type: share with a caution or worse
    if all heed the persona · half ignore it · all ignore it, and of bad ones in the last.

    | agents | κ_retest .24 | .41 | .60 | .81 |
    |---|---|---|---|---|
    | 10 | .04 · .28 · .75 (.26) | .02 · .54 · 1 (.80) | .01 · .66 · 1 (1) | 0 · .80 · 1 (1) |
    | 20 | .04 · .55 · .96 (.57) | .01 · .86 · 1 (.99) | 0 · .97 · 1 (1) | 0 · 1 · 1 (1) |
    """
    three = aligned([main, probe, again])
    x, other, repeat = three.values
    if not (~np.isnan(x)).any():
        return judged(name, None, three.counts, why_not="no_pairs")
    kept, under = stratified_kappa(x, repeat), stratified_kappa(x, other)
    if kept is None or under is None:  # every agent answers as every other
        return judged(name, 0.0, three.counts, ruling=Ruling("bad", "persona_ignored"))
    without = _left_out(x, other, repeat)
    detail: Detail = {"retest_kappa": kept, "kappa": under, "se": _jackknife(without[:, 1])}
    if kept - SURELY * _jackknife(without[:, 0]) <= 0:
        return judged(name, None, three.counts, detail=detail, why_not="retest_is_noise")
    value, ruling = 1 - under / kept, Ruling("fine", "")
    if under - HALF_OF * kept - SURELY * _jackknife(without[:, 1] - HALF_OF * without[:, 0]) > 0:
        ruling = Ruling("bad", "persona_ignored")
    elif value < (THRESHOLDS[name].caution[0] or 0.0) and under - RATHER * _jackknife(without[:, 1]) > 0:
        ruling = Ruling("caution", "persona_ignored")
    return judged(name, value, three.counts, detail=detail, ruling=ruling)


def _left_out(x: Floats, other: Floats, repeat: Floats) -> Floats:
    """κ of retest and of probe with each of at most 20 groups of agents left out; NaN where it is not defined."""
    parts = np.array_split(np.flatnonzero(~np.isnan(x).all(axis=1)), MOST_GROUPS)
    kept = [np.setdiff1d(np.arange(len(x)), part) for part in parts if len(part)]
    pairs = [(stratified_kappa(x[rows], repeat[rows]), stratified_kappa(x[rows], other[rows])) for rows in kept]
    return np.array(pairs, dtype=float)


def _jackknife(without: Floats) -> float:
    """SE = √((g − 1)/g · Σ(θ₍ᵢ₎ − θ̄)²) over g groups left out (Efron & Tibshirani 1993, ch. 11)."""
    g = without.size
    return float(np.sqrt((g - 1) * without.var()))


def _kappa(both: Aligned) -> float | None:
    return stratified_kappa(both.values[0], both.values[1])


def _unvaried(both: Aligned) -> str:
    return "no_variation" if both.counts["answers"] and _kappa(both) is None else ""


def _changed(both: Aligned) -> float | None:
    x, y = both.values
    known = ~np.isnan(x)
    return float((x != y)[known].mean()) if known.any() else None


def _comparison(both: Aligned) -> Detail:
    """Beside κ_w: exact share, κ over all items in one table (which counts the items' own differences), mean shift."""
    x, y = both.values
    known, changed = ~np.isnan(x), _changed(both)
    return {
        "exact_share": None if changed is None else 1 - changed,
        "kappa_all_items": weighted_kappa(x[known], y[known]).kappa,
        "mean_shift": float((y - x)[known].mean()) if known.any() else None,
        "mean_distance": float(np.abs(y - x)[known].mean()) if known.any() else None,
    }


# --- Probes of what moves answers: a topic the simulation never touched, a neutral digest, a median that nobody gave
# Formulas, bounds and minima are those of `diagnostics.PROBES`.

# --- negative control ------------------------------------------------------------------------------------------------


def negative_control(before: Answers, after: Answers, items: Collection[str]) -> Diagnostic:
    """Drift of items on which nothing happened: any that is Holm-significant (Wilcoxon) is too many.

    Items with fewer than 20 pairs are left out and named. Raises ValueError for no items, or one that a wave lacks.
    """
    both = aligned([before, after])
    if not items:
        raise ValueError("negative_control needs items")
    if unknown := sorted(set(items) - set(both.items)):
        raise ValueError(f"negative_control needs items of both waves, not {unknown[0]!r}")
    control: Flags = both.items.isin(list(items))
    x, y = (pd.DataFrame(wave[:, control], columns=both.items[control]) for wave in both.values)
    n = x.notna().sum()
    tested = n.index[n >= THRESHOLDS["negative_control"].least["agents"]]
    tests = paired_by_item(x[tested], y[tested])
    drifted = [result for result in tests if result.p_holm is not None and result.p_holm < ALPHA]
    large = any(abs(result.test.mean_change or 0.0) > SHIFT for result in drifted)
    ruling = Ruling("bad" if large else "caution", "control_drifted") if drifted else Ruling("fine", "")
    detail: Detail = {
        "items": {  # mean_change in points of a five-point scale
            r.item: {"n": r.test.n, "mean_change": r.test.mean_change, "p_holm": r.p_holm} for r in tests
        },
        "drifted": [result.item for result in drifted],
        "too_few_pairs": [str(item) for item in n.index.difference(tested)],
    }
    counts = {"agents": int(n[tested].min()) if len(tested) else int(n.max())}
    return judged("negative_control", float(len(drifted)), counts, detail=detail, ruling=ruling)


# --- placebo exposure ------------------------------------------------------------------------------------------------


def placebo_exposure(before: Answers, after: Answers, placebo_before: Answers, placebo_after: Answers) -> Diagnostic:
    """Mean |Δ| under the real digest minus mean |Δ| under the neutral one, with Student's interval of 95% over agents.

    Information without a verdict either way, because agents of one run share its shocks. The first waves may be the
    same answers.
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
    detail: Detail = {"low": low, "high": high, "directed": float(directed.mean()) if directed.size else None}
    ruling = Ruling("information", "one_run") if low is not None else None
    counts = {"agents": amount.size}
    return judged("placebo_exposure", value, counts, detail=detail, ruling=ruling)


def student(x: Floats) -> tuple[float | None, float | None, float | None]:
    """Mean and its two-sided interval of 95%, x̄ ± t·s/√n with n − 1 degrees of freedom; None for small n."""
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

    first: ratings before feedback; after_true, after_bogus: revisions after either median was shown, by item. Items
    whose medians are equal say nothing and are left out. Caution from half the pull of the true median.
    """
    three = aligned([first, after_true, after_bogus])
    items = [str(i) for i in three.items if str(i) in bogus_median and str(i) in true_median]
    items = [item for item in items if true_median[item] != bogus_median[item]]
    kept: Flags = three.items.isin(items)
    columns = first.items.get_indexer(three.items[kept])
    low, high = first.low[columns], first.high[columns]
    x, with_true, with_bogus = (values[:, kept] for values in three.values)
    shown = [np.array([m[i] for i in three.items[kept]], dtype=float) for m in (true_median, bogus_median)]
    true, bogus = ((m - (low + high) / 2) * 4 / (high - low) for m in shown)
    pull_true, n_true = pull(x, with_true, true)
    value, n_bogus = pull(x, with_bogus, bogus)
    agents = int((~np.isnan(x)).any(axis=1).sum())
    half = max(0.5 * (pull_true or 0.0), LEAST_PULL)
    detail: Detail = {"pull_true": pull_true, "n_gaps_true": n_true, "n_gaps_bogus": n_bogus, "items": items}
    return judged(
        "false_median",
        value,
        {"answers": min(n_true, n_bogus), "agents": agents},
        detail=detail,
        caution=(None, half),
        benchmark=pull_true,
        why_not="" if items else "no_bogus_median",
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
