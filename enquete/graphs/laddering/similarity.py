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
    a, b = _trigrams(normal(one)), _trigrams(normal(other))
    if not a or not b:
        return 0.0
    dot = sum(count * b.get(gram, 0) for gram, count in a.items())
    return dot / (_norm(a) * _norm(b))


def _norm(grams: Mapping[str, int]) -> float:
    return math.sqrt(sum(count * count for count in grams.values()))


@lru_cache(maxsize=65_536)  # a label is compared with every new concept of its interview
def _trigrams(text: str) -> Mapping[str, int]:
    padded = f" {text} "
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2)) if text else {}
