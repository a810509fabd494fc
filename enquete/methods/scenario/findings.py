"""What the ratings of scenarios found, in sentences, and which of them rest on a test.

One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings, in the
order of `FINDERS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from enquete.locale import N_
from enquete.reports.declarations import Row, ScaleValue
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question, Remark, null_finding
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of, significant, sort_rows

MAX_PLACED = 4
"""Scenarios of which it is told where they lie."""


def testable_main_dimension(tables: ResultTables) -> pd.DataFrame:
    """Return the dimension that is read first, if enough agents rated two scenarios on it."""
    dimensions = tables["dimensions"]
    return dimensions[(dimensions["is_main"] & ~dimensions["too_few"]).astype(bool)]


def testable_further_dimensions(tables: ResultTables) -> pd.DataFrame:
    """Return the other dimensions on which enough agents rated two scenarios."""
    dimensions = tables["dimensions"]
    return dimensions[(~dimensions["is_main"] & ~dimensions["too_few"]).astype(bool)]


HIGHEST = Question(name="highest", table="dimensions", rows=testable_main_dimension)
GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
FURTHER = Question(name="further", table="dimensions", after=HIGHEST.name, rows=testable_further_dimensions)
QUESTIONS = (HIGHEST, GROUPS, FURTHER)

ENDS_SAY = {
    "single": N_(
        "{label} is highest for “{highest}” (mean {mean_highest}; simultaneous 95% interval {mean_low_highest} to "
        "{mean_high_highest}) and lowest for “{lowest}” ({mean_lowest}; {mean_low_lowest} to {mean_high_lowest}): "
        "{change} apart, adjusted {p}, n = {n}/{n_total}."
    ),
    "tied": N_(
        "{label}: highest mean {mean_highest} (simultaneous 95% interval {mean_low_highest} to {mean_high_highest}), "
        "shared by {n_highest}: {highest}; lowest {mean_lowest}, shared by {n_lowest}: {lowest}; {change} apart, "
        "adjusted {p}, n = {n}/{n_total}."
    ),
}
ENDS_WITHOUT_INTERVAL_SAY = {
    "single": N_(
        "{label} is highest for “{highest}” (mean {mean_highest}) and lowest for “{lowest}” ({mean_lowest}): {change} "
        "apart, adjusted {p}, n = {n}/{n_total}; no interval, since the agents agree on every scenario."
    ),
    "tied": N_(
        "{label}: highest mean {mean_highest}, shared by {n_highest}: {highest}; lowest {mean_lowest}, shared by "
        "{n_lowest}: {lowest}; {change} apart, adjusted {p}, n = {n}/{n_total}; no interval, since the agents agree "
        "on every scenario."
    ),
}


def find_highest_scenario(tables: ResultTables) -> Iterator[Finding]:
    """Yield the highest and the lowest scenario of the main dimension, or that they were not told apart."""
    yield from _find_ends(HIGHEST, tables, top=1)
    if HIGHEST.found_nothing(tables):
        nothing = N_(
            "{label}: highest and lowest scenario were not told apart ({change} apart, adjusted {p}; n = "
            "{n}/{n_total}); {power}."
        )
        (row, *_) = rows_of(HIGHEST.tested_rows(tables))
        yield null_finding(
            HIGHEST, tables, nothing, estimate="change", test="Wilcoxon", items=row["items"], chart="ratings"
        )


def find_further_ends(tables: ResultTables) -> Iterator[Finding]:
    """Yield the highest and the lowest scenario of the other dimensions, where these are told apart."""
    yield from _find_ends(FURTHER, tables, top=9)


def _find_ends(question: Question, tables: ResultTables, *, top: int) -> Iterator[Finding]:
    points = (
        ScaleValue(value="mean_highest", of="highest", low="mean_low_highest", high="mean_high_highest"),
        ScaleValue(value="mean_lowest", of="lowest", low="mean_low_lowest", high="mean_high_lowest"),
    )
    for row in rows_of(question.found_rows(tables).head(top)):
        texts = ENDS_WITHOUT_INTERVAL_SAY if row["mean_low_highest"] is None else ENDS_SAY
        low, high = row["scale_min"], row["scale_max"]
        yield Finding(
            id=f"{question.name}.{row['dimension']}", kind="difference", question=question.name,
            text=texts[row["tied"]], values=row, table="dimensions", test="Wilcoxon", estimate="change",
            size=row["change"] / (high - low), items=row["items"], chart="ratings", scale=(low, high), points=points,
            simultaneous=True,
        )  # fmt: skip


def find_too_few_agents(tables: ResultTables) -> Iterator[Finding]:
    """Yield that the agents are too few to tell scenarios apart on the main dimension."""
    dimensions = tables["dimensions"]
    few = dimensions[(dimensions["is_main"] & dimensions["too_few"] & dimensions["n"].gt(1).fillna(False)).astype(bool)]
    for row in rows_of(few.head(1)):
        yield Finding(
            id="too_few", kind="null", values=row, table="dimensions", items=row["items"], chart="ratings",
            text=N_(
                "{label}: {n} agents are too few to tell scenarios apart; had all agreed, p would still be {p_least}."
            ),
        )  # fmt: skip


def find_places(tables: ResultTables) -> Iterator[Finding]:
    """Yield the scenarios that lie clearly between wish and expectation, the clearest first."""
    facts, scenarios = tables.facts, tables["scenarios"]
    placed = scenarios[scenarios["quadrant"].notna() & scenarios["quadrant"].ne("unclear")]
    clearest = placed.sort_values("clear", ascending=False, kind="stable").head(MAX_PLACED)
    for row in rows_of(clearest):
        yield Finding(
            id=f"place.{row['scenario']}", values=row, table="scenarios", estimate="mean", low="mean_low",
            high="mean_high", simultaneous=True, scale=(facts["scale_min"], facts["scale_max"]), size=row["clear"],
            items=row["items"], chart="quadrants",
            text=N_(
                "“{label}” is {quadrant}: {main_dimension} {mean} (simultaneous 95% interval {mean_low} to "
                "{mean_high}), {plausibility} {expectation} ({expectation_low} to {expectation_high}); n = "
                "{n}/{n_total}."
            ),
        )  # fmt: skip


def find_group_disagreement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the ratings on which groups differ."""

    def size(row: Row) -> float:
        return float(row["mean_highest"] - row["mean_lowest"]) / float(tables.facts["widest"])

    yield from find_group_differences(
        GROUPS, tables, size=size, key=("scenario", "dimension"), chart="ratings",
        found=N_(
            "{dimension} of “{scenario}” differs between {n_groups} groups: mean {mean_lowest} ({lowest}) to "
            "{mean_highest} ({highest}); share of variance {effect}, adjusted {p}, n = {n}/{n_total}."
        ),
        nothing=N_(
            "No scenario is rated differently by the groups ({tests} ratings tested, smallest adjusted {p}; n = "
            "{n}/{n_total}); {power}."
        ),
    )  # fmt: skip


