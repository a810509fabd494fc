"""Instrument health of a Delphi: panelists who revise nothing, and the pull of a median that nobody gave."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from enquete.analysis.coherence import answer_stability
from enquete.analysis.probes import false_median
from enquete.analysis.quality import unrevised
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import (
    Arms,
    Humans,
    Made,
    answers,
    checkable,
    each,
    gaps,
    missing,
    occasion,
    phases,
    repeated,
    rounds,
    scales,
)

FALSE_MEDIAN = "false_median"


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Panelists whose revision left all as it was; ratings before feedback as anywhere, revised ones for gaps alone."""
    rows = checkable(rows)
    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        rated = rounds(of_phase)
        if len(rated) > 1:
            first, last = (answers(occasion(of_phase, phase, number)) for number in (rated[0], rated[-1]))
            yield from each(phase, (unrevised(first, last), answer_stability(first, last)))
        else:
            yield from each(phase, (missing(name, "no_revision") for name in ("unrevised", "answer_stability")))
        if rated:
            yield from each(phase, scales(occasion(of_phase, phase, rated[0]), humans))
    yield from gaps(rows)


def probed(arms: Arms) -> Made:
    """Ratings asked again, and a false median."""
    yield from repeated(arms)
    yield from _false_median(arms)


def _false_median(arms: Arms) -> Made:
    """The pull of a median that nobody gave, against that of the panel's own."""
    if FALSE_MEDIAN not in arms.others:
        return
    bogus, main = arms.others[FALSE_MEDIAN], str(arms.main["arm"].iloc[0])
    for phase in phases(bogus):
        told = rounds(occasion(bogus, phase))[-1]
        rated = [number for number in rounds(occasion(arms.main, phase)) if number <= told]
        if len(rated) < 2 or rated[-1] != told:
            yield phase, missing("false_median", "no_revision")
            continue
        first, last = (answers(occasion(arms.main, phase, number)) for number in rated[-2:])
        true, false = (_medians(arms, arm) for arm in (main, FALSE_MEDIAN))
        followed = answers(occasion(bogus, phase, told))
        yield phase, false_median(first, last, followed, true_median=true, bogus_median=false)


def _medians(arms: Arms, arm: str) -> dict[str, float]:
    """Item → median that this arm's panel was shown in the round that the false ones were shown in."""
    rounds = (int(name.partition("/")[2]) for name in arms.pinned(FALSE_MEDIAN) if name.startswith("feedback/"))
    feedback = arms.pinned(arm).get(f"feedback/{max(rounds, default='')}")
    items = feedback if isinstance(feedback, Mapping) else {}
    medians = {str(item): row.get("median") for item, row in items.items() if isinstance(row, Mapping)}
    return {item: float(median) for item, median in medians.items() if isinstance(median, int | float)}
