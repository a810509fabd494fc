"""What people read, in their language. Code and templates carry English; `<language>.po` beside this file has every other
language: a third one is one more file. `make words` brings the files up to date with what code and templates say.

    WORDS = {"answered": N_("{n} of {total} answered")}
    in_language(WORDS, "de")["answered"].format(n=3, total=4)

    tell("{n} of {total} answered", "de")     # a single text, marked elsewhere

Texts with the same English and another meaning stand in a context: C_("of agents", "all").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

SOURCE = "en"
"""The language of code and templates."""
_CONTEXT = "\x04"  # gettext's own separator


def N_(text: str) -> str:
    """Marks an English text for the catalogues; returns it unchanged."""
    return text


def C_(context: str, text: str) -> str:
    """Marks a text whose translation depends on the context."""
    return f"{context}{_CONTEXT}{text}"


def NN_(one: str, many: str) -> tuple[str, str]:
    """Marks a text with a plural form, for `plural`."""
    return one, many


@cache
def languages() -> tuple[str, ...]:
    """Every language there are words in, the catalogues' by name."""
    names = (each.name for each in files("enquete.locale").iterdir())
    return tuple(sorted({SOURCE, *(name.partition(".")[0] for name in names if name.endswith(".po"))}))


@cache
def catalogue(language: str) -> Mapping[str, str | tuple[str, ...]]:
    """Translations by English text (`context\\x04text` where there is one); plural forms as a tuple. {} for English.

    Raises LookupError for a language without a catalogue.
    """
    if language == SOURCE:
        return {}
    if language not in languages():
        raise LookupError(f"no words in {language!r}; there are {', '.join(languages())}")
    from babel.messages.pofile import read_po  # noqa: PLC0415 - half a dozen modules that English never needs

    with (files("enquete.locale") / f"{language}.po").open("rb") as stream:
        read = read_po(stream, locale=language)
    entries: dict[str, str | tuple[str, ...]] = {}
    for message in read:
        if message.id and message.string and not message.fuzzy:
            key = message.id if isinstance(message.id, str) else message.id[0]
            entries[f"{message.context}{_CONTEXT}{key}" if message.context else key] = message.string
    return entries


def tell(text: str, language: str) -> str:
    """The text in this language; as it is where the catalogue does not have it, as names of things are."""
    found = catalogue(language).get(text) if language != SOURCE else None
    if isinstance(found, tuple):
        found = found[0]
    return found or text.rpartition(_CONTEXT)[2]


def plural(forms: tuple[str, str], n: int, language: str) -> str:
    """The form that fits n, with {n} filled in."""
    one, many = forms
    found = catalogue(language).get(one)
    if isinstance(found, tuple):
        one, many = found[0], found[-1]
    return (one if n == 1 else many).replace("{n}", str(n))


class _Told(Mapping[str, str]):
    __slots__ = ("_language", "_table")

    def __init__(self, table: Mapping[str, str], language: str) -> None:
        self._table, self._language = table, language

    def __getitem__(self, key: str) -> str:
        return tell(self._table[key], self._language)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def in_language(table: Mapping[str, str], language: str) -> Mapping[str, str]:
    """A table of marked texts in this language."""
    return _Told(table, language)
