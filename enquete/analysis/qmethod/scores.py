"""Which sorts define a factor, by rule or by hand, and its scores from them: weights, z, factor array, reliability, error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from enquete.analysis.qmethod.sorts import common_sort
from enquete.analysis.typology.components import NEGLIGIBLE, Matrix

Flags: TypeAlias = "npt.NDArray[np.bool_]"

Z_05 = 1.96


@dataclass(frozen=True)
class FlagEdits:
    """Changes by hand: pairs of (row of the sorts as given, factor), both from 0; factors as numbered before any is dropped."""

    add: Collection[tuple[int, int]] = ()
    remove: Collection[tuple[int, int]] = ()


def threshold(statements: int) -> float:
    """Least |l| that differs from 0 at .05: 1.96/√S, S statements (24: .400)."""
    return float(Z_05 / np.sqrt(statements))


def automatic_flags(loadings: Matrix, statements: int) -> Flags:
    """Flagged: |l| > 1.96/√S and l² > Σ of the person's other l². N × k; negative loadings are flagged too.

    At most one flag a person. Source: Brown 1980; van Exel & de Graaf 2005 (PQMethod's pre-flagging).
    """
    squares = loadings**2
    return np.asarray((np.abs(loadings) > threshold(statements)) & (2 * squares > squares.sum(axis=1, keepdims=True)))


def edited(flags: Flags, edits: FlagEdits, rows: Sequence[int]) -> Flags:
    """`flags` with the changes. rows: for each row of `flags`, its row in the sorts as given.

    Raises ValueError for a sort or factor that is not there, for a pair to add that is flagged already, for one to remove
    that is not, and for a pair in both: a researcher's note about another solution must not pass for one about this.
    """
    both = set(edits.add) & set(edits.remove)
    if both:
        raise ValueError(f"flags {sorted(both)} are to be added and removed; name each (sort, factor) once")
    places = {row: place for place, row in enumerate(rows)}
    found = flags.copy()
    for pairs, wanted in ((edits.add, True), (edits.remove, False)):
        for row, factor in pairs:
            if row not in places:
                raise ValueError(f"flag ({row}, {factor}): sort {row} is not among the {len(rows)} analysed sorts")
            if not 0 <= factor < flags.shape[1]:
                raise ValueError(f"flag ({row}, {factor}): factors are 0 … {flags.shape[1] - 1}")
            if flags[places[row], factor] == wanted:
                raise ValueError(
                    f"flag ({row}, {factor}) is {'already set' if wanted else 'not set'}; nothing to change"
                )
            found[places[row], factor] = wanted
    return found


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
