"""Further runs of a study: whether a claim holds in them, and where answers vary."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

ALPHA = 0.05
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
