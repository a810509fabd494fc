"""Whether a round looks like groupthink: two of three signs. A sign is a reason to look, not a proof.

That everybody is sure is the weakest of them: it is what participants say of themselves, and models are sure of much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Literal

from enquete.analysis.vocabulary import content_words, jaccard
from enquete.graphs.roundtable.measures.clusters import clusters, voiced
from enquete.graphs.roundtable.responses import Response

Indicator = Literal["all_sure", "one_side", "same_words"]
Recommendation = Literal["", "opposition", "evidence"]
"""Hear an assigned opposition, or another mix of people; ask for evidence, because certainty is one of the signs."""

ALL_SURE, MEAN_SURE = 0.80, 0.85
SAME_WORDS = 0.5
SIGNS = 2


@dataclass(frozen=True)
class Groupthink:
    detected: bool
    indicators: tuple[Indicator, ...]
    recommendation: Recommendation
    mean_confidence: float | None
    mean_likeness: float | None
    n: int


def groupthink(said: Mapping[str, Response]) -> Groupthink:
    """Of one round. Of fewer than two who took a position nothing is said."""
    spoke = voiced(said)
    sure = [one.confidence for one in spoke.values() if one.confidence is not None]
    alike = _alike(spoke)
    holds: dict[Indicator, bool] = {
        "all_sure": len(sure) == len(spoke) and min(sure, default=0) >= ALL_SURE and fmean(sure) >= MEAN_SURE,
        "one_side": one_side(spoke),
        "same_words": alike is not None and alike >= SAME_WORDS,
    }
    indicators = tuple(name for name, found in holds.items() if found) if len(spoke) > 1 else ()
    detected = len(indicators) >= SIGNS
    advice: Recommendation = "" if not detected else "evidence" if "all_sure" in indicators else "opposition"
    return Groupthink(detected, indicators, advice, fmean(sure) if sure else None, alike, len(spoke))


def one_side(spoke: Mapping[str, Response]) -> bool:
    """One single stance; where there are none, one cluster of positions."""
    stances = {one.stance for one in spoke.values()}
    return len(clusters(spoke)) == 1 if "" in stances else len(stances) == 1


def _alike(spoke: Mapping[str, Response]) -> float | None:
    """Mean Jaccard of the words of all pairs, position and reasoning; None below two."""
    words = [content_words(f"{one.position} {one.reasoning}") for one in spoke.values()]
    pairs = [jaccard(one, other) for one, other in combinations(words, 2)]
    return fmean(pairs) if pairs else None
