"""Items read as a survey methodologist reads them: double-barrelled, leading, negated, vague or too long, unbalanced
keying, a translation that is missing or says something else, statements that say the same. By rules over the words, in
German and English.

Measured by ten bad and ten good items a rule and language (tests/data/items.yaml): precision and recall stand in
docs/own-instruments.md. A finding is advice: whoever wrote the item decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Literal

from enquete.instruments.pack import read_yaml
from enquete.instruments.text import LANGUAGES, Text, function_words, language_of, words_of
from enquete.locale import N_, tell
from enquete.state.asking import Spoken

Kind = Literal["item", "statement", "question", "text"]
MOST_WORDS: Mapping[Kind, int] = {"item": 20, "statement": 25, "question": 30}
"""Payne (1951) and Dillman et al. (2014) advise about twenty; a Q statement and an open question may say more."""
BY_WORDS: Mapping[Kind, tuple[str, ...]] = {
    "item": ("double_barrelled", "leading", "negated", "vague_quantifier"),
    "statement": ("leading", "negated"),  # a Q statement is an argument as somebody would put it
    "question": ("leading",),
    "text": (),
}
ALIKE = 0.72
"""Dice coefficient of two statements' letter triples, function words left out, from which they say the same."""
FEWEST_KEYED = 3
"""Items of a family from which keying one way only is a fault."""
LENGTHS = (0.45, 2.2)
"""Of an English text as a part of its German one, within which they may say the same."""

MESSAGES: Mapping[str, str] = {
    "double_barrelled": N_("asks two things at once (“{found}”): nobody can agree with one of them alone"),
    "leading": N_("leads to an answer (“{found}”)"),
    "negated": N_("is negated (“{found}”): disagreeing becomes a double negative"),
    "vague_quantifier": N_("is vague (“{found}”): everybody reads another amount into it"),
    "too_long": N_("has {found} words; {most} are easily kept in mind"),
    "unbalanced_keying": N_(
        "{found} of {n} items are keyed the same way: agreeing with everything looks like a position"
    ),
    "missing_translation": N_("is missing in {found}"),
    "translation_differs": N_("German and English may say different things: {found}"),
    "near_duplicate": N_("says almost the same as {found}"),
    "comes_back": N_("German and English may say different things: translated back it reads “{found}”"),
    "dropped": N_("what the model wrote is not used ({found}); Enquete's own sentence stands there"),
    "described": N_(
        "come from how {n} agents are described, who have written nothing yet or too little: they show what the "
        "descriptions' author thought of, not what those asked would speak of; look whether a side is missing, and "
        "draft anew once they have written something"
    ),
    "by_rule": N_("by rule, because too little of what the model gave can be used ({found})"),
}
_DIFFERS = {
    "numbers": N_("other numbers"),
    "negation": N_("only one of them is negated"),
    "length": N_("one is much longer"),
    "same": N_("both are the same text"),
    "language": N_("one is in the other's language"),
}


@dataclass(frozen=True)
class ReviewedText:
    """A text of an instrument as it is asked. `family` and `reverse` where it is rated and keyed."""

    id: str
    text: Text
    kind: Kind = "item"
    family: str = ""
    reverse: bool = False


@dataclass(frozen=True)
class ReviewFinding:
    """What a rule says of an item, or of a family, in one language or of both."""

    rule: str
    where: str
    language: Spoken | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    def told(self, language: str) -> str:
        facts = {name: tell(str(fact), language) for name, fact in self.facts.items()}
        text = tell(MESSAGES[self.rule], language).format(**facts)
        return f"{self.where}{f' ({self.language})' if self.language else ''}: {text}"


def review(wordings: Sequence[ReviewedText]) -> list[ReviewFinding]:
    """Everything that the rules find, in the order of the items; families and pairs last."""
    findings = [finding for wording in wordings for finding in _of_one(wording)]
    return [*findings, *missing_translations(wordings), *unbalanced(wordings), *duplicates(wordings)]


def _of_one(wording: ReviewedText) -> Iterator[ReviewFinding]:
    for language in LANGUAGES:
        text = getattr(wording.text, language)
        for rule in BY_WORDS[wording.kind] if text else ():
            if words := words_found(rule, language, text):
                yield ReviewFinding(rule, wording.id, language, {"found": words})
        most = MOST_WORDS.get(wording.kind)
        if text and most and len(words_of(text)) > most:
            yield ReviewFinding("too_long", wording.id, language, {"found": len(words_of(text)), "most": most})
    differs = translation_differs(wording.text.de, wording.text.en) if wording.text.de and wording.text.en else ""
    if differs and not (differs == "same" and wording.kind == "text"):  # a name may be the same in both
        yield ReviewFinding("translation_differs", wording.id, None, {"found": _DIFFERS[differs]})


