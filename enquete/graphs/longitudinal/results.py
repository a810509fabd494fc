"""What the waves give: see reports/evaluation.py."""

from __future__ import annotations

from collections.abc import Sequence

from enquete.graphs.longitudinal import across, health, present
from enquete.graphs.longitudinal.analysis import analyse
from enquete.reports.crossing.claims import Words
from enquete.reports.evaluation import Evaluation

FLAGS: Sequence[tuple[str, Words]] = (
    (
        r"longitudinal: baseline reconstructed",
        {
            "de": "Längsschnitt: T0 wurde erst nach dem Ende der Simulation rekonstruiert (dieselben Personas ohne Erinnerung). "
            "Die Unterschiede zu T1 sind ein Erfahrungseffekt, keine Drift.",
            "en": "Longitudinal: T0 was reconstructed after the simulation had ended (the same personas without memory). "
            "Differences from T1 are an experience effect, not drift.",
        },
    ),
    (
        r"longitudinal: drift not interpretable: (.*?)\.?",
        {
            "de": "Längsschnitt: Die Drift ist nicht interpretierbar. {0}.",
            "en": "Longitudinal: drift is not interpretable. {0}.",
        },
    ),
)

EVALUATION = Evaluation(
    analyse=analyse,
    section=present.section,
    appendix=present.appendix,
    files=present.files,
    item_facts=present.item_facts,
    figure="enquete.graphs.longitudinal.figures:draw",
    flags=FLAGS,
    health=health.health,
    probed=health.probed,
    agents=across.agents,
    kinds=across.KINDS,
    measures=across.measures,
    headlines=across.headlines,
    sentences=across.SENTENCES,
)
