"""What the interviews give: see reports/evaluation.py."""

from __future__ import annotations

from enquete.graphs.laddering import health
from enquete.graphs.laddering.analysis import analyse
from enquete.graphs.laddering.export import files
from enquete.graphs.laddering.instrument import LadderingInstrument
from enquete.graphs.laddering.tables import GLOSSARY, PRESENTATION
from enquete.graphs.laddering.transcripts import talks
from enquete.reports.context import ItemFacts
from enquete.reports.evaluation import Evaluation


def item_facts(item_id: str, instrument: LadderingInstrument) -> ItemFacts:
    """A turn's answer is free text: no scale, no family."""
    return ItemFacts(dimension="turn")


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    talks=talks,
    health=health.health,
    checks=health.CHECKS,
)
