"""Do groups differ? One answer for every methodology: means or shares by group, test, effect, what would be found.

Measured by: at 10, 20 and 50 agents at most .05 of comparisons of nothing are significant, for ratings on few points
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from enquete.analysis.association import TINY, cramers_v_of, epsilon_squared_of
from enquete.analysis.change import holm
from enquete.analysis.estimates import Floats, require_single, require_unique
from enquete.analysis.inference import (
    ALPHA,
    DRAWS,
    LEVEL,
    SMALL,
    TIED,
    Labels,
    detectable_association,
    detectable_difference,
    detectable_share,
    effective_tests,
    relabellings,
    selected_intervals,
    share_intervals,
)

FEWEST = 5  # agents whose values a group needs: fewer are named, not described and not tested

Kind = Literal["rating", "share", "category"]


class GroupComparison(NamedTuple):
    """by_group: a row a variable and group (and category); tests: a row a variable. Joined by `variable`."""

    by_group: pd.DataFrame
    tests: pd.DataFrame


def compare_groups(
    values: pd.DataFrame, groups: pd.Series, kind: Kind, *, ends: tuple[float, float] | None = None,
    tests: float | None = None,
    fewest: int = FEWEST, draws: int = DRAWS, seed: int = 0,
) -> GroupComparison:  # fmt: skip
    """Compare groups on every variable.

    rating: means; Kruskal–Wallis H with ε² = H/(n − 1). share: shares of 1 among 0 and 1; category: shares of each
    category; both by χ² of the table with Cramér's V, corrected for bias (Bergsma 2013). p is exact where relabellings
    are few, else of random ones (H beyond 200 agents: from χ²): ratings on few points and small tables are off in the
    approximations. `low` and `high` hold for every group of a variable at once (`selected_intervals`,
    `share_intervals`), so they do for the highest and the lowest.
    detectable: of a mean or a share, the distance of one group from all others that would be found in four of five
    panels (NaN where none would be); of categories, V. Both at .05 over `tests`.

    values: participants × variables, NaN where missing. groups: any column about the participants, by participant; NaN:
    in none.
    ends: of the scale of ratings, where their intervals are cut off. tests: how many are corrected for in `detectable`;
    by default as many as those of this call are as good as (`effective_tests`). fewest: groups with fewer values on a
    variable are `small`: they keep their row and counts, without estimate, and are not tested.
    Returns by_group: variable, group, category (None but for categories), n, n_total, estimate, low, high, small; and
    tests: variable, kind, n (values in tested groups), n_total (participants), n_ungrouped, groups (tested),
    small_groups, n_small (values in them), test (kruskal_wallis, chi_squared), method, statistic, p, p_adjusted (over
    the variables of this call: see `_jointly`), effect, effect_low, effect_high, highest, estimate_highest, lowest,
    estimate_lowest, mean (over tested groups), sd (within them; all NaN/None for categories), sizes (values in each
    tested group, "8, 7, 5"), tests (how many independent ones those of this call are as good as), detectable, reason
    (why there is no test, "" where there is). Raises ValueError for a doubled label, a rating that is no number, or a
    share other than 0 and 1.
    """
    require_unique(values, "values")
    require_single(groups.index, "groups")
    group = groups.reindex(values.index)
    label, names = pd.factorize(group.astype(str).where(group.notna()), sort=True)
    panel = _Membership(label.astype(np.int64), tuple(names), fewest)
    columns = [_variable(values[name], kind, str(name), panel) for name in values]
    described = [row for variable in columns for row in _by_group(variable, panel, kind, ends)]
    table = pd.DataFrame([_test(variable, panel, kind, draws, seed) for variable in columns], columns=list(_TESTS))
    table["p_adjusted"], effective = _jointly(columns, panel, table, kind, draws, seed)
    table["tests"] = effective
    count = effective if tests is None else tests
    reasons = zip(columns, table["reason"], strict=True)
    detectable = [None if reason else _detectable(variable, kind, count, ends) for variable, reason in reasons]
    table["detectable"] = pd.Series(detectable, dtype=float)
    by_group = pd.DataFrame(described, columns=list(_GROUPS))
    by_group["category"] = pd.Series([row[_GROUPS.index("category")] for row in described], dtype=object)
    return GroupComparison(by_group.astype({"small": bool}), table)


def joint_p(
    values: pd.DataFrame, groups: pd.Series, *, fewest: int = FEWEST, draws: int = DRAWS, seed: int = 0
) -> pd.Series[float]:
    """Return the p of ratings alone that `compare_groups` gives as `p_adjusted`, by variable."""
    label, names = pd.factorize(groups.reindex(values.index).astype(str), sort=True)
    panel = _Membership(label.astype(np.int64), tuple(names), fewest)
    columns = [_variable(values[name], "rating", str(name), panel) for name in values]
    varies = [float(np.ptp(column.x[column.inside])) if column.large.size > 1 else 0.0 for column in columns]
    tested = pd.DataFrame({"p": [1.0 if spread > 0 else np.nan for spread in varies]})
    return pd.Series(_jointly(columns, panel, tested, "rating", draws, seed)[0], index=values.columns, dtype=float)


_GROUPS = ("variable", "group", "category", "n", "n_total", "estimate", "low", "high", "small")
_TESTS = (
    "variable", "kind", "n", "n_total", "n_ungrouped", "groups", "small_groups", "n_small", "test", "method",
    "statistic", "p", "p_adjusted", "effect", "effect_low", "effect_high", "highest", "estimate_highest", "lowest",
    "estimate_lowest", "mean", "sd", "sizes", "tests", "detectable", "reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Membership:
    """Who is in which group: `label` by participant, a place in `names`, −1 for none."""

    label: Labels
    names: tuple[str, ...]
    fewest: int

    def sizes(self, of: NDArray[np.bool_] | None = None) -> Labels:
        """Participants of each group, of all or of some."""
        inside = self.label >= 0 if of is None else of & (self.label >= 0)
        return np.bincount(self.label[inside], minlength=len(self.names))


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable by participant. large: groups with values enough; inside: who has a value in one of them."""

    name: str
    x: NDArray[Any]
    known: NDArray[np.bool_]
    n: Labels  # values by group
    large: Labels
    inside: NDArray[np.bool_]
    label: Labels  # of those inside, a place in `large`

    def values(self) -> list[NDArray[Any]]:
        """Of each large group."""
        x = self.x[self.inside]
        return [x[self.label == place] for place in range(self.large.size)]

    def estimates(self) -> Floats:
        """Mean of each large group: of 0 and 1 the share."""
        return np.array([values.mean() for values in self.values()], dtype=np.float64)


