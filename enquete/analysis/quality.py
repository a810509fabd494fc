"""Whether a panel's answers are as people's: spread, profiles, probabilities, gaps, plausible change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from enquete.analysis.answers import STATUSES, Aligned, Answers, Codes, Flags, aligned
from enquete.analysis.association import alike_ratings
from enquete.analysis.change import holm
from enquete.analysis.coherence import DRAWS, centred_items, exceeded
from enquete.analysis.diagnostics import (
    ALPHA,
    ANSWERS_A_POINT,
    ANSWERS_FOR_SD,
    DECIMALS,
    LEAST_OF_A_TYPE,
    MOST_GAPS,
    ONE_ANSWER,
    ONE_PROFILE,
    THRESHOLDS,
    Detail,
    Diagnostic,
    Ruling,
    compared,
    judged,
)
from enquete.analysis.estimates import MOST_PAIRS, Floats


@dataclass(frozen=True)
class ExpectedAnswers:
    """Probabilities of each answer: agents × items × points of the longest scale; NaN where there is no answer."""

    answers: Answers
    mass: Floats

    @property
    def ends(self) -> Floats:
        """Probability of the lowest and highest point, agents × items."""
        last = (self.answers.points - 1)[None, :, None]
        highest = np.take_along_axis(self.mass, np.broadcast_to(last, (*self.mass.shape[:2], 1)), axis=2)
        return np.asarray(self.mass[:, :, 0] + highest[:, :, 0])

    @property
    def middle(self) -> Floats:
        """Probability of the midpoint; scales with an even number of points give that beside it."""
        centre = ((self.answers.points - 1) // 2)[None, :, None]
        middle = np.take_along_axis(self.mass, np.broadcast_to(centre, (*self.mass.shape[:2], 1)), axis=2)
        return np.asarray(middle[:, :, 0])

    @property
    def means(self) -> Answers:
        """The table with expected values Σ k·p(k) in place of medians."""
        steps = np.where(np.isnan(self.mass), 0.0, self.mass) @ np.arange(self.mass.shape[2])
        known = ~np.isnan(self.mass[:, :, 0])
        return replace(self.answers, value=np.where(known, self.answers.low + steps, np.nan))

    @property
    def tables(self) -> dict[str, Floats]:
        """Item → expected number of answers at each of its points."""
        sums = np.nansum(self.mass, axis=0)
        return {
            str(item): sums[i, :k]
            for i, (item, k) in enumerate(zip(self.answers.items, self.answers.points, strict=True))
        }


def read_expected(answers: Answers, rows: pd.DataFrame) -> ExpectedAnswers | None:
    """`rows` of `answers` with a column `distribution`, {"1": 0.2, …} as JSON; None where no row has one.

    Needed columns: participant, item, distribution. Raises ValueError naming participant and item where a distribution
    is no JSON object of shares on the item's points.
    """
    if "distribution" not in rows.columns:
        return None
    given = rows[rows["distribution"].fillna("").astype(str).ne("")]
    who = answers.participants.get_indexer(pd.Index(given["participant"]))
    what = answers.items.get_indexer(pd.Index(given["item"]))
    mass = np.full((answers.participants.size, answers.items.size, int(answers.points.max(initial=1))), np.nan)
    for person, item, text in zip(who, what, given["distribution"], strict=True):
        if person >= 0 and item >= 0 and not np.isnan(answers.value[person, item]):
            mass[person, item] = _vector(answers, int(person), int(item), str(text), mass.shape[2])
    return ExpectedAnswers(answers, mass) if not np.isnan(mass).all() else None


def _vector(answers: Answers, person: int, item: int, text: str, width: int) -> Floats:
    low, k = int(answers.low[item]), int(answers.points[item])
    where = f"participant {answers.participants[person]!r}, item {answers.items[item]!r}"
    try:
        shares: Mapping[str, float] = json.loads(text)
        places = {int(name) - low: float(p) for name, p in shares.items()}
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f'{where}: distribution {text!r} is no JSON object such as {{"1": 0.2, "2": 0.8}}') from None
    total = sum(places.values())
    if total <= 0 or min(places.values()) < 0 or any(not 0 <= place < k for place in places):
        raise ValueError(f"{where}: distribution {text!r} is no distribution over its scale {low}–{low + k - 1}")
    vector = np.zeros(width)
    vector[list(places)] = list(places.values())
    return vector / total


def likeness(first: ExpectedAnswers, second: ExpectedAnswers) -> tuple[float | None, int]:
    """Mean over agents and items of 1 − JSD₂ between two arms' probabilities, and over how many (Lin 1991)."""
    people = first.answers.participants.intersection(second.answers.participants)
    items = first.answers.items.intersection(second.answers.items)
    x, y = (
        arm.mass[np.ix_(arm.answers.participants.get_indexer(people), arm.answers.items.get_indexer(items))]
        for arm in (first, second)
    )
    known = ~(np.isnan(x[:, :, 0]) | np.isnan(y[:, :, 0]))
    likenesses = [likeness_jsd(p, q) for p, q in zip(x[known], y[known], strict=True)]
    return (float(np.mean(likenesses)) if likenesses else None), len(likenesses)


