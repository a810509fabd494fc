"""What the panel gives: see reports/evaluation.py."""

from __future__ import annotations

from enquete.graphs.delphi import across, health, present
from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.figures import figures
from enquete.graphs.delphi.findings import findings
from enquete.reports.evaluation import Evaluation

EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section=present.section,
    appendix=present.appendix,
    files=present.files,
    item_facts=present.item_facts,
    figures=figures,
    health=health.health,
    probed=health.probed,
    agents=across.agents,
    kinds=across.KINDS,
    measures=across.measures,
    groupings=across.groupings,
    headlines=across.headlines,
    sentences=across.SENTENCES,
)