def _variable(column: pd.Series, kind: Kind, name: str, panel: _Membership) -> _Variable:
    """Raises ValueError for ratings that are no numbers and shares other than 0 and 1."""
    known = column.notna().to_numpy()
    x: NDArray[Any]
    if kind == "category":
        x = column.astype(str).to_numpy(dtype=object)
    else:
        try:
            x = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
        except (ValueError, TypeError) as error:
            raise ValueError(f"variable {name!r} is said to be a {kind} but holds no numbers: {error}") from None
        other = x[known & ~np.isin(x, (0, 1))]
        if kind == "share" and other.size:
            raise ValueError(f"variable {name!r}: a share is counted over 0 and 1; {other[0]:g} was given")
    n = panel.sizes(known)
    large = np.flatnonzero(n >= panel.fewest)
    inside = known & np.isin(panel.label, large)
    return _Variable(name, x, known, n, large, inside, np.searchsorted(large, panel.label[inside]))


def _by_group(
    variable: _Variable, panel: _Membership, kind: Kind, ends: tuple[float, float] | None
) -> Iterator[tuple[object, ...]]:
    """Rows of `_GROUPS`: one a group, of categories one a large group and category."""
    places = {group: place for place, group in enumerate(variable.large)}
    values = variable.values()
    if kind == "category":
        categories, code = np.unique(variable.x[variable.known].astype(str), return_inverse=True)
        coded = np.full(variable.x.size, -1)
        coded[variable.known] = code
        level = 1 - (1 - LEVEL) / max(1, len(values))
    elif kind == "share":
        known = share_intervals([x.sum() for x in values], [x.size for x in values])
    else:
        known = selected_intervals(
            [x.size for x in values], [x.mean() for x in values], [x.std(ddof=1) for x in values], ends=ends
        )
    bounds = [] if kind == "category" else list(zip(known["estimate"], known["low"], known["high"], strict=True))
    for group, (name, n, total) in enumerate(zip(panel.names, variable.n, panel.sizes(), strict=True)):
        if group not in places:
            yield variable.name, name, None, int(n), int(total), np.nan, np.nan, np.nan, True
        elif kind != "category":
            yield variable.name, name, None, int(n), int(total), *bounds[places[group]], False
        else:
            inside = coded[variable.known & (panel.label == group)]
            shares = share_intervals(np.bincount(inside, minlength=categories.size), int(n), level=level)
            for category, row in zip(categories, shares[["estimate", "low", "high"]].to_numpy().tolist(), strict=True):
                yield variable.name, name, str(category), int(n), int(total), *row, False


