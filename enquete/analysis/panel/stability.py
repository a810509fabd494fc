"""Whether a panel's ratings stood still between two Delphi rounds, apart from whether they agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.agreement.kappa import Kappa, weighted_kappa
from enquete.analysis.change.paired import PairedTest, wilcoxon
from enquete.analysis.panel.dispersion import frequencies

STABLE_UP_TO = 0.15
"""Share of the panel that may have changed its place, net, in a stable item (Scheibe, Skutsch & Schofer 1975)."""


@dataclass(frozen=True, slots=True)
class Stability:
    """One item over two rounds, among panelists present in both. None where nobody is."""

    n_paired: int
    n_first_only: int
    n_second_only: int
    n_changed: int
    share_changed: float | None
    net_change: float | None  # 0 … 1
    stable: bool | None  # net_change ≤ .15
    kappa: Kappa
    wilcoxon: PairedTest
    cv_first: float | None
    cv_second: float | None
    delta_cv: float | None  # negative: less spread for its level


def stability(
    first: pd.Series[float], second: pd.Series[float], low: int, high: int, *, up_to: float = STABLE_UP_TO
) -> Stability:
    """Change between two rounds within panelists: κ, Wilcoxon, net change of the histogram, ΔCV.

    net_change = ½Σₖ|nₖ,₂ − nₖ,₁|/n over scale points k: the share of the panel that would have to move to turn the one
    histogram into the other; the item is stable up to 15 %. Individuals may swap places all the same: share_changed and κ
    tell. CV = SD/mean (n − 1); it takes the scale's zero for a real one. Describes this run.

    first, second: ratings by participant on the integer scale low … high, NaN where missing.
    Raises ValueError if a participant occurs twice or a rating is off the scale.
    Source: Scheibe, Skutsch & Schofer 1975; Dajani, Sincoff & Talley 1979; von der Gracht 2012 for a review.
    """
    for name, ratings in (("first", first), ("second", second)):
        if ratings.index.has_duplicates:
            doubled = ratings.index[ratings.index.duplicated()][0]
            raise ValueError(f"{name} round: participant {doubled!r} occurs more than once")
    first, second = first.dropna(), second.dropna()
    both = first.index.intersection(second.index)
    x, y = first.loc[both].to_numpy(dtype=float), second.loc[both].to_numpy(dtype=float)
    moved = np.abs(frequencies(y, low, high) - frequencies(x, low, high)).sum() / 2
    net = float(moved / len(both)) if len(both) else None
    cv_first, cv_second = variation(x), variation(y)
    return Stability(
        n_paired=len(both),
        n_first_only=len(first) - len(both),
        n_second_only=len(second) - len(both),
        n_changed=int((x != y).sum()),
        share_changed=float((x != y).mean()) if len(both) else None,
        net_change=net,
        stable=None if net is None else net <= up_to,
        kappa=weighted_kappa(x, y),
        wilcoxon=wilcoxon(x, y),
        cv_first=cv_first,
        cv_second=cv_second,
        delta_cv=None if cv_first is None or cv_second is None else cv_second - cv_first,
    )


def variation(ratings: np.ndarray) -> float | None:
    """Coefficient of variation SD/mean, n − 1, NaN left out; None below two ratings or for a mean of 0 or less."""
    x = np.asarray(ratings, dtype=np.float64)
    x = x[~np.isnan(x)]
    return float(x.std(ddof=1) / x.mean()) if x.size > 1 and x.mean() > 0 else None
