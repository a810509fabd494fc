"""What ratings of scenarios give: see reports/evaluation.py."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.health.plausibility import rated_alike
from enquete.graphs.scenario import across, findings, present
from enquete.graphs.scenario.analysis import analyse
from enquete.graphs.scenario.figures import figures
from enquete.reports.context import Found, at
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.checks import Humans, Made, any_other, missing
from enquete.reports.health.occasions import answers, checkable, closed, occasion, phases


def health(found: Found, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that wish for all scenarios alike; ratings as anywhere."""
    rows = checkable(rows)
    wanted = at(found, "polarity", "desirability")
    for phase in phases(rows):
        own = closed(occasion(rows, phase))
        wishes = own[own["dimension"].eq(str(wanted))] if wanted else own.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(found, rows, humans)


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings.findings,
    section=present.section,
    appendix=present.appendix,
    files=present.files,
    figures=figures,
    item_facts=present.item_facts,
    health=health,
    agents=across.agents,
    kinds=across.KINDS,
    measures=across.measures,
    headlines=across.headlines,
    sentences=across.SENTENCES,
)
