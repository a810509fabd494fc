"""Answers that are given and say nothing: what a reader of the rows would see, as codes for a column.

one_value         a row of closed answers of which at least nine in ten are the same
no_sentence       no words, a placeholder, JSON, or words that go round in circles
refers_back       "same as above"
same_text         the words of the agent's own answer to another item
repeats_scale     nothing but options
repeats_question  nothing but the question
other_language    another language than the interview's

Measured by precision and recall on texts such as people, small models and the synthetic respondent give
(tests/analysis/test_content.py); of 568 people's rows (tests/data/humans) none has more than .70 of its answers on one
value, so one_value lies far outside of what people do. Languages are told by function words: an interview is in one of
two, so all that is asked is whether a text is in the other or in neither, and short texts are left alone. Of the
libraries, lingua weighs 96 MB; py3langid, 5 MB and seconds to load, does as well on eight words and more, and is wrong
below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from enquete.analysis.estimates import Floats
from enquete.analysis.vocabulary import FUNCTION_WORDS

SAME, LEAST_ANSWERS = 0.9, 7
"""Share of a row on one value, and how long a row must be: of 2,380 stretches of seven of people's one is all equal."""
LEAST_WORDS = 8
"""Of a text whose language is judged."""
CIRCLES, LEAST_IN_CIRCLES = 0.7, 12
"""Share of different ones among a text's three-word sequences, below which it goes round; and its least words."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "de": FUNCTION_WORDS["de"],
    "en": FUNCTION_WORDS["en"],
    "others": _set(
        "le la les des du et mais que de dans avec pour est sont ne pas nos notre sur au aux el los las y "
        "pero del en con por para son nuestros nuestras al il gli che di per nel della sono non het een van "
        "niet voor met zijn o os as e não uma"
    ),
}
_PLACEHOLDERS: Final = _set(
    "text string answer reason comment null none nan na value true false tbd todo test lorem ipsum "
    "antwort begründung kommentar"
) | {
    "your answer", "your answer here", "ihre antwort", "ihre antwort hier", "no answer", "keine angabe", "no comment",
    "kein kommentar", "in your own words", "k a", "n a",
}  # fmt: skip
_BACK: Final = re.compile(
    r"\b(?:same|as|see|like|cf)\b.{0,25}\b(?:above|before|previous(?:ly)?|earlier|last (?:answer|question|one))\b"
    r"|\bditto\b|\bdito\b|\bidem\b|\bs\. ?o\.(?:\s|$)"
    r"|\b(?:siehe|wie|gleiche?s?|dasselbe|selbe)\b.{0,25}\b(?:oben|zuvor|vorher|vorhin|vorige\w*|letzte\w*)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_MARKUP: Final = re.compile(r'^\s*[\[{<].*[\]}>]\s*$|"\w+"\s*:|\[\[\w+:|&lt;|</?\w+>', re.DOTALL)
_FILLERS: Final = _set(
    "i ich am bin it es is ist this that das my me mein meine we wir option options optionen answer "
    "antwort stimme would say rather eher the a to dem der die zu and und or oder"
)


class Beside(NamedTuple):
    """What an agent saw with a question: all that were asked at once, itself among them; labels of their scales."""

    questions: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


ALONE: Final = Beside()


def one_valued(values: Floats) -> bool:
    """Whether at least nine in ten of an agent's answers to one set of items are the same. NaN: no answer."""
    known = values[~np.isnan(values)]
    if known.size < LEAST_ANSWERS:
        return False
    return bool(np.unique(known, return_counts=True)[1].max() >= SAME * known.size)


@lru_cache(maxsize=2**14)  # a table is made for the report, for each export and for people who look at it
def text_note(text: str, language: str, beside: Beside = ALONE) -> str:
    """The code of what is wrong with a text, "" where it has content. The plainest reason comes first."""
    words = tuple(_words(text))
    if _is_no_sentence(text, words):
        return "no_sentence"
    if len(words) <= 12 and _BACK.search(text):
        return "refers_back"
    if _only_options(words, beside.labels):
        return "repeats_scale"
    if any(_only_repeats(words, question) for question in beside.questions):
        return "repeats_question"
    return "other_language" if _is_foreign(text, words, language) else ""


def normal(text: str) -> str:
    """For comparing an agent's answers with one another; "" where a text is too short to be recognised."""
    words = _words(text)
    return " ".join(words) if len(words) > 3 else ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _is_no_sentence(text: str, words: Sequence[str]) -> bool:
    letters = sum(map(len, words))
    if letters < 2 or " ".join(words) in _PLACEHOLDERS or _MARKUP.search(text):
        return True
    if len(words) < LEAST_IN_CIRCLES:
        return len(words) > 3 and len(set(words)) == 1
    threes = list(zip(words, words[1:], words[2:], strict=False))
    return len(set(threes)) < CIRCLES * len(threes)


def _only_options(words: Sequence[str], labels: Sequence[str]) -> bool:
    """A label and nothing but fillers, or no word that says something and is none of a label's."""
    known = {word for label in labels for word in _words(label)}
    meant = [word for word in words if word not in _FILLERS]
    named = any(" ".join(_words(label)) in " ".join(words) for label in labels)
    return bool(known and (meant or named)) and all(word in known for word in meant)


def _only_repeats(words: Sequence[str], question: str) -> bool:
    """All but a fifth of the text, at least one word, stands in the question in sequences of three and more."""
    if len(words) < 4:
        return False
    threes = _threes(question)
    if threes.isdisjoint(zip(words, words[1:], words[2:], strict=False)):
        return False
    inside = [False] * len(words)
    for at in range(len(words) - 2):
        if tuple(words[at : at + 3]) in threes:
            inside[at : at + 3] = [True] * 3
    return inside.count(False) <= max(1, len(words) // 5)


@lru_cache(maxsize=2**12)
def _threes(question: str) -> frozenset[tuple[str, ...]]:
    words = _words(question)
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _is_foreign(text: str, words: Sequence[str], language: str) -> bool:
    """Letters of another script, more function words of others, or hardly any of its own in what is no mere list."""
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter > "\u024f" for letter in letters) > len(letters) / 2:
        return True
    if len(words) < LEAST_WORDS:
        return False
    in_language = sum(word in _FUNCTION_WORDS[language] for word in words)
    other = max(sum(word in known for word in words) for name, known in _FUNCTION_WORDS.items() if name != language)
    return other > 2 * in_language or (in_language < len(words) / 16 and 4 * text.count(",") < len(words))
