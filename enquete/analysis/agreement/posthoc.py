"""Which of several things differ: pairwise Wilcoxon tests within raters, corrected by Holm."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from enquete.analysis.change.paired import PairedTest, holm, require_unique, wilcoxon


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """`second` against `first`: a positive effect means that `second` is rated higher."""

    first: str
    second: str
    test: PairedTest
    p_holm: float | None


def pairwise_wilcoxon(ratings: pd.DataFrame) -> list[PairwiseTest]:
    """Wilcoxon's signed-rank test for every two columns, p adjusted by Holm over all of them.

    For a look at what Friedman's test found, and no replacement of it: Friedman drops raters with any gap, a pair only
    those with a gap in the pair. Effect size: rank-biserial, in each test. Describes this run.
    ratings: raters × things, NaN where missing. Raises ValueError on a doubled rater or thing. Source: Holm 1979.
    """
    require_unique(ratings, "ratings")
    pairs = list(combinations(ratings.columns, 2))
    tests = [wilcoxon(ratings[a].to_numpy(dtype=float), ratings[b].to_numpy(dtype=float)) for a, b in pairs]
    adjusted = holm([test.p for test in tests])
    return [PairwiseTest(str(a), str(b), test, p) for (a, b), test, p in zip(pairs, tests, adjusted, strict=True)]
