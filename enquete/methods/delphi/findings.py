"""What a Delphi panel found, in sentences, and which of them rest on a test.

One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings, in the
order of `FINDERS`. A sentence about what feedback did is told only against agents who rated again without it.
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

MAX_CAMPS = 2
"""Themes on which camps are told."""


def rows_with_camps(tables: ResultTables) -> pd.DataFrame:
    """Return the disputed ratings on the main dimension with two camps that are large enough to speak of."""
    camps = tables.select("dissent", kind="camps", dimension=tables.facts["main_dimension"])
    return camps[(camps["n_below"] >= FEWEST) & (camps["n_above"] >= FEWEST)]


GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
CAMPS = Question(name="camps", table="dissent", within="given", rows=rows_with_camps)
REVISION = Question(name="revision", table="feedback_effect")
QUESTIONS = (GROUPS, CAMPS, REVISION)
PRIMARY = (REVISION.name, CAMPS.name)


def find_group_disagreement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the themes that the groups rate differently."""

    def size(row: Row) -> float:
        return float(row["mean_highest"] - row["mean_lowest"]) / _scale_width(tables)

    yield from find_group_differences(
        GROUPS, tables, size=size, key=("theme",), chart="convergence",
        found=N_(
            "“{theme}” divides the groups: mean {main_dimension} {mean_highest} among {highest}, {mean_lowest} among "
            "{lowest}, on {scale_min}–{scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No theme is rated differently by the groups ({tests} tested, smallest adjusted {p}; n = {n}/{n_total}); "
            "{power}."
        ),
    )  # fmt: skip


CAMPS_SAY = {
    "inner": N_(
        "“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at} or less, {n_above} agents "
        "{high_at} or more ({above_share}, 95% interval {above_low} to {above_high}; A = {agreement}, adjusted {p}; "
        "n = {n}/{n_total})."
    ),
    "low_end": N_(
        "“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at}, {n_above} agents {high_at} or "
        "more ({above_share}, 95% interval {above_low} to {above_high}; A = {agreement}, adjusted {p}; "
        "n = {n}/{n_total})."
    ),
    "high_end": N_(
        "“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at} or less, {n_above} agents "
        "{high_at} ({above_share}, 95% interval {above_low} to {above_high}; A = {agreement}, adjusted {p}; "
        "n = {n}/{n_total})."
    ),
    "both_ends": N_(
        "“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at}, {n_above} agents {high_at} "
        "({above_share}, 95% interval {above_low} to {above_high}; A = {agreement}, adjusted {p}; n = {n}/{n_total})."
    ),
}
"""By which camps stand at an end of the scale."""


def find_camps(tables: ResultTables) -> Iterator[Finding]:
    """Yield the themes on which the panel falls into two camps, the most divided first."""
    found = CAMPS.found_rows(tables).sort_values("agreement", kind="stable").head(MAX_CAMPS)
    for row in rows_of(found):
        yield Finding(
            id=f"camps.{row['theme']}/{row['dimension']}", kind="difference", question=CAMPS.name,
            text=CAMPS_SAY[row["ends"]], values=row, table="dissent", test="a split as wide among even spreads",
            estimate="above_share", low="above_low", high="above_high", size=(1 - row["agreement"]) / 2,
            items=[row["item"]], chart="dissent",
        )  # fmt: skip


def find_agreement(tables: ResultTables) -> Iterator[Finding]:
    """Yield on how many themes the panel agrees."""
    facts = tables.facts
    if not facts["n_judged"]:
        return
    yield Finding(
        id="agreed", estimate="n_consensus", size=facts["n_consensus"] / facts["n_judged"], chart="convergence",
        scale=(0, facts["n_judged"]),
        text=N_(
            "The panel agrees on the {main_dimension} of {n_consensus} of {n_judged} themes (interquartile range at "
            "most {consensus_iqr}); still disputed: {n_disputed} (n = {n}/{n_total})."
        ),
    )  # fmt: skip


