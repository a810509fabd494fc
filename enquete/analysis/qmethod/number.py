"""How many factors there are, "none" included: parallel analysis decides, Kaiser's and Brown's rules stand beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from enquete.analysis.qmethod.extraction import eigenvalues, principal, product, spectrum
from enquete.analysis.typology.components import Matrix

DRAWS = 199
ALPHA = 0.01
Z_01 = 2.58


@dataclass(frozen=True)
class NumberOfFactors:
    """eigenvalues of R, descending; beside each the mean and the 95th percentile by chance, and its p.

    parallel: leading eigenvalues with p ≤ .01; 0 means no factors. kaiser: eigenvalues above 1, far too many with many sorts.
    two_loaders: leading unrotated components with at least two loadings beyond 2.58/√S.
    """

    eigenvalues: Matrix
    chance_mean: Matrix
    chance_95: Matrix
    p: Matrix
    draws: int
    parallel: int
    kaiser: int
    two_loaders: int


def number_of_factors(x: Matrix, seed: int, *, draws: int = DRAWS, alpha: float = ALPHA) -> NumberOfFactors:
    """Parallel analysis (Horn 1965) of standardised sorts x (N × S), with each sort's places dealt anew over statements.

    The null is exact: every legal sort is equally likely for everyone. p = (1 + #{null ≥ observed}) / (1 + draws), each
    eigenvalue against those of its own rank. The level is .01, since at .05 one population of noise in twenty has a factor.
    """
    rng = np.random.default_rng(seed)
    observed = eigenvalues(x)
    null = spectrum(np.stack([product(rng.permuted(x, axis=1)) for _ in range(draws)]))
    p = (1 + (null >= observed - 1e-9).sum(axis=0)) / (1 + draws)
    loaders = (np.abs(principal(x, len(observed))) > Z_01 / np.sqrt(x.shape[1])).sum(axis=0)
    return NumberOfFactors(
        observed,
        null.mean(axis=0),
        np.quantile(null, 0.95, axis=0),
        p,
        draws,
        parallel=_leading(p <= alpha),
        kaiser=int((observed > 1 + 1e-9).sum()),
        two_loaders=_leading(loaders >= 2),
    )


def _leading(holds: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    """How many hold before the first that does not."""
    return int(np.logical_and.accumulate(holds).sum())
