"""Do groups differ: the same two tables, the same test and the same sentence in every methodology.

Groups are the stakeholder types or any persona column that was chosen (`--by`). Those of fewer than five agents are
named, not tested. `compared` (reports/declarations.py) makes the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from enquete.locale import N_
from enquete.reports.columns import Glossary
from enquete.reports.declarations import Row, ScaleValue, Table
from enquete.reports.key_questions import Finding, Question, null_finding
from enquete.reports.result_tables import ResultTables, rows_of

TESTS = (
    "n n_total n_groups sizes highest lowest mean_highest mean_lowest of_all sd_within effective_tests detectable "
    "detectable_share effect scale_min scale_max test p p_joint p_adjusted n_small"
)
CHOICE_TESTS = (
    "n n_total n_groups n_options highest lowest share_highest share_lowest detectable_v effect test p p_joint "
    "p_adjusted n_small"
)
NOTE = N_(
    "Groups of at least five agents. Detectable: the difference between two groups that would be found four times in "
    "five."
)
CHOICE_NOTE = N_(
    "Groups of at least five agents. The test is over all options of a question; named is the option on which the "
    "groups lie furthest apart."
)


def declare_group_tables(glossary: Glossary, title: str, *, by: str, about: str = "") -> tuple[Table, Table]:
    """Declare the tests of group differences and the means that they compare.

    Args:
        glossary: of the methodology.
        title: marked with N_.
        by: columns that say what is compared, in one text: "theme", or "scenario dimension".
        about: where a methodology compares more than one thing, which this is: "change" names the tables
            change_group_tests and change_groups.
    """
    prefix = f"{about}_" if about else ""
    item = "" if by.split(maxsplit=1)[0] == "item" else "item"
    tests = glossary.table(f"{prefix}group_tests", title, key=by, columns=f"{by} {item} {TESTS}", note=NOTE)
    means = glossary.table(f"{prefix}groups", title, key=f"{by} group", columns=f"{by} group n mean")
    return tests, means


def declare_choice_group_tables(glossary: Glossary, title: str, *, by: str) -> tuple[Table, Table]:
    """Declare the tests of which options groups chose, and the shares that they compare."""
    item = "" if by == "item" else "item"
    tests = glossary.table(
        "choice_group_tests", title, key=by, columns=f"{by} {item} option {CHOICE_TESTS}", note=CHOICE_NOTE
    )
    shares = glossary.table(
        "choice_groups", title, key=f"{by} option group", columns=f"{by} option group n share low high"
    )
    return tests, shares


def find_group_differences(
    question: Question, tables: ResultTables, *, found: str, nothing: str, size: Callable[[Row], float],
    key: tuple[str, ...], ends: tuple[str, str] = ("mean_highest", "mean_lowest"), chart: str = "", top: int = 3,
) -> Iterator[Finding]:  # fmt: skip
    """Yield the largest differences between groups, or that none was found.

    Args:
        question: over a table of group tests.
        tables: the tables with `p_adjusted`.
        found: the sentence over a row of the tests, marked with N_.
        nothing: the sentence where nothing was found; see `null_finding`.
        size: of a row, the difference as a share of what is possible.
        key: columns of the table that tell its rows apart, for the finding's id.
        ends: columns with the highest and the lowest value of a group.
        chart: the chart that shows the differences.
        top: differences at most.
    """
    highest, lowest = ends
    about: dict[str, Any] = {"estimate": "effect", "chart": chart}
    for row in rows_of(question.found_rows(tables).sort_values("effect", ascending=False, kind="stable").head(top)):
        yield Finding(
            id=".".join([question.name, "/".join(str(row[name]) for name in key)]), text=found, values=row,
            table=question.table, kind="difference", question=question.name, test=row["test"], size=size(row),
            items=[row["item"]], scale=_scale_of(row),
            points=(ScaleValue(value=highest, of="highest"), ScaleValue(value=lowest, of="lowest")), **about,
        )  # fmt: skip
    if question.found_nothing(tables):
        yield null_finding(question, tables, nothing, **about)


def _scale_of(row: Row) -> tuple[float, float] | None:
    low, high = row.get("scale_min"), row.get("scale_max")
    return None if low is None or high is None else (low, high)
