"""All that reports, health checks and comparisons need to know of the diversity study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, cast

import pandas as pd

from enquete.analysis.estimates import MOST_COMPARED
from enquete.locale import N_
from enquete.methods.diversity.findings import (
    FINDERS,
    QUESTIONS,
    choose_for_digest,
    remember_types,
    settle_verdicts,
    warn_of_sorts,
)
from enquete.methods.diversity.health import health
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.diversity.replicates import rename_types
from enquete.methods.diversity.results import FACTS, GLOSSARY, TABLES, analyse
from enquete.methods.diversity.sort_files import complete_sorts, pqmethod_dat, sorts_csv
from enquete.reports.context import Files, ItemFacts
from enquete.reports.declarations import Chart, Presentation, Row, Sample, WholeResults
from enquete.reports.evaluation import Evaluation
from enquete.reports.result_tables import ResultTables
from enquete.reports.writing import lines

MAX_EIGENVALUES_DRAWN = 12


def choose_placed_agents(tables: ResultTables) -> pd.DataFrame:
    """Return the agents that have coordinates on the components."""
    return tables["agents"].dropna(subset=["pc1"])


def choose_statements(tables: ResultTables) -> pd.DataFrame:
    """Return the statements, those first on which the views lie furthest apart."""
    return tables.select("items", part="sort").sort_values("apart", ascending=False, kind="stable")


def choose_sorted_statements(tables: ResultTables) -> pd.DataFrame:
    """Return the statements that anybody placed, the highest mean first."""
    statements = tables.select("items", part="sort")
    return statements[statements["n"] > 0].sort_values("mean", ascending=False, kind="stable")


def choose_first_eigenvalues(tables: ResultTables) -> pd.DataFrame:
    """Return the eigenvalues of which some may be above chance."""
    eigenvalues = tables["parallel"]
    return eigenvalues[eigenvalues["rank"] <= MAX_EIGENVALUES_DRAWN]


DRAW = "enquete.methods.diversity.charts:"
CHARTS = (
    Chart(
        name="plane", title=N_("Diversity: agents on the first two components, by type"), draw=f"{DRAW}plane",
        needs=("agents", "components"), rows=choose_placed_agents,
        alt=N_("{n} agents on two components that explain {first_two} of the variance; types: {n_types}."),
    ),
    Chart(
        name="statements", title=N_("Diversity: statements on each shared view"), draw=f"{DRAW}statements",
        needs=("items", "scores"), rows=choose_statements,
        alt=N_("z-scores of {n_statements} statements on {n_views:shared view|shared views}."),
    ),
    Chart(
        name="places", title=N_("Diversity: mean place of every statement"), draw=f"{DRAW}places", needs=("items",),
        at="appendix", rows=choose_sorted_statements,
        alt=N_("Mean places of {n_statements} statements; highest: “{label}”, {mean}."),
    ),
    Chart(
        name="scree", title=N_("Diversity: eigenvalues of the sorts, and what chance gives"), draw=f"{DRAW}scree",
        needs=("parallel",), rows=choose_first_eigenvalues,
        alt=N_("{parallel_views:eigenvalue lies|eigenvalues lie} above chance; the first is {eigenvalue}."),
    ),
    Chart(
        name="groups", title=N_("Diversity: types by group"), draw=f"{DRAW}groups", needs=("type_groups",),
        alt=N_("How many agents of each group belong to each type ({n_types})."),
    ),
)  # fmt: skip

TERMS = {
    N_("shared view"): N_(
        "a Q factor: what several agents' sorts have in common; an agent can share it or hold its reverse"
    ),
    N_("type"): N_("a cluster: agents who sort and place themselves alike; an agent belongs to one"),
    N_("parallel analysis"): N_("counts the views whose eigenvalue exceeds that of randomly permuted sorts"),
    N_("distinguishing statement"): N_("one that a view places elsewhere than every other view does, beyond chance"),
    N_("stability (Jaccard)"): N_("how much of a type is found again when agents are drawn anew; 1 is all of it"),
}

PRESENTATION = Presentation(
    tables=TABLES, facts=FACTS, glossary=GLOSSARY, template="enquete.methods.diversity:report.md.j2", charts=CHARTS,
    samples=(Sample(what=N_("the number of types"), of="n", most=MOST_COMPARED),), questions=QUESTIONS,
    finders=FINDERS, settle=settle_verdicts, digest=choose_for_digest, memories=remember_types, warnings=warn_of_sorts,
)  # fmt: skip


def item_facts(item_id: str, instrument: DiversityInstrument) -> ItemFacts:
    """Return the scale of an item: a statement has the grid's places, an axis its own points."""
    if item_id in {statement.statement_id for statement in instrument.statements}:
        places = list(instrument.distribution)
        return ItemFacts(family="sort", scale_min=places[0], scale_max=places[-1])
    if item_id in {axis.axis_id for axis in instrument.likert_axes}:
        return ItemFacts(family="axis", scale_min=1, scale_max=instrument.axis(item_id).points)
    return ItemFacts()


