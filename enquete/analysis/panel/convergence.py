"""How a panel's ratings move from one Delphi round to the next: convergence, disagreement, ranked consensus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from enquete.analysis.panel.dispersion import iqr

DISAGREEMENT_IQR = 2.0
DISAGREEMENT_A = 0.2
CONSENSUS_IQR = 1.0


@dataclass(frozen=True, slots=True)
class Convergence:
    """One item over two rounds, among panelists present in both. None where nobody is."""

    n_paired: int
    n_first_only: int
    n_second_only: int
    iqr_first: float | None
    iqr_second: float | None
    delta_iqr: float | None  # negative: the panel drew together
    n_off_median: int  # panelists whose first rating was not the median: only they can move toward it
    n_moved: int
    n_toward: int
    n_away: int
    share_toward: float | None  # n_toward / n_off_median


def converge(first: pd.Series[float], second: pd.Series[float], *, median: float | None = None) -> Convergence:
    """ΔIQR = IQR(second) − IQR(first) over the same panelists, and who moved toward the first round's median M.

    A panelist moves toward M where |second − M| < |first − M|, away where it is larger.
    first, second: ratings by participant id, NaN where missing. median: the M that was fed back; by default the median
    of all first-round ratings, those of later drop-outs included, because that is what the panel was shown.
    Raises ValueError if a participant occurs twice.
    """
    for name, ratings in (("first", first), ("second", second)):
        if ratings.index.has_duplicates:
            doubled = ratings.index[ratings.index.duplicated()][0]
            raise ValueError(f"{name} round: participant {doubled!r} occurs more than once")
    first, second = first.dropna(), second.dropna()
    both = first.index.intersection(second.index)
    x, y = first.loc[both].to_numpy(dtype=float), second.loc[both].to_numpy(dtype=float)
    m = median if median is not None else (float(first.median()) if len(first) else np.nan)
    before, after = np.abs(x - m), np.abs(y - m)
    n_off, n_toward = int((before > 0).sum()), int((after < before).sum())
    iqr_first, iqr_second = iqr(x), iqr(y)
    return Convergence(
        n_paired=len(both),
        n_first_only=len(first) - len(both),
        n_second_only=len(second) - len(both),
        iqr_first=iqr_first,
        iqr_second=iqr_second,
        delta_iqr=None if iqr_first is None or iqr_second is None else iqr_second - iqr_first,
        n_off_median=n_off,
        n_moved=int((x != y).sum()),
        n_toward=n_toward,
        n_away=int((after > before).sum()),
        share_toward=n_toward / n_off if n_off else None,
    )


def is_disagreement(
    iqr: float | None,
    agreement: float | None,
    *,
    iqr_above: float = DISAGREEMENT_IQR,
    agreement_below: float = DISAGREEMENT_A,
) -> bool:
    """IQR > 2 or van der Eijk's A < 0.2: the IQR alone misses a panel split half and half on 2 and 4 (IQR 2, A ⅙)."""
    return (iqr is not None and iqr > iqr_above) or (agreement is not None and agreement < agreement_below)


def is_consensus(iqr: float | None, *, at_most: float = CONSENSUS_IQR) -> bool:
    """The usual label on five-point scales: IQR ≤ 1. Without ratings there is none."""
    return iqr is not None and iqr <= at_most


def rank_consensus(statements: pd.DataFrame, *, at_most: float = CONSENSUS_IQR) -> pd.DataFrame:
    """Consensus statements, the closest agreement first: by IQR ascending, then median importance descending.

    statements: index = theme id, columns iqr and median (of importance). Equal ones keep the order of their ids, so the
    ranking does not depend on the order given. Returns the rows with IQR ≤ at_most and a column rank from 1.
    """
    chosen = statements[statements["iqr"] <= at_most].sort_index(kind="stable")
    ranked = chosen.sort_values(["iqr", "median"], ascending=[True, False], kind="stable")
    return ranked.assign(rank=range(1, len(ranked) + 1))
