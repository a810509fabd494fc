"""Whether a claim holds when the run is repeated with other seeds or models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

FEWEST = 3
STABLE_FROM = 0.9

Verdict = Literal["stable", "fragile", "not judged"]


@dataclass(frozen=True, slots=True)
class Replicated:
    """One claim over the replicates of a run."""

    n: int  # replicates that have the figure
    n_missing: int
    verdict: Verdict
    share_agreeing: float | None  # replicates on the commonest side / n
    low: float | None  # smallest and largest figure
    high: float | None
    reason: str


def judge_claim(
    values: Sequence[float | None], *, threshold: float | None = None, stable_from: float = STABLE_FROM
) -> Replicated:
    """Stable: at least 90 % of the replicates have the same sign and lie on the same side of the threshold.

    A replicate's side is (sign of the value, value ≥ threshold); a value of 0 has a sign of its own. Otherwise the claim
    is fragile. Fewer than three replicates with the figure: not judged. So up to nine replicates all must agree.

    values: the claim's figure in each replicate, the main run among them (a mean change, A of a theme, W, an ARI); None
    or NaN where the replicate does not define it: counted, not judged by. threshold: what the claim compares it with
    (A < 0.2: .2), in the figure's own unit; for p-values there is none, because a claim is a figure, not a test.
    Raises ValueError for an infinite value or stable_from outside .5–1.
    """
    if not 0.5 < stable_from <= 1:
        raise ValueError(f"stable_from must lie above .5 and up to 1, not {stable_from}")
    known = [float(value) for value in values if value is not None and not np.isnan(value)]
    if np.isinf(known).any():
        raise ValueError("a claim's values must be finite numbers, None or NaN; an infinite value was given")
    n, n_missing = len(known), len(values) - len(known)
    low, high = (min(known), max(known)) if known else (None, None)
    sides = Counter((np.sign(value), threshold is not None and value >= threshold) for value in known)
    share = max(sides.values()) / n if n else None
    if share is None or n < FEWEST:
        return Replicated(
            n, n_missing, "not judged", share, low, high, f"fewer than {FEWEST} replicates have the figure"
        )
    verdict: Verdict = "stable" if share >= stable_from - 1e-12 else "fragile"
    compared = "same sign" if threshold is None else f"same sign and same side of {threshold:g}"
    return Replicated(n, n_missing, verdict, share, low, high, f"{compared} in {max(sides.values())} of {n} replicates")
