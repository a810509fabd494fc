"""Whether the answers differ as answers of different people do: items, variance, profiles; and against people's marginals.

Formulas, bounds and minima are those of `health_thresholds.QUALITY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from enquete.analysis.answers import Answers, Codes, Flags, Floats
from enquete.analysis.health.coherence import DRAWS, centred_items, exceeded
from enquete.analysis.health.diagnostics import DECIMALS, Detail, Diagnostic, Ruling, judged
from enquete.analysis.health.thresholds import (
    ALPHA,
    ANSWERS_A_POINT,
    ANSWERS_FOR_SD,
    ONE_ANSWER,
    ONE_PROFILE,
    THRESHOLDS,
)

MOST_PAIRS = 20_000  # of agents; the mean r of more would be closer than ±.005 without them
CHUNK = 2_000  # pairs held at once

Marginals = Mapping[str, Mapping[int, float]]
"""Item → scale point → share or count of people who chose it; points that are left out count 0."""

Tables = Mapping[str, Codes | Floats]
"""Item → how many answers each of its points got."""


# --- items that all answer alike -----------------------------------------------------------------------------------------


def flat_items(answers: Answers) -> Diagnostic:
    """Share of items to which more than half of the pairs of agents give the same answer; no bias in small panels."""
    found = {item: alike(counts) for item, counts in _tables(answers).items() if counts.sum() > 1}
    flat = [item for item, share in found.items() if round(share - ONE_ANSWER, DECIMALS) > 0]
    detail: Detail = {"alike": found, "flat": flat}
    counts = {"agents": int((~np.isnan(answers.value)).any(axis=1).sum()), "items": len(found)}
    return judged("flat_items", len(flat) / len(found) if found else None, counts, detail=detail)


def alike(counts: Codes) -> float:
    """Σ nₖ(nₖ − 1)/(n(n − 1)): share of pairs with the same answer, nₖ answers at point k. Source: Simpson 1949."""
    n = int(counts.sum())
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def _tables(answers: Answers) -> dict[str, Codes]:
    """Item → how often each of its scale points was chosen."""
    tables = {}
    for i, item in enumerate(answers.items):
        known = answers.value[~np.isnan(answers.value[:, i]), i]
        tables[str(item)] = np.bincount((known - answers.low[i]).astype(int), minlength=int(answers.points[i]))
    return tables


def _enough(counts: Codes | Floats) -> bool:
    return bool(round(float(counts.sum())) >= ANSWERS_A_POINT * counts.size)


# --- variance --------------------------------------------------------------------------------------------------------


def variance_ratio(
    answers: Answers, human_sd: Mapping[str, float] | None = None, *, tables: Tables | None = None
) -> Diagnostic:
    """Median over items of SD(simulated)/SD(human); without human SDs only the simulated ones, in the detail.

    human_sd: item → SD (n − 1) of people's answers on the same scale. tables: answers by point, expected ones where
    probabilities were given; by default counted. Raises ValueError for an unknown item or an SD that is not above 0.
    """
    _require_items(answers, human_sd or {}, "human_sd")
    for item, sd in (human_sd or {}).items():
        if not (np.isfinite(sd) and sd > 0):
            raise ValueError(f"human_sd of item {item!r} is {sd}; a standard deviation above 0 is needed")
    counted = tables or _tables(answers)
    sds = {item: _sd(table) for item, table in counted.items() if round(table.sum()) >= ANSWERS_FOR_SD}
    ratios = {item: sds[item] / sd for item, sd in (human_sd or {}).items() if item in sds}
    bound = THRESHOLDS["variance_ratio"].caution[0] or 0.0
    detail: Detail = {
        "sd": sds,
        "ratio": ratios,
        "below": [item for item, ratio in ratios.items() if round(ratio - bound, DECIMALS) < 0],
        "n_items_too_few_answers": answers.items.size - len(sds),
    }
    value = float(np.median(list(ratios.values()))) if ratios else None
    return judged(
        "variance_ratio", value, {"items": len(ratios)}, detail=detail, why_not="" if human_sd else "no_human_sd"
    )


def _sd(table: Floats | Codes) -> float:
    """SD (n − 1) of answers counted by point; a unit is a scale point."""
    points, n = np.arange(table.size), float(table.sum())
    mean = float((points * table).sum()) / n
    return float(np.sqrt((table * (points - mean) ** 2).sum() / (n - 1)))


def _require_items(answers: Answers, given: Mapping[str, object], name: str) -> None:
    if unknown := [item for item in given if item not in answers.items]:
        raise ValueError(f"{name} names item {unknown[0]!r}; the answers hold {', '.join(map(str, answers.items))}")


# --- persona flattening ----------------------------------------------------------------------------------------------


def persona_flattening(answers: Answers, *, seed: int = 0) -> Diagnostic:
    """How much more alike two agents of one stakeholder type answer than two of different types, r of centred profiles.

    Items' means are taken out: what all agents share says nothing about personas. Copies of one profile differ by 0, in
    one type as in several. All pairs up to 200 agents, else 20,000
    drawn by `seed`. A pair counts if both vary over at least ten common items; agents who give one answer to everything
    have no profile (see straightlining). The profiles as answered are in the detail as `as_answered`.
    """
    first, second = _pairs(answers.participants.size, seed)
    least = THRESHOLDS["persona_flattening"].least["items"]
    r = between_agent_correlations(centred_items(answers.rekeyed), first, second, least)
    given = between_agent_correlations(answers.rekeyed, first, second, least)
    as_answered, known = _mean(given[~np.isnan(given)]), ~np.isnan(given if np.isnan(r).all() else r)
    copies = np.isnan(r).all() and as_answered is not None
    apart = NO_DIFFERENCE if copies else types_apart(r, first, second, answers.types, seed)
    sizes = pd.Series(answers.types).value_counts()
    counts = {
        "agents": np.unique(np.concatenate([first[known], second[known]])).size or answers.participants.size,
        "items": int((~np.isnan(answers.value)).any(axis=0).sum()),
        "types": max(sizes.size, 2) if copies else int((sizes > 1).sum()),
    }
    detail: Detail = {
        **apart._asdict(),
        "as_answered": as_answered,
        "n_pairs": int(known.sum()),
        "n_pairs_without_profile": int((~known).sum()),
        "sampled": bool(first.size < answers.participants.size * (answers.participants.size - 1) // 2),
    }
    why_not = _no_profiles(answers, least) if not known.any() and first.size else ""
    why_not = why_not or ("one_type" if sizes.size < 2 < answers.participants.size and not copies else "")
    ruling = _flattened(apart, as_answered)
    return judged("persona_flattening", apart.difference, counts, detail=detail, why_not=why_not, ruling=ruling)


class Apart(NamedTuple):
    """Mean r of pairs of one type, of pairs of two types, the difference, and its p; None where there are no such pairs."""

    within_types: float | None
    between_types: float | None
    difference: float | None
    p: float | None


NO_DIFFERENCE = Apart(None, None, 0.0, 1.0)
"""All agents answer every item alike: without the items' means nothing is left to correlate."""


