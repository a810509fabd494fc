"""The figures of findings, computed again from all_responses.csv with pandas, numpy and scipy alone.

Nothing of Enquete is imported: each function follows what a methodology declares of a finding and of its columns.
`again(finding, rows)` gives the numbers by name that can be had so; p of permutations, which need the same random
numbers, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

Numbers = dict[str, float]


def again(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """rows: the main arm's rows of the finding's methodology."""
    answered = rows[rows["status"].isin(["ok", "repaired"])]
    if finding["methodology"] not in ("laddering", "discovery", "roundtable", "poll"):
        answered = answered[answered["value"].notna()]
    name = finding["id"].partition(".")[0]
    return {**RECIPES[finding["methodology"], name](finding, answered), "n_total": rows["participant"].nunique()}


def scale(rows: pd.DataFrame) -> tuple[float, float]:
    return rows["scale_min"].iloc[0], rows["scale_max"].iloc[0]


def epsilon(groups: Iterable[pd.Series]) -> float:
    listed = list(groups)
    return stats.kruskal(*listed).statistic / (sum(map(len, listed)) - 1)


# --- longitudinal ----------------------------------------------------------------------------------------------------


def waves(rows: pd.DataFrame) -> pd.DataFrame:
    """Agents × items: T1 − T0."""
    t0, t1 = (
        rows[rows["phase"].eq(phase)].pivot(index="participant", columns="item_id", values="value")
        for phase in ("T0", "T1")
    )
    return (t1 - t0).dropna(axis=1, how="all")


def drift(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    changes = waves(rows)
    diff = changes[finding["items"][0]].dropna()
    both = rows[rows["item_id"].eq(finding["items"][0]) & rows["participant"].isin(diff.index)]
    before, after = (both.loc[both["phase"].eq(wave), "value"].mean() for wave in ("T0", "T1"))
    low, high = together(changes)
    item = finding["items"][0]
    return {
        "before": before, "after": after, "change": diff.mean(), "low": low[item], "high": high[item], "n": len(diff),
    }  # fmt: skip


def together(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Bonferroni–t over the columns, with variances shrunk towards their mean: ((n − 1)s² + 2s̄²)/(n + 1)."""
    n, variance = table.notna().sum(), table.var()
    error = np.sqrt(((n - 1) * variance + 2 * variance.mean()) / (n + 1) / n)
    reach = stats.t.ppf(1 - 0.025 / table.shape[1], n - 1) * error
    return table.mean() - reach, table.mean() + reach


