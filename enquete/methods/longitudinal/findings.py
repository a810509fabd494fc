"""What the waves found, in sentences, and which of them rest on a test.

One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings, in the
order of `FINDERS`. A change is told only where T0 was measured, or beyond what a neutral memory changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from enquete.locale import N_
from enquete.reports.declarations import Row
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question, Remark, null_finding
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of, significant

MAX_STATEMENTS = 4
"""Statements whose change is told."""


def rank_changes(tables: ResultTables) -> pd.DataFrame:
    """Return the changes of statements, the largest first."""
    return tables["changes"].sort_values("size", ascending=False, kind="stable")


def rank_changes_beyond(tables: ResultTables) -> pd.DataFrame:
    """Return what statements changed beyond a neutral memory, the largest first."""
    return tables["placebo"].sort_values("size", ascending=False, kind="stable")


DRIFT = Question(name="drift", table="changes", within="given", rows=rank_changes)
BEYOND = Question(name="beyond", table="placebo", within="given", rows=rank_changes_beyond)
GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
CHANGE_GROUPS = Question(
    name="change_groups", table="change_group_tests", p="p_joint", within="given", after=DRIFT.name
)
QUESTIONS = (DRIFT, BEYOND, GROUPS, CHANGE_GROUPS)

CHANGE_SAYS = {
    "risen": N_(
        "{measure} “{item}” rose from a mean of {before} to {after} (change {change}, simultaneous 95% interval {low} "
        "to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."
    ),
    "fallen": N_(
        "{measure} “{item}” fell from a mean of {before} to {after} (change {change}, simultaneous 95% interval {low} "
        "to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."
    ),
}


def find_changes(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statements that changed between the waves, the largest change first, or that none was found."""
    for row in rows_of(DRIFT.found_rows(tables).head(MAX_STATEMENTS)):
        yield _change_finding(DRIFT, tables, row, CHANGE_SAYS[row["outcome"]], chart="drift")
    if DRIFT.found_nothing(tables):
        nothing = N_(
            "No change of a statement was found between T0 and T1 ({tests} tested, smallest adjusted {p}; "
            "n = {n}/{n_total}); {power}."
        )
        yield null_finding(DRIFT, tables, nothing, estimate="change", low="low", high="high", chart="drift")


def find_changes_beyond(tables: ResultTables) -> Iterator[Finding]:
    """Yield what the agents' own memories changed beyond neutral ones, or that nothing was found."""
    says = N_(
        "{measure} “{item}” changed by {change} points more with the agents' own memories than with neutral ones "
        "(simultaneous 95% interval {low} to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."
    )
    for row in rows_of(BEYOND.found_rows(tables).head(MAX_STATEMENTS)):
        yield _change_finding(BEYOND, tables, row, says, chart="placebo")
    if BEYOND.found_nothing(tables):
        nothing = N_(
            "No difference was found between answers with the agents' own memories and with neutral ones ({tests} "
            "statements tested, smallest adjusted {p}; n = {n}/{n_total}); {power}."
        )
        yield null_finding(BEYOND, tables, nothing, estimate="change", low="low", high="high", chart="placebo")


def _change_finding(question: Question, tables: ResultTables, row: Row, text: str, *, chart: str) -> Finding:
    widest = tables.facts["widest"]
    return Finding(
        id=f"{question.name}.{row['item']}", kind="difference", question=question.name, text=text, values=row,
        table=question.table, test=row["test"], estimate="change", low="low", high="high", simultaneous=True,
        size=row["size"], scale=(-widest, widest), items=[row["item"]], chart=chart,
    )  # fmt: skip


def find_no_movement(tables: ResultTables) -> Iterator[Finding]:
    """Yield that nobody changed an answer."""
    if tables.facts["all_alike"]:
        yield Finding(
            id="unmoved", kind="null", n="n_paired", chart="answers",
            text=N_(
                "Nobody changed an answer to any of {n_items} statements between T0 and T1 (n = {n_paired}/{n_total})."
            ),
        )  # fmt: skip