# --- Whether the answers differ as answers of different people do: items, variance, profiles; and against people's
# marginals
# Formulas, bounds and minima are those of `diagnostics.QUALITY`.

CHUNK = 2_000  # pairs held at once

Marginals = Mapping[str, Mapping[int, float]]
"""Item → scale point → share or count of people who chose it; points that are left out count 0."""

Tables = Mapping[str, Codes | Floats]
"""Item → how many answers each of its points got."""


# --- items that all answer alike --------------------------------------------------------------------------------------


def flat_items(answers: Answers) -> Diagnostic:
    """Share of items to which more than half of the pairs of agents give the same answer; no bias in small panels."""
    shares = {item: alike(counts) for item, counts in _tables(answers).items() if counts.sum() > 1}
    flat = [item for item, share in shares.items() if round(share - ONE_ANSWER, DECIMALS) > 0]
    detail: Detail = {"alike": shares, "flat": flat}
    counts = {"agents": int((~np.isnan(answers.value)).any(axis=1).sum()), "items": len(shares)}
    return judged("flat_items", len(flat) / len(shares) if shares else None, counts, detail=detail)


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
    why_not = "" if human_sd else "no_human_sd"
    return judged("variance_ratio", value, {"items": len(ratios)}, detail=detail, why_not=why_not)


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
    """Mean r of pairs of one type, of pairs of two types, the difference, and its p; None without such pairs."""

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
    first, second, r = first[known], second[known], r[known]
    total = float(r.sum())
    dealt = (rng.permutation(kind) for _ in range(DRAWS))
    null = np.array([_profile_difference(r, k[first] == k[second], total) for k in dealt])
    return Apart(within, between, within - between, exceeded(within - between, null))


def _profile_difference(r: Floats, same: Flags, total: float) -> float:
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
    """Pearson's r of each pair of rows over the columns both have; NaN below `least` columns or if one is constant."""
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
    `variance_ratio`. Raises ValueError for an unknown item, a point off its scale, a negative share, or shares that sum
    to 0. Source: Lin 1991 (JSD); W₁ is the earth mover's distance in scale points.
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


def _anchor(name: str, simulated: Floats, even: Floats, items: list[str], marginals: Marginals | None) -> Diagnostic:
    value, benchmark = _mean(simulated), _mean(even)
    nearer = value is not None and benchmark is not None and round(value - benchmark, DECIMALS) > 0
    return judged(
        name,
        value,
        {"items": len(items)},
        detail={"by_item": dict(zip(items, simulated.tolist(), strict=True)), "n_items_given": len(marginals or {})},
        caution=(benchmark, None),
        benchmark=benchmark,
        why_not="" if marginals else "no_human_marginals",
        ruling=Ruling("fine", "") if nearer else Ruling("caution", "no_nearer_than_even"),
    )


# --- Refused, repaired and missing answers: how many, where, and whether types of agents differ in them ---------------
# Formulas, bounds and minima are those of `diagnostics.QUALITY`.

KINDS = {"refusal": ("refused",), "repair": ("repaired",), "missing": ("invalid", "failed")}
MOST_CELLS = 20  # named in a detail

_NEEDED = ("participant", "stakeholder_type", "item", "status")


@dataclass(frozen=True)
class _AskedItems:
    """What was asked: participant, item and type of each answer as numbers, and whether it is a gap of each kind."""

    person: Codes
    item: Codes
    kind: Codes  # stakeholder type
    items: pd.Index[Any]
    types: pd.Index[Any]
    hits: Mapping[str, Flags]
    attempts: float | None  # mean
    n_not_reached: int

    @property
    def n(self) -> int:
        return len(self.person)