def agreement(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    item = finding["items"][0]
    last = rows[rows["phase"].eq(rows["phase"].max())]
    low, high = together(last.pivot(index="participant", columns="item_id", values="value"))
    ends = scale(last[last["item_id"].eq(item)])
    values = last.loc[last["item_id"].eq(item), "value"]
    return {"mean": values.mean(), "low": max(low[item], ends[0]), "high": min(high[item], ends[1]), "n": len(values)}


# --- scenarios -------------------------------------------------------------------------------------------------------


def of_scenarios(rows: pd.DataFrame, item: str, names: tuple[str, str, str]) -> Numbers:
    """Mean ± t(1 − .05/(2k))·s̃/√n for the k scenarios of the item's dimension, s̃² = ((n − 1)s² + 2s̄²)/(n + 1), s̄²
    the mean of their variances; cut at the ends of the scale."""
    of_dimension = rows[rows["dimension"].eq(item.rpartition("/")[2])]
    wide = of_dimension.pivot(index="participant", columns="item_id", values="value")
    n, (low, high) = wide.notna().sum()[item], scale(of_dimension)
    error = np.sqrt(((n - 1) * wide[item].var() + 2 * wide.var().mean()) / (n + 1) / n)
    mean, reach = wide[item].mean(), stats.t.ppf(1 - 0.025 / wide.shape[1], n - 1) * error
    return dict(zip(names, (mean, max(low, mean - reach), min(high, mean + reach)), strict=True))


def ends_of_scenarios(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Of two that share no place; p is of the whole page."""
    best, worst = finding["items"]
    wide = rows[rows["item_id"].isin([best, worst])].pivot(index="participant", columns="item_id", values="value")
    both = (wide[best] - wide[worst]).dropna()
    names = ("mean_{}", "mean_low_{}", "mean_high_{}")
    numbers = {"change": both.mean(), "n": len(both), "n_highest": 1, "n_lowest": 1}
    for end, item in (("highest", best), ("lowest", worst)):
        numbers |= of_scenarios(rows, item, tuple(name.format(end) for name in names))
    return numbers


def place(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    wished, expected = finding["items"]
    return {
        **of_scenarios(rows, wished, ("mean", "mean_low", "mean_high")),
        **of_scenarios(rows, expected, ("expectation", "expectation_low", "expectation_high")),
        "n": len(rows[rows["item_id"].eq(wished)]),
    }


def groups_of_scenarios(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    means = group_means(finding, rows)
    return {**means, "mean_highest": means["mean"], "n_groups": means["groups"]}


def group_means(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Of stakeholder types with five raters or more."""
    of_item = rows[rows["item_id"].eq(finding["items"][0])]
    of_item = of_item[of_item["round"].eq(of_item["round"].max())]
    groups = {kind: part["value"] for kind, part in of_item.groupby("stakeholder_type") if len(part) >= 5}
    means = {kind: values.mean() for kind, values in groups.items()}
    return {
        "mean": max(means.values()), "mean_highest": max(means.values()), "mean_lowest": min(means.values()),
        "effect": epsilon(groups.values()), "n": sum(map(len, groups.values())), "groups": len(groups),
        "scale_min": scale(of_item)[0], "scale_max": scale(of_item)[1],
    }  # fmt: skip


def group_levels(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """The same of the last wave, as the group tables call it."""
    means = group_means(finding, rows[rows["phase"].eq(rows["phase"].max())])
    return {**means, "mean_highest": means["mean"]}


# --- Delphi ----------------------------------------------------------------------------------------------------------


def last_round(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["round"].eq(rows["round"].max())]


def van_der_eijk(counts: np.ndarray) -> float:
    """Agreement A (van der Eijk 2001): layers of the distribution, each with its own agreement, weighted by their
    mass."""
    left, total, consensus, k = counts.astype(float).copy(), counts.sum(), 0.0, len(counts)
    while left.sum() > 0:
        least = left[left > 0].min()
        pattern = (left > 0).astype(int)
        weight = least * pattern.sum() / total
        s = pattern.sum()
        if s == 1:
            unimodality = 1.0
        else:
            triples = [
                (pattern[i], pattern[j], pattern[m]) for i in range(k) for j in range(i + 1, k) for m in range(j + 1, k)
            ]
            tdu = sum(triple == (1, 0, 1) for triple in triples)
            tu = sum(triple in ((1, 1, 0), (0, 1, 1)) for triple in triples)
            unimodality = ((k - 2) * tu - (k - 1) * tdu) / ((k - 2) * (tu + tdu)) if tu + tdu else 1.0
        consensus += weight * unimodality * (1 - (s - 1) / (k - 1))
        left = np.where(left > 0, left - least, 0)
        left[left < 1e-9] = 0
    return consensus


def camps(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    of_item = last_round(rows[rows["item_id"].eq(finding["items"][0])])
    values, (low, high) = of_item["value"], scale(of_item)
    at = {key: finding["numbers"][key] for key in ("low_at", "high_at")}
    below, above = values.le(at["low_at"]).sum(), values.ge(at["high_at"]).sum()
    wilson = stats.binomtest(int(above), len(values)).proportion_ci(method="wilson")
    counts = np.array([values.eq(point).sum() for point in np.arange(low, high + 1)])
    return {
        "n_below": below, "n_above": above, "above_share": above / len(values), "above_low": wilson.low,
        "above_high": wilson.high, "n": len(values), "agreement": van_der_eijk(counts), **at,
    }  # fmt: skip


def importance(rows: pd.DataFrame) -> pd.DataFrame:
    """Agents × themes of the last round, on the dimension that themes are ranked by: the first that is asked."""
    last = last_round(rows)
    of_item = last[last["dimension"].eq(last["dimension"].iloc[0])]
    return of_item.pivot(index="participant", columns="item_id", values="value")


def label(values: pd.Series, low: float, high: float) -> str:
    """Disputed: IQR above 2, or A below 0.2 (the shipped instruments' limits); else agreed where the IQR is at most
    1."""
    q1, q3 = np.percentile(values.dropna(), [25, 75])
    a = van_der_eijk(np.array([values.eq(point).sum() for point in np.arange(low, high + 1)]))
    return "disputed" if q3 - q1 > 2 or a < 0.2 else "agreed" if q3 - q1 <= 1 else "open"


def highest_theme(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Of the undisputed; below Bonferroni–t over all themes, above Student's: it is the highest of all. Cut at the
    ends."""
    wide, item = importance(rows), finding["items"][0]
    low, high = scale(rows[rows["item_id"].eq(item)])
    medians = wide.median()[[theme for theme in wide if label(wide[theme], low, high) != "disputed"]]
    n, variance = wide.notna().sum()[item], wide.var()
    error = np.sqrt(((n - 1) * variance[item] + 2 * variance.mean()) / (n + 1) / n)
    below, above = (stats.t.ppf(1 - 0.025 / k, n - 1) * error for k in (wide.shape[1], 1))
    mean = wide[item].mean()
    return {
        "mean": mean, "mean_low": max(low, mean - below), "mean_high": min(high, mean + above), "median": medians[item],
        "tied": medians.eq(medians[item]).sum(), "n": n,
    }  # fmt: skip


def agreed(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    wide, ends = importance(rows), scale(last_round(rows))
    labels = [label(wide[theme], *ends) for theme in wide]
    return {
        "n_consensus": labels.count("agreed"), "n_disputed": labels.count("disputed"), "n_judged": len(labels),
        "consensus_iqr": 1, "n": wide.notna().sum().min(),
    }  # fmt: skip


def moved(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Distance to the median of all first ratings, which is what was fed back, first less last; the interval is
    Student's over the agents' own means."""
    rounds = rows.dropna(subset="value").groupby("round")
    numbers = sorted(number for number, asked in rounds if asked["scale_min"].notna().all())
    first, last = (
        rows[rows["round"].eq(number)].pivot(index="participant", columns="item_id", values="value")
        for number in (numbers[0], numbers[-1])
    )
    nearer = (first - first.median()).abs() - (last.reindex(first.index) - first.median()).abs()
    means = nearer.mean(axis=1).dropna()
    reach = stats.t.ppf(0.975, len(means) - 1) * means.std() / np.sqrt(len(means))
    toward, away = (int(nearer.mul(sign).gt(0).to_numpy().sum()) for sign in (1, -1))
    return {
        "nearer": means.mean(), "nearer_low": means.mean() - reach, "nearer_high": means.mean() + reach,
        "n_toward": toward, "n_away": away, "n": len(means),
    }  # fmt: skip


def joined(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """tests/reports/test_agents.py has the columns that are joined."""
    return {}


def by_rule(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Agents with an answered turn; every answer was read by a rule where the respondent is a program."""
    return {"n": rows["participant"].nunique(), "n_by_rule": len(rows), "n_read": len(rows)}


# --- sorts -----------------------------------------------------------------------------------------------------------


def sorts(rows: pd.DataFrame) -> pd.DataFrame:
    """Agents × statements, complete sorts alone."""
    grid = rows[rows["dimension"].eq("") | rows["dimension"].isna()] if "dimension" in rows else rows
    return grid.pivot(index="participant", columns="item_id", values="value").dropna()


def views(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    wide = sorts(rows[rows["item_id"].isin(statements(rows))])
    eigenvalues = np.sort(np.linalg.eigvalsh(np.corrcoef(wide.to_numpy())))[::-1]
    k = int(finding["numbers"]["found"])
    return {"explained": eigenvalues[:k].sum() / len(wide), "found": parallel(wide), "n": len(wide)}


def largest(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Principal components of the agents' correlations, varimax with Kaiser's normalisation; who defines a view, and
    its grid."""
    grid = rows[rows["item_id"].isin(statements(rows))]
    wide = sorts(grid)
    values, vectors = np.linalg.eigh(np.corrcoef(wide.to_numpy()))
    k = parallel(wide)
    order = np.argsort(values)[::-1][:k]
    loadings = varimax(vectors[:, order] * np.sqrt(values[order]))
    squares = loadings**2
    defining = (np.abs(loadings) > 1.96 / np.sqrt(wide.shape[1])) & (2 * squares > squares.sum(axis=1, keepdims=True))
    sides = [(int((defining[:, f] & (sign * loadings[:, f] > 0)).sum()), f, sign) for f in range(k) for sign in (1, -1)]
    holders, f, sign = max(sides)
    weight = np.where(defining[:, f], loadings[:, f] / (1 - squares[:, f]), 0.0)
    placed = pd.Series(sign * (weight @ wide.to_numpy()), index=wide.columns).sort_values(kind="stable")
    places = np.sort(wide.iloc[0].to_numpy())
    array = dict(zip(placed.index, places, strict=True))
    return {
        "holders": holders, "opposed": int(defining[:, f].sum()) - holders, "n": len(wide),
        "top_place": array[finding["items"][0]], "bottom_place": places[0],
    }  # fmt: skip


def parallel(wide: pd.DataFrame, draws: int = 500) -> int:
    """How many eigenvalues, from the largest on, exceed the 99th percentile of their rank where every sort is dealt at
    random."""
    random = np.random.default_rng(7)
    tables = (random.permuted(wide.to_numpy(), axis=1) for _ in range(draws))
    chance = np.percentile([np.linalg.eigvalsh(np.corrcoef(table))[::-1] for table in tables], 99, axis=0)
    above = np.linalg.eigvalsh(np.corrcoef(wide.to_numpy()))[::-1] > chance
    return int(np.argmin(above)) if not above.all() else len(above)


def varimax(loadings: np.ndarray, rounds: int = 500) -> np.ndarray:
    length = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    rows, rotation = loadings / length, np.eye(loadings.shape[1])
    for _ in range(rounds):
        turned = rows @ rotation
        u, _, v = np.linalg.svd(rows.T @ (turned**3 - turned * (turned**2).mean(axis=0)))
        rotation = u @ v
    return rows @ rotation * length


def statements(rows: pd.DataFrame) -> list[str]:
    """The items of the forced grid: those whose scale has its middle at 0."""
    return list(rows.loc[rows["scale_min"].eq(-rows["scale_max"]), "item_id"].unique())


def statement(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    of_item = rows[rows["item_id"].eq(finding["items"][0])]
    values, (low, high) = of_item["value"], scale(of_item)
    return {
        "sd": values.std(), "n_above": (values > 0).sum(), "n_below": (values < 0).sum(), "mean": values.mean(),
        "n": len(values), "scale_min": low, "scale_max": high,
    }  # fmt: skip


def common(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """Mean ± t(1 − .05/(2k))·s̃/√n for k statements, s̃² = ((n − 1)s² + 2s̄²)/(n + 1), s̄² the mean of the k
    variances."""
    grid = rows[rows["item_id"].isin(statements(rows))]
    k, pooled = grid["item_id"].nunique(), grid.groupby("item_id")["value"].var().mean()
    placed = statement(finding, rows)
    n = placed["n"]
    reach = stats.t.ppf(1 - 0.025 / k, n - 1) * np.sqrt(((n - 1) * placed["sd"] ** 2 + 2 * pooled) / (n + 1) / n)
    return {
        **placed, "low": max(placed["scale_min"], placed["mean"] - reach),
        "high": min(placed["scale_max"], placed["mean"] + reach),
    }  # fmt: skip


def talked(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    n = rows["participant"].nunique()
    return {"n": n, "questions": len(rows) / n}


def chosen(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """The share of the option that is chosen most; how many there are to choose from the table does not say."""
    choices = rows[rows["item_id"].eq(finding["items"][0])]["choice"]
    return {"share": choices.value_counts().iloc[0] / len(choices), "n": len(choices)}


def rated(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    values = rows[rows["item_id"].eq(finding["items"][0])]["value"]
    return {"mean": values.mean(), "n": len(values)}


def classes(finding: dict[str, Any], rows: pd.DataFrame) -> Numbers:
    """How many agents sorted; the types themselves are those of k-means, whose seeds are not known here."""
    return {"n": len(sorts(rows[rows["item_id"].isin(statements(rows))]))}


RECIPES: dict[tuple[str, str], Callable[[dict[str, Any], pd.DataFrame], Numbers]] = {
    ("longitudinal", "drift"): drift, ("longitudinal", "highest"): agreement, ("longitudinal", "lowest"): agreement,
    ("longitudinal", "groups"): group_levels, ("scenario", "highest"): ends_of_scenarios,
    ("scenario", "further"): ends_of_scenarios, ("scenario", "place"): place,
    ("scenario", "groups"): groups_of_scenarios, ("delphi", "groups"): group_means, ("delphi", "camps"): camps,
    ("delphi", "highest"): highest_theme, ("delphi", "agreed"): agreed, ("delphi", "moved"): moved,
    ("laddering", "by_rule"): by_rule, ("across", "together"): joined, ("discovery", "complete"): talked,
    ("poll", "chosen"): chosen, ("poll", "mean"): rated, ("diversity", "types"): classes,
    ("diversity", "views"): views, ("diversity", "largest"): largest, ("diversity", "divides"): statement,
    ("diversity", "common"): common, ("diversity", "groups"): group_means,
}  # fmt: skip
