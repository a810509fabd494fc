"""Reason and conformity, from what is rated and ranked privately before and after a discussion.

Deliberative reason ([niemeyer_2024]): in a group that reasons, those who
weigh the considerations alike also rank the options alike. The adjusted form ([veri_2026]) is the one to read: the standard
one takes two correlations near zero for consistency and is positive where everybody answers at random. Keys are those of
enquete/reports/bibliography.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from enquete.analysis.estimates import Floats

LAMBDA = 1 - np.sqrt(2) / 2
WEAK = 0.2
"""Correlation at or below which a pair says little."""

LEAST_ITEMS = 3
"""Of considerations, and of options: two of either correlate at ±1 or not at all."""

Rated = Mapping[str, Mapping[str, float]]
"""participant → item → value."""

PEOPLE: Mapping[str, float] = {
    "reason_before": 0.248,
    "reason_after": 0.342,
    "same_person": 0.65,
    "changed": 0.68,
    "mean_change": 0.18,
    "spread": 0.97,
    "toward_group": 0.49,
    "profiles": 0.37,
}
"""People before and after deliberating, means weighted by n over the panels of [deliberr]; reason in the adjusted form.
`toward_group` is this project's own count, over the 13 groups in tests/data/humans."""


@dataclass(frozen=True)
class Reason:
    """index: the standard form; adjusted: with weak pairs counted down; pairs of participants used, and left out because
    one of them gave everything the same value."""

    index: float | None
    adjusted: float | None
    n: int
    pairs: int
    left_out: int


def deliberative_reason(considerations: Rated, rankings: Mapping[str, Sequence[str]]) -> Reason:
    """Over the pairs of those who rated every consideration that was rated and ranked every option.

    d = |r_C − r_P| / √2, with Spearman's r of the pair over the considerations (C) and over the options' ranks (P);
    index = 2 · (mean(1 − d) − λ) / (1 − λ) − 1 with λ = 1 − √2/2; adjusted: the same with (1 − d) · min(1, max(|r_C|, |r_P|) / .2)
    in place of 1 − d. From 1 down to about −1; 0 is no particular value.
    """
    ranks: Rated = {who: {option: float(at) for at, option in enumerate(order, 1)} for who, order in rankings.items()}
    people = [who for who in _complete(considerations) if who in set(_complete(ranks))]
    if len(people) < 2:
        return Reason(None, None, len(people), 0, 0)
    rated, ranked = (_correlations(table, people) for table in (considerations, ranks))
    upper = np.triu_indices(len(people), 1)
    r_c, r_p = rated[upper], ranked[upper]
    known = ~np.isnan(r_c) & ~np.isnan(r_p)
    if not known.any():
        return Reason(None, None, len(people), 0, len(r_c))
    consistent = 1 - np.abs(r_c - r_p)[known] / np.sqrt(2)
    strength = np.minimum(1.0, np.maximum(np.abs(r_c), np.abs(r_p))[known] / WEAK)
    pairs = int(known.sum())
    return Reason(_scaled(consistent), _scaled(consistent * strength), len(people), pairs, len(r_c) - pairs)


def _scaled(consistent: Floats) -> float:
    return float(2 * (consistent.mean() - LAMBDA) / (1 - LAMBDA) - 1)


def _complete(table: Rated) -> list[str]:
    items = {item for row in table.values() for item in row}
    return [who for who, row in table.items() if len(row) == len(items) >= LEAST_ITEMS]


def _correlations(table: Rated, people: Sequence[str]) -> Floats:
    """Spearman's r of all pairs; NaN for who gave everything the same value."""
    items = sorted({item for who in people for item in table[who]})
    ranks = np.array([scipy.stats.rankdata([table[who][item] for item in items]) for who in people])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (centred @ centred.T) / np.outer(length, length)
    return found


# --- conformity ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conformity:
    """What ratings before and after share. None where the data do not say.

    same_person: mean r of a participant's ratings before and after; changed: share of the ratings that are others after;
    mean_change: mean |Δ| as a share of the scale; spread: mean SD between participants after ÷ before, over considerations;
    toward_group: of the changed ratings, those that came closer to the mean of the others in the group before.
    """

    n: int
    same_person: float | None
    changed: float | None
    mean_change: float | None
    spread: float | None
    toward_group: float | None
    profiles: float | None


def conformity(before: Rated, after: Rated, groups: Mapping[str, str], scale: tuple[float, float]) -> Conformity:
    """groups: participant → group. Over those who rated everything both times."""
    people = [
        who for who in _complete(before) if who in set(_complete(after)) and before[who].keys() == after[who].keys()
    ]
    if len(people) < 2:
        return Conformity(len(people), None, None, None, None, None, None)
    items = sorted(before[people[0]])
    then, now = (np.array([[table[who][item] for item in items] for who in people]) for table in (before, after))
    moved = then != now
    own = [_pearson(one, other) for one, other in zip(then, now, strict=True)]
    between = _pairs(now)
    return Conformity(
        n=len(people),
        same_person=_mean(own),
        changed=float(moved.mean()),
        mean_change=float(np.abs(now - then).mean() / (scale[1] - scale[0])),
        spread=_mean(
            [after_ / before_ if before_ else float("nan") for before_, after_ in zip(_sd(then), _sd(now), strict=True)]
        ),
        toward_group=_toward_others(then, now, [groups.get(who, "") for who in people]),
        profiles=_mean(between),
    )


def _toward_others(then: Floats, now: Floats, groups: Sequence[str]) -> float | None:
    closer = total = 0
    for at, group in enumerate(groups):
        others = [row for row, other in enumerate(groups) if other == group and row != at]
        if not others:
            continue
        middle = then[others].mean(axis=0)
        moved = then[at] != now[at]
        closer += int((np.abs(now[at] - middle) < np.abs(then[at] - middle))[moved].sum())
        total += int(moved.sum())
    return closer / total if total else None


def _sd(table: Floats) -> list[float]:
    return [float(one) for one in table.std(axis=0, ddof=1)]


def _pearson(one: Floats, other: Floats) -> float:
    if one.std() == 0 or other.std() == 0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def _pairs(table: Floats) -> list[float]:
    varied = table[table.std(axis=1) > 0]
    if len(varied) < 2:
        return []
    return [float(one) for one in np.corrcoef(varied)[np.triu_indices(len(varied), 1)]]


def _mean(values: Sequence[float]) -> float | None:
    known = [one for one in values if not np.isnan(one)]
    return float(np.mean(known)) if known else None