def nonresponse(frame: pd.DataFrame) -> list[Diagnostic]:
    """Rates of each kind, overall and by item × type, and their difference between types.

    frame: one row per answer, open questions included; rows 'not_reached' were never asked and are left out. Raises
    ValueError naming a missing column or an unknown status.
    """
    if missing := [name for name in _NEEDED if name not in frame.columns]:
        raise ValueError(f"answers lack the column(s) {', '.join(missing)}; needed are {', '.join(_NEEDED)}")
    status = frame["status"].to_numpy(dtype=object)
    if len(unknown := status[~np.isin(status, STATUSES)]):
        raise ValueError(f"status {unknown[0]!r} is unknown; known are {', '.join(STATUSES)}")
    asked = _read(frame, status)
    return [*_rates(asked), *_by_type(asked)]


def _read(frame: pd.DataFrame, status: NDArray[np.object_]) -> _AskedItems:
    reached = status != "not_reached"
    columns = (frame[name].to_numpy(dtype=object)[reached] for name in ("participant", "item", "stakeholder_type"))
    (person, _), (item, items), (kind, types) = (pd.factorize(column, sort=True) for column in columns)
    hits = {name: np.isin(status[reached], of) for name, of in KINDS.items()}
    attempts = frame["attempts"].to_numpy(dtype=float)[reached] if "attempts" in frame.columns else np.empty(0)
    mean = float(attempts.mean()) if len(attempts) else None
    names = (pd.Index([str(name) for name in labels]) for labels in (items, types))
    return _AskedItems(person, item, kind, next(names), next(names), hits, mean, int((~reached).sum()))


def _rates(asked: _AskedItems) -> list[Diagnostic]:
    cell = asked.item * len(asked.types) + asked.kind
    size = np.bincount(cell, minlength=len(asked.items) * len(asked.types))
    cells = pd.MultiIndex.from_product([asked.items, asked.types], names=["item", "stakeholder_type"])[size > 0]
    checks = []
    for kind, hits in asked.hits.items():
        cases = np.bincount(cell, weights=hits, minlength=size.size)
        above = cells_above(pd.DataFrame({"sum": cases[size > 0], "size": size[size > 0]}, index=cells))
        value = float(hits.mean()) if asked.n else None
        detail: Detail = {
            "n_cells": len(cells),
            "n_cells_above": len(above),
            "cells_above": above[:MOST_CELLS],
            "n_not_reached": asked.n_not_reached,
            "mean_attempts": asked.attempts,
        }
        rule = THRESHOLDS[f"{kind}_rate"]
        ruling = compared(value, rule.caution, rule.bad) if value is not None else None
        if above and ruling is not None and ruling.verdict == "fine":
            ruling = Ruling("caution", "cells_above")
        checks.append(judged(f"{kind}_rate", value, {"answers": asked.n}, detail=detail, ruling=ruling))
    return checks


def cells_above(cells: pd.DataFrame) -> list[dict[str, str | float | int]]:
    """Cells whose rate lies above 5%: exact binomial test, one-sided, Holm over the cells, p < .05; the surest first.

    cells: index (item, stakeholder_type), columns sum (cases) and size (asked). Within a cell every agent answers once.
    """
    k, n = cells["sum"].to_numpy(dtype=float), cells["size"].to_numpy(dtype=int)
    adjusted = holm(np.asarray(scipy.special.bdtrc(k - 1, n, MOST_GAPS)).tolist()) if len(cells) else []
    sure = sorted((p, i) for i, p in enumerate(adjusted) if p is not None and p < ALPHA)
    names = cells.index.to_list()
    return [
        {"item": str(names[i][0]), "type": str(names[i][1]), "rate": float(k[i] / n[i]), "n": int(n[i]), "p_holm": p}
        for p, i in sure
    ]


