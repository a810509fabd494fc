"""All that reports, health checks and comparisons need to know of discovery interviews."""

from __future__ import annotations

import pandas as pd

from enquete.locale import N_
from enquete.methods.discovery.findings import FINDERS, QUESTIONS, choose_for_digest
from enquete.methods.discovery.health import CHECKS, health
from enquete.methods.discovery.record_files import files, read_transcripts
from enquete.methods.discovery.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.reports.declarations import Chart, Presentation
from enquete.reports.evaluation import Evaluation, of_turn
from enquete.reports.result_tables import ResultTables


def choose_drawn_fields(tables: ResultTables) -> pd.DataFrame:
    """Return the fields that are no parts, those known of most agents first."""
    fields = tables["fields"]
    return fields[fields["type"] != "object"].sort_values("n", ascending=False, kind="stable")


CHARTS = (
    Chart(
        name="completeness", title=N_("Discovery: records after each question"), needs=("curve",),
        draw="enquete.methods.discovery.charts:completeness",
        alt=N_("{shown_complete} of {n} records are complete after {last_question} questions; {last_known} of the "
               "fields are known."),
    ),
    Chart(
        name="coverage", title=N_("Discovery: what is known, by field and group"), needs=("fields",),
        draw="enquete.methods.discovery.charts:coverage", rows=choose_drawn_fields,
        alt=N_("Agents of whom a field is known; of most: {label}, {n} of {n_total}."),
    ),
)  # fmt: skip

TERMS = {
    N_("record"): N_(
        "What an interview has found out about one agent, field by field, each with the words it rests on."
    ),
    N_("discovery schema"): N_("What an interview is to find out: fields, and when a record of them is complete."),
}

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.discovery:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, finders=FINDERS, digest=choose_for_digest,
)  # fmt: skip

EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    files=files,
    item_facts=of_turn,
    transcripts=read_transcripts,
    health=health,
    checks=CHECKS,
    glossary=TERMS,
)
