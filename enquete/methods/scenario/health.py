"""Instrument health of rated scenarios: agents that wish for all of them alike."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.quality import rated_alike
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import Humans, Made, answers, any_other, checkable, closed, missing, occasion, phases


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Yield the check of agents that wish for all scenarios alike, and those of ratings as anywhere."""
    rows = checkable(rows)
    wanted = analysis.facts.get("desirability")
    for phase in phases(rows):
        of_phase = closed(occasion(rows, phase))
        wishes = of_phase[of_phase["dimension"].eq(str(wanted))] if wanted else of_phase.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(analysis, rows, humans)
