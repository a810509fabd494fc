"""What a field may know of the file it stands in while it is validated.

Families, scales and languages are named in one place of an instrument and used in another. Checking them at the field
that uses them, not afterwards over the finished model, gives every problem its own line and reports all together.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from enquete.state.asking import Spoken
from enquete.state.request import CHOSEN_ID

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
