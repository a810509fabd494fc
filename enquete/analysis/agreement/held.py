"""Whether a claim of the main arm holds when the study is run again with other seeds or models."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import scipy

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

    value: None or NaN where the run does not define it, which says nothing: None. Raises ValueError for an infinite value.
    """
    if value is None or np.isnan(value):
        return None
    if np.isinf(value):
        raise ValueError(f"a claim's figure must be a finite number, None or NaN, not {value}")
    return int(np.sign(value))


def judge_claim(claimed: Hashable, further: Sequence[Hashable | None], *, independent: bool = True) -> Replicated:
    """Judge what the main arm claims by the further runs alone.

    The main arm chose what to claim (the extreme groups, the significant items), so that its own figure always agrees
    with the claim and tells nothing; further runs chose nothing. Two exact binomial tests over those that agree, at 5 %:

    fragile: so few agree as would be rare for a claim that holds in 90 % of runs (0 of 2, 1 of 3, 2 of 5).
    stable: not so, and so many agree as would be rare if a further run agreed as often as not (sign test: 5 of 5, 9 of 10).
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
    said = [one for one in further if one is not None]
    n, n_missing, agreeing = len(said), len(further) - len(said), sum(one == claimed for one in said)
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
