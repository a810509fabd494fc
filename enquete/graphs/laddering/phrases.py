"""Short texts as they are said: their normal form, how alike two are on the surface, and a concept in few of its words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from enquete.respondents.quoting import normal
from enquete.state.asking import Language

MOST_QUOTED = 8  # words, however much room a question has

_BRACKETS = re.compile(r"[\[\]{}<>]")
_PUNCTUATION = " ,.;:!?–—-"


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


def as_one_line(text: str) -> str:
    """Without line breaks and without anything that could look like a mark around data."""
    return " ".join(_BRACKETS.sub("", text).split())


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nothing can end in one of these: something must follow.
_LINKING: Mapping[Language, frozenset[str]] = {
    "de": words_of(
        """
        der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines
        mein meine meinen meinem meiner meines dein deine unser unsere unseren unserem unserer unseres ihr ihre ihren ihrem ihrer
        sein seine seinen seinem seiner seines dieser diese dieses diesen diesem jeder jede jedes jeden jedem
        und oder aber sondern sowie denn als wie weil dass daß wenn ob damit obwohl sodass bevor nachdem sehr so zu
        """,
    ),
    "en": words_of(
        """
        a an the my our your his her its their this these those every each no some any many much very
        and or but nor because that which who whom whose when where while if whether although since than as
        """,
    ),
}  # fmt: skip
# What is cut off behind one of these was its other half. At the end of a whole text they may be a part of the verb.
_OPENING: Mapping[Language, frozenset[str]] = {
    "de": words_of(
        """
        in im ins an am ans auf aufs aus bei beim mit nach von vom vor zu zum zur für durch gegen ohne um unter über zwischen hinter
        neben bis seit während wegen trotz statt je pro per ab gegenüber viel viele vielen vieler manche manchen alle allen aller
        ich wir man es sie er ist sind war waren wird werden hat haben kann können muss müssen soll will nicht mehr ganz
        """,
    ),
    "en": words_of(
        """
        in on at by for from of off to into onto with without within about over under between behind beside near through during
        against across along among around per via before after until towards is are was were be been has have had do does did can
        could will would should must i we you they he she it not more all both other
        """,
    ),
}  # fmt: skip
_CLAUSE: Mapping[Language, frozenset[str]] = {
    "de": words_of("weil dass daß wenn ob damit obwohl sodass bevor nachdem"),
    "en": words_of("because that which who whom whose when where while if whether although"),
}


@lru_cache(maxsize=65_536)  # every technique that could be used on a concept quotes it
def in_few_words(label: str, room: int, language: Language) -> str:
    """A label in at most `room` words, without anything that marks data; what is cut is cut between phrases."""
    words = [word for word in as_one_line(label).split() if word.strip(_PUNCTUATION)]
    kept, cut = words[:room], len(words) > room
    if cut:
        kept = _closed(kept, words[room], language)
    endless = _LINKING[language] | (_OPENING[language] if cut or len(words) >= MOST_QUOTED else frozenset())
    while len(kept) > 1 and _bare(kept[-1]) in endless:
        kept.pop()
    return " ".join(kept).strip(_PUNCTUATION)


def _closed(kept: list[str], following: str, language: Language) -> list[str]:
    """Without the clause or phrase that goes on in `following`; a single word stays whatever it is."""
    for place in range(1, len(kept)):
        if _bare(kept[place]) in _CLAUSE[language] or kept[place - 1].endswith((",", ";", ":")):
            return kept[:place]
    function = _LINKING[language] | _OPENING[language]
    if _bare(following) in function or _ends_a_phrase(kept[-1], following, language):
        return kept
    last = max((place for place in range(1, len(kept)) if _bare(kept[place]) in function), default=len(kept))
    return kept[:last]


def _ends_a_phrase(word: str, following: str, language: Language) -> bool:
    """A German noun closes its phrase, unless it is the next word's first half."""
    return language == "de" and word[0].isupper() and not following[0].isupper()


def _bare(word: str) -> str:
    return word.strip(_PUNCTUATION).casefold()
