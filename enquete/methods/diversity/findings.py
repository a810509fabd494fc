"""What the sorts show, in sentences, and which of them rest on a test.

One correction over all tests of a report fills `p_adjusted`; then the functions below yield their findings, in the
order of `FINDERS`. What a view holds and what divides or joins the views is told only where the number of views stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from enquete.locale import N_
from enquete.reports.declarations import Row
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import find_group_differences
from enquete.reports.key_questions import DigestRows, Finding, Question, Remark, null_finding
from enquete.reports.result_tables import LEVEL, ResultTables, rows_of, significant

MANY_MOVED = 0.05
"""Share of placements from which it is said that they had to be moved."""


def rows_of_counted_views(tables: ResultTables) -> pd.DataFrame:
    """Return the row that counts the shared views, where parallel analysis found any."""
    return tables.select("structure", what="views", outcome=["views", "one_view", "not_sure"])


def rows_of_counted_types(tables: ResultTables) -> pd.DataFrame:
    """Return the row that counts the types, where any were formed."""
    return tables.select("structure", what="types", outcome=["types", "not_sure"])


VIEWS = Question(name="views", table="structure", rows=rows_of_counted_views)
TYPES = Question(name="types", table="structure", rows=rows_of_counted_types)
GROUPS = Question(name="groups", table="group_tests", p="p_joint", within="given")
QUESTIONS = (VIEWS, TYPES, GROUPS)

LARGEST_SAYS = {
    "only": N_(
        "The shared view, held by {holders} of {n} agents, puts “{top}” on top ({top_place}) and “{bottom}” at the "
        "bottom ({bottom_place})."
    ),
    "largest": N_(
        "No shared view is held by more agents than view {view} ({holders} of {n}): it puts “{top}” on top "
        "({top_place}) and “{bottom}” at the bottom ({bottom_place})."
    ),
    "largest_opposed": N_(
        "No shared view is held by more agents than view {view} ({holders} of {n}; reversed by {opposed}): it puts "
        "“{top}” on top ({top_place}) and “{bottom}” at the bottom ({bottom_place})."
    ),
    "tied": N_(
        "{tied} sides of shared views are held by {holders} of {n} agents each; one puts “{top}” on top ({top_place}) "
        "and “{bottom}” at the bottom ({bottom_place})."
    ),
}
"""By how the largest pole stands to the others."""


def find_largest_view(tables: ResultTables) -> Iterator[Finding]:
    """Yield the view that most agents hold, and what it puts at either end."""
    if VIEWS.found_nothing(tables):
        return
    largest = tables.select("poles", standing=list(LARGEST_SAYS))
    for row in rows_of(largest[largest["holders"] >= FEWEST].head(1)):
        yield Finding(
            id=f"largest.{row['pole']}", text=LARGEST_SAYS[row["standing"]], values=row, table="poles",
            estimate="holders", size=row["holders"] / row["n"], scale=(0, row["n"]), items=[row["top"]],
            chart="statements",
        )  # fmt: skip


VIEWS_SAY = {
    "views": N_(
        "The sorts share {found} views, which explain {explained} of their variance; random sorts share none "
        "(adjusted {p}, parallel analysis; n = {n}/{n_total})."
    ),
    "one_view": N_(
        "The sorts share a single view, which explains {explained} of their variance; random sorts share none "
        "(adjusted {p}, parallel analysis; n = {n}/{n_total})."
    ),
}


def find_number_of_views(tables: ResultTables) -> Iterator[Finding]:
    """Yield how many views the sorts share, or that they share no more than chance gives."""
    about: Row = {"estimate": "explained", "test": "parallel analysis", "chart": "scree"}
    for row in rows_of(VIEWS.found_rows(tables)):
        yield Finding(
            id=f"views.{row['what']}", kind="difference", question=VIEWS.name, text=VIEWS_SAY[row["outcome"]],
            values=row, table="structure", size=row["beyond"], **about,
        )  # fmt: skip
    if VIEWS.found_nothing(tables):
        nothing = N_(
            "Parallel analysis counts {found} shared views, but not beyond chance once all tests of this report are "
            "counted (adjusted {p}; n = {n}/{n_total})."
        )
        yield null_finding(VIEWS, tables, nothing, **about)


def find_views_set_by_hand(tables: ResultTables) -> Iterator[Finding]:
    """Yield what the views explain whose number a researcher set; nothing is tested then."""
    for row in rows_of(tables.select("structure", outcome="asked")):
        yield Finding(
            id=f"views_set.{row['what']}", values=row, table="structure", estimate="explained", size=row["beyond"],
            chart="scree",
            text=N_(
                "{found} shared views, a number set by hand, explain {explained} of the variance of the sorts (n = "
                "{n}/{n_total})."
            ),
        )  # fmt: skip


def find_no_views(tables: ResultTables) -> Iterator[Finding]:
    """Yield that the agents share no view."""
    without = tables.select("structure", outcome="no_views")
    for row in rows_of(without[without["n"] >= FEWEST]):
        yield Finding(
            id="no_views", kind="null", values=row, table="structure", chart="scree",
            text=N_(
                "The agents share no view: their sorts have no more in common than random ones (parallel analysis; n "
                "= {n}/{n_total})."
            ),
        )  # fmt: skip


def find_divisive_statement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statement on which the views lie furthest apart."""
    if VIEWS.found_nothing(tables):
        return
    divisive = tables.select("items", verdict="apart", both_sides=True)
    for row in rows_of(divisive.sort_values("apart", ascending=False, kind="stable").head(1)):
        yield Finding(
            id=f"divides.{row['item']}", size=_share_of_scale(row["sd"], row), **_about_place(row),
            text=N_(
                "“{label}” sets the shared views apart most: {n_above} agents place it above the middle, {n_below} "
                "below (mean {mean}, SD {sd} on {scale_min} to {scale_max}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


def find_common_ground(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statement that all views place alike, clearly on one side of the middle."""
    if VIEWS.found_nothing(tables):
        return
    for row in rows_of(tables.select("items", common_rank=1)):
        yield Finding(
            id=f"common.{row['item']}", size=_share_of_scale(row["mean"], row), **_about_place(row),
            text=N_(
                "Common ground is “{label}”: mean place {mean} on {scale_min} to {scale_max} (simultaneous 95% "
                "interval {low} to {high}; n = {n}/{n_total})."
            ),
        )  # fmt: skip


def _share_of_scale(value: float, row: Row) -> float:
    return abs(value) / row["scale_max"] if row["scale_max"] else 0.0


def _about_place(row: Row) -> Row:
    """Return the fields of a finding about the mean place of a statement."""
    return {
        "values": row, "table": "items", "estimate": "mean", "low": "low", "high": "high", "simultaneous": True,
        "scale": (row["scale_min"], row["scale_max"]), "items": [row["item"]], "chart": "statements",
    }  # fmt: skip


def find_types(tables: ResultTables) -> Iterator[Finding]:
    """Yield into how many types the agents can be divided, or that this is no clearer than chance gives."""
    about: Row = {"estimate": "found", "test": "silhouette against independence", "chart": "plane"}
    for row in rows_of(TYPES.found_rows(tables)):
        yield Finding(
            id=f"types.{row['what']}", kind="difference", question=TYPES.name, values=row, table="structure",
            size=row["beyond"], **about,
            text=N_(
                "The agents can be divided into {found} types, the largest of {largest}, more clearly than unrelated "
                "answers could be (adjusted {p}; n = {n}/{n_total})."
            ),
        )  # fmt: skip
    if TYPES.found_nothing(tables):
        nothing = N_(
            "{found} types were formed, but not beyond chance once all tests of this report are counted (adjusted "
            "{p}; n = {n}/{n_total})."
        )
        yield null_finding(TYPES, tables, nothing, **about)


NO_TYPES_SAYS = {
    "unstable": N_(
        "There are no types: the best division of the agents does not come back when they are resampled (n = "
        "{n}/{n_total})."
    ),
    "chance": N_(
        "There are no types: the best division of the agents is no clearer than in random data (n = {n}/{n_total})."
    ),
}


def find_no_types(tables: ResultTables) -> Iterator[Finding]:
    """Yield that there are no types, and why."""
    without = tables.select("structure", what="types", outcome=list(NO_TYPES_SAYS))
    for row in rows_of(without[without["n"] >= FEWEST]):
        yield Finding(
            id="no_types", kind="null", text=NO_TYPES_SAYS[row["outcome"]], values=row, table="structure",
            chart="plane",
        )  # fmt: skip


def find_group_disagreement(tables: ResultTables) -> Iterator[Finding]:
    """Yield the statements and axes that the groups place differently."""
    yield from find_group_differences(
        GROUPS, tables, size=_share_of_variance, key=("asked",),
        found=N_(
            "Groups differ on “{asked}”: mean {mean_highest} in {highest}, {mean_lowest} in {lowest}, on {scale_min} "
            "to {scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."
        ),
        nothing=N_(
            "No difference between groups was found on any of {tests} statements and axes (smallest adjusted {p}; n = "
            "{n}/{n_total}); {power}."
        ),
    )  # fmt: skip


def _share_of_variance(row: Row) -> float:
    return float(row["effect"])


FINDERS = (
    find_largest_view, find_number_of_views, find_views_set_by_hand, find_no_views, find_divisive_statement,
    find_common_ground, find_types, find_no_types, find_group_disagreement,
)  # fmt: skip


def settle_verdicts(tables: ResultTables) -> Mapping[str, pd.DataFrame]:
    """Return the table of counts, in which views and types that the corrected test does not bear out are not sure."""
    structure = tables["structure"]
    is_found = structure["outcome"].isin(["views", "one_view", "types"])
    is_unsure = structure["p_adjusted"] >= LEVEL
    return {"structure": structure.assign(outcome=structure["outcome"].mask(is_found & is_unsure, "not_sure"))}


def choose_for_digest(tables: ResultTables) -> Mapping[str, DigestRows]:
    """Return the rows that a program is told in a digest."""
    statements = tables.select("items", part="sort").sort_values("mean", ascending=False, kind="stable")
    groups = significant(tables["group_tests"]).sort_values("effect", ascending=False, kind="stable")
    return {
        "structure": DigestRows(rows=tables["structure"]),
        "views": DigestRows(rows=tables["views"], columns="view n_held n_reversed explained top bottom"),
        "types": DigestRows(rows=tables["types"], columns="type n jaccard pro con"),
        "items": DigestRows(rows=statements, columns="label mean sd verdict", top=6),
        "group_tests": DigestRows(
            rows=groups, columns="asked highest mean_highest lowest mean_lowest effect p_adjusted", top=5
        ),
    }


def remember_types(tables: ResultTables) -> Iterator[Remark]:
    """Yield what a memory is told: the types that are large enough to be described."""
    types = tables["types"]
    for row in rows_of(types[types["n"] >= FEWEST]):
        yield Remark(
            id=f"types/{row['type']}", values=row, table="types",
            text=N_("type {type}, {n} of {n_total} agents. Unlike the others: for “{pro}”, against “{con}”"),
        )  # fmt: skip


REFUSED_SAYS = {
    "fewer": N_(
        "{n} sorts do not give the {view} shared views that were asked for; parallel analysis found their number "
        "instead"
    ),
    "no_factors": N_("flags set by hand were not applied: there are no shared views"),
    "no_sort": N_(
        "flags set by hand were not applied: {who} is not one of the {n} participants with a complete sort that fits "
        "the grid"
    ),
    "no_factor": N_(
        "flags set by hand were not applied: {who}: there is no shared view {view}; there are 1 to {n}"
    ),
    "not_flagged": N_(
        "flags set by hand were not applied: {who}: its sort does not define shared view {view}, so nothing can be "
        "taken away"
    ),
    "flagged": N_("flags set by hand were not applied: {who}: its sort defines shared view {view} already"),
}  # fmt: skip
"""By why a setting does not fit these sorts."""


def warn_of_sorts(tables: ResultTables) -> Iterator[Remark]:
    """Yield what must be known before the data are used: moved placements, equal answers, settings that do not fit."""
    facts = tables.facts
    if (facts["share_moved"] or 0) > MANY_MOVED:
        yield Remark(
            id="moved",
            text=N_(
                "Diversity of views: {n_moved} of {placements} placements had to be moved for the sort to fit the grid."
            ),
        )
    if facts["alike"]:
        yield Remark(id="alike", text=N_("Diversity of views: all agents answered alike."))
    for row in rows_of(tables["not_done"]):
        yield Remark(id=f"not_done/{row['place']}", text=REFUSED_SAYS[row["why"]], values=row, table="not_done")
