"""What the sorts give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Sequence

from enquete.graphs.diversity import across, health, present
from enquete.graphs.diversity.analysis import analyse
from enquete.reports.crossing.claims import Words
from enquete.reports.evaluation import Evaluation

FLAGS: Sequence[tuple[str, Words]] = (
    (
        r"diversity: (\d+) of (\d+) placements were moved to fit the grid.*",
        {
            "de": "Vielfalt der Sichtweisen: {0} von {1} Platzierungen mussten verschoben werden, damit sie ins Raster passen.",
            "en": "Diversity of views: {0} of {1} placements had to be moved for the sort to fit the grid.",
        },
    ),
    (
        r"diversity: all agents answered alike",
        {
            "de": "Vielfalt der Sichtweisen: Alle Agenten haben gleich geantwortet.",
            "en": "Diversity of views: all agents answered alike.",
        },
    ),
    (r"diversity: the first two components.*", {"de": "", "en": ""}),  # the check of instrument health says it
)

EVALUATION = Evaluation(
    analyse=analyse,
    section=present.section,
    appendix=present.appendix,
    files=present.files,
    item_facts=present.item_facts,
    figure="enquete.graphs.diversity.figures:draw",
    flags=FLAGS,
    health=health.health,
    agents=across.agents,
    kinds=across.KINDS,
    pairs=across.PAIRS,
    groupings=across.groupings,
    claims=across.claims,
    headlines=across.headlines,
    sentences=across.SENTENCES,
    alike=across.named_alike,
)
