"""A critic without a model: judges by a planted quality, so that all that follows from a critic can be seen and tested for
nothing. It reads no answer, and everything that shows its judgements says that it is a stand-in.

The quality of an answer is that of its arm (by the arm's model, PLANTED) and noise of its own, N(0, 1), from hashes. Where
two answers are nearly alike the first place wins, as with models; one of the stand-ins chooses it always.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from enquete.respondents.planted import normal

PLANTED: Final[Mapping[str, float]] = {"synthetic": 0.0, "synthetic:worse": -1.5, "synthetic:better": 1.5}
"""Model of an arm → quality of its answers, in standard deviations of one answer's."""
STAND_IN, FIRST = "synthetic", "synthetic:first"
STAND_INS: Final = (STAND_IN, FIRST)
"""Critics: one by the planted quality, one that always prefers the first place."""

FAVOUR = 0.2  # of the first place
WAVERING = 0.1  # SD between two judgements of the same pair
SPREAD = 1.0  # grades a standard deviation


def quality(model: str, answer: str) -> float:
    """Of one answer, by its id; an unknown model's is that of `synthetic`."""
    return PLANTED.get(model, 0.0) + normal("quality", answer)


def graded(value: float) -> str:
    """A reply as a model would give it: the grade nearest to the quality, 3 in the middle."""
    mark = min(5, max(1, round(3 + SPREAD * value)))
    return f"Feedback: planted quality {value:+.2f}. [RESULT] {mark}"


def compared(critic: str, first: float, second: float, occasion: str) -> str:
    """A reply that prefers one of two qualities. occasion: of this judgement, for what wavers from one to the next."""
    if critic == FIRST:
        return "Feedback: the first place. [RESULT] A"
    better = first + FAVOUR + WAVERING * normal("wavering", occasion) > second
    return f"Feedback: planted qualities {first:+.2f} and {second:+.2f}. [RESULT] {'A' if better else 'B'}"
