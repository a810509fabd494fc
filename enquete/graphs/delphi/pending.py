"""Stand-ins for analysis functions that land on another branch."""

from dataclasses import dataclass

import numpy as np

from enquete.analysis.means import mean_of


def highest_interval(values, k, ends):
    m = mean_of(values.to_numpy(dtype=float), ends)
    return m.low, m.high


@dataclass
class Pull:
    pull: float | None
    low: float | None
    high: float | None
    p: float | None


def feedback_pull(first, last):
    n, t = first.shape
    if n < 6 or np.nanmax(np.abs(first - last)) == 0:
        return Pull(None, None, None, None)
    from scipy import stats

    others = np.array([np.nanmedian(np.delete(first, i, 0), axis=0) for i in range(n)])
    gap = others - first
    moved = last - first
    per = np.nansum(moved * gap, axis=1) / np.maximum(np.nansum(gap * gap, axis=1), 1e-9)
    t_ = stats.ttest_1samp(per, 0)
    lo, hi = t_.confidence_interval()
    return Pull(float(per.mean()), float(lo), float(hi), float(t_.pvalue))


def is_two_camps(values, ends):
    return True
