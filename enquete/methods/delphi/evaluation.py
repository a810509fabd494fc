"""All that reports, health checks and comparisons need to know of a Delphi."""

from __future__ import annotations

import pandas as pd

from enquete.locale import N_
from enquete.methods.delphi.findings import (
    FINDERS,
    PRIMARY,
    QUESTIONS,
    choose_for_digest,
    remember_themes,
    settle_verdicts,
)
from enquete.methods.delphi.health import health, probed
from enquete.methods.delphi.instrument import NO_FEEDBACK, DelphiInstrument
from enquete.methods.delphi.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.reports.context import Files, ItemFacts
from enquete.reports.declarations import Chart, Presentation, WholeResults
from enquete.reports.evaluation import Evaluation
from enquete.reports.result_tables import ResultTables
from enquete.reports.writing import lines


def choose_drawn_ratings(tables: ResultTables) -> pd.DataFrame:
    """Return the ratings that anybody gave, the last round first and in it the highest mean."""
    ratings = tables["ratings"]
    return ratings[ratings["n"] > 0].sort_values(["round", "mean"], ascending=False, kind="stable")


def choose_disputed_ratings(tables: ResultTables) -> pd.DataFrame:
    """Return what stays disputed, the most divided first."""
    return tables.select("dissent", label="disagreement").sort_values("agreement", kind="stable")


CHARTS = (
    Chart(
        name="convergence", title=N_("Delphi: median and quartiles of every theme, by round"), needs=("ratings",),
        draw="enquete.methods.delphi.charts:convergence", rows=choose_drawn_ratings,
        alt=N_("Medians and quartiles of {n_themes} themes by round; in round {last_round} {n_consensus} of "
               "{n_judged} themes are in consensus."),
    ),
    Chart(
        name="dissent", title=N_("Delphi: how ratings are spread on the themes that stay disputed"),
        needs=("dissent", "distribution"), draw="enquete.methods.delphi.charts:dissent", rows=choose_disputed_ratings,
        alt=N_("Distributions of the disputed ratings of round {last_round}; most divided: “{theme}” ({dimension}), "
               "A = {agreement}."),
    ),
)  # fmt: skip

TERMS = {
    N_("theme"): N_("what several answers to the open questions say, named by a sentence of theirs or by the model"),
    N_("quartile distance (IQR)"): N_(
        "the width of the middle half of the ratings; 0 where at least half of the panel is at one"
    ),
    N_("agreement A"): N_(
        "how far the ratings have one peak (van der Eijk 2001): 1 all alike, 0 spread evenly, −1 two camps"
    ),
    N_("Kendall's W"): N_("how alike the agents rank the themes: 0 not at all, 1 completely"),
}

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.delphi:report.md.j2", charts=CHARTS,
    questions=QUESTIONS, primary=PRIMARY, finders=FINDERS, settle=settle_verdicts, digest=choose_for_digest,
    memories=remember_themes,
)  # fmt: skip


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """Return theme ('theme:<id>'), dimension and scale of a rating; a question has none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {each.dimension_id for each in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Return themes of round 1, ratings of round 2, revisions after it, and what converged."""
    return {
        "round1_themes.jsonl": results.rows("themes"),
        "round2_ratings.jsonl": lines(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": lines(frame[frame["round"].gt(2)]),
        "convergence.json": results.without("themes", "flags"),
    }


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=TERMS,
    files=files,
    item_facts=item_facts,
    health=health,
    probed=probed,
    reads_variants=(NO_FEEDBACK,),
)