def types_apart(r: Floats, first: Codes, second: Codes, types: NDArray[np.object_], seed: int) -> Apart:
    """p by dealing the types to other agents, one-sided. r: of the pairs (first, second), NaN where undefined."""
    known = ~np.isnan(r)
    kind = pd.factorize(types)[0]
    same = kind[first] == kind[second]
    within, between = _mean(r[known & same]), _mean(r[known & ~same])
    if within is None or between is None:
        return Apart(within, between, None, None)
    rng = np.random.default_rng(seed)
    one, other, given = first[known], second[known], r[known]
    total = float(given.sum())
    dealt = (rng.permutation(kind) for _ in range(DRAWS))
    null = np.array([_difference(given, k[one] == k[other], total) for k in dealt])
    return Apart(within, between, within - between, exceeded(within - between, null))


def _difference(r: Floats, same: Flags, total: float) -> float:
    n = int(np.count_nonzero(same))
    if not 0 < n < r.size:
        return 0.0
    inside = float(r[same].sum())
    return inside / n - (total - inside) / (r.size - n)


def _flattened(apart: Apart, as_answered: float | None) -> Ruling | None:
    """Types that are not told apart are no fault by themselves; where besides all give nearly one profile, they are one
    respondent."""
    if apart.difference is None or apart.p is None:
        return None
    if apart.p < ALPHA:
        return Ruling("fine", "")
    one_profile = as_answered is not None and round(as_answered - ONE_PROFILE, DECIMALS) > 0
    return Ruling("bad", "one_profile") if one_profile else Ruling("information", "types_alike")


def _no_profiles(answers: Answers, least: int) -> str:
    enough = (~np.isnan(answers.value)).sum(axis=1) >= least
    return "no_variation" if enough.any() else "too_few_items"


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _pairs(n: int, seed: int) -> tuple[Codes, Codes]:
    if n * (n - 1) // 2 <= MOST_PAIRS:
        first, second = np.triu_indices(n, 1)
        return first.astype(np.int64), second.astype(np.int64)
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, MOST_PAIRS)
    return first, (first + rng.integers(1, n, MOST_PAIRS)) % n  # never the same agent twice


