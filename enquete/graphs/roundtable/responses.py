"""What a participant said in one turn of a discussion, as data; and what was asked of it that it did not do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.locale import N_

Stance = Literal["yes", "no", "neutral", ""]
"""For the proposal, against it, undecided; "" where the mode asks for none or nothing was said."""

STANCES = {"yes": N_("yes"), "neutral": N_("undecided"), "no": N_("no"), "": "–"}


class Violation(BaseModel):
    """A check of the mode that a response does not pass. It is named, asked for once more, then kept and counted. `part`:
    item or section that it is about, "" for the whole."""

    model_config = ConfigDict(frozen=True)

    check: str
    expected: str
    actual: str
    part: str = ""


class Response(BaseModel):
    """In the participant's own words: nothing here was rewritten.

    `confidence`: 0 to 1, None where none was given; `raw_confidence`: as it was said, only where it lay outside;
    `sections`: section id → text, in the order of the mode's form; `violations`: of what is kept, after the second asking.
    """

    model_config = ConfigDict(frozen=True)

    position: str = ""
    reasoning: str = ""
    confidence: float | None = None
    raw_confidence: float | None = None
    stance: Stance = ""
    key_points: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    sections: Mapping[str, str] = {}
    violations: tuple[Violation, ...] = ()
