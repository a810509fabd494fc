"""All that reports and comparisons need to know of a poll."""

from __future__ import annotations

import pandas as pd

from enquete.instruments.polls import QuestionsInstrument
from enquete.locale import N_
from enquete.methods.poll.findings import FINDERS, QUESTIONS, choose_for_digest
from enquete.methods.poll.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.reports.context import ItemFacts
from enquete.reports.declarations import Chart, Presentation
from enquete.reports.evaluation import Evaluation
from enquete.reports.result_tables import ResultTables


def choose_drawn_means(tables: ResultTables) -> pd.DataFrame:
    """Return the means of questions on a scale."""
    means = tables["means"]
    return means[means["scale_min"] < means["scale_max"]]


def choose_drawn_shares(tables: ResultTables) -> pd.DataFrame:
    """Return the options of questions that anybody answered."""
    return tables["options"].dropna(subset=["share"])


CHARTS = (
    Chart(
        name="means", title=N_("Poll: mean answers"), needs=("means",), rows=choose_drawn_means,
        draw="enquete.methods.poll.charts:means",
        alt=N_("Mean answers to {n_questions:question|questions}; first: “{item}”, {mean}."),
    ),
    Chart(
        name="shares", title=N_("Poll: shares of the options"), needs=("options",), rows=choose_drawn_shares,
        draw="enquete.methods.poll.charts:shares",
        alt=N_("Shares of options; first: “{item}”, “{label}”, {share}."),
    ),
)  # fmt: skip

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.poll:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, finders=FINDERS, digest=choose_for_digest,
)  # fmt: skip


def item_facts(item_id: str, instrument: QuestionsInstrument) -> ItemFacts:
    """Return the scale of a rating; other questions have none."""
    question = instrument.question(item_id)
    if question.kind != "likert":
        return ItemFacts()
    scale = instrument.scale_of(question)
    return ItemFacts(scale_min=scale.min, scale_max=scale.max)


EVALUATION = Evaluation(analyse=analyse, presentation=PRESENTATION, item_facts=item_facts)
