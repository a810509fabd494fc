"""What of a model's draft is used: sources that exist and speak of it, items that pass the rules of a questionnaire, and translations
that come back as they were. By rule, over words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from enquete.instruments.language import language_of, words_of
from enquete.instruments.review import Wording, alike, review, translation_differs, triples, words_found
from enquete.nodes.authoring.requests import Pair, ThemeOut
from enquete.nodes.material import Slot
from enquete.simulations.discourse import Post, stems_of
from enquete.state.asking import Spoken

MOST_CHARACTERS = 500
MOST_LABEL, MOST_TOPIC = 6, 16
"""Words of a theme, and of a topic."""
SAME = 0.45
"""Dice coefficient of the letter triples of a text and its back-translation, below which they may say different things. Literal ones of
ten shipped items, made by hand, have 0.55 and more, another item's 0.41 and less (tests/nodes/test_authoring.py)."""
TWIN = 0.6
"""The same of two themes, from which they are one."""
_NUMBERS = re.compile(r"\d+")


def speaking_of(text: str, cited: Sequence[int], posts: Sequence[Post]) -> list[Post]:
    """Of the posts that a model names by their numbers, from 1, those that exist and share a word with the text."""
    own = stems_of(text)
    named = [posts[number - 1] for number in dict.fromkeys(cited) if 1 <= number <= len(posts)]
    return [post for post in named if own & stems_of(post.text)]


def unusable(pair: Pair, most_words: int = 0) -> str:
    """Why a pair is none, whatever it is for; "" where it is one."""
    for language in ("de", "en"):
        text = pair.in_(language).strip()
        if not text or len(text) > MOST_CHARACTERS:
            return f"{language}: {'missing' if not text else 'too long'}"
        if most_words and len(words_of(text)) > most_words:
            return f"{language}: more than {most_words} words"
        if language_of([text]) not in (language, None):
            return f"{language}: is in another language"
    return ""


def theme_faults(theme: ThemeOut, kept: Sequence[ThemeOut], posts: Sequence[Post], language: Spoken) -> str:
    """posts: those that it names and that speak of it."""
    if fault := unusable(theme, MOST_LABEL):
        return fault
    if any(alike(triples(theme.in_(language)), triples(one.in_(language))) >= TWIN for one in kept):
        return "is another theme once more"
    if len({post.agent for post in posts}) < 2:
        return "the posts named do not speak of it, or are one agent's"
    return ""


def text_faults(slot: Slot, pair: Pair, kept: Sequence[Wording], sources: Sequence[Post]) -> list[str]:
    """kept: those of the same instrument that are used already; sources: posts named that speak of it."""
    if fault := unusable(pair):
        return [fault]
    found = [one.told("en") for one in review([*kept, slot.wording(pair.de, pair.en)]) if one.where == slot.id]
    if slot.about is not None and not sources:
        found.append(f"{slot.id}: names no post that speaks of it")
    return found


def translation_faults(text: str, other: str, into: Spoken) -> str:
    """Of one statement's translation."""
    pair = Pair(de=other, en=text) if into == "de" else Pair(de=text, en=other)
    return unusable(pair) or translation_differs(pair.de, pair.en)


def comes_back(text: str, back: str, language: Spoken) -> bool:
    """Whether a text and its back-translation, in the same language, may say the same: words, numbers and negation."""
    if sorted(_NUMBERS.findall(text)) != sorted(_NUMBERS.findall(back)):
        return False
    if bool(words_found("negated", language, text)) != bool(words_found("negated", language, back)):
        return False
    return alike(triples(text), triples(back)) >= SAME
