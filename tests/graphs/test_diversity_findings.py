"""Findings of the sorts: every number follows from the answers by numpy, pandas and scipy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage

from enquete.graphs.diversity.findings import findings
from enquete.reports.key_findings import MOST_WORDS, KeyFinding
from tests.graphs.test_diversity_analysis import INSTRUMENT, LANGUAGES, table
from tests.graphs.test_diversity_analysis import findings as analysed

ITEMS = [statement.statement_id for statement in INSTRUMENT.statements]
AXES = [axis.axis_id for axis in INSTRUMENT.likert_axes]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(45)


@pytest.fixture(scope="module")
def stated(frame: pd.DataFrame) -> dict[str, KeyFinding]:
    return {one.id: one for one in findings(analysed(frame), "en")}


def sorts(frame: pd.DataFrame, items: list[str]) -> np.ndarray[Any, Any]:
    return frame.pivot(index="participant", columns="item_id", values="value")[items].to_numpy(dtype=float)


def rotated(loadings: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Varimax by singular value decompositions, rows scaled to length 1 (Kaiser 1958)."""
    length = np.linalg.norm(loadings, axis=1, keepdims=True)
    x, turn = loadings / length, np.eye(loadings.shape[1])
    for _ in range(500):
        y = x @ turn
        left, _, right = np.linalg.svd(x.T @ (y**3 - y * (y**2).mean(axis=0)))
        turn = left @ right
    return x @ turn * length


def test_shared_views_are_those_of_the_eigenvalues(frame: pd.DataFrame, stated: dict[str, KeyFinding]) -> None:
    eigenvalues = np.sort(np.linalg.eigvalsh(np.corrcoef(sorts(frame, ITEMS))))[::-1]
    one = stated["views"]
    views = int(one.numbers["views"])
    # The last is well above what sorts dealt at random give at most (about 5 of 45), the next well below.
    assert eigenvalues[views - 1] > 6 > 4 > eigenvalues[views]
    assert one.numbers["share"] == pytest.approx(eigenvalues[:views].sum() / 45, abs=1e-5)
    assert one.kind == "difference"


def test_the_largest_view_is_held_by_those_who_define_it(frame: pd.DataFrame, stated: dict[str, KeyFinding]) -> None:
    x, one = sorts(frame, ITEMS), stated["largest"]
    values, vectors = np.linalg.eigh(np.corrcoef(x))
    k = int(stated["views"].numbers["views"])
    loadings = rotated(vectors[:, -k:] * np.sqrt(values[-k:]))
    squares = loadings**2
    defines = (np.abs(loadings) > 1.96 / len(ITEMS) ** 0.5) & (squares > squares.sum(axis=1, keepdims=True) - squares)
    sides = {(f, s): (defines[:, f] & (s * loadings[:, f] > 0)).sum() for f in range(k) for s in (1, -1)}
    (factor, side), holders = max(sides.items(), key=lambda pair: pair[1])
    own = defines[:, factor]
    weights = side * loadings[own, factor] / (1 - squares[own, factor])
    ordered = [ITEMS[i] for i in np.argsort(-(weights @ x[own]))]
    assert one.items == (ordered[0], ordered[-1])
    columns = list(INSTRUMENT.distribution)
    assert one.numbers == {
        "holders": holders, "opposed": own.sum() - holders, "n": 45, "top_place": columns[-1], "bottom_place": columns[0],
    }  # fmt: skip


def test_places_of_statements_are_those_of_the_answers(frame: pd.DataFrame, stated: dict[str, KeyFinding]) -> None:
    apart = next(one for name, one in stated.items() if name.startswith("divides."))
    values = frame.loc[frame["item_id"].eq(apart.items[0]), "value"].astype(float)
    assert apart.numbers == pytest.approx(
        {"above": (values > 0).sum(), "below": (values < 0).sum(), "mean": values.mean(), "sd": values.std(), "n": 45},
        abs=1e-5,
    )
    spread = frame[frame["item_id"].isin(ITEMS)].groupby("item_id")["value"].std()
    assert apart.items[0] == spread.idxmax()
    common = next(one for name, one in stated.items() if name.startswith("common."))
    values = frame.loc[frame["item_id"].eq(common.items[0]), "value"].astype(float)
    reach = stats.t.ppf(0.975, 44) * values.std() / 45**0.5
    assert (common.numbers["low"], common.numbers["high"]) == pytest.approx(
        (values.mean() - reach, values.mean() + reach), abs=1e-5
    )


def test_types_are_found_by_another_clustering_too(frame: pd.DataFrame, stated: dict[str, KeyFinding]) -> None:
    """Planted are four; Ward's method cut at as many leaves clusters that are far more alike within than between."""
    one = stated["types"]
    blocks = [part - part.mean(axis=0) for part in (sorts(frame, ITEMS), sorts(frame, AXES))]
    x = np.hstack([part / np.linalg.svd(part, compute_uv=False)[0] for part in blocks])
    tree = linkage(x, "ward")
    assert one.numbers["types"] == len(set(fcluster(tree, int(one.numbers["types"]), "maxclust"))) == 4
    assert tree[-3, 2] > 2 * tree[-4, 2]  # the step from four clusters to three is far longer than the one before


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_are_short_and_nulls_are_said_as_nulls(language: Any, frame: pd.DataFrame) -> None:
    few = [one for agents in (1, 4) for one in findings(analysed(table(agents), language), language)]
    assert not few
    found = analysed(table(6), language)
    for reason in ("continuum", "unstable", "chance"):
        typology = {**found["typology"], "reason": reason, "p": 0.4, "continuum": None}
        told = list(findings({**found, "typology": typology, "archetypes": [], "members": []}, language))
        assert [one.kind for one in told if one.id == "types"] == ["null"]
    assert all(len(one.text.split()) <= MOST_WORDS for one in (*told, *findings(analysed(frame, language), language)))
