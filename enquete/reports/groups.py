"""Do groups differ: the same two tables, the same test and the same sentence in every methodology.

Groups are the stakeholder types or any persona column that was chosen (`--by`). Those of fewer than FEWEST agents are named,
not tested: their means stand in no table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.reports.declarations import (
    Column,
    Finding,
    Table,
    View,
    adjusted_p,
    integer,
    number,
    of,
    p_value,
    reference,
    text,
)  # fmt: skip
from enquete.state.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

GROUP = reference("group", N_("group"), to="group")


def group_tables(subject: Column, title: str, *, digits: int = 2, share: bool = False) -> tuple[Table, Table]:
    """Means (or shares) by subject and group, and a test a subject. subject: what is compared, an item or a theme."""
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
        name="groups", title=title, key=(subject.name, "group"),
        columns=(subject, GROUP, integer("n", "n"), value),
    )  # fmt: skip
    tests = Table(
        name="group_tests", title=title, key=(subject.name,),
        columns=(
            subject, text("item", N_("item")), integer("n", "n"), integer("n_total", "N"), of("n", "n_total", "n / N"),
                integer("n_groups", N_("groups")),
            reference("highest", N_("highest in"), to="group"), reference("lowest", N_("lowest in"), to="group"), *ends,
            number("effect", N_("effect"), means=N_("ε² of ranks, the share of variance between groups; Cramér's V of "
                                                    "categories")),
            text("test", N_("test")), p_value("p"), adjusted_p(),
            integer("n_small", N_("in small groups"), means=N_("agents in groups of fewer than five, who are not "
                                                               "compared")),
        ),
        views=(
            View(at="section", where="p_adjusted < .05", order=("-effect",), top=3,
                 columns=(subject.name, "highest", "mean_highest", "lowest", "mean_lowest", "effect", "p_adjusted",
                     "n_of_n_total")),
            View(at="appendix", order=("p",),
                 columns=(subject.name, "n_of_n_total", "n_groups", "highest", "mean_highest", "lowest", "mean_lowest",
                     "effect", "test", "p", "p_adjusted", "detectable")),
            View(at="digest", where="p_adjusted < .05", order=("-effect",), top=5,
                 columns=(subject.name, "highest", "mean_highest", "lowest", "mean_lowest", "effect", "p_adjusted")),
        ),
        note=N_("Groups of at least five agents. Detectable: the difference between two groups that would be found "
                "four times in five."),
    )  # fmt: skip
    return by_group, tests


def group_finding(
    subject: Column, says: str, *, null: str, size: str, top: int = 3, chart: str = "", where: str = ""
) -> Finding:  # fmt: skip
    return Finding(
        name="groups", table="group_tests", kind="difference", p="p", order=("-effect",), top=top, size=size, says=says,
            null=null, estimate="effect", where=where,
        items="item", test="test", chart=chart,
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
    values: pd.DataFrame, groups: pd.Series[str], subject: str, items: dict[str, str] | None = None, *,
        kind: str = "rating"
) -> dict[str, Any]:  # fmt: skip
    """The rows of `group_tables`, by table. values: participants × subjects; items: the item id behind a subject, where it is another."""
    import pandas as pd  # noqa: PLC0415 - declarations do not import it

    from enquete.analysis.inference import detectable_difference  # noqa: PLC0415
    from enquete.analysis.relations.groups import kruskal_wallis  # noqa: PLC0415
    from enquete.reports.key_findings import FEWEST  # noqa: PLC0415

    tests, means = [], []
    for name in values:
        own = values[name].dropna()
        kinds = groups.reindex(own.index)
        sizes = kinds.value_counts()
        kept = own[kinds.map(sizes).ge(FEWEST)]
        kinds = kinds.reindex(kept.index)
        found = kruskal_wallis(kept, kinds)
        by_group = kept.groupby(kinds).agg(["size", "mean"]).sort_values("mean", ascending=False, kind="stable")
        means += [
            {subject: name, "group": g, "n": int(row["size"]), "mean": row["mean"]} for g, row in by_group.iterrows()
        ]
        several = len(by_group) > 1
        tests.append({
            subject: name, "item": (items or {}).get(str(name), str(name)), "n": len(kept), "n_total": len(values),
                "n_groups": len(by_group),
            "highest": by_group.index[0] if several else None, "lowest": by_group.index[-1] if several else None,
            "mean_highest": by_group["mean"].iloc[0] if several else None,
                "mean_lowest": by_group["mean"].iloc[-1] if several else None,
            "detectable": detectable_difference(by_group["size"].tolist(), _within(kept, kinds), tests=values.shape[1]),
                "effect": found.effect, "test": found.method, "p": found.p,
                "n_small": len(own) - len(kept),
        })  # fmt: skip
    return {"groups": pd.DataFrame(means), "group_tests": pd.DataFrame(tests)}


def _within(values: pd.Series[float], groups: pd.Series[str]) -> float:
    """Standard deviation within groups, pooled."""
    left = len(values) - groups.nunique()
    gap = values - values.groupby(groups).transform("mean")
    return float((gap @ gap / left) ** 0.5) if left > 0 else 0.0
