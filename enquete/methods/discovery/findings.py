"""What discovery interviews found, in sentences, and which of them rest on a test.

Where a rule read more than RULE_AT_MOST of the answers there is no finding on content: a rule knows words, not
meanings. One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings,
in the order of `FINDERS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from enquete.locale import N_
from enquete.reports.declarations import Row
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question
from enquete.reports.result_tables import ResultTables, rows_of, significant

MAX_NAMED = 3
"""Fields of which the value that most agents named is told."""
MAX_FIELDS = 2
"""Fields of numbers, and of yes or no, that are told."""

GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
QUESTIONS = (GROUPS,)


def has_enough_interviews(tables: ResultTables) -> bool:
    """Return whether there are enough interviews to say anything of them."""
    return bool((tables.facts["n"] or 0) >= FEWEST)


def find_complete_records(tables: ResultTables) -> Iterator[Finding]:
    """Yield how many records are complete."""
    facts = tables.facts
    if has_enough_interviews(tables):
        yield Finding(
            id="complete", estimate="complete", scale=(0, facts["n"]), size=facts["complete"] / facts["n"],
            chart="completeness",
            text=N_(
                "{complete} of {n} records of “{title}” are complete, after {questions} questions on average (n = "
                "{n}/{n_total} interviews)."
            ),
        )  # fmt: skip


def find_reading_by_rule(tables: ResultTables) -> Iterator[Finding]:
    """Yield that nothing is told on content, because a rule read the answers."""
    if has_enough_interviews(tables) and not tables.facts["content"]:
        yield Finding(
            id="by_rule", kind="null",
            text=N_(
                "What was said on “{title}” is read by words only: a rule stood in for the model and read "
                "{read_by_rule} of {answers_read} answers (n = {n}/{n_total})."
            ),
        )  # fmt: skip


def find_differences_in_knowledge(tables: ResultTables) -> Iterator[Finding]:
    """Yield the fields that are known of some groups more than of others."""
    yield from find_group_differences(
        GROUPS, tables, size=_difference_of_shares, key=("path",), chart="coverage",
        found=N_(
            "Groups tell differently of “{path}”: known of {mean_highest} of {highest}, {mean_lowest} of "
            "{lowest} (adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No field is known of some groups more than of others ({tests} tested, smallest adjusted {p}; "
            "n = {n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def _difference_of_shares(row: Row) -> float:
    return float(row["mean_highest"] - row["mean_lowest"])


def choose_told_fields(tables: ResultTables, *kinds: str) -> pd.DataFrame:
    """Return the fields of these kinds whose content may be told, those known of most agents first."""
    fields = tables.select("fields", type=kinds if tables.facts["content"] else ())
    return fields[fields["n"] >= FEWEST].sort_values("n", ascending=False, kind="stable")


def find_named_values(tables: ResultTables) -> Iterator[Finding]:
    """Yield of the fields that are required, or known of half of the agents, what most agents named."""
    if not tables.facts["content"]:
        return
    named = tables.select("named", first=True, told=True, tied=1)
    named = named[named["n"] >= FEWEST].sort_values("share", ascending=False, kind="stable")
    for row in rows_of(named.head(MAX_NAMED)):
        yield Finding(
            id=f"named.{row['path']}/{row['value']}", values=row, table="named", estimate="share", low="low",
            high="high", size=row["share"],
            text=N_(
                "{path}: most named “{value}”, by {agents} agents ({share}, 95% interval {low} to {high}; n = "
                "{n}/{n_total})."
            ),
        )  # fmt: skip


def find_shares_of_yes(tables: ResultTables) -> Iterator[Finding]:
    """Yield of how many agents something holds."""
    for row in rows_of(choose_told_fields(tables, "boolean").head(MAX_FIELDS)):
        yield Finding(
            id=f"yes.{row['path']}", values=row, table="fields", estimate="yes_share", low="low", high="high",
            size=row["yes_share"],
            text=N_(
                "{label}: yes for {n_yes} agents ({yes_share}, 95% interval {low} to {high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


NUMBER_SAYS = {
    "with_unit": N_("{label}: median {median} {unit}, middle half {q1} to {q3} (n = {n}/{n_total})."),
    "without_unit": N_("{label}: median {median}, middle half {q1} to {q3} (n = {n}/{n_total})."),
}


def find_medians(tables: ResultTables) -> Iterator[Finding]:
    """Yield the medians of numbers and amounts."""
    fields = choose_told_fields(tables, "number", "quantity").dropna(subset=["median"])
    for row in rows_of(fields.head(MAX_FIELDS)):
        yield Finding(
            id=f"number.{row['path']}", values=row, table="fields", estimate="median",
            text=NUMBER_SAYS["with_unit" if row["unit"] else "without_unit"],
        )  # fmt: skip


CONTRADICTIONS_SAY = {
    "all_asked": N_(
        "{contradicting:agent|agents} said contradictory things about something; each was asked which holds (n = "
        "{n}/{n_total})."
    ),
    "not_all_asked": N_(
        "{contradicting:agent|agents} said contradictory things about something; not every contradiction was asked "
        "about before the interview ended (n = {n}/{n_total})."
    ),
}


def find_contradictions(tables: ResultTables) -> Iterator[Finding]:
    """Yield how many agents contradicted themselves."""
    facts = tables.facts
    if has_enough_interviews(tables) and facts["content"] and facts["contradicting"]:
        were_asked = bool(tables["contradictions"]["asked"].all())
        yield Finding(
            id="contradictions", size=facts["contradicting"] / facts["n"],
            text=CONTRADICTIONS_SAY["all_asked" if were_asked else "not_all_asked"],
        )  # fmt: skip


FINDERS = (
    find_complete_records, find_reading_by_rule, find_differences_in_knowledge, find_named_values, find_shares_of_yes,
    find_medians, find_contradictions,
)  # fmt: skip


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    fields = tables["fields"]
    groups = significant(tables["group_tests"]).sort_values("effect", ascending=False, kind="stable")
    return {
        "fields": DigestRows(rows=fields[fields["type"] != "object"], columns="label n n_total different median"),
        "named": DigestRows(rows=tables.select("named", first=True), columns="path value agents n"),
        "group_tests": DigestRows(
            rows=groups, columns="path highest mean_highest lowest mean_lowest effect p_adjusted", top=5
        ),
    }
