"""Where answers vary: between agents, items, models, replicates of a run, and in what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
    width where scales differ); rows with a gap in any are dropped and counted. effects: tuples of columns; a nested factor
    is named with what it is nested in. Raises ValueError for a missing column.
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
    found = []
    for effect in (*effects, ()):
        levels = codes.levels(effect) if effect else 0
        if effect in dropped:
            found.append(Component(_named(effect), levels, None, None, None, dropped[effect]))
            continue
        variance = max(raw[effect], 0.0)
        note = "negative estimate set to 0" if raw[effect] < -1e-12 * total else ""  # below that it is rounding
        found.append(
            Component(_named(effect), levels, variance, variance / total if total else None, raw[effect], note)
        )
    return tuple(found)


def _named(effect: Effect) -> str:
    return " × ".join(effect) if effect else "residual"
