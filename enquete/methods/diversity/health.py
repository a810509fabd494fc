"""Instrument health of the diversity study: what the forced grid of a sort leaves open, and the ratings beside it."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.coherence import coherence, order_smoothness
from enquete.analysis.quality import two_components
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import Humans, Made, answers, checkable, each, gaps, occasion, phases, scales

CHECKS_OF_SORTS = (coherence, order_smoothness)
"""Checks that a grid leaves open: it settles style and entropy."""


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Yield the structure of the answers, the checks of the sorts, and those of the ratings as of any others."""
    rows = checkable(rows)
    n, n_components = analysis.count("n"), analysis.count("n_components")
    yield "", two_components(analysis.figure("first_two"), n, n_components)

    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        is_sorted = is_of_sort(of_phase)
        sorts, ratings = of_phase[is_sorted], of_phase[~is_sorted]
        checked: set[str] = set()
        if len(sorts):
            yield from each(phase, (check(answers(sorts)) for check in CHECKS_OF_SORTS))
            checked = {check.__name__ for check in CHECKS_OF_SORTS}
        yield from each(phase, (check for check in scales(ratings, humans) if check.name not in checked))

    yield from gaps(rows)


def is_of_sort(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows are of the forced grid: its places run through zero, a rating scale begins above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)
