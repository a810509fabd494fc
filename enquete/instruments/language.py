"""Which language a text is in, by its function words: enough to tell German from English, and neither from both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from enquete.state.asking import Spoken

_GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren wird werden wurde hat
haben hatte kann können soll sollte sollten muss müssen darf dürfen ich du er sie es wir ihr mich mir uns sich mein meine unser
unsere zu zum zur von vom mit für auf aus bei nach über unter durch gegen ohne um als wie wenn dass weil auch nur noch schon mehr
sehr man jede jeder jedes viel viele wer was wo im am ins
"""
_ENGLISH = """
the a an and or but not no is are was were be been being has have had can could shall should will would must may might do does did
i you he she it we they me us him them my our your their its to of from with for on at by about into over under through against
without as than that which who what where when how if because also only more most very every each many much this these those there
"""
_WORDS: Mapping[Spoken, frozenset[str]] = {"de": frozenset(_GERMAN.split()), "en": frozenset(_ENGLISH.split())}
SURE = 2.0
"""So many times as many function words of one language as of the other."""


def words_of(text: str) -> list[str]:
    """In lower case."""
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.casefold())


def language_of(texts: Iterable[str]) -> Spoken | None:
    """None where the words do not tell, as in a name or in a third language."""
    words = [word for text in texts for word in words_of(text)]
    counts: dict[Spoken, int] = {language: sum(word in known for word in words) for language, known in _WORDS.items()}
    first, second = sorted(counts, key=lambda language: -counts[language])
    enough = counts[first] >= max(1, 0.08 * len(words))
    return first if enough and counts[first] >= SURE * counts[second] else None


def function_words() -> frozenset[str]:
    """Of every language: words that say nothing of what a text is about."""
    return frozenset().union(*_WORDS.values())
