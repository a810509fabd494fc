"""Statement scores of a factor from the sorts that define it: weights, z-scores, factor array, reliability, standard error."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from enquete.analysis.qmethod.flags import Flags
from enquete.analysis.qmethod.sorts import common_sort
from enquete.analysis.typology.components import NEGLIGIBLE, Matrix

LARGEST_LOADING = 0.999  # beyond it, a weight l/(1 − l²) would make one sort the factor
SORT_RELIABILITY = 0.8  # r of a person's sort with the same person's later sort (Brown 1980, p. 245)
TIE = 9  # digits of z beyond which two statements are tied, so that ties do not depend on the machine


def weights(loadings: Matrix, flags: Flags) -> Matrix:
    """w = l/(1 − l²) of flagged sorts, 0 elsewhere, N × k. Source: Spearman 1927, Brown 1980, p. 241.

    |l| above .999 counts as .999 (w = ±499.75): at 1 the weight is infinite, and above 1 (Heywood) it has the wrong sign.
    """
    bounded = np.clip(loadings, -LARGEST_LOADING, LARGEST_LOADING)
    return np.where(flags, bounded / (1 - bounded**2), 0.0)


def composites(sorts: Matrix, weight: Matrix) -> Matrix:
    """Weighted mean sort of each factor, Σwx / Σ|w|, less its mean: factors × statements. Each factor needs a weight."""
    sums = weight.T @ sorts / np.abs(weight).sum(axis=0)[:, None]
    return np.asarray(sums - sums.mean(axis=1, keepdims=True))


def is_flat(composite: Matrix) -> bool:
    """Whether the weighted sorts cancel one another, so that no statement stands out."""
    return bool(np.abs(composite).max(initial=0.0) <= NEGLIGIBLE)


def z_scores(composite: Matrix) -> Matrix:
    """Composites divided by their own SD (n − 1) over statements: mean 0, SD 1."""
    return np.asarray(composite / composite.std(axis=-1, ddof=1, keepdims=True))


def factor_array(z: Matrix, grid: Mapping[int, int]) -> Matrix:
    """The forced grid filled in the order of z; of tied statements (equal to 9 digits) the earlier gets the lower place."""
    return common_sort(z.round(TIE), grid)


def reliability(flagged: int) -> float:
    """Composite reliability 0.8p / (1 + 0.8(p − 1)) of p flagged sorts (Spearman–Brown). Source: Brown 1980, p. 244."""
    if flagged < 1:
        raise ValueError(f"a factor without a flagged sort has no reliability (got p = {flagged})")
    return SORT_RELIABILITY * flagged / (1 + SORT_RELIABILITY * (flagged - 1))


def standard_error(flagged: int) -> float:
    """SE = s·√(1 − r) of a factor's z-scores, s = 1. It knows the number of sorts and not how far they agree."""
    return float(np.sqrt(1 - reliability(flagged)))


def standard_errors_of_difference(se: Matrix) -> Matrix:
    """SED = √(SE₁² + SE₂²) for every two factors, k × k."""
    return np.asarray(np.sqrt(se[:, None] ** 2 + se[None, :] ** 2))
