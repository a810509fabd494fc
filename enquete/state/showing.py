"""Text of unknown origin as it may be shown: what would act on a terminal, a page or a spreadsheet is seen instead."""

from __future__ import annotations

import re
import unicodedata

_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Control characters, line separators and marks that turn the direction of writing as \u001b: in JSON that is the
    character itself, everywhere else it is what stands there. Tabs and ends of lines stay."""
    return text if text.isprintable() else _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


EXECUTED = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""A cell that begins with one of these is run as a formula by spreadsheets; the full-width ones in East Asian versions."""
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Unicode categories of control, format and space characters: spreadsheets drop some of them before they look."""


def as_cell(text: str) -> str:
    """A text of a CSV: with an apostrophe before it where a spreadsheet would run it."""
    seen = next((place for place, sign in enumerate(text) if unicodedata.category(sign) not in UNSEEN), len(text))
    runs = text.startswith(EXECUTED, seen) or text.startswith(("\t", "\r", "\n"))
    return f"'{visible(text)}" if runs else visible(text)