def _by_type(asked: _AskedItems) -> list[Diagnostic]:
    """Agents are the unit: one who refuses everything is one case, not fifty."""
    first, n = np.unique(asked.person, return_index=True, return_counts=True)[1:]
    kind = asked.kind[first]
    rates = pd.DataFrame({name: np.bincount(asked.person, weights=hits) / n for name, hits in asked.hits.items()})
    large = np.flatnonzero(np.bincount(kind, minlength=len(asked.types)) >= LEAST_OF_A_TYPE)
    kept = np.isin(kind, large)
    counts = {"agents": int(kept.sum()), "types": len(large), "agents_of_small_types": int((~kept).sum())}
    means = rates[kept].groupby(asked.types[kind[kept]]).mean()
    ps = [_kruskal([rates[name].to_numpy()[kind == code] for code in large]) for name in KINDS]
    return [_group_difference(name, means[name], counts, p, q) for name, p, q in zip(KINDS, ps, holm(ps), strict=True)]


def _kruskal(rates: Sequence[Floats]) -> float | None:
    """p of Kruskal–Wallis (tie-corrected) of the agents' rates between types; None without variation or two types."""
    if len(rates) < 2 or np.ptp(np.concatenate(rates)) == 0:
        return None
    return float(scipy.stats.kruskal(*rates).pvalue)


def _group_difference(
    kind: str, means: pd.Series[float], counts: dict[str, int], p: float | None, adjusted: float | None
) -> Diagnostic:
    """means: of the agents' rates, by type."""
    name = f"{kind}_by_type"
    value = float(np.ptp(means.to_numpy(dtype=float))) if len(means) else None
    rule, ruling = THRESHOLDS[name], None
    if value is not None:
        sure = adjusted is not None and adjusted < ALPHA
        ruling = compared(value, rule.caution, rule.bad) if sure else Ruling("fine", "")
    detail: Detail = {"rates": {str(label): float(mean) for label, mean in means.items()}, "p": p, "p_holm": adjusted}
    return judged(name, value, counts, detail=detail, ruling=ruling)


# --- Whether a methodology's results can be what agents think: drift, revision, scenarios told apart, structure -------
# Formulas, bounds and minima are those of `diagnostics.PLAUSIBILITY`.


def zero_drift(before: Answers, after: Answers) -> Diagnostic:
    """Share of agents none of whose answers changed between the waves."""
    return _unchanged("zero_drift", aligned([before, after]))


def unrevised(first: Answers, last: Answers) -> Diagnostic:
    """Share of panelists whose last ratings all equal their first, over what they rated in both rounds."""
    return _unchanged("unrevised", aligned([first, last]))


def _unchanged(name: str, both: Aligned) -> Diagnostic:
    x, y = both.values
    known = ~np.isnan(x)
    still = ~(known & (x != y)).any(axis=1)[known.any(axis=1)]
    return judged(name, float(still.mean()) if still.size else None, both.counts, why_not=_no_pairs(both))


def direction_flips(before: Answers, after: Answers) -> Diagnostic:
    """Share of agents that crossed the midpoint on at least half of the items they answered in both waves."""
    both = aligned([before, after])
    x, y = both.values
    known = ~np.isnan(x)
    n = known.sum(axis=1)
    crossed = (np.where(known, x * y, 0.0) < 0).sum(axis=1)
    turned = (crossed[n > 0] * 2 >= n[n > 0]).astype(float)
    value = float(turned.mean()) if turned.size else None
    return judged("direction_flips", value, both.counts, why_not=_no_pairs(both))


def _no_pairs(both: Aligned) -> str:
    return "" if both.counts["answers"] else "no_pairs"


def rated_alike(answers: Answers) -> Diagnostic:
    """Return the share of agents that give one rating to all items, of those who rated all; a caution where all do.

    The items are all scenarios in one dimension.
    """
    raters = alike_ratings(answers.centred)
    counts = {"agents": raters.n_complete, "items": answers.items.size}
    ruling = Ruling("caution", "above") if raters.share == 1 else Ruling("fine", "")
    return judged("rated_alike", raters.share, counts, detail={"n_incomplete": raters.n_dropped}, ruling=ruling)


def two_components(first_two: float | None, n_agents: int, n_beyond_chance: int) -> Diagnostic:
    """Judge the variance of the first two components.

    Args:
        first_two: Share 0–1 as in components.principal_components.
        n_agents: Agents that it is of.
        n_beyond_chance: Leading components that beat components.explained_by_chance, told beside it.

    Raises:
        ValueError: The share lies outside 0–1.
    """
    if first_two is not None and not 0 <= first_two <= 1:
        raise ValueError(f"first_two is a share of variance between 0 and 1; {first_two} was given")
    return judged("two_components", first_two, {"agents": n_agents}, detail={"n_beyond_chance": n_beyond_chance})
