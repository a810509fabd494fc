"""Whether a panel's answers are as people's: spread, probabilities, gaps, plausible change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from enquete.analysis.answers import STATUSES, Aligned, Answers, Codes, Flags, aligned
from enquete.analysis.association import alike_ratings
from enquete.analysis.change import holm
from enquete.analysis.diagnostics import (
    ALPHA,
    ANSWERS_A_POINT,
    ANSWERS_FOR_SD,
    DECIMALS,
    MOST_GAPS,
    THRESHOLDS,
    Detail,
    Diagnostic,
    Ruling,
    compared,
    judged,
)
from enquete.analysis.estimates import Floats


@dataclass(frozen=True)
class ExpectedAnswers:
    """Probabilities of each answer: agents × items × points of the longest scale; NaN where there is no answer."""

    answers: Answers
    mass: Floats

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
    value, benchmark = (float(likeness.mean()) if likeness.size else None for likeness in (simulated, even))
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


# --- Refused and missing answers: how many, and where -----------------------------------------------------------------
# Formulas, bounds and minima are those of `diagnostics.QUALITY`.

KINDS = {"refusal": ("refused",), "missing": ("invalid", "failed")}
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
    """Return the rates of each kind, overall and by item × type.

    frame: one row per answer, open questions included; rows 'not_reached' were never asked and are left out. Raises
    ValueError naming a missing column or an unknown status.
    """
    if missing := [name for name in _NEEDED if name not in frame.columns]:
        raise ValueError(f"answers lack the column(s) {', '.join(missing)}; needed are {', '.join(_NEEDED)}")
    status = frame["status"].to_numpy(dtype=object)
    if len(unknown := status[~np.isin(status, STATUSES)]):
        raise ValueError(f"status {unknown[0]!r} is unknown; known are {', '.join(STATUSES)}")
    asked = _read(frame, status)
    return _rates(asked)


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
