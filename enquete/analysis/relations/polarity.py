"""Whether a future that is wished for is also expected: desirability × plausibility, centred on the scales' midpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

Quadrant = Literal["wished_expected", "wished_unexpected", "feared_expected", "feared_unexpected", "undecided"]
QUADRANTS: tuple[Quadrant, ...] = (
    "wished_expected",
    "wished_unexpected",
    "feared_expected",
    "feared_unexpected",
    "undecided",
)


@dataclass(frozen=True, slots=True)
class Polarity:
    """A group's ratings of one future. None where nobody gave both ratings."""

    n: int  # raters who gave both ratings
    n_missing: int
    polarity: float | None  # mean over raters, −1 … 1
    wish: float | None  # mean centred desirability, −1 … 1
    expectation: float | None  # mean centred plausibility, −1 … 1
    quadrant: Quadrant | None  # of the point (wish, expectation)
    quadrants: Mapping[Quadrant, int]  # raters by their own quadrant


def centred(ratings: ArrayLike, low: float, high: float) -> Floats:
    """x′ = (x − m)/h with midpoint m = (low + high)/2 and half-width h = (high − low)/2: −1 … 1, 0 in the middle.

    NaN stays NaN. Raises ValueError for a scale without width.
    """
    if high <= low:
        raise ValueError(f"a scale runs from a lower to a higher point; {low:g} to {high:g} was given")
    return (np.asarray(ratings, dtype=np.float64) - (low + high) / 2) / ((high - low) / 2)


def agent_centred(ratings: ArrayLike, low: float, high: float) -> Floats:
    """x″ = (x − x̄ₐ)/h with x̄ₐ an agent's own mean over all futures and half-width h = (high − low)/2: −2 … 2.

    Above 0 the agent rates a future higher than its others: the quadrants of these points leave out that some agents (and
    models) rate everything high. One dimension at a time: agents × futures, NaN where missing and for an agent with
    fewer than two ratings, who has no futures to compare. Takes the place of `centred` in `group_polarity`; show both.
    Raises ValueError for a scale without width or a table that is not two-dimensional.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"ratings must be a table of agents × futures, not an array of {x.ndim} dimension(s)")
    if high <= low:
        raise ValueError(f"a scale runs from a lower to a higher point; {low:g} to {high:g} was given")
    known = ~np.isnan(x)
    n = known.sum(axis=1, keepdims=True)
    own = np.where(known, x, 0.0).sum(axis=1, keepdims=True) / np.where(n > 1, n, np.nan)
    # Rounded and without −0, so that a rating at the agent's own mean lies on the axis, not in a quadrant beside it.
    return np.asarray(np.round((x - own) / ((high - low) / 2), 12) + 0.0, dtype=np.float64)


def polarity(wish: ArrayLike, expectation: ArrayLike) -> Floats:
    """π = d′·p′ of centred desirability d′ and centred plausibility p′, by rater: −1 … 1.

    Above 0 wish and expectation point the same way (wished for and expected, or feared and not expected); below 0 they
    part (feared and expected, or wished for and not expected); 0 where either is at its midpoint. NaN where one is missing.
    """
    return np.asarray(wish, dtype=np.float64) * np.asarray(expectation, dtype=np.float64)


def quadrant(wish: float, expectation: float) -> Quadrant:
    """The quadrant of a centred point; 'undecided' on an axis."""
    if wish == 0 or expectation == 0:
        return "undecided"
    if wish > 0:
        return "wished_expected" if expectation > 0 else "wished_unexpected"
    return "feared_expected" if expectation > 0 else "feared_unexpected"


def group_polarity(wish: ArrayLike, expectation: ArrayLike) -> Polarity:
    """A group's mean polarity, the point of its means and its raters by quadrant, over those who gave both ratings.

    The mean polarity is the mean of the raters' products, not the product of the means: two camps on opposite sides of
    both axes have a clear polarity each although their mean point lies in the middle. wish, expectation: centred, NaN
    where missing. Raises ValueError unless both are equally long lists.
    """
    d, p = np.asarray(wish, dtype=np.float64), np.asarray(expectation, dtype=np.float64)
    if d.ndim != 1 or d.shape != p.shape:
        raise ValueError(f"wish and expectation must be equally long lists, not of shapes {d.shape} and {p.shape}")
    both = ~(np.isnan(d) | np.isnan(p))
    d, p = d[both], p[both]
    places = [quadrant(one, other) for one, other in zip(d.tolist(), p.tolist(), strict=True)]
    counts = {name: places.count(name) for name in QUADRANTS}
    n_missing = int(both.size - d.size)
    if not d.size:
        return Polarity(0, n_missing, None, None, None, None, counts)
    # Rounded, so that a mean of exactly 0 is not put into a quadrant by the last binary digit.
    mean_d, mean_p = (round(float(values.mean()), 12) + 0.0 for values in (d, p))
    return Polarity(d.size, n_missing, float(polarity(d, p).mean()), mean_d, mean_p, quadrant(mean_d, mean_p), counts)


@dataclass(frozen=True, slots=True)
class Alike:
    """Raters who rate everything alike. `share` is None where nobody rated everything."""

    n_alike: int
    n_complete: int
    n_dropped: int
    share: float | None


def rated_alike(ratings: ArrayLike) -> Alike:
    """How many raters give all things the same rating, among those who rated all. ratings: raters × things, NaN missing.

    Raises ValueError unless two-dimensional.
    """
    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"ratings must be a table of raters × things, not an array of {x.ndim} dimension(s)")
    complete = x[~np.isnan(x).any(axis=1)]
    n = int((np.ptp(complete, axis=1) == 0).sum()) if complete.size else 0
    return Alike(n, len(complete), len(x) - len(complete), n / len(complete) if len(complete) else None)
