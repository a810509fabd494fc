"""One table of all agents × all findings, across methods: which findings go together, corrected over the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import pandas as pd

from enquete.analysis.change.paired import benjamini_hochberg, holm, require_unique
from enquete.analysis.relations.association import Association, cramers_v, epsilon_squared, spearman

Kind = Literal["categorical", "numeric"]


@dataclass(frozen=True, slots=True)
class CrossFinding:
    """Two findings and their association; p corrected over all pairs of the table that have a p."""

    first: str
    second: str
    association: Association
    p_holm: float | None
    p_bh: float | None


def cross_table(
    findings: pd.DataFrame,
    kinds: Mapping[str, Kind],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    seed: int = 0,
) -> list[CrossFinding]:
    """The association of any two findings: V, ε² or ρ, whichever their kinds call for, with Holm and BH over all pairs.

    findings: agents × findings (a Q factor, the archetype, drift, the share of themes held out on, …), NaN or None where
    an agent has none. kinds: by finding. pairs: those asked for, else every two columns; leave out what is related by
    construction (a total and its part). The table is exploratory and describes this run: read BH, and effects before p.
    Raises ValueError for a finding without a kind or of another kind than 'categorical' and 'numeric', an unknown finding,
    a numeric finding that holds no numbers, or a doubled agent or finding.
    """
    require_unique(findings, "findings")
    chosen = list(combinations(map(str, findings.columns), 2)) if pairs is None else list(pairs)
    columns = {name: _column(findings, kinds, name) for pair in chosen for name in pair}
    found = [_associate(columns[a], columns[b], kinds[a], kinds[b], seed) for a, b in chosen]
    p = [one.p for one in found]
    corrected = zip(chosen, found, holm(p), benjamini_hochberg(p), strict=True)
    return [CrossFinding(a, b, one, p_holm, p_bh) for (a, b), one, p_holm, p_bh in corrected]


def _column(findings: pd.DataFrame, kinds: Mapping[str, Kind], name: str) -> pd.Series:
    if name not in findings:
        raise ValueError(f"finding {name!r} is not in the table; known: {', '.join(map(repr, findings.columns))}")
    kind = kinds.get(name)
    if kind not in ("categorical", "numeric"):
        raise ValueError(f"finding {name!r}: kind must be 'categorical' or 'numeric', not {kind!r}")
    if kind == "categorical":
        return findings[name]
    try:
        return pd.to_numeric(findings[name]).astype(float)
    except (ValueError, TypeError) as error:
        raise ValueError(f"finding {name!r} is said to be numeric but holds no numbers: {error}") from None


def _associate(
    x: pd.Series,
    y: pd.Series,
    kind_x: Kind,
    kind_y: Kind,
    seed: int,
) -> Association:
    if kind_x == kind_y:
        return cramers_v(x, y, seed=seed) if kind_x == "categorical" else spearman(x, y, seed=seed)
    return epsilon_squared(x, y, seed=seed) if kind_x == "numeric" else epsilon_squared(y, x, seed=seed)