def between_agent_correlations(profiles: Floats, first: Codes, second: Codes, least: int) -> Floats:
    """Pearson's r of each pair of rows over the columns both have; NaN below `least` columns or where one does not vary."""
    parts = [
        _correlations(profiles[first[at : at + CHUNK]], profiles[second[at : at + CHUNK]], least)
        for at in range(0, first.size, CHUNK)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _correlations(x: Floats, y: Floats, least: int) -> Floats:
    known: Flags = ~(np.isnan(x) | np.isnan(y))
    n = np.maximum(known.sum(axis=1), 1)
    dx, dy = _deviations(x, known, n), _deviations(y, known, n)
    xx, yy, xy = (dx * dx).sum(axis=1), (dy * dy).sum(axis=1), (dx * dy).sum(axis=1)
    varies = (known.sum(axis=1) >= least) & (np.minimum(xx, yy) > 1e-9)
    r: Floats = np.divide(xy, np.sqrt(xx * yy), out=np.full(len(x), np.nan), where=varies)
    return r


def _deviations(x: Floats, known: Flags, n: Codes) -> Floats:
    means = np.where(known, x, 0.0).sum(axis=1) / n
    return np.where(known, x - means[:, None], 0.0)


# --- people's marginals ----------------------------------------------------------------------------------------------


def human_anchor(
    answers: Answers, marginals: Marginals | None = None, *, tables: Tables | None = None
) -> list[Diagnostic]:
    """Likeness of the simulated marginals to people's: 1 − JSD (base 2) and 1 − W₁/(K − 1), means over items.

    The benchmark is the same likeness of an even spread over the scale; at or below it is caution. tables: as for
    `variance_ratio`. Raises ValueError for an
    unknown item, a point off its scale, a negative share, or shares that sum to 0. Source: Lin 1991 (JSD); W₁ is the earth
    mover's distance in scale points.
    """
    _require_items(answers, marginals or {}, "marginals")
    counted = tables or _tables(answers)
    rows = {}
    for item, shares in (marginals or {}).items():
        human = _human(item, shares, answers)
        if _enough(counted[item]):
            even = np.ones(human.size)
            rows[item] = [f(p, human) for f in (likeness_jsd, likeness_w1) for p in (counted[item].astype(float), even)]
    table = np.array(list(rows.values())).reshape(-1, 4)
    return [
        _anchor(name, table[:, i], table[:, i + 1], list(rows), marginals)
        for name, i in (("human_jsd", 0), ("human_w1", 2))
    ]


def likeness_jsd(p: Floats, q: Floats) -> float:
    """1 − JSD₂(p, q) of two frequency vectors: 1 alike, 0 nothing in common."""
    return 1 - float(scipy.spatial.distance.jensenshannon(p, q, base=2)) ** 2


def likeness_w1(p: Floats, q: Floats) -> float:
    """1 − W₁(p, q)/(K − 1) of two frequency vectors over K points: 1 alike, 0 at opposite ends."""
    points = np.arange(p.size)
    return 1 - float(scipy.stats.wasserstein_distance(points, points, p, q)) / (p.size - 1)


def _human(item: str, shares: Mapping[int, float], answers: Answers) -> Floats:
    i = answers.items.get_loc(item)
    low, high = int(answers.low[i]), int(answers.high[i])
    if off := [point for point in shares if not low <= point <= high or point != int(point)]:
        raise ValueError(f"marginals of item {item!r}: {off[0]!r} is not a point of its scale {low}–{high}")
    vector = np.array([shares.get(point, 0.0) for point in range(low, high + 1)], dtype=float)
    if not np.isfinite(vector).all() or (vector < 0).any() or vector.sum() <= 0:
        raise ValueError(f"marginals of item {item!r}: shares or counts of 0 or more that do not sum to 0 are needed")
    return vector


def _anchor(name: str, found: Floats, even: Floats, items: list[str], marginals: Marginals | None) -> Diagnostic:
    value, benchmark = _mean(found), _mean(even)
    nearer = value is not None and benchmark is not None and round(value - benchmark, DECIMALS) > 0
    return judged(
        name,
        value,
        {"items": len(items)},
        detail={"by_item": dict(zip(items, found.tolist(), strict=True)), "n_items_given": len(marginals or {})},
        caution=(benchmark, None),
        benchmark=benchmark,
        why_not="" if marginals else "no_human_marginals",
        ruling=Ruling("fine", "") if nearer else Ruling("caution", "no_nearer_than_even"),
    )
