"""Change between two waves by item, family and stakeholder type: test, effect sizes and corrections side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from enquete.analysis.bootstrap import DRAWS, LEVEL
from enquete.analysis.change.effects import PairedEffects, paired_effects
from enquete.analysis.change.paired import (
    PairedTest,
    benjamini_hochberg,
    holm,
    smallest_p,
    wilcoxon,
)
from enquete.analysis.joining import joined

ALPHA = 0.05
UNTESTABLE = "untestable: so few changed that no outcome could reach p .05"

_Row = tuple[str, str | None, "pd.Series[float]", "pd.Series[float]"]  # item, type, before, after


@dataclass(frozen=True, slots=True)
class Change:
    """One item or family, over all agents or those of one stakeholder type."""

    name: str
    stakeholder_type: str | None  # None: all agents
    test: PairedTest
    effects: PairedEffects
    p_holm: float | None  # over the rows of all agents, or over all rows by type: see `change_by_item`
    p_bh: float | None


def change_by_item(
    before: pd.DataFrame,
    after: pd.DataFrame,
    types: pd.Series[str] | None = None,
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> list[Change]:
    """Wilcoxon's test and effect sizes of every item: first over all agents, then by stakeholder type.

    before, after: participants × items, NaN where missing, joined by label. types: by participant; an agent without one
    is in the rows over all agents only. Two families of tests are corrected apart: the rows over all agents
    (confirmatory: read Holm) and the rows by type (exploratory: read BH). A row by type with five non-zero differences or
    fewer could not reach p .05 whatever they are; it is not tested (p None, the note says so), lest it dilute the
    correction of those that could (Tarone 1990). A test describes this run: the agents share a prompt and a model.
    Raises ValueError on a doubled label.
    """
    x, y = joined(before, after)
    groups: dict[str, pd.Series[bool]] = {}
    if types is not None:
        kinds = types.reindex(x.index)
        groups = {str(kind): kinds.eq(kind) for kind in sorted(kinds.dropna().unique())}
    overall: list[_Row] = [(str(item), None, x[item], y[item]) for item in x.columns]
    by_type: list[_Row] = [
        (str(item), kind, x[item][who], y[item][who]) for item in x.columns for kind, who in groups.items()
    ]
    tables = (overall, by_type)
    return [one for k, table in enumerate(tables) for one in _tested(table, [seed, k], draws=draws, level=level)]


def change_by_family(
    before: pd.DataFrame,
    after: pd.DataFrame,
    families: Mapping[str, Sequence[str]],
    types: pd.Series[str] | None = None,
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> list[Change]:
    """`change_by_item` on family scores: an agent's mean over the family's items that it answered in both waves.

    before, after: **rekeyed** values, or opposite items cancel out. families: items by family.
    Raises ValueError for an item of a family that is in neither wave.
    """
    x, y = joined(before, after)
    unknown = [(family, item) for family, items in families.items() for item in items if item not in x]
    if unknown:
        family, item = unknown[0]
        raise ValueError(
            f"family {family!r}: item {item!r} is in neither wave; known: {', '.join(sorted(map(repr, x.columns)))}"
        )
    both = x.notna() & y.notna()
    scores = [
        pd.DataFrame(
            {name: wave.where(both)[list(items)].mean(axis=1) for name, items in families.items()}, index=x.index
        )
        for wave in (x, y)
    ]
    return change_by_item(scores[0], scores[1], types, draws=draws, level=level, seed=seed)


def _tested(
    rows: Sequence[_Row],
    seed: list[int],
    *,
    draws: int,
    level: float,
) -> list[Change]:
    pairs = [(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)) for _, _, x, y in rows]
    tests = [_if_testable(wilcoxon(x, y), kind) for (_, kind, *_), (x, y) in zip(rows, pairs, strict=True)]
    effects = [paired_effects(x, y, draws=draws, level=level, seed=[*seed, row]) for row, (x, y) in enumerate(pairs)]
    p = [test.p for test in tests]
    found = zip(rows, tests, effects, holm(p), benjamini_hochberg(p), strict=True)
    return [Change(name, kind, test, effect, p_holm, p_bh) for (name, kind, *_), test, effect, p_holm, p_bh in found]


def testable(moved: int) -> bool:
    """Whether any outcome of so many non-zero differences could be significant."""
    return smallest_p(moved) <= ALPHA


def _if_testable(test: PairedTest, stakeholder_type: str | None) -> PairedTest:
    """Without p where it is a row by type that could not be significant; the rows over all agents keep theirs."""
    if stakeholder_type is None or test.p is None or testable(test.n - test.n_zero):
        return test
    return replace(test, p=None, method="none", note=UNTESTABLE)
