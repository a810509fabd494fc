"""Who answered, as every reply says it that shows answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from enquete.locale import N_, SOURCE, tell

if TYPE_CHECKING:  # pydantic comes with it
    from enquete.state.asking import Language

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
    computed = [one == "synthetic" for one in respondents]
    if not any(computed):
        return None
    return tell(SYNTHETIC if all(computed) else SOME_SYNTHETIC, language)
