"""What a poll found, in sentences, and which of them rest on a test. In the order of `FINDERS`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from enquete.locale import N_
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question
from enquete.reports.result_tables import ResultTables, rows_of, significant

MAX_TOLD = 3
"""Options, or means, that are told."""

GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
CHOICE_GROUPS = Question(name="choice_groups", table="choice_group_tests", p="p_joint", within="given")
QUESTIONS = (GROUPS, CHOICE_GROUPS)


def find_group_means(tables: ResultTables) -> Iterator[Finding]:
    """Yield the questions that the groups answer differently."""
    yield from find_group_differences(
        GROUPS, tables, size=lambda row: row["effect"], key=("item",), chart="means",
        found=N_(
            "Groups answer “{item}” differently: mean {mean_highest} among {highest}, {mean_lowest} among {lowest} "
            "(share of variance {effect}, adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No question is answered differently by the groups ({tests} tested, smallest adjusted {p}; "
            "n = {n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def find_group_choices(tables: ResultTables) -> Iterator[Finding]:
    """Yield the questions on which the groups choose differently."""
    yield from find_group_differences(
        CHOICE_GROUPS, tables, size=lambda row: row["share_highest"] - row["share_lowest"], key=("item",),
        ends=("share_highest", "share_lowest"), chart="shares",
        found=N_(
            "Groups choose differently on “{item}”: “{option}” is chosen by {share_highest} among {highest}, by "
            "{share_lowest} among {lowest} (Cramér's V {effect}, adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "On no question were options chosen differently by the groups ({tests} tested, smallest adjusted {p}; "
            "n = {n}/{n_total})."
        ),
    )  # fmt: skip


CHOICE_SAYS = {
    "first": N_(
        "“{item}”: the option chosen most is “{label}”, {share} (simultaneous 95% interval {low} to {high}; "
        "n = {n}/{n_total})."
    ),
    "tied": N_("“{item}”: “{label}” is chosen by {share}, as often as another option (n = {n}/{n_total})."),
}


def find_chosen_options(tables: ResultTables) -> Iterator[Finding]:
    """Yield the options with the largest shares, where they are the most chosen ones of their question."""
    options = tables["options"]
    largest = options[options["n"] >= FEWEST].sort_values("share", ascending=False, kind="stable").head(MAX_TOLD)
    for row in rows_of(largest.dropna(subset=["first"])):
        yield Finding(
            id=f"chosen.{row['item']}/{row['option']}", text=CHOICE_SAYS[row["first"]], values=row, table="options",
            estimate="share", low="low", high="high", simultaneous=True, items=[row["item"]], chart="shares",
            size=(row["share"] - row["even"]) / (1 - row["even"]),
        )  # fmt: skip


def find_means(tables: ResultTables) -> Iterator[Finding]:
    """Yield the mean answers to the first questions on a scale."""
    means = tables["means"]
    means = means[(means["n"] >= FEWEST) & (means["scale_min"] < means["scale_max"])].dropna(subset=["low", "high"])
    for row in rows_of(means.head(MAX_TOLD)):
        low, high = row["scale_min"], row["scale_max"]
        yield Finding(
            id=f"mean.{row['item']}", values=row, table="means", estimate="mean", low="low", high="high",
            simultaneous=True, items=[row["item"]], chart="means", scale=(low, high),
            size=abs(row["mean"] - (low + high) / 2) / ((high - low) / 2),
            text=N_(
                "“{item}”: mean {mean} (scale {scale}; simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


FINDERS = (find_group_means, find_group_choices, find_chosen_options, find_means)


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    groups = significant(tables["group_tests"]).sort_values("effect", ascending=False, kind="stable")
    choices = significant(tables["choice_group_tests"]).sort_values("effect", ascending=False, kind="stable")
    return {
        "means": DigestRows(rows=tables["means"], columns="item n mean low high"),
        "options": DigestRows(rows=tables["options"], columns="item label count share"),
        "group_tests": DigestRows(
            rows=groups, columns="item highest mean_highest lowest mean_lowest effect p_adjusted", top=5
        ),
        "choice_group_tests": DigestRows(
            rows=choices, columns="item option highest share_highest lowest share_lowest effect p_adjusted", top=5
        ),
    }