def find_most_important_theme(tables: ResultTables) -> Iterator[Finding]:
    """Yield the theme with the highest median of those that are not disputed."""
    facts = tables.facts
    settled = tables.select(
        "ratings", round=facts["last_round"], dimension=facts["main_dimension"], label=["consensus", "open"]
    )
    settled = settled[settled["n"] >= FEWEST].dropna(subset=["mean_low", "mean_high"])
    highest = settled.sort_values(["median", "mean"], ascending=False, kind="stable").head(1)
    for row in rows_of(highest):
        low, high = row["scale_min"], row["scale_max"]
        yield Finding(
            id=f"highest.{row['theme']}/{row['dimension']}/{row['round']}", values=row, table="ratings",
            estimate="mean", low="mean_low", high="mean_high", simultaneous=True, scale=(low, high),
            size=abs(row["median"] - (low + high) / 2) / ((high - low) / 2), items=[row["item"]], chart="convergence",
            text=N_(
                "Undisputed and highest in {dimension}: “{theme}”, median {median} (undisputed themes with this "
                "median: {tied}; mean {mean}, simultaneous 95% interval {mean_low} to {mean_high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


FEEDBACK_SAYS = {
    "closer": N_(
        "Feedback drew the panel together: ratings ended {difference} points nearer to the others' medians than the "
        "same agents' ratings without it (95% interval {low} to {high}, adjusted {p}; n = {n}/{n_total})."
    ),
    "farther": N_(
        "Feedback drove the panel apart: ratings ended {with_feedback} points from the others' medians, {without} "
        "without feedback (adjusted {p}; n = {n}/{n_total})."
    ),
}


def find_feedback_effect(tables: ResultTables) -> Iterator[Finding]:
    """Yield what feedback did, against the same agents without it."""
    about: dict[str, Any] = {
        "estimate": "difference",
        "low": "low",
        "high": "high",
        "test": "sign flips",
        "chart": "convergence",
    }
    for row in rows_of(REVISION.found_rows(tables)):
        width = _scale_width(tables)
        yield Finding(
            id=f"revision.{row['verdict']}", kind="difference", question=REVISION.name,
            text=FEEDBACK_SAYS[row["verdict"]], values=row, table="feedback_effect",
            size=abs(row["difference"]) / width, scale=(-width, width), **about,
        )  # fmt: skip
    if REVISION.found_nothing(tables):
        nothing = N_(
            "No effect of the feedback was found: ratings ended {with_feedback} points from the others' medians with "
            "it, {without} without (adjusted {p}; n = {n}/{n_total}); {power}."
        )
        yield null_finding(REVISION, tables, nothing, **about)


def find_movement(tables: ResultTables) -> Iterator[Finding]:
    """Yield how ratings moved when they were given again. It describes; it names no cause."""
    moved = tables["revision"]
    moved = moved[(moved["n_ratings"] > 0) & (moved["n"] > 1)].dropna(subset=["nearer_low", "nearer_high"])
    for row in rows_of(moved):
        width = _scale_width(tables)
        yield Finding(
            id=f"moved.{row['direction']}", values=row, table="revision", estimate="nearer", low="nearer_low",
            high="nearer_high", size=abs(row["nearer"]) / width, scale=(-width, width), chart="convergence",
            text=N_(
                "When rating again, agents brought {n_toward} of {n_ratings} ratings nearer to the panel's median and "
                "{n_away} farther from it, on average {nearer} points nearer (95% interval {nearer_low} to "
                "{nearer_high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


def _scale_width(tables: ResultTables) -> float:
    return float(tables.facts["scale_max"] - tables.facts["scale_min"])


FINDERS = (
    find_group_disagreement, find_camps, find_agreement, find_most_important_theme, find_feedback_effect, find_movement,
)  # fmt: skip


def settle_verdicts(tables: ResultTables) -> Mapping[str, pd.DataFrame]:
    """Return the tables whose verdicts say no more than the corrected tests bear out.

    Camps that are not sure are opinions that are spread; an effect of feedback that is not sure is none.
    """
    effect, dissent, ratings = tables["feedback_effect"], tables["dissent"], tables["ratings"]
    no_effect = effect["p_adjusted"] >= LEVEL
    no_camps = dissent["kind"].eq("camps") & (dissent["p_adjusted"] >= LEVEL)
    unsure_items = dissent.loc[no_camps, "item"]
    unsure_ratings = ratings["stand"].eq("camps") & ratings["item"].isin(unsure_items)
    return {
        "feedback_effect": effect.assign(verdict=effect["verdict"].mask(no_effect, "neither")),
        "dissent": dissent.assign(kind=dissent["kind"].mask(no_camps, "scattered")),
        "ratings": ratings.assign(stand=ratings["stand"].mask(unsure_ratings, "scattered")),
    }


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    last = tables.select("ratings", round=tables.facts["last_round"])
    last = last.sort_values("mean", ascending=False, kind="stable").sort_values("rank", kind="stable")
    disputed = tables.select("dissent", label="disagreement").sort_values("agreement", kind="stable")
    groups = significant(tables["group_tests"]).sort_values("effect", ascending=False, kind="stable")
    return {
        "themes": DigestRows(rows=tables["themes"], columns="label n_agents rank"),
        "ratings": DigestRows(rows=last, columns="theme dimension median iqr agreement label"),
        "revision": DigestRows(rows=tables["revision"]),
        "feedback_effect": DigestRows(rows=tables["feedback_effect"]),
        "dissent": DigestRows(rows=disputed, columns="theme dimension kind n_below n_above agreement", top=5),
        "group_tests": DigestRows(
            rows=groups, columns="theme highest mean_highest lowest mean_lowest effect p_adjusted", top=5
        ),
    }


def remember_themes(tables: ResultTables) -> Iterator[Remark]:
    """Yield what a memory is told: where the panel stands on each theme."""
    facts = tables.facts
    for row in rows_of(tables.select("ratings", round=facts["last_round"], dimension=facts["main_dimension"])):
        yield Remark(
            id=f"ratings/{row['theme']}/{row['dimension']}/{row['round']}", values=row, table="ratings",
            text=N_(
                "theme “{theme}”: {dimension}: median {median}, IQR {iqr} (round {round}, {n} of {n_total} agents)."
            ),
        )  # fmt: skip