IN_TYPOLOGY = (
    "arms", "partial", "participation", "left_out", "grid", "items", "types_tried", "type_items", "type_groups",
    "agents",
)  # fmt: skip
IN_Q = ("arms", "items", "parallel", "views", "scores", "poles", "holders", "correlations", "not_done")
IN_PCA = ("arms", "components", "component_loadings")
"""What is in typology.json, qmethod.json and pca.json beside the facts."""


def files(results: WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Return the answers, the typology with everything it rests on, the components, and the Q analysis."""

    def with_facts(names: Iterable[str]) -> Row:
        return {name: results[name] for name in (*PRESENTATION.facts, *names)}

    agents = {row["participant"]: row for row in results.rows("agents")}
    scores = [
        {name: row[name] for name in ("participant", "pc1", "pc2", "pc3")}
        for row in agents.values()
        if row["pc1"] is not None
    ]
    return {
        "responses.jsonl": lines(frame),
        **_files_for_q_software(results, frame),
        "typology.json": with_facts(IN_TYPOLOGY) | {"archetypes": results["types"]},
        "pca.json": with_facts(IN_PCA) | {"scores": scores},
        "qmethod.json": with_facts(IN_Q) | {"members": list(_describe_members(results.rows("loadings"), agents))},
    }


def _describe_members(loadings: Iterable[Row], agents: Mapping[str, Row]) -> Iterator[Row]:
    """Yield every sort with its loadings in the order of the views, the views that it defines, and its agent's type."""
    for who, group in groupby(loadings, key=itemgetter("participant")):
        rows, agent = list(group), agents[who]
        yield {
            "participant": who,
            "factor": agent["q_factor"],
            "flagged": [row["view"] for row in rows if row["defines"]],
            "loadings": [row["loading"] for row in rows],
            "archetype": agent["archetype"],
            "membership": agent["probability"],
        }


def _files_for_q_software(results: WholeResults, frame: pd.DataFrame) -> dict[str, str]:
    """Return the sorts as KADE, R's qmethod and PQMethod read them; nothing where there are none."""
    grid = {int(row["place"]): int(row["n"]) for row in results.rows("grid")}
    statements = [str(row["item"]) for row in results.rows("items") if row["part"] == "sort"]
    main = frame[frame["arm"].isin(cast("list[str]", results["arms"]))] if "arm" in frame else frame
    sorts = complete_sorts(main, grid, statements)
    if sorts.empty:
        return {}
    written: dict[str, Any] = {"sorts.csv": sorts_csv(sorts)}
    dat = pqmethod_dat(sorts, grid, f"{len(sorts)} sorts")
    return written if dat is None else {**written, "pqmethod.dat": dat}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=TERMS,
    files=files,
    item_facts=item_facts,
    health=health,
    alike=rename_types,
)
