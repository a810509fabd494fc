"""What a critic's reply says: a grade from 1 to 5, or which of two answers is better. Read from the end of the text alone.

Measured by a table of endings as models write them (tests/respondents/test_critic_verdicts.py). Whatever cannot be read is
None: an exception would cost a run the answers that it has.
"""

from __future__ import annotations

import re
from typing import Literal

from enquete.models.parsing import clean_text

Letter = Literal["A", "B"]
Place = Literal["first", "second"]

LOWEST, HIGHEST = 1, 5
LONGEST_REASON = 600  # characters

_TAG = r"(?:\[\s*(?:RESULT|SCORE|ERGEBNIS)\s*\]|\b(?:final\s+)?(?:result|score|rating|grade|verdict|ergebnis|note|urteil)\b)"
_JOINT = r"[\s:=*_`\"'(\[]*(?:is|ist|of|von)?[\s:=*_`\"'(\[]*"
_END = r"(?:</?s>|<\|[a-z_]+\|>|[\s.!*_`\"')\]])*$"
_OF_FIVE = r"(?:\s*/\s*5|\s+out\s+of\s+5|\s+von\s+5)"
_GRADE = re.compile(rf"{_TAG}{_JOINT}(\d)(?:\.0)?{_OF_FIVE}?{_END}", re.IGNORECASE)
_BARE_GRADE = re.compile(rf"(?:^|[\s:(*\[])(\d)(?:\.0)?{_OF_FIVE}{_END}", re.IGNORECASE)
_VERDICT = re.compile(rf"{_TAG}{_JOINT}(?:(?:response|answer|antwort)\s+)?([AB]){_END}", re.IGNORECASE)
_HEAD = re.compile(r"^\W*(?:feedback|reason|begründung|grund)\W*:\s*", re.IGNORECASE)


def grade(text: object) -> int | None:
    """`… [RESULT] 4`, also `[SCORE] 4`, `Score: 4/5`, `4 out of 5`. None for anything else, and for what is no grade."""
    end = _end(text)
    found = _GRADE.search(end) or _BARE_GRADE.search(end)
    value = int(found[1]) if found else 0
    return value if LOWEST <= value <= HIGHEST else None


def verdict(text: object) -> Letter | None:
    """`… [RESULT] A`. A sentence that ends in a letter ("I select Response B.") is no verdict."""
    found = _VERDICT.search(_end(text))
    if found is None:
        return None
    return "A" if found[1].upper() == "A" else "B"


def reason(text: object) -> str:
    """What stands before the result, for people to read."""
    said = _end(text, 4 * LONGEST_REASON)
    for form in (_VERDICT, _GRADE):
        found = form.search(said)
        said = said[: found.start()] if found else said
    said = " ".join(_HEAD.sub("", said.strip()).split())
    return said if len(said) <= LONGEST_REASON else f"{said[: LONGEST_REASON - 1]}…"


def _end(text: object, most: int = 200) -> str:
    """The last characters, of whatever came: a search for an ending in a megabyte would take seconds."""
    return clean_text(text).rstrip()[-most:] if isinstance(text, str) else ""
