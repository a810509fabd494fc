"""What the interviews give: see reports/evaluation.py."""

from __future__ import annotations

from enquete.graphs.laddering import health, present
from enquete.graphs.laddering.analysis import analyse
from enquete.graphs.laddering.figures import figures
from enquete.graphs.laddering.findings import findings
from enquete.reports.evaluation import Evaluation

EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section=present.section,
    appendix=present.appendix,
    files=present.files,
    figures=figures,
    item_facts=present.item_facts,
    health=health.health,
    checks=health.CHECKS,
)