def _test(variable: _Variable, panel: _Membership, kind: Kind, draws: int, seed: int) -> dict[str, object]:
    """A row of `_TESTS`, but for what is adjusted over the variables."""
    large, values = variable.large, variable.x[variable.inside]
    if large.size < 2:
        association = None
    elif kind == "rating":
        association = epsilon_squared_of(values, variable.label, seed=seed)
    else:
        rows = np.unique(values.astype(str) if kind == "category" else values, return_inverse=True)[1]
        association = cramers_v_of(rows, variable.label, draws=draws, seed=seed)
    means = variable.estimates() if kind != "category" else np.array([])
    order = np.argsort(means, kind="stable")
    ends: dict[str, object] = {}
    for which, place in (("highest", -1), ("lowest", 0)):
        ends[which] = panel.names[large[order[place]]] if order.size else None
        ends[f"estimate_{which}"] = float(means[order[place]]) if order.size else np.nan
    has_means = kind != "category" and large.size > 0
    names = {"statistic": "statistic", "p": "p", "effect": "effect", "effect_low": "low", "effect_high": "high"}
    figures = {key: getattr(association, name, None) for key, name in names.items()}
    return {
        "variable": variable.name,
        "kind": kind,
        "n": int(variable.inside.sum()),
        "n_total": variable.x.size,
        "n_ungrouped": int((variable.known & (panel.label < 0)).sum()),
        "groups": large.size,
        "small_groups": len(panel.names) - large.size,
        "n_small": int(variable.n.sum() - variable.n[large].sum()),
        "test": "kruskal_wallis" if kind == "rating" else "chi_squared",
        "method": "none" if association is None else association.method,
        "mean": float(values.mean()) if has_means else np.nan,
        "sd": _sd_within(variable) if has_means else np.nan,
        "sizes": ", ".join(map(str, variable.n[large].tolist())),
        **{key: np.nan if value is None else value for key, value in figures.items()},
        "reason": f"fewer than two groups of {FEWEST} agents" if association is None else association.reason,
        **ends,
    }


def _jointly(
    columns: Sequence[_Variable], panel: _Membership, table: pd.DataFrame, kind: Kind, draws: int, seed: int
) -> tuple[list[float | None], float]:
    """Adjusted p of every tested variable, and how many independent tests they are as good as: Westfall–Young's
    step-down max-T over relabellings of whole agents.

    An agent keeps all its values and is handed another's group, so what variables have in common stays, and how coarse
    they are.
    Statistic: H over the groups of `fewest` agents or more, of 0 and 1 as good as χ² (χ² = H·n/(n − 1)). Every
    relabelling where there are few, else random ones, (b + 1)/(m + 1). Beyond 200 agents, and of categories, by Holm.
    Source: Westfall & Young 1993, algorithm 4.1.
    """
    tested = np.flatnonzero(table["p"].notna())
    kept = np.isin(panel.label, np.flatnonzero(panel.sizes() >= panel.fewest))
    if kind == "category" or kept.sum() > SMALL or not tested.size:
        return holm(table["p"].tolist()), float(max(1, tested.size))
    label = np.unique(panel.label[kept], return_inverse=True)[1].astype(np.int64)
    ranks = pd.DataFrame({place: columns[place].x[kept] for place in tested.tolist()}).rank()
    centred = ranks.sub(ranks.mean()).div(ranks.std().clip(lower=TINY)).fillna(0.0)
    x, known = centred.to_numpy(), ranks.notna().to_numpy(dtype=np.float64)

    def statistics(labels: Labels) -> Floats:
        total = np.zeros((len(labels), x.shape[1]))
        for group in range(label.max() + 1):
            inside = (labels == group).astype(np.float64)
            total += (inside @ x) ** 2 / np.maximum(inside @ known, 1.0)
        return total

    observed, (labels, exact) = statistics(label[None, :])[0], relabellings(label, draws, seed)
    order, drawn = np.argsort(-observed, kind="stable"), statistics(labels)
    beside = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    reached = (beside >= observed[order] * (1 - TIED) - TINY).sum(axis=0)  # of nothing there is nothing but rounding
    p = reached / len(labels) if exact else (reached + 1) / (len(labels) + 1)
    adjusted = np.full(len(table), np.nan)
    adjusted[tested[order]] = np.maximum.accumulate(p)
    return [None if np.isnan(value) else float(value) for value in adjusted], effective_tests(drawn)


def _detectable(variable: _Variable, kind: Kind, tests: float, ends: tuple[float, float] | None) -> float | None:
    sizes = variable.n[variable.large].tolist()
    x = variable.x[variable.inside]
    if kind == "category":
        return detectable_association(sum(sizes), len(sizes), len(set(x)), tests=tests, alpha=ALPHA)
    if kind == "share":
        return detectable_share(sizes, float(x.mean()), tests=tests)
    return detectable_difference(sizes, float(x.mean()), _sd_within(variable), ends=ends, tests=tests)


def _sd_within(variable: _Variable) -> float:
    """Return the standard deviation of the values in groups that are large enough, within them."""
    within = variable.x[variable.inside] - variable.estimates()[variable.label]
    return float(np.sqrt((within**2).sum() / max(1, within.size - len(variable.large))))
