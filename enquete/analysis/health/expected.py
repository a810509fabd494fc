"""Answers given as probabilities over a scale: what the health checks make of the probabilities themselves.

An answer's `value` is the median, a point of its scale, and is checked like any other. Shares at the ends and the
midpoint, acquiescence and likeness to people's answers are taken from the probabilities: medians hide both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from enquete.analysis.answers import Answers, Floats
from enquete.analysis.health.quality import likeness_jsd


@dataclass(frozen=True)
class Expected:
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
        """Probability of the midpoint; only scales with an odd number of points have one, others give that beside it."""
        centre = ((self.answers.points - 1) // 2)[None, :, None]
        found = np.take_along_axis(self.mass, np.broadcast_to(centre, (*self.mass.shape[:2], 1)), axis=2)
        return np.asarray(found[:, :, 0])

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


def read_expected(answers: Answers, rows: pd.DataFrame) -> Expected | None:
    """`rows` of `answers` with a column `distribution`, {"1": 0.2, …} as JSON; None where no row has one.

    Needed columns: participant, item, distribution. Raises ValueError naming participant and item where a distribution is
    no JSON object of shares on the item's points.
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
    return Expected(answers, mass) if not np.isnan(mass).all() else None


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


def likeness(first: Expected, second: Expected) -> tuple[float | None, int]:
    """Mean over agents and items of 1 − JSD₂ between two arms' probabilities, and over how many (Lin 1991)."""
    people = first.answers.participants.intersection(second.answers.participants)
    items = first.answers.items.intersection(second.answers.items)
    x, y = (
        one.mass[np.ix_(one.answers.participants.get_indexer(people), one.answers.items.get_indexer(items))]
        for one in (first, second)
    )
    known = ~(np.isnan(x[:, :, 0]) | np.isnan(y[:, :, 0]))
    found = [likeness_jsd(p, q) for p, q in zip(x[known], y[known], strict=True)]
    return (float(np.mean(found)) if found else None), len(found)
