"""How alike two short texts are on the surface: cosine of their character trigrams, 0–1."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

_NO_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=65_536)
def normal(text: str) -> str:
    """Lower case, words only, single spaces."""
    return _NO_WORD.sub(" ", text.casefold()).strip()


def similarity(one: str, other: str) -> float:
    """Cosine of trigram counts; 0 where either text holds no word."""
    (a, size_a), (b, size_b) = _trigrams(normal(one)), _trigrams(normal(other))
    if not a or not b:
        return 0.0
    shared = a.keys() & b.keys()
    return sum([a[gram] * b[gram] for gram in shared]) / (size_a * size_b)


@lru_cache(maxsize=65_536)  # a label is compared with every new concept of its interview
def _trigrams(text: str) -> tuple[Mapping[str, int], float]:
    """Trigrams with their counts, and the length of that vector."""
    padded = f" {text} "
    grams = Counter([padded[i : i + 3] for i in range(len(padded) - 2)]) if text else Counter[str]()
    return grams, math.sqrt(sum([count * count for count in grams.values()]))