def find_too_few_agents(tables: ResultTables) -> Iterator[Finding]:
    """Yield that the agents are too few for any test of a change."""
    facts = tables.facts
    if facts["too_few"] and not facts["all_alike"]:
        yield Finding(
            id="too_few", kind="null", n="n_paired", chart="answers",
            text=N_(
                "{n_paired} agents are too few to tell whether a statement changed: had all moved alike, chance could "
                "not be ruled out."
            ),
        )  # fmt: skip


def find_group_disagreement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statements that the groups judge differently in the last wave."""
    yield from find_group_differences(
        GROUPS, tables, size=lambda row: _size_of_difference(tables, row), key=("item",), chart="groups",
        found=N_(
            "“{item}” is judged differently by groups: mean {mean_highest} among {highest}, {mean_lowest} among "
            "{lowest}, on {scale_min}–{scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No statement is judged differently by the groups ({tests} tested, smallest adjusted {p}; "
            "n = {n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def find_group_changes(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statements on which groups changed differently."""
    yield from find_group_differences(
        CHANGE_GROUPS, tables, size=lambda row: _size_of_difference(tables, row), key=("item",), chart="change_groups",
        found=N_(
            "Groups changed differently on “{item}”: by {mean_highest} among {highest}, {mean_lowest} among {lowest} "
            "(share of variance {effect}, adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No statement moved differently among the groups ({tests} tested, smallest adjusted {p}; "
            "n = {n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def _size_of_difference(tables: ResultTables, row: Row) -> float:
    return float(row["mean_highest"] - row["mean_lowest"]) / float(tables.facts["widest"])


HIGHEST_SAYS = {
    "highest": N_(
        "Highest mean of {n_on_scale} statements on {scale}: “{item}”, {mean} (simultaneous 95% interval {low} to "
        "{high}; n = {n}/{n_total})."
    ),
    "highest_tied": N_(
        "Highest mean of {n_on_scale} statements on {scale}, shared with others: “{item}”, {mean} (simultaneous 95% "
        "interval {low} to {high}; n = {n}/{n_total})."
    ),
    "most_agreement": N_(
        "Of {n_on_scale} statements on {scale}, agreement is strongest with “{item}”: mean {mean} (simultaneous 95% "
        "interval {low} to {high}; n = {n}/{n_total})."
    ),
    "most_agreement_tied": N_(
        "Of {n_on_scale} statements on {scale}, agreement is strongest, as with others, with “{item}”: mean {mean} "
        "(simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."
    ),
}
LOWEST_SAYS = {
    "lowest": N_(
        "Lowest mean of {n_on_scale} statements on {scale}: “{item}”, {mean} (simultaneous 95% interval {low} to "
        "{high}; n = {n}/{n_total})."
    ),
    "lowest_tied": N_(
        "Lowest mean of {n_on_scale} statements on {scale}, shared with others: “{item}”, {mean} (simultaneous 95% "
        "interval {low} to {high}; n = {n}/{n_total})."
    ),
    "least_agreement": N_(
        "Of {n_on_scale} statements on {scale}, agreement is weakest with “{item}”: mean {mean} (simultaneous 95% "
        "interval {low} to {high}; n = {n}/{n_total})."
    ),
    "least_agreement_tied": N_(
        "Of {n_on_scale} statements on {scale}, agreement is weakest, as with others, with “{item}”: mean {mean} "
        "(simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."
    ),
}

HIGHEST_WITHOUT_INTERVAL_SAYS = {
    "highest": N_(
        "Highest mean of {n_on_scale} statements on {scale}: “{item}”, {mean} (no interval: answers to no statement "
        "vary; n = {n}/{n_total})."
    ),
    "highest_tied": N_(
        "Highest mean of {n_on_scale} statements on {scale}, shared with others: “{item}”, {mean} (no interval: "
        "answers to no statement vary; n = {n}/{n_total})."
    ),
    "most_agreement": N_(
        "Of {n_on_scale} statements on {scale}, agreement is strongest with “{item}”: mean {mean} (no interval: "
        "answers to no statement vary; n = {n}/{n_total})."
    ),
    "most_agreement_tied": N_(
        "Of {n_on_scale} statements on {scale}, agreement is strongest, as with others, with “{item}”: mean {mean} "
        "(no interval: answers to no statement vary; n = {n}/{n_total})."
    ),
}
LOWEST_WITHOUT_INTERVAL_SAYS = {
    "lowest": N_(
        "Lowest mean of {n_on_scale} statements on {scale}: “{item}”, {mean} (no interval: answers to no statement "
        "vary; n = {n}/{n_total})."
    ),
    "lowest_tied": N_(
        "Lowest mean of {n_on_scale} statements on {scale}, shared with others: “{item}”, {mean} (no interval: "
        "answers to no statement vary; n = {n}/{n_total})."
    ),
    "least_agreement": N_(
        "Of {n_on_scale} statements on {scale}, agreement is weakest with “{item}”: mean {mean} (no interval: "
        "answers to no statement vary; n = {n}/{n_total})."
    ),
    "least_agreement_tied": N_(
        "Of {n_on_scale} statements on {scale}, agreement is weakest, as with others, with “{item}”: mean {mean} "
        "(no interval: answers to no statement vary; n = {n}/{n_total})."
    ),
}


def find_highest_statement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statement with the highest mean of the last wave."""
    yield from _find_placed(tables, "highest", HIGHEST_SAYS, HIGHEST_WITHOUT_INTERVAL_SAYS)


def find_lowest_statement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statement with the lowest mean of the last wave."""
    yield from _find_placed(tables, "lowest", LOWEST_SAYS, LOWEST_WITHOUT_INTERVAL_SAYS)


def _find_placed(
    tables: ResultTables, end: str, says: Mapping[str, str], without_interval: Mapping[str, str]
) -> Iterator[Finding]:
    placed = tables.select("answers", place=list(says))
    for row in rows_of(placed.head(1)):
        low, high = row["scale_min"], row["scale_max"]
        texts = without_interval if row["low"] is None else says
        yield Finding(
            id=f"{end}.{row['item']}/{row['phase']}", text=texts[row["place"]], values=row, table="answers",
            estimate="mean", low="low", high="high", simultaneous=True, scale=(low, high), items=[row["item"]],
            size=abs(row["mean"] - (low + high) / 2) / ((high - low) / 2), chart="answers",
        )  # fmt: skip


FINDERS = (
    find_changes, find_changes_beyond, find_no_movement, find_too_few_agents, find_group_disagreement,
    find_group_changes, find_highest_statement, find_lowest_statement,
)  # fmt: skip


def settle_outcomes(tables: ResultTables) -> Mapping[str, pd.DataFrame]:
    """Return the changes, of which those that the corrected tests do not bear out are none."""
    changes = tables["changes"]
    is_unsure = changes["outcome"].isin(["risen", "fallen"]) & (changes["p_adjusted"] >= LEVEL)
    return {"changes": changes.assign(outcome=changes["outcome"].mask(is_unsure, "unmoved"))}


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    group_columns = "item highest mean_highest lowest mean_lowest effect p_adjusted"
    chosen = {
        "changes": DigestRows(
            rows=tables["changes"].sort_values("p", kind="stable"),
            columns="item n before after change low high outcome p_adjusted",
        ),
        "placebo": DigestRows(
            rows=tables["placebo"].sort_values("p", kind="stable"),
            columns="item n main placebo change low high p_adjusted",
        ),
        "answers": DigestRows(
            rows=tables.select("answers", phase=tables.facts["only_phase"]),
            columns="item n mean low high agreeing",
        ),
    }
    for name in ("group_tests", "change_group_tests"):
        found = significant(tables[name]).sort_values("effect", ascending=False, kind="stable")
        chosen[name] = DigestRows(rows=found, columns=group_columns, top=5)
    return chosen


def warn_of_comparison(tables: ResultTables) -> Iterator[Remark]:
    """Yield why a difference between the waves is no drift, or says nothing."""
    facts = tables.facts
    if facts["kind"] == "experience_effect":
        yield Remark(
            id="experience_effect",
            text=N_(
                "Longitudinal: nothing happened in the simulation between T0 (the same personas without memory) and "
                "T1. Differences are an experience effect, not drift."
            ),
        )
    if facts["no_memory"]:
        yield Remark(
            id="no_memory",
            text=N_("Longitudinal: the change cannot be interpreted. No agent that answered at T1 had a memory."),
        )
    elif facts["interpretable"] is False:
        yield Remark(
            id="incomparable", text=N_("Longitudinal: the change cannot be interpreted. {reasons}."),
        )  # fmt: skip