def words_found(rule: str, language: Spoken, text: str) -> str:
    """The words that give the text away; "" where the rule finds nothing."""
    patterns, but = _lexicon()[rule, language]
    kept = but.sub(" – ", text)
    hit = next((match for pattern in patterns if (match := pattern.search(kept))), None)
    return hit[0].strip(" ,") if hit else ""


@cache
def _lexicon() -> Mapping[tuple[str, str], tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]]:
    read = read_yaml(files("enquete.instruments") / "review.yaml")
    made = {}
    for rule, languages in read.items():
        assert isinstance(languages, dict)
        for language, words in languages.items():
            assert isinstance(words, dict)
            patterns, but = (words.get(part) for part in ("patterns", "but"))
            assert isinstance(patterns, list)
            assert isinstance(but, list)
            made[rule, language] = (
                tuple(re.compile(str(pattern), re.IGNORECASE) for pattern in patterns),
                re.compile("|".join(f"(?:{pattern})" for pattern in but) or r"(?!)", re.IGNORECASE),
            )
    return made


# --- over several items ----------------------------------------------------------------------------------------------


def missing_translations(wordings: Sequence[ReviewedText]) -> Iterator[ReviewFinding]:
    """Where some texts are in both languages, those that are in one only."""
    names = {"de": N_("German"), "en": N_("English")}
    both = any(wording.text.de and wording.text.en for wording in wordings)
    for reviewed in wordings if both else ():
        lacking = [names[language] for language in LANGUAGES if not getattr(reviewed.text, language)]
        if lacking:
            yield ReviewFinding("missing_translation", reviewed.id, None, {"found": lacking[0]})


def translation_differs(german: str, english: str) -> str:
    """What speaks against their saying the same; "" where nothing does."""
    if german.strip().casefold() == english.strip().casefold():
        return "same" if len(words_of(german)) > 2 else ""
    if language_of([german]) == "en" or language_of([english]) == "de":
        return "language"
    if Counter(re.findall(r"\d+", german)) != Counter(re.findall(r"\d+", english)):
        return "numbers"
    negated = [bool(words_found("negated", "de", german)), bool(words_found("negated", "en", english))]
    if negated[0] != negated[1]:
        return "negation"
    ratio = len(english) / max(1, len(german))
    return "" if LENGTHS[0] <= ratio <= LENGTHS[1] else "length"


def unbalanced(wordings: Iterable[ReviewedText]) -> Iterator[ReviewFinding]:
    """Families in which all, or all but one of many, are keyed the same way."""
    families: dict[str, list[bool]] = {}
    for wording in wordings:
        if wording.family:
            families.setdefault(wording.family, []).append(wording.reverse)
    for family, reverse in families.items():
        n, most = len(reverse), max(Counter(reverse).values())
        if n >= FEWEST_KEYED and most / n > 0.8:
            yield ReviewFinding("unbalanced_keying", family, None, {"found": most, "n": n})


def duplicates(wordings: Sequence[ReviewedText]) -> Iterator[ReviewFinding]:
    """Pairs that say almost the same in a language, a negated twin too; the same of two families' matters is none."""
    closed = [wording for wording in wordings if wording.kind != "text"]
    families = {wording.id: wording.family for wording in closed}
    for language in LANGUAGES:
        known = {wording.id: triples(text) for wording in closed if (text := getattr(wording.text, language))}
        for (a, first), (b, other) in combinations(known.items(), 2):
            apart = families[a] and families[b] and families[a] != families[b] and first != other
            if not apart and alike(first, other) >= ALIKE:
                yield ReviewFinding("near_duplicate", b, language, {"found": a})


def alike(first: frozenset[str], other: frozenset[str]) -> float:
    """Dice coefficient of two sets: 2·|A ∩ B| / (|A| + |B|), 0 to 1."""
    return 2 * len(first & other) / (len(first) + len(other)) if first and other else 0.0


def triples(text: str) -> frozenset[str]:
    """Letter triples of its content words: forms of one word share most of theirs."""
    words = [word for word in words_of(text) if word not in function_words()]
    return frozenset(f" {word} "[place : place + 3] for word in words for place in range(len(word)))
