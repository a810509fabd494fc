"""What discussions did, in sentences, and which of them rest on a test.

One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings, in the
order of `FINDERS`. All of a run share a model: tests are over agents of this run, no inference about people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from enquete.locale import N_
from enquete.reports.declarations import Row
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question, null_finding
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of, significant


def rows_beyond_reading(tables: ResultTables) -> pd.DataFrame:
    """Return the comparison of discussing with reading, where enough agents were compared."""
    beyond = tables["beyond_reading"]
    return beyond[beyond["n"] >= FEWEST]


BEYOND = Question(name="beyond", table="beyond_reading", rows=rows_beyond_reading)
GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
QUESTIONS = (BEYOND, GROUPS)

BEYOND_SAYS = {
    "more": N_(
        "Discussing moved more than reading: {discussed} of those who discussed left with another position, {read} of "
        "those who only read (adjusted {p}; n = {n}/{n_total})."
    ),
    "less": N_(
        "Discussing moved fewer than reading: {discussed} of those who discussed left with another position, {read} of "
        "those who only read (adjusted {p}; n = {n}/{n_total})."
    ),
}


def find_effect_beyond_reading(tables: ResultTables) -> Iterator[Finding]:
    """Yield whether discussing moved more agents than reading what was said."""
    about: Row = {"estimate": "difference", "chart": "positions"}
    for row in rows_of(BEYOND.found_rows(tables)):
        if row["verdict"] in BEYOND_SAYS:
            yield Finding(
                id=f"beyond.{row['verdict']}", kind="difference", question=BEYOND.name,
                text=BEYOND_SAYS[row["verdict"]], values=row, table="beyond_reading", test=row["test"],
                size=abs(row["difference"]), scale=(-1, 1), **about,
            )  # fmt: skip
    if BEYOND.found_nothing(tables):
        nothing = N_(
            "That discussing moves more than reading was not found: {discussed} against {read} (adjusted {p}; n = "
            "{n}/{n_total}); {power}."
        )
        yield null_finding(BEYOND, tables, nothing, **about)


def find_group_differences_in_moving(tables: ResultTables) -> Iterator[Finding]:
    """Yield which groups of agents moved, or began, otherwise than others."""
    yield from find_group_differences(
        GROUPS, tables, size=_difference_of_shares, key=("measure",), chart="positions",
        found=N_(
            "Groups of agents differ, {measure}: {mean_highest} of {highest}, {mean_lowest} of {lowest} (adjusted {p}; "
            "n = {n}/{n_total})."
        ),
        nothing=N_(
            "No group of agents moved or began otherwise than the others ({tests} tested, smallest adjusted {p}; n = "
            "{n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def _difference_of_shares(row: Row) -> float:
    return float(row["mean_highest"] - row["mean_lowest"])


def find_movement(tables: ResultTables) -> Iterator[Finding]:
    """Yield how many participants left with another position."""
    movement = tables.select("movement", side="discussed")
    for row in rows_of(movement[movement["n"] >= FEWEST]):
        yield Finding(
            id=f"moved.{row['side']}", values=row, table="movement", estimate="share", low="low", high="high",
            size=row["share"], chart="positions",
            text=N_(
                "{moved} of {n} participants left the discussion with another position ({share}, 95% interval {low} to "
                "{high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


def find_agreement(tables: ResultTables) -> Iterator[Finding]:
    """Yield how agreement went; where stances were assigned, what was said in private."""
    facts = tables.facts
    if facts["first_agreement"] is None or not has_enough_participants(tables):
        return
    about: Row = {"size": abs(facts["last_agreement"] - facts["first_agreement"]), "chart": "agreement"}
    if facts["assigned"]:
        yield Finding(
            id="agreement_assigned", **about,
            text=N_(
                "Agreement in the groups, asked privately, went from {first_agreement} before to {last_agreement} "
                "after (0 to 1); in the discussion stances were assigned (n = {n}/{n_total})."
            ),
        )  # fmt: skip
    else:
        yield Finding(
            id="agreement", **about,
            text=N_(
                "Agreement in the groups went from {first_agreement} at first to {last_agreement} in the end (0 to "
                "1); {agreed} of {begun:group|groups} ended in agreement, {settled} because nobody moved any more (n = "
                "{n}/{n_total})."
            ),
        )  # fmt: skip


def has_enough_participants(tables: ResultTables) -> bool:
    """Return whether enough agents discussed to say anything of them."""
    return bool((tables.facts["n"] or 0) >= FEWEST)


def find_groupthink(tables: ResultTables) -> Iterator[Finding]:
    """Yield how many groups show signs of groupthink."""
    facts = tables.facts
    if has_enough_participants(tables) and facts["groupthink_groups"]:
        yield Finding(
            id="groupthink", size=facts["groupthink_groups"] / facts["judged_groups"], chart="agreement",
            text=N_(
                "{groupthink_groups} of {judged_groups} groups show signs of groupthink: the same position in the same "
                "words, or all of them sure (n = {n}/{n_total} participants)."
            ),
        )  # fmt: skip


def find_most_answered_argument(tables: ResultTables) -> Iterator[Finding]:
    """Yield the argument that most participants answered."""
    if not has_enough_participants(tables):
        return
    answered = tables["arguments_answered"]
    answered = answered[answered["answered"] > 0].sort_values("answered", ascending=False, kind="stable")
    for row in rows_of(answered.head(1)):
        yield Finding(
            id=f"argument.{row['id']}", values=row, table="arguments_answered", n="", n_total="",
            size=row["answered"] / tables.facts["n"],
            text=N_(
                "Most taken up: “{label}”, raised in {groups:group|groups} and answered by "
                "{answered:participant|participants} (n = {n}/{n_total})."
            ),
        )  # fmt: skip


FINDERS = (
    find_effect_beyond_reading, find_group_differences_in_moving, find_movement, find_agreement, find_groupthink,
    find_most_answered_argument,
)  # fmt: skip


def settle_verdicts(tables: ResultTables) -> Mapping[str, pd.DataFrame]:
    """Return the comparison with reading, whose direction is unclear where the corrected test does not bear it out."""
    beyond = tables["beyond_reading"]
    is_unsure = beyond["p_adjusted"] >= LEVEL
    return {"beyond_reading": beyond.assign(verdict=beyond["verdict"].mask(is_unsure, "unclear"))}


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    arguments = tables["arguments"].sort_values("answered", ascending=False, kind="stable")
    groups = significant(tables["group_tests"]).sort_values("effect", ascending=False, kind="stable")
    return {
        "discussions": DigestRows(
            rows=tables["discussions"], columns="group n exit last stance held level action", top=20
        ),
        "movement": DigestRows(rows=tables["movement"]),
        "arguments": DigestRows(rows=arguments, columns="label group answered", top=5),
        "group_tests": DigestRows(
            rows=groups, columns="measure highest mean_highest lowest mean_lowest effect p_adjusted", top=5
        ),
        "speaking_models": DigestRows(rows=tables["speaking_models"]),
        "between_models": DigestRows(rows=tables["between_models"]),
    }
