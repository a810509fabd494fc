"""Texts in several languages, and the models that hold them.

In YAML a text is written inline (`label: {de: …, en: …}`), flat (`label_de: …`, `label_en: …`), directly in its part
where that part is mainly a text (`de: …`, `en: …` in an item), or as a plain string in the file's default language.

What a field may know of the file it stands in while it is validated.

Families, scales and languages are named in one place of an instrument and used in another. Checking them at the field
that uses them, not afterwards over the finished model, gives every problem its own line and reports all together.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from enquete.analysis.vocabulary import FUNCTION_WORDS
from enquete.state.asking import Language, Spoken
from enquete.state.request import CHOSEN_ID

# --- The file around a field -----------------------------------------------------------------------------------------

LANGUAGES: tuple[Spoken, ...] = get_args(Spoken)

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class InstrumentDocument:
    """The document being validated, as it stands in the file."""

    document: Mapping[object, object] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)  # (kind of id, id)

    @property
    def language_default(self) -> Spoken:
        declared = self.document.get("language_default")
        return next((language for language in LANGUAGES if language == declared), "de")

    @property
    def languages(self) -> tuple[Spoken, ...]:
        """The languages in which every text must exist; none unless the file says so."""
        declared = self.document.get("languages")
        if not isinstance(declared, list | tuple):
            return ()
        return tuple(language for language in LANGUAGES if language in declared)

    def defined(self, section: str) -> tuple[str, ...] | None:
        """The keys of a top-level section; None where it is missing or no mapping, which is a problem of its own."""
        value = self.document.get(section)
        return tuple(str(key) for key in value) if isinstance(value, Mapping) else None

    def used(self, key: str) -> set[str]:
        """Every text or number that stands under `key`, anywhere in the document."""
        return {str(value) for value in _values(self.document, key) if _is_name(value)}


_reading: ContextVar[InstrumentDocument | None] = ContextVar("reading", default=None)


@contextmanager
def reading(document: Mapping[object, object]) -> Iterator[None]:
    """Validate within `document`: leaf validators see it through `current`."""
    token = _reading.set(InstrumentDocument(document))
    try:
        yield
    finally:
        _reading.reset(token)


def current() -> InstrumentDocument:
    """The document being validated; an empty one where a part is built on its own."""
    return _reading.get() or InstrumentDocument()


def wrong(message: str) -> PydanticCustomError:
    """A problem whose message is shown to the user as it is."""
    return PydanticCustomError("instrument", "{message}", {"message": message})


def suggestion(word: str, known: Sequence[str]) -> str:
    """'; did you mean …? Known: …' to follow a name that is not among `known`."""
    close = difflib.get_close_matches(word[:100], known, n=1)
    hint = f" did you mean '{close[0]}'?" if close else ""
    return f";{hint} Known: {', '.join(known) or 'none'}"


def shown(value: object, width: int = 60) -> str:
    """A bad value as it appears in a message: short, and containers by their kind."""
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def identifier(kind: str, *, used_as: str | None = None) -> Callable[[str], str]:
    """Validator of an id of `kind`: path-safe, unique among its kind in a file, used by a key `used_as` if given.

    Ids become parts of file names, of item paths ('theme:9f3a/importance') and of keys, hence no '/', '|' or ':'.
    """

    def check(value: str) -> str:
        if not re.fullmatch(CHOSEN_ID, value):
            raise wrong(
                f"{shown(value)} is no {kind} id; use letters a-z, digits and _ - . "
                "(first a letter or digit, at most 64 characters)"
            )
        read = current()
        if (kind, value) in read.seen:
            raise wrong(f"'{value}' is already the id of another {kind}; every {kind} needs its own")
        read.seen.add((kind, value))
        if used_as is not None and read.document and value not in read.used(used_as):
            raise wrong(f"'{value}' is defined but never used; write `{used_as}: {value}` somewhere or remove it")
        return value

    return check


def reference(kind: str, section: str) -> Callable[[str], str]:
    """Validator of a name that must be a key of the top-level `section`."""

    def check(value: str) -> str:
        known = current().defined(section)
        if known is not None and value not in known:
            raise wrong(f"{shown(value)} is no {kind}{suggestion(value, known)}")
        return value

    return check


EntriesT = TypeVar("EntriesT", bound=Sized)


def not_empty(entries: EntriesT) -> EntriesT:
    """Validator of a list or mapping that needs an entry (pydantic's own counts only entries without a problem)."""
    if not entries:
        raise wrong("has no entry; at least one is needed")
    return entries


def clean_text(value: object) -> object:
    """Strip and normalise a text (NFC, so that ü typed on a Mac hashes alike); an empty one is an error."""
    if not isinstance(value, str):
        raise PydanticCustomError("text", "should be a text")
    text = unicodedata.normalize("NFC", value).strip()
    if not text:
        raise wrong("is empty; write a text")
    if match := _CONTROL.search(text):
        raise wrong(f"contains the control character {match.group()!r}; remove it")
    return text


Line = Annotated[str, BeforeValidator(clean_text)]
"""A text that is the same in every language, such as a version."""

Identifier = Annotated[Line, AfterValidator(identifier("instrument"))]


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _values(node: object, key: str) -> Iterator[object]:
    if isinstance(node, Mapping):
        if key in node:
            yield node[key]
        for value in node.values():
            yield from _values(value, key)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _values(value, key)


def fold(text: str) -> str:
    """As names and texts are compared: compatibility form, lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


# --- Texts -----------------------------------------------------------------------------------------------------------

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
