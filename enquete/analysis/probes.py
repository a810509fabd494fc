"""What arms that ask again show: repeats of one occasion, and exposure to memories and medians.

Further runs of a study: whether a claim holds in them, and where answers vary.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

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

# --- Further runs ----------------------------------------------------------------------------------------------------

HOLDS_IN = 0.9  # share of runs in which a claim must hold to be worth calling one

Verdict = Literal["stable", "fragile", "not decided", "not judged"]


@dataclass(frozen=True, slots=True)
class Replicated:
    """One claim over the further runs of a study. The main arm, which made the claim, is not among them."""

    n: int  # further runs that say something about it
    n_missing: int
    n_agreeing: int
    verdict: Verdict
    chance: float | None  # P(so many agree or more) if a further run agrees as often as not
    as_few: float | None  # P(so few agree or fewer) if the claim holds in 90 % of runs
    reason: str


def fewest(alpha: float = ALPHA) -> int:
    """Further runs that must be there, and all agree, before chance is ruled out: 5 at 5 %."""
    return int(np.ceil(-np.log2(alpha)))


def sign(value: float | None) -> int | None:
    """What a run says by a difference: 1, −1, or 0 where there is none.

    value: None or NaN where the run does not define it, which says nothing: None. Raises ValueError if infinite.
    """
    if value is None or np.isnan(value):
        return None
    if np.isinf(value):
        raise ValueError(f"a claim's figure must be a finite number, None or NaN, not {value}")
    return int(np.sign(value))


def judge_claim(claimed: Hashable, further: Sequence[Hashable | None], *, independent: bool = True) -> Replicated:
    """Judge what the main arm claims by the further runs alone.

    The main arm chose what to claim (the extreme groups, the significant items), so that its own figure always agrees
    with the claim and tells nothing; further runs chose nothing. Two exact binomial tests of those that agree, at 5 %:

    fragile: so few agree as would be rare for a claim that holds in 90 % of runs (0 of 2, 1 of 3, 2 of 5).
    stable: not so, and so many agree as would be rare if a further run agreed as often as not (sign test: 5 of 5, 9 of
    10).
    not decided: neither. not judged: no further run says anything about it.

    Without any difference between two groups a run's contrast agrees with probability ½, or less where it may be 0. The
    same null serves a figure that lies on its threshold, and numbers of types and quadrants: of more than two equally
    likely ones chance hits the claimed one less often, and the test is conservative.

    claimed: what the main arm says: a sign, True for the far side of a threshold, a number of types, a quadrant.
    further: the same for every further run, None where it says nothing. independent: False where the runs share
    measurements (one T0): they agree by those too, the chance is not known, and nothing is decided. Raises ValueError
    where nothing is claimed.
    """
    if claimed is None:
        raise ValueError("claimed must be what the main arm says; None says nothing that could be judged")
    claims = [claim for claim in further if claim is not None]
    n, n_missing, agreeing = len(claims), len(further) - len(claims), sum(claim == claimed for claim in claims)
    if not n:
        return Replicated(0, n_missing, 0, "not judged", None, None, "no further run says anything about it")
    if not independent:
        return Replicated(n, n_missing, agreeing, "not decided", None, None, "further runs share measurements")
    chance, as_few = _tails(agreeing, n)
    verdict: Verdict = "fragile" if as_few <= ALPHA else "stable" if chance <= ALPHA else "not decided"
    reason = f"{agreeing} of {n} further runs agree; chance {chance:.2g}, as few where it holds in 90 %: {as_few:.2g}"
    return Replicated(n, n_missing, agreeing, verdict, chance, as_few, reason)


@cache
def _tails(agreeing: int, n: int) -> tuple[float, float]:
    """P(X ≥ agreeing) for X ~ Bin(n, ½), and P(X ≤ agreeing) for X ~ Bin(n, .9)."""
    return float(scipy.stats.binom.sf(agreeing - 1, n, 0.5)), float(scipy.stats.binom.cdf(agreeing, n, HOLDS_IN))


# --- Where answers vary: between agents, items, models, replicates of a run, and in what is left ----------------------

Effect = tuple[str, ...]
Codes = dict[Effect, NDArray[np.int64]]

REPLICATES: tuple[Effect, ...] = (
    ("agent",),
    ("item",),
    ("agent", "item"),
    ("model",),
    ("agent", "model"),
    ("item", "model"),
    ("agent", "item", "model"),
    ("model", "replicate"),
    ("agent", "model", "replicate"),
    ("item", "model", "replicate"),
)
"""Agents and items crossed with replicates, replicates nested in models."""


@dataclass(frozen=True, slots=True)
class Component:
    """One source. `variance` is set to 0 where its estimate was negative; share is of the sum of all components."""

    source: str  # "agent", "agent × item", …, "residual"
    levels: int
    variance: float | None
    share: float | None
    estimate: float | None  # before it was set to 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """All sources, in the order asked for, the residual last."""

    n: int
    n_missing: int
    balanced: bool  # every combination of levels that occurs holds equally many values, and so do all levels
    components: tuple[Component, ...]
    reason: str = ""


def variance_components(
    values: pd.DataFrame, effects: Sequence[Effect] = REPLICATES, *, value: str = "value"
) -> VarianceComponents:
    """Variance components of a fully random model y = μ + Σ_f u_f + e by Henderson's method I (analysis of variance).

    With T_f = Σₐ yₐ.²/nₐ over the levels a of effect f, T_μ = y..²/N and T = Σy²: the expectations
    E(T_f − T_μ) = Σ_g (k_fg − k_μg)·σ²_g + (L_f − 1)·σ²_e, k_fg = Σₐ Σ_b nₐ_b²/nₐ, k_μg = Σ_b n_b²/N, and
    E(T − T_μ) = Σ_g (N − k_μg)·σ²_g + (N − 1)·σ²_e are set equal to the data and solved. For balanced data this is the
    usual ANOVA with expected mean squares (and REML where no estimate is negative); unbalanced data keep it unbiased.
    Chosen over REML because agents and items are crossed: 5,000 agents × 25 items × 5 runs are 625,000 values.

    A negative estimate is set to 0 and says so (`note`, `estimate`). A source that the design cannot tell from another
    (one model only, one replicate) is left out, variance None, and named. Describes these runs.

    values: one row an answer, with a column for every factor and `value` (rekeyed, on one scale: shares of the scale's
    width where scales differ); rows with a gap in any are dropped and counted. effects: tuples of columns; a nested
    factor is named with what it is nested in. Raises ValueError for a missing column.
    Source: Henderson 1953; Searle, Casella & McCulloch 1992, ch. 5; Brennan 2001 for the reading.
    """
    factors = list(dict.fromkeys(name for effect in effects for name in effect))
    for column in (*factors, value):
        if column not in values:
            raise ValueError(f"values: column {column!r} is missing; there are {', '.join(map(repr, values.columns))}")
    known = values[[*factors, value]].dropna()
    n, n_missing = len(known), len(values) - len(known)
    if n < 2:
        empty = tuple(Component(_named(effect), 0, None, None, None) for effect in (*effects, ()))
        return VarianceComponents(n, n_missing, False, empty, "fewer than 2 values")
    codes = _Grouping(known[factors])
    kept, dropped = _separable(list(effects), codes, n)
    y = known[value].to_numpy(dtype=np.float64)
    estimates = _solved(y - y.mean(), kept, codes)
    return VarianceComponents(
        n, n_missing, all(codes.even(effect) for effect in kept), _components(effects, kept, dropped, estimates, codes)
    )


class _Grouping:
    """Rows by level of any combination of factors, each combination coded once."""

    def __init__(self, factors: pd.DataFrame):
        self._single = {str(name): pd.factorize(column)[0].astype(np.int64) for name, column in factors.items()}
        self._codes: Codes = {}

    def of(self, effect: Effect) -> NDArray[np.int64]:
        key = tuple(sorted(set(effect)))
        if key not in self._codes:
            code = self._single[key[-1]]
            if len(key) > 1:
                rest = self.of(key[:-1])
                code = pd.factorize(rest * (int(code.max()) + 1) + code)[0].astype(np.int64)
            self._codes[key] = code
        return self._codes[key]

    def levels(self, effect: Effect) -> int:
        return int(self.of(effect).max()) + 1

    def counts(self, effect: Effect) -> NDArray[np.int64]:
        return np.bincount(self.of(effect))

    def even(self, effect: Effect) -> bool:
        return int(np.ptp(self.counts(effect))) == 0

    def k(self, f: Effect, g: Effect) -> float:
        """k_fg = Σₐ Σ_b nₐ_b²/nₐ over levels a of f and b of g."""
        joint = self.of((*f, *g))
        level_of = np.empty(int(joint.max()) + 1, dtype=np.int64)
        level_of[joint] = self.of(f)
        return float((np.bincount(joint).astype(np.float64) ** 2 / self.counts(f)[level_of]).sum())


def _separable(effects: list[Effect], codes: _Grouping, n: int) -> tuple[list[Effect], dict[Effect, str]]:
    """The effects that the design tells apart, and why each of the others is left out."""
    kept: list[Effect] = []
    dropped: dict[Effect, str] = {}
    for effect in effects:
        levels = codes.levels(effect)
        same = [g for g in kept if codes.levels(g) == levels == codes.levels((*effect, *g))]
        if levels == 1:
            dropped[effect] = "one level only"
        elif levels == n:
            dropped[effect] = "one value a level: part of the residual"
        elif same:
            dropped[effect] = f"cannot be told from {_named(same[0])}"
        elif np.linalg.matrix_rank(_expectations([*kept, effect], codes, n)) < len(kept) + 2:
            dropped[effect] = "cannot be told from the other sources together"
        else:
            kept.append(effect)
    return kept, dropped


def _expectations(effects: list[Effect], codes: _Grouping, n: int) -> NDArray[np.float64]:
    """Rows: T_f − T_μ for each effect, then T − T_μ. Columns: σ² of each effect, then of the residual."""
    base = np.array([*((codes.counts(g).astype(float) ** 2).sum() / n for g in effects), 1.0])
    rows = [[*(codes.k(f, g) for g in effects), codes.levels(f)] for f in effects]
    return np.asarray(np.array([*rows, [n] * (len(effects) + 1)], dtype=np.float64) - base, dtype=np.float64)


def _solved(y: NDArray[np.float64], effects: list[Effect], codes: _Grouping) -> NDArray[np.float64]:
    """Estimates by effect, then the residual's. y is centred, so T_μ is 0 and nothing cancels."""
    squares = [float((np.bincount(codes.of(f), weights=y) ** 2 / codes.counts(f)).sum()) for f in effects]
    return np.asarray(np.linalg.solve(_expectations(effects, codes, y.size), np.array([*squares, float(y @ y)])))


def _components(
    effects: Sequence[Effect], kept: list[Effect], dropped: dict[Effect, str], estimates: NDArray[np.float64],
    codes: _Grouping,
) -> tuple[Component, ...]:  # fmt: skip
    raw = {effect: float(value) for effect, value in zip([*kept, ()], estimates, strict=True)}
    total = sum(max(value, 0.0) for value in raw.values())
    components = []
    for effect in (*effects, ()):
        levels = codes.levels(effect) if effect else 0
        if effect in dropped:
            components.append(Component(_named(effect), levels, None, None, None, dropped[effect]))
            continue
        variance = max(raw[effect], 0.0)
        note = "negative estimate set to 0" if raw[effect] < -1e-12 * total else ""  # below that it is rounding
        components.append(
            Component(_named(effect), levels, variance, variance / total if total else None, raw[effect], note)
        )
    return tuple(components)


def _named(effect: Effect) -> str:
    return " × ".join(effect) if effect else "residual"


# --- Repeats of one occasion -----------------------------------------------------------------------------------------

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
