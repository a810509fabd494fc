"""Which language a text is in, by its function words: enough to tell German from English, and neither from both."""

from __future__ import annotations

import re
from collections.abc import Iterable

from enquete.analysis.vocabulary import FUNCTION_WORDS
from enquete.state.asking import Spoken

SURE = 2.0
"""So many times as many function words of one language as of the other."""


def words_of(text: str) -> list[str]:
    """In lower case."""
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.casefold())


def language_of(texts: Iterable[str]) -> Spoken | None:
    """None where the words do not tell, as in a name or in a third language."""
    words = [word for text in texts for word in words_of(text)]
    counts: dict[Spoken, int] = {
        language: sum(word in known for word in words) for language, known in FUNCTION_WORDS.items()
    }
    first, second = sorted(counts, key=lambda language: -counts[language])
    enough = counts[first] >= max(1, 0.08 * len(words))
    return first if enough and counts[first] >= SURE * counts[second] else None


def function_words() -> frozenset[str]:
    """Of every language: words that say nothing of what a text is about."""
    return frozenset().union(*FUNCTION_WORDS.values())
