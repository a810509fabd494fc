"""Positions that are one and the same in other words, and how far a round agrees. By rule: words, and the side taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from statistics import fmean, pvariance

from enquete.analysis.vocabulary import content_words, denies, jaccard
from enquete.graphs.roundtable.responses import Response

ALIKE = 0.35
"""Jaccard of their words from which two positions are one."""

LEAST_SHARED = 2
"""Words that two positions share at least: one word alone is what they are about, not what they say of it."""

_LABEL = re.compile(r"(?<=\w\s)(?:[A-HJ-Z]|\d+)\b")
"""What tells options apart: the letter in "option B", the number in "plan 2" or "by 10 %"; no word of a text's subject."""

MOST_VARIANCE = 0.25
"""Of confidences between 0 and 1: half of them 0, half 1."""

POSITIONS, CONFIDENCES = 0.7, 0.3
"""Weights of the two in `agreement`."""


def voiced(said: Mapping[str, Response]) -> dict[str, Response]:
    """Who took a position; silence agrees with nobody."""
    return {who: response for who, response in said.items() if response.position.strip()}


def same_side(one: Response, other: Response) -> bool:
    """By their stances where both have one; else neither or both deny. Words alone make opposites alike: they share them."""
    if one.stance and other.stance:
        return one.stance == other.stance
    return denies(one.position) == denies(other.position)


def likeness(one: Response, other: Response) -> float:
    """Of two positions, 0 to 1: the Jaccard of their words. 0 on different sides, where they name different options, and
    where they share less than two words; 1 where they are the same text."""
    if not same_side(one, other) or _name_others(one.position, other.position):
        return 0.0
    if _plain(one.position) == _plain(other.position):
        return 1.0
    words, others = content_words(one.position), content_words(other.position)
    return jaccard(words, others) if len(words & others) >= LEAST_SHARED else 0.0


def _name_others(one: str, other: str) -> bool:
    labels, others = set(_LABEL.findall(one)), set(_LABEL.findall(other))
    return bool(labels and others and not labels & others)


def _plain(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def clusters(said: Mapping[str, Response]) -> list[tuple[str, ...]]:
    """Participants whose positions are alike, directly or by way of others on the same side; the largest first."""
    groups = {who: {who} for who in voiced(said)}
    for one, other in combinations(groups, 2):
        if groups[one] is not groups[other] and likeness(said[one], said[other]) >= ALIKE:
            groups[one] |= groups[other]
            for who in groups[other]:
                groups[who] = groups[one]
    found = {tuple(sorted(group)) for group in groups.values()}
    return sorted(found, key=lambda group: (-len(group), group))


def agreement(said: Mapping[str, Response]) -> float | None:
    """.7 · P + .3 · max(0, 1 − s² / .25), 0 to 1; None below two positions.

    P: 1 where all positions are one cluster, 0 where all are different, else the largest cluster's share. s²: population
    variance of the confidences; where nobody gave one, P alone. Confidence is what participants say of themselves.
    """
    positions = position_agreement(said)
    sure = confidences(said)
    if positions is None or not sure:
        return positions
    return POSITIONS * positions + CONFIDENCES * max(0.0, 1 - pvariance(sure) / MOST_VARIANCE)


def position_agreement(said: Mapping[str, Response]) -> float | None:
    found = clusters(said)
    total = sum(map(len, found))
    if total < 2:
        return None
    if len(found) == 1:
        return 1.0
    return 0.0 if len(found) == total else len(found[0]) / total


def confidences(said: Mapping[str, Response]) -> list[float]:
    """Those given, by who took a position."""
    return [one.confidence for one in voiced(said).values() if one.confidence is not None]


def mean_confidence(said: Mapping[str, Response]) -> float | None:
    sure = confidences(said)
    return fmean(sure) if sure else None
