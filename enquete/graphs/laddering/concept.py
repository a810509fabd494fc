"""The first layer, what the interview is about: elements with aliases, and the research context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from enquete.instruments.layers import LayerFile
from enquete.instruments.reading import LANGUAGES, Line, current, identifier, not_empty, wrong
from enquete.instruments.text import Part, Text
from enquete.state.asking import Language

STEM = "*"  # at the end of an alias: the word may go on in any way
SHORTEST_STEM = 3

ElementId = Annotated[Line, AfterValidator(identifier("element"))]


class _Written(NamedTuple):
    """An alias as it stands in the file."""

    element: str
    language: Language
    alias: str


def _of_one_element(alias: str) -> str:
    """An alias by which a text would be credited to two elements is nobody's."""
    bare = alias.removesuffix(STEM)
    if STEM in bare or len(bare.strip()) < (SHORTEST_STEM if alias.endswith(STEM) else 1):
        raise wrong(
            f"'{alias}': {STEM} may stand once, at the end of a stem of at least {SHORTEST_STEM} letters, as in Quote{STEM}"
        )
    written = list(_written(current().document))
    own = {(one.element, one.language) for one in written if one.alias.casefold() == alias.casefold()}
    for element, language in sorted(own):
        other = next((one for one in written if one.element != element and _clash(alias, one, language)), None)
        if other is not None and other.alias.casefold() == alias.casefold():
            both = " and ".join(sorted({element, other.element}))
            raise wrong(f"'{alias}' stands for the elements {both}; an alias belongs to one element")
        if other is not None:
            raise wrong(
                f"'{alias}' of {element} and '{other.alias}' of {other.element} begin alike: a text with the one would count "
                "for both elements; make one of them longer, or a whole word without *"
            )
    return alias


def _clash(alias: str, other: _Written, language: Language) -> bool:
    """Whether one of the two would be found at the beginning of the other. Equal ones clash in any language."""
    if other.alias.casefold() == alias.casefold():
        return True
    if other.language != language:
        return False
    one, another = alias.removesuffix(STEM), other.alias.removesuffix(STEM)
    if one[:1].casefold() != another[:1].casefold():  # most pairs, without a pattern
        return False
    begins = re.compile(_spelt(alias, language), re.IGNORECASE).match(another)
    return bool(begins or re.compile(_spelt(other.alias, language), re.IGNORECASE).match(one))


def _written(document: Mapping[object, object]) -> Iterator[_Written]:
    """Every alias of a file that is being read, whatever else is wrong with it."""
    elements = document.get("elements")
    for element, content in elements.items() if isinstance(elements, Mapping) else ():
        aliases = content.get("aliases") if isinstance(content, Mapping) else None
        for language in LANGUAGES if isinstance(aliases, Mapping) else ():
            listed = aliases.get(language)  # type: ignore[union-attr]  # a mapping, or there is no language to read
            for one in listed if isinstance(listed, list | tuple) else ():
                if str(one).strip().strip(STEM):
                    yield _Written(str(element), language, str(one).strip())


Alias = Annotated[Line, AfterValidator(_of_one_element)]


class Aliases(Part):
    """The words by which an element is recognised, by language: whole words with their simple endings ("Preis" finds
    "Preise"), or stems that go on in any way ("Quote*" finds "Quotenbescheide")."""

    de: tuple[Alias, ...] = ()
    en: tuple[Alias, ...] = ()

    def in_(self, language: Language) -> tuple[str, ...]:
        return {"de": self.de, "en": self.en}[language]

    def only(self, language: Language) -> Aliases:
        return Aliases.model_construct(de=self.de if language == "de" else (), en=self.en if language == "en" else ())


class Element(Part):
    """A part of the topic whose coverage is followed."""

    type: Line  # attribute, benefit, actor, occasion …: free, for the reader of the table
    label: Text
    aliases: Aliases


class Concept(LayerFile):
    """A topic as the interviewer knows it; never shown to the respondent as a whole."""

    topic: Text
    insight: Text  # what the client believes about people
    promise: Text  # what the thing is said to do
    reasons_to_believe: Annotated[tuple[Text, ...], AfterValidator(not_empty)]
    elements: Annotated[dict[ElementId, Element], AfterValidator(not_empty)]

    def spoken(self, language: Language) -> Concept:
        """The concept as a conversation in `language` is read by it: a word of the other language is no alias there."""
        return self._spoken[language]

    def mentioned(self, text: str) -> tuple[str, ...]:
        """Elements that a text speaks of, in the file's order; none for an empty text."""
        return tuple(element for element, pattern in self._patterns.items() if pattern.search(text))

    @cached_property
    def _spoken(self) -> Mapping[Language, Concept]:
        return {
            # Of fields alone: a copy would take along the patterns of all languages, once they are made.
            language: Concept.model_construct(**{**dict(self), "elements": dict(self._heard_in(language))})
            for language in LANGUAGES
        }

    def _heard_in(self, language: Language) -> Iterator[tuple[str, Element]]:
        for name, element in self.elements.items():
            aliases = element.aliases.only(language)
            yield name, element.model_copy(update={"aliases": aliases})

    @cached_property
    def _patterns(self) -> Mapping[str, re.Pattern[str]]:
        return {element: _pattern(content.aliases) for element, content in self.elements.items()}


def _pattern(aliases: Aliases) -> re.Pattern[str]:
    """Any alias; without one a pattern that matches nothing."""
    words = "|".join(_spelt(alias, language) for language in LANGUAGES for alias in sorted(aliases.in_(language)))
    return re.compile(words or r"(?!)", re.IGNORECASE)


@cache
def _spelt(alias: str, language: Language) -> str:
    """An alias as a pattern: a stem that goes on, or whole words with plural and genitive endings."""
    if alias.endswith(STEM):
        return rf"(?<!\w){re.escape(alias.removesuffix(STEM))}"
    return rf"(?<!\w){_inflected(alias, language)}(?!\w)"


def _inflected(word: str, language: Language) -> str:
    if language == "de":
        return rf"{re.escape(word)}(?:e[nmrs]?|n|s|ern)?"
    if re.search(r"[^aeiou]y$", word, re.IGNORECASE):
        return rf"{re.escape(word[:-1])}(?:y|ies)(?:['’]s?)?"
    plural = "es" if re.search(r"(?:s|x|z|ch|sh)$", word, re.IGNORECASE) else "s"
    return rf"{re.escape(word)}(?:{plural})?(?:['’]s?)?"
