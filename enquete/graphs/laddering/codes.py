"""Concepts of all interviews as codes: what is meant alike, within one type, is one code, however it was worded.

Nothing that knows meaning is installed with Enquete or could be without a network (a sentence encoder weighs some hundred
megabytes), so texts are compared by the stems of their words and their character n-grams, each weighted by how rare it is: the
theme coder's measure. Average linkage joins what is alike by SAME on average. Opposites ("more", "less") and texts with different
numbers never share a code. Measured by: the planted thoughts, each in two wordings, that come back as one code each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from enquete.analysis.vocabulary import opposed
from enquete.respondents.rule_coder import features

SAME = 0.22
"""Mean cosine from which groups of texts are one code. At .20 the 86 wordings of 43 planted thoughts are 43 codes in German and 48
in English, at .25 50 and 51, at .35 57 and 59."""

_NUMBER = re.compile(r"\w*\d\w*")


def grouped(texts: Sequence[str]) -> list[list[int]]:
    """Positions of texts of one code, each group led by its first; texts come in the order of their weight."""
    if len(texts) < 2:
        return [[place] for place in range(len(texts))]
    clusters: dict[int, list[int]] = {}
    for place, cluster in enumerate(_clusters(texts)):
        clusters.setdefault(cluster, []).append(place)
    return sorted(group for cluster in clusters.values() for group in without_opposites(texts, cluster, _apart))


def _clusters(texts: Sequence[str]) -> list[int]:
    from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415 - with scikit-learn a second of import
    from scipy.spatial.distance import squareform  # noqa: PLC0415

    x = features(texts)
    distance = np.clip(1 - np.asarray((x @ x.T).todense()), 0, None)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    return [int(label) for label in fcluster(tree, 1 - SAME, "distance")]


def without_opposites(
    texts: Sequence[str], cluster: Sequence[int], apart: Callable[[str, str], bool] = opposed
) -> list[list[int]]:
    """Each text with the first group that none of whose texts it contradicts."""
    groups: list[list[int]] = []
    for place in cluster:
        home = next((g for g in groups if not any(apart(texts[place], texts[one]) for one in g)), None)
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    return groups


def _apart(one: str, other: str) -> bool:
    return opposed(one, other) or set(_NUMBER.findall(one)) != set(_NUMBER.findall(other))
