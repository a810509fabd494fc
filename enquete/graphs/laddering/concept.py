"""The first layer, what the interview is about: elements with aliases, and the research context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator

from enquete.graphs.laddering.files import LayerFile
from enquete.instruments.reading import Line, current, identifier, not_empty, wrong
from enquete.instruments.text import Part, Text

ElementId = Annotated[Line, AfterValidator(identifier("element"))]


def _of_one_element(alias: str) -> str:
    """An alias that two elements share would credit both with every mention."""
    owners = sorted(set(_owners(current().document, alias.casefold())))
    if len(owners) > 1:
        raise wrong(f"'{alias}' stands for the elements {' and '.join(owners)}; an alias belongs to one element")
    return alias


def _owners(document: Mapping[object, object], alias: str) -> Iterator[str]:
    elements = document.get("elements")
    for element, content in elements.items() if isinstance(elements, Mapping) else ():
        if isinstance(content, Mapping) and alias in {one.casefold() for one in _written(content)}:
            yield str(element)


def _written(element: Mapping[object, object]) -> Iterator[str]:
    aliases = element.get("aliases")
    for listed in aliases.values() if isinstance(aliases, Mapping) else ():
        yield from (str(one).strip() for one in listed or ()) if isinstance(listed, list | tuple) else ()


Alias = Annotated[Line, AfterValidator(_of_one_element)]


class Aliases(Part):
    """The words by which an element is recognised, by language; each may go on ("Quote" finds "Quoten")."""

    de: tuple[Alias, ...] = ()
    en: tuple[Alias, ...] = ()


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

    def mentioned(self, text: str) -> tuple[str, ...]:
        """Elements that a text speaks of, in the file's order; none for an empty text."""
        return tuple(element for element, pattern in self._patterns.items() if pattern.search(text))

    @cached_property
    def _patterns(self) -> Mapping[str, re.Pattern[str]]:
        return {element: _pattern(content.aliases) for element, content in self.elements.items()}


def _pattern(aliases: Aliases) -> re.Pattern[str]:
    """Whole words that may go on; without an alias a pattern that matches nothing."""
    words = "|".join(sorted({re.escape(alias) for alias in (*aliases.de, *aliases.en)}))
    return re.compile(rf"(?<!\w)(?:{words})" if words else r"(?!)", re.IGNORECASE)