FINDERS = (
    find_highest_scenario, find_too_few_agents, find_places, find_group_disagreement, find_further_ends,
)  # fmt: skip


def settle_verdicts(tables: ResultTables) -> Mapping[str, pd.DataFrame]:
    """Return the pairs, of which none is told apart on a dimension where the corrected test finds nothing."""
    pairs = tables["pairs"]
    p_adjusted = pairs["dimension"].map(tables["dimensions"].set_index("dimension")["p_adjusted"]).astype(float)
    is_unsure = pairs["verdict"].isin(["first", "second"]) & p_adjusted.ge(LEVEL)
    return {"pairs": pairs.assign(verdict=pairs["verdict"].mask(is_unsure, "neither"))}


def sort_as_listed(tables: ResultTables, name: str, rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return rows in the order in which their scenarios and dimensions are listed; `by` as in `sort_rows`."""
    keys = {"scenarios": "scenario", "dimensions": "dimension"}
    ranks: dict[str, dict[Any, int]] = {}
    for table, key in keys.items():
        ranks[table] = {value: place for place, value in enumerate(tables[table][key])}
    return sort_rows(tables.declared[name], rows, by, ranks)


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    ratings, groups = tables["ratings"], significant(tables["group_tests"])
    return {
        "scenarios": DigestRows(rows=tables["scenarios"], columns="label mean expectation quadrant n"),
        "ratings": DigestRows(
            rows=ratings[ratings["n"] > 0], columns="scenario dimension n mean mean_low mean_high side spread", top=40
        ),
        "group_tests": DigestRows(
            rows=groups.sort_values("effect", ascending=False, kind="stable"), top=5,
            columns="scenario dimension highest mean_highest lowest mean_lowest effect p_adjusted",
        ),
        "dimensions": DigestRows(
            rows=tables["dimensions"], columns="label highest mean_highest lowest mean_lowest change p_adjusted w"
        ),
        "themes": DigestRows(
            rows=sort_as_listed(tables, "themes", tables["themes"], "scenario -n"), columns="scenario label n n_answers"
        ),
    }  # fmt: skip


def remember_scenarios(tables: ResultTables) -> Iterator[Remark]:
    """Yield what a memory is told: how each scenario is rated."""
    for row in rows_of(tables["scenarios"]):
        text = N_(
            "scenario “{label}”, rated by {n} of {n_total} agents: {main_dimension} {mean}, {plausibility} "
            "{expectation}; {quadrant}."
        )
        if row["quadrant"] is None:
            text = N_("scenario “{label}”, rated by {n} of {n_total} agents: {main_dimension} {mean}.")
        yield Remark(id=f"scenarios/{row['scenario']}", text=text, values=row, table="scenarios")
