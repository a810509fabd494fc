"""What the waves give: see reports/evaluation.py."""

from __future__ import annotations

from enquete.graphs.longitudinal import across, findings, health, present
from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.figures import figures
from enquete.reports.evaluation import Evaluation

EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings.findings,
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
    headlines=across.headlines,
    sentences=across.SENTENCES,
)
