"""What people read, in their language. Code and templates carry English; `<language>.po` beside this file has every
other language: a third one is one more file, here or in the folder that ENQUETE_LOCALE names. A package that brings a
methodology may bring files of its own in its folder `locale`. `make words` brings the files up to date with what code
and templates say.

    WORDS = {"answered": N_("{n} of {total} answered")}
    in_language(WORDS, "de")["answered"].format(n=3, total=4)

    tell("{n} of {total} answered", "de")     # a single text, marked elsewhere

Texts with the same English and another meaning stand in a context: C_("of agents", "all").
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from polib import POEntry

SOURCE = "en"
"""The language of code and templates."""
HERE = Path(__file__).parent
GROUP = "enquete.methodologies"
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
    names = (each.name for folder in (*_own(), HERE) for each in folder.iterdir())
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
    from polib import pofile  # noqa: PLC0415 - which English never needs

    entries: dict[str, str | tuple[str, ...]] = {}
    for folder in (*_elsewhere(), *_own(), HERE):  # ours last: it wins
        file = folder / f"{language}.po"
        if file.is_file():
            entries |= {_key(entry): _forms(entry) for entry in pofile(file.read_text("utf-8")) if entry.translated()}
    return entries


def _own() -> Iterator[Path]:
    """The folder that ENQUETE_LOCALE names, for a language that does not ship."""
    folder = Path(os.environ.get("ENQUETE_LOCALE", ""))
    if folder.name and folder.is_dir():
        yield folder


def _elsewhere() -> Iterator[Traversable]:
    """The folder `locale` of every package that brings a methodology."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - as above
    from importlib.resources import files  # noqa: PLC0415

    for entry in entry_points(group=GROUP):
        package = entry.module.partition(".")[0]
        with suppress(ImportError):
            yield files(package) / "locale"


def _key(entry: POEntry) -> str:
    return f"{entry.msgctxt}{_CONTEXT}{entry.msgid}" if entry.msgctxt else entry.msgid


def _forms(entry: POEntry) -> str | tuple[str, ...]:
    return tuple(entry.msgstr_plural.values()) if entry.msgid_plural else entry.msgstr


@dataclass(frozen=True)
class MarkedText:
    """A marked text with what is to be filled in, texts of either kind: told in a language when that is known."""

    text: str
    facts: Mapping[str, Words]


def marked(text: str, /, **facts: Words) -> MarkedText:
    return MarkedText(text, facts)


Words: TypeAlias = str | MarkedText
"""Words in no language yet: a marked text, a name as it is, or a text with what is filled in."""


def tell(text: Words, language: str) -> str:
    """The words in this language; as they are where the catalogue does not have them, as names of things are."""
    if isinstance(text, MarkedText):
        facts = {name: tell(fact, language) for name, fact in text.facts.items()}
        return tell(text.text, language).format(**facts)
    translation = catalogue(language).get(text) if language != SOURCE else None
    if isinstance(translation, tuple):
        translation = translation[0]
    return translation or text.rpartition(_CONTEXT)[2]


def plural(forms: tuple[str, str], n: int, language: str) -> str:
    """The form that fits n, with {n} filled in."""
    one, many = forms
    translation = catalogue(language).get(one)
    if isinstance(translation, tuple):
        one, many = translation[0], translation[-1]
    return (one if n == 1 else many).replace("{n}", whole(n, language))


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


# --- numbers as the language writes them -----------------------------------------------------------------------------


MARKS = (C_("decimal mark", "."), C_("thousands mark", ","), C_("after a figure in per cent", "%"))


@cache
def _symbols(language: str) -> tuple[str, ...]:
    return tuple(tell(mark, language) for mark in MARKS)


def decimals(text: str, language: str) -> str:
    """A figure as Python writes it, with the language's decimal mark and a minus sign."""
    return text.replace(".", _symbols(language)[0]).replace("-", "−")


def percent(text: str, language: str) -> str:
    """“12 %” or “12%”."""
    return text + _symbols(language)[2]


def whole(n: int, language: str) -> str:
    """Thousands apart."""
    return f"{n:,}".replace(",", _symbols(language)[1]).replace("-", "−")


def separators(language: str) -> str:
    """Decimal and thousands mark, as Plotly wants them."""
    return "".join(_symbols(language)[:2])


def quoted(text: str, language: str) -> str:
    return tell(N_("“{name}”"), language).format(name=text)


def enumeration(names: Sequence[str], language: str) -> str:
    """As it is spoken: “a, b and c”."""
    *others, last = names or [""]
    return tell(N_("{others} and {last}"), language).format(others=", ".join(others), last=last) if others else last
