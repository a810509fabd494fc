"""Rows of a people file that are no people, and columns that mean something else than they seem to.

Spreadsheets and survey tools leave further header rows, totals and errors in a table. Nobody may be interviewed as
"Total". What is found here is said by `check`, and refused by a run until it is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from enquete.instruments.text import fold

SPREADSHEET_ERROR = re.compile(
    r"#(?:REF!|VALUE!|NAME\?|DIV/0!|NUM!|NULL!|N/A|SPILL!|CALC!|FIELD!|BEZUG!|WERT!|ZAHL!|NV|ÜBERLAUF!|KALK!)",
    re.IGNORECASE,
)
NOT_AVAILABLE = frozenset(("n/a", "n.a.", "null", "undefined", "<na>", "keine angabe", "k. a.", "k.a."))
"""Of a name or a persona, in small letters. "NA", "Nan" and "None" may be names of people."""
TOTALS = frozenset(
    ("total", "totals", "subtotal", "grand total", "sum", "average", "mean", "median", "count", "n", "summe", "gesamt",
        "gesamtsumme", "zwischensumme", "insgesamt", "durchschnitt", "mittelwert", "mittel", "anzahl")
)  # fmt: skip
IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"\s*:')
"""How every cell of Qualtrics' third header row begins."""


def why_no_person(fields: Mapping[str, JsonValue], name: str, prose: str) -> str:
    """Return why a row is no person, or "".

    Args:
        fields: the row, by column in small letters.
        name: what would be the agent's name.
        prose: what would be its persona or bio.
    """
    texts = {column: text.strip() for column, text in fields.items() if isinstance(text, str) and text.strip()}
    if any(IMPORT_ID.match(text) for text in texts.values()):
        return "a header row of Qualtrics (ImportId)"
    repeated = [column for column, text in texts.items() if fold(text) == fold(column)]
    if repeated and 2 * len(repeated) >= len(texts):
        return "the header once more"
    for label, text in (("name", name), ("persona", prose)):
        if SPREADSHEET_ERROR.fullmatch(text.strip()):
            return f"its {label} is the spreadsheet error {text.strip()}"
        if fold(text) in NOT_AVAILABLE or text.strip() == "NaN":
            return f"its {label} is {text.strip()!r}, which is none"
    has_words = any(map(str.isalpha, prose))
    if fold(name).rstrip(":") in TOTALS and not has_words:
        return f"a row of totals ({name!r}: {prose!r})" if prose else f"a row of totals ({name!r})"
    if not has_words and any(map(str.isdigit, prose)):
        return f"its persona is {prose!r}, which is no text"
    return ""


def is_import_row(fields: Mapping[str, JsonValue]) -> bool:
    """Return whether a row is the third header row of Qualtrics, behind one of question texts."""
    return any(isinstance(text, str) and IMPORT_ID.match(text) for text in fields.values())


def why_persona_is_no_text(fields: Mapping[str, JsonValue], columns: Sequence[str]) -> str:
    """Return what is wrong with a persona that is an object or a list of objects, as in TinyTroupe's files, or ""."""
    for column in columns:
        value = fields.get(column)
        if isinstance(value, dict):
            inner = f", such as {json.dumps(value, ensure_ascii=False)[:60]}…" if value else ""
            return f"field {column!r} is an object{inner}; a text is expected, with the name in a field of its own"
    return ""


LONG_TEXT = 30
"""Characters of a value, on average, from which a column may be meant as the persona."""
PERSONA_WORDS = re.compile(r"persona|profil|descri|beschreib|biogra|character|charakter|background|backstory|vignette")


def find_persona_column(rows: Iterable[Mapping[str, str]]) -> str:
    """Return the column that seems to hold the personas where none is named so, or ""."""
    held: dict[str, list[str]] = {}
    for row in rows:
        for column, text in row.items():
            held.setdefault(column, []).append(text)
    named = [column for column in held if PERSONA_WORDS.search(column)]
    lengths = {column: sum(map(len, texts)) / len(texts) for column, texts in held.items()}
    long = [column for column in held if lengths[column] >= LONG_TEXT]
    return max(named or long, key=lambda column: lengths[column], default="")


MOST_SPELLINGS = 50
"""Values of a column, from which it is no column of groups."""


class Spellings:
    """How the values of each column are spelt: groups that differ only in case or blanks are one to a reader."""

    def __init__(self) -> None:
        self._spelt: dict[str, dict[str, dict[str, None]]] = {}
        self._free: set[str] = set()

    def add(self, columns: Mapping[str, str]) -> None:
        for column, text in columns.items():
            if column in self._free or not text:
                continue
            values = self._spelt.setdefault(column, {})
            values.setdefault(fold(text), {})[text] = None
            if len(values) > MOST_SPELLINGS:
                self._free.add(column)
                del self._spelt[column]

    def notes(self) -> dict[str, str]:
        """Return what there is to say, by column."""
        told = {}
        for column, values in self._spelt.items():
            several = [" / ".join(spellings) for spellings in values.values() if len(spellings) > 1]
            if several:
                told[column] = (
                    f"column {column!r}: {'; '.join(several)} differ only in case or blanks and are groups of their own"
                )
        return told
