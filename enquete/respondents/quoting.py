"""Whether something was said: words compared as they are spoken, without case, punctuation and line breaks."""

from __future__ import annotations

import re
from functools import lru_cache

_NO_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=65_536)
def normal(text: str) -> str:
    """Lower case, words only, single spaces."""
    return _NO_WORD.sub(" ", text.casefold()).strip()


def stands_in(quote: str, answer: str) -> bool:
    """Whether the answer has these words, whole and in this order."""
    words = normal(quote)
    return bool(words) and f" {words} " in f" {normal(answer)} "
