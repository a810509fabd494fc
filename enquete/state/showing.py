"""Text of unknown origin as it may be shown: what would act on a terminal, a page or a spreadsheet is seen instead."""

from __future__ import annotations

import re

_ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Control characters, line separators and marks that turn the direction of writing as \u001b: in JSON that is the
    character itself, everywhere else it is what stands there. Tabs and ends of lines stay."""
    return text if text.isprintable() else _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
