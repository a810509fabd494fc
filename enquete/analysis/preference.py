"""Which of two respondents a critic prefers, and how far the critic can be trusted: win rates with intervals,
Bradley–Terry strengths, position bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from enquete.analysis.estimates import LEVEL, share_interval

PSEUDO_WINS = 0.5
"""Added to each side of a pair of contestants where the likelihood has no maximum, so that who won everything is strong
and not infinitely so (Haldane–Anscombe)."""

CHANCE = 0.5
"""A critic that tosses a coin twice disagrees with itself in half of the pairs."""

Usable = Literal["usable", "unusable", "not decided", "not judged"]


@dataclass(frozen=True, slots=True)
class WinRate:
    """Of B against A: wins and half of the ties, of n pairs of n_agents. rate .5: neither. strength: θ_B − θ_A."""

    n: int
    n_agents: int
    wins_a: int
    wins_b: int
    ties: int
    rate: float | None
    low: float | None
    high: float | None
    strength: float | None


def win_rate(points: ArrayLike, agents: Sequence[str]) -> WinRate:
    """ŵ = Σ y / n, y = 1 where B won, ½ a tie, 0 where A did; Wilson's interval at 95 % over n_e = n / d pairs.

    d = Var_clustered(ŵ) / (ŵ(1 − ŵ)/n) is the design effect (Kish 1965) of answers that one agent gave: Var_clustered
    is Σ_g (Σ_{i∈g} (y_i − ŵ))² / n² · G/(G − 1) over G agents, and d ≥ 1. Where all agents agree fully d is unknown,
    and G takes n's place. Ties make the true variance smaller than the binomial one, so the interval is rather too
    wide.

    points: y by pair; agents: who was asked, by pair. None without a pair. Raises ValueError on different lengths.
    """
    y, who = np.asarray(points, dtype=np.float64), np.asarray(agents)
    if y.shape != who.shape:
        raise ValueError(f"points and agents must be two lists of equal length, not {y.shape} and {who.shape}")
    n, groups = y.size, np.unique(who)
    wins = int((y == 1).sum()), int((y == 0).sum())
    if not n:
        return WinRate(0, 0, 0, 0, 0, None, None, None, None)
    rate = float(y.mean())
    low, high = wilson(rate, _effective(y, who, groups))
    strength = bradley_terry(np.array([[0.0, n - y.sum()], [y.sum(), 0.0]]))
    return WinRate(n, groups.size, wins[1], wins[0], n - sum(wins), rate, low, high, float(strength[1] - strength[0]))


def _effective(y: np.ndarray, who: np.ndarray, groups: np.ndarray) -> float:
    """Pairs that would say as much if each were another agent's."""
    n, rate = y.size, float(y.mean())
    binomial = rate * (1 - rate) / n
    sums = np.array([(y[who == agent] - rate).sum() for agent in groups])
    if binomial == 0 or groups.size < 2:
        return float(groups.size)
    clustered = float((sums**2).sum()) / n**2 * groups.size / (groups.size - 1)
    return n / max(1.0, clustered / binomial)


def wilson(rate: float, n: float) -> tuple[float, float]:
    """(ŵ + z²/2n ± z·√(ŵ(1 − ŵ)/n + z²/4n²)) / (1 + z²/n), Wilson 1927; n need not be whole."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle, reach = rate + z**2 / (2 * n), z * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return max(0.0, (middle - reach) / (1 + z**2 / n)), min(1.0, (middle + reach) / (1 + z**2 / n))


def bradley_terry(wins: np.ndarray) -> np.ndarray:
    """Return θ with P(i beats j) = 1 / (1 + e^(θ_j − θ_i)) and Σ θ = 0, by choix (Maystre & Grossglauser 2015).

    It is the maximum of the likelihood wherever that exists: where from every contestant a chain of wins leads to
    every other (Ford 1957). Elsewhere PSEUDO_WINS are added to each side of every pair.

    Args:
        wins: How often i (row) beat j (column), ties as half a win of each.

    Source: Bradley & Terry 1952.
    """
    import choix  # noqa: PLC0415 - it imports all of scipy.stats, which runs without a second respondent do not need
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - likewise

    counts = np.asarray(wins, dtype=np.float64)
    n_connected, _ = connected_components(counts > 0, directed=True, connection="strong")
    # choix's alpha is a rate of its chain: alpha·(e^θ_i + e^θ_j), 2·alpha between equals, is what it adds to the wins
    # of each.
    alpha = 0.0 if n_connected == 1 else PSEUDO_WINS / 2
    strengths: np.ndarray = choix.ilsr_pairwise_dense(counts, alpha=alpha)
    return strengths


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Of n pairs judged in both orders: how often the verdict went with the place, and with which."""

    n: int
    splits: int
    first: int  # of the splits: the first place both times
    rate: float | None
    low: float | None
    high: float | None
    verdict: Usable


def position_bias(forward: Sequence[str], backward: Sequence[str]) -> PositionBias:
    """Splits / n with Wilson's interval at 95 %: the share of pairs in which the place decided.

    unusable: at least half of them split, as a coin's would; usable: fewer, and the interval ends below one half; not
    decided: fewer, but too few pairs to say so. The limit is this project's proposal; Zheng et al. 2023 find 35 % for
    GPT-4, 76 % for a model that cannot judge.

    forward: who won ("A", "B") where A stood first; backward: who won where B did; "" where there is no verdict.
    """
    both = [(a, b) for a, b in zip(forward, backward, strict=True) if a and b]
    n, splits = len(both), [a for a, b in both if a != b]
    if not n:
        return PositionBias(0, 0, 0, None, None, None, "not judged")
    share = share_interval(len(splits), n)
    verdict: Usable = "unusable" if share["share"] >= CHANCE else "usable" if share["high"] < CHANCE else "not decided"
    return PositionBias(n, len(splits), splits.count("A"), share["share"], share["low"], share["high"], verdict)
