"""Texts in several languages, and the models that hold them.

In YAML a text is written inline (`label: {de: …, en: …}`), flat (`label_de: …`, `label_en: …`), directly in its part
where that part is mainly a text (`de: …`, `en: …` in an item), or as a plain string in the file's default language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_serializer, model_validator

from enquete.analysis.vocabulary import FUNCTION_WORDS
from enquete.instruments.document import LANGUAGES, clean_text, current, wrong
from enquete.state.asking import Language, Spoken

LANGUAGE_NAMES: dict[str, str] = {"de": "German", "en": "English"}

_ABSENT = object()  # stands where a language that the file declares has no text, so that the problem gets its own place


def _declared_text(value: object) -> object:
    if value is _ABSENT:
        raise wrong("is missing; `languages` promises every text in " + " and ".join(current().languages))
    return clean_text(value)


_Wording = Annotated[str, BeforeValidator(_declared_text)]


class Text(BaseModel):
    """One text in one or more languages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    de: _Wording | None = None
    en: _Wording | None = None

    @model_validator(mode="before")
    @classmethod
    def _written_forms(cls, data: object) -> object:
        read = current()
        if isinstance(data, str):
            data = {read.language_default: data}
        if not isinstance(data, Mapping):
            return data
        if not data:
            raise wrong("is empty; write {de: …, en: …}")
        # A null is handed on as a wrong text: `de:` with nothing after it must not fall back in silence.
        given = {key: "" if value is None and key in LANGUAGES else value for key, value in data.items()}
        return {**dict.fromkeys(read.languages, _ABSENT), **given}

    @model_serializer
    def _languages_present(self) -> dict[str, str]:
        return {language: text for language in LANGUAGES if (text := getattr(self, language)) is not None}

    def has(self, language: Language) -> bool:
        return getattr(self, language, None) is not None

    def in_(self, language: Language) -> str:
        """The text in `language`, else in another one."""
        text: str | None = getattr(self, language, None)
        return text or self.de or self.en or ""


class Part(BaseModel):
    """A part of an instrument: frozen, without unknown keys, its texts written in any of the forms above."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inline_text: ClassVar[str | None] = None
    """The field whose languages may stand directly in the part."""

    @model_validator(mode="before")
    @classmethod
    def _gather_texts(cls, data: object) -> object:
        if isinstance(data, str) and cls.inline_text:
            return {cls.inline_text: data}
        if not isinstance(data, Mapping):
            return data
        gathered = dict(data)
        for name in cls.text_fields():
            _gather(gathered, name, cls.flat_keys(name))
        return gathered

    @classmethod
    def text_fields(cls) -> tuple[str, ...]:
        kinds = ((name, info.annotation) for name, info in cls.model_fields.items())
        return tuple(name for name, kind in kinds if kind is Text or Text in get_args(kind))

    @classmethod
    def flat_keys(cls, name: str) -> dict[str, Spoken]:
        """The keys under which the languages of the text `name` may stand beside the other fields."""
        flat = {f"{name}_{language}": language for language in LANGUAGES}
        return flat | {str(language): language for language in LANGUAGES} if name == cls.inline_text else flat

    @classmethod
    def known_keys(cls) -> list[str]:
        """The keys as a user writes them."""
        inline = cls.inline_text
        spoken = [str(language) for language in LANGUAGES] if inline else []
        return [key for name in cls.model_fields for key in (spoken if name == inline else [name])]


def _gather(data: dict[object, object], name: str, flat: Mapping[str, Spoken]) -> None:
    present = [key for key in flat if key in data]
    if not present:
        return
    languages = [flat[key] for key in present]
    if name in data or len(set(languages)) < len(languages):
        keys = ", ".join([*([name] if name in data else []), *present])
        raise wrong(f"the text `{name}` is given twice, as {keys}; keep one form")
    data[name] = {flat[key]: data.pop(key) for key in present}


def texts_of(node: object, path: str = "") -> Iterator[tuple[str, Text]]:
    """Every text of an instrument with its place, such as ('items[3].wording', …)."""
    if isinstance(node, Text):
        yield path, node
    elif isinstance(node, BaseModel):
        for name in type(node).model_fields:
            yield from texts_of(getattr(node, name), f"{path}.{name}" if path else name)
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from texts_of(value, f"{path}.{key}")
    elif isinstance(node, tuple | list):
        for index, value in enumerate(node):
            yield from texts_of(value, f"{path}[{index}]")


_NOTICE: dict[str, str] = {
    "de": "{place}: kein deutscher Text, gezeigt wird der englische",
    "en": "{place}: no English text, the German one is shown",
}


def instrument_notices(instrument: BaseModel, language: Language) -> tuple[str, ...]:
    """One line, in `language`, for each text that has none in `language` and falls back to the other."""
    places = (place for place, text in texts_of(instrument) if not text.has(language))
    return tuple(_NOTICE[language].format(place=place) for place in places)


# --- Which language a text is in, by its function words: enough to tell German from English, and neither from both

SURE = 2.0
"""So many times as many function words of one language as of the other."""


def words_of(text: str) -> list[str]:
    """In lower case."""
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.casefold())


def language_of(texts: Iterable[str]) -> Spoken | None:
    """None where the words do not tell, as in a name or in a third language."""
    words = [word for text in texts for word in words_of(text)]
    counts = {language: sum(word in known for word in words) for language, known in FUNCTION_WORDS.items()}
    first, second = sorted(counts, key=lambda language: -counts[language])
    enough = counts[first] >= max(1, 0.08 * len(words))
    return first if enough and counts[first] >= SURE * counts[second] else None


def function_words() -> frozenset[str]:
    """Of every language: words that say nothing of what a text is about."""
    return frozenset().union(*FUNCTION_WORDS.values())
