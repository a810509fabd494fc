"""Whether an agent's change is larger than what answering the same questions twice makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.bootstrap import LEVEL
from enquete.analysis.change.paired import DECIMALS
from enquete.analysis.joining import joined_scores, paired_scores

BY_CHANCE = 0.05  # share of agents that noise alone puts beyond the limits

NAMES = ("first scores", "second scores")


@dataclass(frozen=True, slots=True)
class Reliability:
    """r_tt and where it is from. `r` is None where it is not known, for the `reason` given."""

    r: float | None
    source: Literal["retest", "none"]
    n: int | None  # agents of the retest
    n_missing: int | None
    reason: str = ""
    low: float | None = None  # 95 % interval by the z transformation; None where n is below 4
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ReliableChange:
    """Each agent's reliable change index. `rci` is None where none can be computed, for the `reason` given."""

    n: int  # agents with both scores
    n_missing: int
    sd: float | None  # of the scores before, n − 1
    reliability: Reliability
    standard_error: float | None  # SD·√(2(1 − r_tt)), in the unit of the scores
    rci: pd.Series[float] | None  # by participant, NaN without a pair
    n_up: int | None  # RCI > limit
    n_down: int | None
    n_within: int | None
    reason: str = ""
    limit: float | None = None  # Student's t for the agents of the retest
    chance_low: float | None = None  # share that noise puts beyond the limits if r_tt is at an end of its interval
    chance_high: float | None = None


def retest_reliability(first: pd.Series[float], repeat: pd.Series[float]) -> Reliability:
    """r_tt: Pearson's correlation of two askings of the same agents with nothing in between (the retest arm).

    first, repeat: a score by participant, NaN where missing. None below three pairs or without variation. The interval is
    tanh(artanh r ± 1.96/√(n − 3)): it takes scores as bivariate normal, and needs four pairs. Source: Metron 1 (1921), 3–32.
    """
    *both, n_missing = paired_scores(first, repeat, NAMES)
    a, b = (np.round(scores.to_numpy(dtype=float), DECIMALS) for scores in both)
    n = a.size
    if n < 3:
        return Reliability(None, "retest", n, n_missing, "fewer than 3 agents were asked twice")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return Reliability(None, "retest", n, n_missing, "no variation between agents")
    found = scipy.stats.pearsonr(a, b)
    low, high = found.confidence_interval(LEVEL) if n > 3 else (None, None)
    return Reliability(float(np.clip(found.statistic, -1, 1)), "retest", n, n_missing, "", low, high)


def reliable_change(
    before: pd.Series[float], after: pd.Series[float], reliability: Reliability | None
) -> ReliableChange:
    """RCI = Δ / (SD·√(2(1 − r_tt))) of each agent, Δ = after − before, SD that of `before` over agents (n − 1).

    Noise alone puts one agent of twenty beyond ± limit: the .975 quantile of Student's t with n − 1 degrees of freedom, for
    the error is estimated from the n agents of a retest.
    chance_low and chance_high are that share if r_tt is at an end of its interval. It describes agents of this run.

    before, after: a score by participant (a family's mean of rekeyed values, say), NaN where missing. reliability: from
    `retest_reliability`, or None. Without a known r_tt, with one that is negative (scores are noise) or 1 (no error to
    compare with), below two agents or without variation there is no RCI.
    Raises ValueError for a doubled participant. Source: Jacobson & Truax 1991.
    """
    known = reliability or Reliability(None, "none", None, None, "no retest arm and no reliability given")
    x, y = joined_scores(before, after, NAMES)
    complete = x.notna() & y.notna()
    n, n_missing = int(complete.sum()), int((~complete).sum())
    scores = x.dropna()
    sd = float(scores.std(ddof=1)) if len(scores) > 1 else None
    reason = _why_none(n, sd, known)
    if reason or sd is None or known.r is None or known.n is None:
        return ReliableChange(n, n_missing, sd, known, None, None, None, None, None, reason)
    error = sd * float(np.sqrt(2 * (1 - known.r)))
    rci = ((y - x) / error).astype(float)
    limit = float(scipy.special.stdtrit(known.n - 1, 1 - BY_CHANCE / 2))
    up, down = int((rci > limit).sum()), int((rci < -limit).sum())
    ends = [_by_chance(limit, known.r, end) for end in (known.high, known.low)]
    return ReliableChange(n, n_missing, sd, known, error, rci, up, down, n - up - down, "", limit, *ends)


def beyond(before: pd.Series[float], after: pd.Series[float], found: ReliableChange) -> pd.Series[float]:
    """1 for each agent whose change lies beyond the limits of `found`, else 0; NaN without a pair, or without limits.

    before, after: a score by participant of any arm, in the unit of the scores that `found` was made from.
    Raises ValueError for a doubled participant.
    """
    x, y = joined_scores(before, after, NAMES)
    if found.standard_error is None or found.limit is None:
        return (y - x) * np.nan
    outside = (y - x).abs().gt(found.limit * found.standard_error).astype(float)
    return outside.where(x.notna() & y.notna())


def _by_chance(limit: float, used: float, true: float | None) -> float | None:
    """Share beyond ± limit by noise alone if the index was made with r_tt `used` and `true` is right: Δ/SE is then normal
    with variance (1 − true)/(1 − used)."""
    if true is None:
        return None
    if true >= 1 - 1e-12:
        return 0.0
    return float(2 * scipy.stats.norm.sf(limit * np.sqrt((1 - used) / (1 - true))))


def _why_none(n: int, sd: float | None, known: Reliability) -> str:
    if n == 0:
        return "no agent has both scores"
    if sd is None:
        return "fewer than 2 agents have a score before"
    if sd == 0:
        return "no variation between agents before"
    if known.r is None:
        return known.reason
    if known.r < 0:
        return f"the reliability is negative ({known.r:.2f}): the scores are noise"
    if known.r >= 1 - 1e-12:
        return (
            "the reliability is 1: answers never differ between askings (cached?), so there is no error to compare with"
        )
    return ""
