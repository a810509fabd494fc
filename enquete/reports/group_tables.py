"""Do groups differ: the same two tables, the same test and the same sentence in every methodology.

Groups are the stakeholder types or any persona column that was chosen (`--by`). Those of fewer than FEWEST agents are named,
not tested: their means stand in no table.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from enquete.locale import N_
from enquete.reports.declarations import (
    Column,
    Finding,
    ScaleValue,
    Table,
    View,
    adjusted_p,
    integer,
    interval,
    number,
    of,
    p_value,
    reference,
    text,
)  # fmt: skip
from enquete.state.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Ends: TypeAlias = tuple[float | None, float | None]
"""Of a scale; None where it has no bound."""
GROUP = reference("group", N_("group"), to="group")


def group_tables(
    subject: Column, title: str, *, by: Column | None = None, digits: int = 2, share: bool = False, about: str = "",
    scales: bool = False,
) -> tuple[Table, Table]:  # fmt: skip
    """Means (or shares) by subject and group, and a test a subject. subject: what is compared, an item or a theme.

    by: where a subject is compared more than once, the column that tells which: each of them, the dimension say, is a test.
    about: where a methodology compares more than one thing, which this is: "change" names the tables change_groups and
    change_group_tests. scales: subjects are on several, which the report names.
    """
    subjects = (subject, by) if by is not None else (subject,)
    keys = tuple(one.name for one in subjects)
    value = Column(
        name="mean",
        label=N_("share") if share else N_("mean"),
        format="share" if share else "number",
        digits=0 if share else digits,
    )
    ends = [
        Column(name=name, label=label, format=value.format, digits=value.digits)
        for name, label in (
            ("mean_highest", N_("highest mean")),
            ("mean_lowest", N_("lowest mean")),
            ("detectable", N_("detectable")),
        )
    ]
    by_group = Table(
        name=f"{_start(about)}groups", title=title, key=(*keys, "group"),
        columns=(*subjects, GROUP, integer("n", "n"), value),
    )  # fmt: skip
    tests = Table(
        name=f"{_start(about)}group_tests", title=title, key=keys,
        columns=(
            *subjects, *([text("item", N_("item"))] if subject.name != "item" else []), integer("n", "n"),
            integer("n_total", "N"), of("n", "n_total", "n / N"), integer("n_groups", N_("groups")),
            reference("highest", N_("highest in"), to="group"), reference("lowest", N_("lowest in"), to="group"), *ends,
            number("effect", N_("share of variance"),
                   means=N_("ε² of ranks, the share of variance between groups; Cramér's V of categories")),
            number("scale_min", N_("scale from"), digits=0), number("scale_max", N_("scale to"), digits=0),
            interval("scale_min", "scale_max", N_("scale"), digits=0, format="bounds"),
            text("test", N_("test")), p_value("p"),
            p_value("p_joint", N_("joint p"), means=N_("for all rows of the table, by handing agents with all they said "
                                                        "another's group (max-T)")),
            adjusted_p(),
            integer("n_small", N_("in small groups"), means=N_("agents in groups of fewer than five, who are not "
                                                               "compared")),
        ),
        views=(
            View(at="section", where="p_adjusted < .05", order=("-effect",), top=3,
                 columns=(*keys, "highest", "mean_highest", "lowest", "mean_lowest",
                     *(["scale_min_to_scale_max"] if scales else []), "effect", "p_adjusted")),
            View(at="appendix", where="n_groups > 1", order=("p",), top=10,
                 columns=(*keys, "highest", "mean_highest", "lowest", "mean_lowest", "effect", "p_adjusted",
                     "detectable")),
            View(at="digest", where="p_adjusted < .05", order=("-effect",), top=5,
                 columns=(*keys, "highest", "mean_highest", "lowest", "mean_lowest", "effect", "p_adjusted")),
        ),
        note=N_("Groups of at least five agents. Detectable: the difference between two groups that would be found "
                "four times in five."),
    )  # fmt: skip
    return by_group, tests


def _start(about: str) -> str:
    return f"{about}_" if about else ""


def group_finding(
    subject: Column, says: str, *, null: str, size: str, top: int = 3, chart: str = "", where: str = "", about: str = "",
    after: str = "",
) -> Finding:  # fmt: skip
    return Finding(
        name=f"{_start(about)}groups", table=f"{_start(about)}group_tests", kind="difference", where=where, p="p_joint",
        within="given", order=("-effect",), top=top, size=size, says=says, null=null, estimate="effect", items="item",
        test="test", chart=chart, after=after, scale="scale_min, scale_max",
        points=(ScaleValue(value="mean_highest", of="highest"), ScaleValue(value="mean_lowest", of="lowest")),
    )  # fmt: skip


MOST_GROUPS = 8
"""Values of a column of numbers from which it is cut into thirds."""


def groups_by(column: str, columns: pd.DataFrame | None) -> pd.Series[str]:
    """By participant: the value of a persona column; of one with many numbers the third that it lies in, "18–34".

    columns: index participant, as texts. Raises InputError naming the columns that there are.
    """
    import pandas as pd  # noqa: PLC0415 - declarations do not import it

    if columns is None or column not in columns:
        known = "none" if columns is None else ", ".join(map(str, columns))
        raise InputError(f"by: no persona column {column!r}; there are: {known}")
    values = columns[column].map(lambda value: str(value).strip() or None)
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.notna().sum() < values.notna().sum() or numbers.nunique() <= MOST_GROUPS:
        return values.dropna()
    thirds = pd.qcut(numbers, 3, labels=False, duplicates="drop")
    ends = numbers.groupby(thirds).agg(["min", "max"])
    words = {third: f"{low:g}–{high:g}" for third, (low, high) in zip(ends.index, ends.to_numpy(), strict=True)}
    return thirds.map(words).dropna()


def compared(
    values: pd.DataFrame, groups: pd.Series[str], subject: str = "", items: Mapping[Any, str] | None = None, *,
    kind: Literal["rating", "share"] = "rating", about: str = "", ends: Mapping[Any, Ends] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The rows of `group_tables`, by table. values: participants × subjects, or × the levels
    of subject and `by`, named as they are; items: the item id behind a subject, where it is another; ends: of the scale that a
    subject is on, shares need none."""
    import pandas as pd  # noqa: PLC0415 - declarations do not import it

    from enquete.analysis.relations.groups import compare_groups  # noqa: PLC0415

    scales = ends or {}
    numbered = values.set_axis([str(place) for place in range(values.shape[1])], axis=1)
    found = compare_groups(numbered.astype(float), groups, kind)
    own: dict[Hashable, dict[str, Any]] = {}
    for place, name in zip(numbered, values, strict=True):
        keys = zip(values.columns.names, name, strict=True) if isinstance(name, tuple) else [(subject, name)]
        own[place] = {str(key): value for key, value in keys}
    means = [
        {**own[row["variable"]], "group": row["group"], "n": row["n"], "mean": row["estimate"]}
        for row in found.by_group[~found.by_group["small"]]
        .sort_values("estimate", ascending=False, kind="stable")
        .to_dict("records")
    ]
    tests = [
        {**own[row["variable"]], "item": (items or {}).get(name, str(name)), "n": row["n"], "n_total": row["n_total"],
         "n_groups": row["groups"], "highest": row["highest"] if row["p"] == row["p"] else None,
         "lowest": row["lowest"] if row["p"] == row["p"] else None,
         "mean_highest": row["estimate_highest"] if row["p"] == row["p"] else None,
         "mean_lowest": row["estimate_lowest"] if row["p"] == row["p"] else None, "detectable": row["detectable"],
         "scale_min": scales.get(name, (None, None))[0], "scale_max": scales.get(name, (None, None))[1],
         "effect": row["effect"], "test": row["method"], "p": row["p"] if row["p"] == row["p"] else None, "p_joint": row["p_adjusted"],
         "n_small": row["n_small"]}
        for name, row in zip(values, found.tests.to_dict("records"), strict=True)
    ]  # fmt: skip
    return {f"{_start(about)}groups": pd.DataFrame(means), f"{_start(about)}group_tests": pd.DataFrame(tests)}
