"""Text of unknown origin as it may be shown, and who answered, as every reply says it that shows answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING

from enquete.locale import N_, SOURCE, tell

if TYPE_CHECKING:
    from enquete.state.asking import Language


# --- Text of unknown origin as it may be shown: what would act on a terminal, a page or a spreadsheet is seen instead

_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Control characters, line separators and marks that turn the direction of writing as \u001b: in JSON that is the
    character itself, everywhere else it is what stands there. Tabs and ends of lines stay."""
    return text if text.isprintable() else _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


EXECUTED = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""A cell beginning so is run as a formula by spreadsheets; the full-width ones in East Asian versions."""
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Unicode categories of control, format and space characters: spreadsheets drop some of them before they look."""


def as_cell(text: str) -> str:
    """A text of a CSV: with an apostrophe before it where a spreadsheet would run it."""
    seen = next((place for place, sign in enumerate(text) if unicodedata.category(sign) not in UNSEEN), len(text))
    runs = text.startswith(EXECUTED, seen) or text.startswith(("\t", "\r", "\n"))
    return f"'{visible(text)}" if runs else visible(text)


# --- Who answered, as every reply says it that shows answers ---------------------------------------------------------

SYNTHETIC = N_(
    "ANSWERED BY THE SYNTHETIC RESPONDENT: every answer was computed from planted positions, not given by a "
    "model or a person. The figures show that the instruments work; they say nothing about the world."
)
SOME_SYNTHETIC = N_(
    "Some of these answers were computed by the synthetic respondent, not given by a model or a person."
)


def authorship(
    respondent: str, model: str, language: Language = SOURCE, *, behind: Collection[str] = ()
) -> dict[str, str | None]:
    """respondent: llm, synthetic or human; behind: who gave the answers that are shown, where others did, too."""
    return {"respondent": respondent, "model": model, "warning": warning(behind or (respondent,), language)}


def warning(respondents: Collection[str], language: Language = SOURCE) -> str | None:
    """None where models or persons gave all of the answers."""
    computed = [kind == "synthetic" for kind in respondents]
    if not any(computed):
        return None
    return tell(SYNTHETIC if all(computed) else SOME_SYNTHETIC, language)
