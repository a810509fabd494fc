"""All that reports, health checks and comparisons need to know of laddering."""

from __future__ import annotations

import pandas as pd

from enquete.locale import N_
from enquete.methods.laddering.files import files
from enquete.methods.laddering.findings import (
    FINDERS,
    PRIMARY,
    QUESTIONS,
    choose_for_digest,
    remember_concepts,
    settle_verdicts,
)
from enquete.methods.laddering.health import CHECKS, health
from enquete.methods.laddering.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.methods.laddering.transcripts import read_transcripts
from enquete.reports.declarations import Chart, Presentation
from enquete.reports.evaluation import Evaluation, of_turn
from enquete.reports.result_tables import ResultTables


def choose_links_on_map(tables: ResultTables) -> pd.DataFrame:
    """Return the links that the value map shows, the strongest first."""
    return tables.select("implications", shown=True)


def choose_elements(tables: ResultTables) -> pd.DataFrame:
    """Return the elements of the topic, those first that most agents speak of."""
    return tables["coverage"].sort_values("agents", ascending=False, kind="stable")


def choose_last_interviews(tables: ResultTables) -> pd.DataFrame:
    """Return the growth of concepts, the last interview first, of which the alternative text tells."""
    return tables["saturation"].sort_values("interviews", ascending=False, kind="stable")


DRAW = "enquete.methods.laddering.charts:"
CHARTS = (
    Chart(
        name="value_map", title=N_("Laddering: concepts and how they hang together"), draw=f"{DRAW}value_map",
        needs=("implications", "concepts"), rows=choose_links_on_map,
        alt=N_("Map of {n_shown} concepts and {n_links} links; strongest: “{source}” {relation} “{target}”, {direct} "
               "agents."),
    ),
    Chart(
        name="concepts", title=N_("Laddering: concepts by the agents who name them"), draw=f"{DRAW}concepts",
        needs=("concepts",),
        alt=N_("Share of {n} agents who name each concept; most: {label}, {share}."),
    ),
    Chart(
        name="coverage", title=N_("Laddering: agents who speak of each element of the topic"), draw=f"{DRAW}coverage",
        needs=("coverage",), rows=choose_elements, at="appendix",
        alt=N_("Agents who speak of each element, of {n}; most: {label}, {agents}."),
    ),
    Chart(
        name="saturation", title=N_("Laddering: distinct concepts after each interview"), draw=f"{DRAW}saturation",
        needs=("saturation",), rows=choose_last_interviews, at="appendix",
        alt=N_("{concepts} distinct concepts after {interviews} interviews; the last quarter of them brought "
               "{n_late_new}."),
    ),
)  # fmt: skip

TERMS = {
    N_("ladder"): N_("a chain from what something is, over what follows from it, to why that matters to someone"),
    N_("value map"): N_("the links between concepts that at least as many agents gave as the cut-off says"),
    N_("saturation"): N_("how few new concepts each further interview brings"),
}

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.laddering:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, primary=PRIMARY, finders=FINDERS, settle=settle_verdicts, digest=choose_for_digest,
    memories=remember_concepts,
)  # fmt: skip

EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=TERMS,
    files=files,
    item_facts=of_turn,
    transcripts=read_transcripts,
    health=health,
    checks=CHECKS,
)
