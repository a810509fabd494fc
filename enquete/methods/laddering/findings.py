"""What the interviews found, in sentences, and which of them rest on a test.

One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings, in the
order of `FINDERS`. Where a rule read the answers, nothing is said of what leads to what: it knows no meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from enquete.locale import N_
from enquete.reports.declarations import Row
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question, Remark, null_finding
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of, significant

MAX_LINKS_TOLD = 2
MAX_STRATEGIES_TOLD = 2
MAX_REMEMBERED = 5
"""Concepts, and links, that a memory is told."""


def is_read_by_model(tables: ResultTables) -> bool:
    """Return whether answers were read, and by a model."""
    return tables.facts["by_rule"] is False


def is_interpretable(tables: ResultTables) -> bool:
    """Return whether a model read the answers of enough agents to say what leads to what."""
    return is_read_by_model(tables) and has_enough_interviews(tables)


def has_enough_interviews(tables: ResultTables) -> bool:
    return bool((tables.facts["n"] or 0) >= FEWEST)


def testable_concepts(tables: ResultTables) -> pd.DataFrame:
    """Return the concepts that groups are compared on; none where a rule read the answers."""
    tests = tables["group_tests"]
    return tests if is_read_by_model(tables) else tests.head(0)


def testable_strategies(tables: ResultTables) -> pd.DataFrame:
    """Return how many more concepts adaptive questions found; nothing where a rule read the answers."""
    richness = tables.select("adapting", measure="richness")
    return richness if is_read_by_model(tables) else richness.head(0)


GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given", rows=testable_concepts)
ADAPTING = Question(name="adapting", table="adapting", rows=testable_strategies)
QUESTIONS = (GROUPS, ADAPTING)
PRIMARY = (GROUPS.name,)

ADAPTING_SAYS = {
    "more": N_(
        "Adapting helped: adaptive questions found {size} more concepts an interview than {strategy} (95% interval "
        "{low} to {high}, adjusted {p}; n = {n}/{n_total})."
    ),
    "fewer": N_(
        "Adapting did not help: adaptive questions found {size} fewer concepts an interview than {strategy} (adjusted "
        "{p}; n = {n}/{n_total})."
    ),
}


def find_reading_by_rule(tables: ResultTables) -> Iterator[Finding]:
    """Yield that a rule read the answers."""
    if has_enough_interviews(tables) and tables.facts["by_rule"]:
        yield Finding(
            id="by_rule", kind="null",
            text=N_(
                "What leads to what is not known: a rule stood in for the model and read {n_by_rule} of {n_read} "
                "answers (n = {n}/{n_total} interviews)."
            ),
        )  # fmt: skip


def find_no_concept(tables: ResultTables) -> Iterator[Finding]:
    """Yield that no concept was found in the answers."""
    if is_interpretable(tables) and tables.facts["n_concepts"] == 0:
        yield Finding(
            id="nothing", kind="null",
            text=N_("No concept was found in the {n_answers} answers (n = {n}/{n_total} interviews)."),
        )  # fmt: skip


def find_group_differences_in_concepts(tables: ResultTables) -> Iterator[Finding]:
    """Yield which groups name a concept more often than others."""

    def size(row: Row) -> float:
        return float(row["mean_highest"] - row["mean_lowest"])

    yield from find_group_differences(
        GROUPS, tables, size=size, key=("concept",), chart="concepts",
        found=N_(
            "“{concept}” is named by {mean_highest} of {highest} and {mean_lowest} of {lowest} (effect {effect}, "
            "adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No concept is named by one group more than by another ({tests} tested, smallest adjusted {p}; n = "
            "{n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def find_links(tables: ResultTables) -> Iterator[Finding]:
    """Yield the links that most agents gave."""
    if not (is_interpretable(tables) and tables.facts["climbs"]):
        return
    links = tables["implications"]
    for row in rows_of(links[links["direct"] > 1].head(MAX_LINKS_TOLD)):
        yield Finding(
            id=f"link.{row['source']}/{row['target']}", values=row, table="implications", chart="value_map",
            **_about_share(row),
            text=N_(
                "“{source}” {relation} “{target}” in {direct} interviews ({share}, 95% interval {low} to {high} for "
                "one of all links; n = {n}/{n_total})."
            ),
        )  # fmt: skip


def find_end(tables: ResultTables) -> Iterator[Finding]:
    """Yield the concept that most agents named on the highest rung."""
    if not (is_interpretable(tables) and tables.facts["climbs"]):
        return
    ends = tables.select("concepts", type=tables.facts["top_rung"])
    for row in rows_of(ends[ends["agents"] > 1].head(1)):
        yield Finding(
            id=f"end.{row['concept']}", values=row, table="concepts", chart="value_map", **_about_share(row),
            text=N_(
                "As {type} “{label}” is {tie}, in {agents} interviews ({share}, 95% interval {low} to {high}; n = "
                "{n}/{n_total})."
            ),
        )  # fmt: skip


def find_concept(tables: ResultTables) -> Iterator[Finding]:
    """Yield the concept that most agents named."""
    if not is_interpretable(tables):
        return
    for row in rows_of(tables["concepts"].head(1)):
        yield Finding(
            id=f"concept.{row['concept']}", values=row, table="concepts", chart="concepts", **_about_share(row),
            text=N_(
                "Of all concepts “{label}” is {most_named}, in {agents} interviews ({share}, 95% interval {low} to "
                "{high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


def _about_share(row: Row) -> dict[str, Any]:
    """Return the fields of a finding that is a share of the interviews."""
    return {"estimate": "share", "low": "low", "high": "high", "size": row["share"], "items": row["items"] or ()}


def find_saturation(tables: ResultTables) -> Iterator[Finding]:
    """Yield how many new concepts the last quarter of the interviews brought."""
    facts = tables.facts
    if is_interpretable(tables) and facts["n_concepts"]:
        yield Finding(
            id="saturation", estimate="n_late_new", size=facts["n_late_new"] / facts["n_concepts"],
            scale=(0, facts["n_concepts"]), chart="saturation",
            text=N_(
                "The last quarter of the interviews brought {n_late_new} of {n_concepts} different concepts (n = "
                "{n}/{n_total})."
            ),
        )  # fmt: skip


def find_effect_of_adapting(tables: ResultTables) -> Iterator[Finding]:
    """Yield whether adaptive questions found more concepts than others, or that it is not certain."""
    about: dict[str, Any] = {"test": "paired t", "estimate": "mean", "low": "low", "high": "high"}
    for row in rows_of(ADAPTING.found_rows(tables).head(MAX_STRATEGIES_TOLD)):
        if row["direction"] in ADAPTING_SAYS:
            yield Finding(
                id=f"adapting.{row['strategy']}/{row['measure']}", kind="difference", question=ADAPTING.name,
                text=ADAPTING_SAYS[row["direction"]], values=row, table="adapting",
                size=row["size"] / tables.facts["mean_richness"], **about,
            )  # fmt: skip
    if ADAPTING.found_nothing(tables):
        nothing = N_(
            "Whether adapting helped is not certain: adaptive questions found {mean} more concepts an interview than "
            "{strategy} (95% interval {low} to {high}, adjusted {p}; n = {n}/{n_total}); {power}."
        )
        yield null_finding(ADAPTING, tables, nothing, **about)


FINDERS = (
    find_reading_by_rule, find_no_concept, find_group_differences_in_concepts, find_links, find_end, find_concept,
    find_saturation, find_effect_of_adapting,
)  # fmt: skip


def settle_verdicts(tables: ResultTables) -> Mapping[str, pd.DataFrame]:
    """Return the comparison of strategies, whose direction is unclear where the corrected test does not bear it out."""
    adapting = tables["adapting"]
    is_unsure = adapting["p_adjusted"].ge(LEVEL) & adapting["direction"].isin(["more", "fewer"])
    return {"adapting": adapting.assign(direction=adapting["direction"].mask(is_unsure, "unclear"))}


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    types = tables["types"]
    groups = significant(tables["group_tests"]).sort_values("effect", ascending=False, kind="stable")
    return {
        "implications": DigestRows(
            rows=tables.select("implications", shown=True), columns="source relation target direct share", top=15
        ),
        "types": DigestRows(rows=types[types["different"] > 0], columns="label different first agents"),
        "group_tests": DigestRows(
            rows=groups, columns="concept highest mean_highest lowest mean_lowest effect p_adjusted", top=5
        ),
        "concepts": DigestRows(rows=tables["concepts"], columns="label type agents share", top=15),
        "coverage": DigestRows(rows=tables["coverage"], columns="label agents concepts"),
    }


def remember_concepts(tables: ResultTables) -> Iterator[Remark]:
    """Yield what a memory is told: links and concepts that several agents gave, where a model read them."""
    if not is_read_by_model(tables):
        return
    links, concepts = tables.select("implications", shown=True), tables["concepts"]
    for row in rows_of(links[links["direct"] > 1].head(MAX_REMEMBERED)):
        yield Remark(
            id=f"implications/{row['source']}/{row['target']}", values=row, table="implications",
            text=N_("“{source}” {relation} “{target}”, said {direct} of {n} agents."),
        )  # fmt: skip
    for row in rows_of(concepts[concepts["agents"] > 1].head(MAX_REMEMBERED)):
        yield Remark(
            id=f"concepts/{row['concept']}", values=row, table="concepts",
            text=N_("“{label}” ({type}) was named by {agents} of {n} agents."),
        )  # fmt: skip
