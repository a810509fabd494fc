"""Which configuration wins for which type of question and of stakeholder, over all runs of a simulation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from enquete.analysis.preference import wilson
from enquete.memory.recalled import Preference


@dataclass(frozen=True)
class Standing:
    """One configuration against all others on one type of question, asked of one type of stakeholder.

    `rate`: (wins + ties / 2) / n; `low`, `high`: Wilson's interval of 95% for it, which takes comparisons as independent.
    """

    question_type: str
    stakeholder_type: str
    configuration: str
    n: int
    wins: int
    ties: int
    rate: float
    low: float
    high: float


def standings(preferences: Iterable[Preference]) -> list[Standing]:
    """By type of question and of stakeholder, the configuration that wins most often first."""
    tallies: dict[tuple[str, str, str], list[int]] = {}
    for one in preferences:
        for configuration, side in ((one.a, "a"), (one.b, "b")):
            tally = tallies.setdefault((one.question_type, one.stakeholder_type, configuration), [0, 0, 0])
            tally[0] += 1
            tally[1] += one.winner == side
            tally[2] += one.winner == "tie"
    found = [_standing(*key, *tally) for key, tally in tallies.items()]
    return sorted(found, key=lambda s: (s.question_type, s.stakeholder_type, -s.rate, s.configuration))


def _standing(question_type: str, stakeholder_type: str, configuration: str, n: int, wins: int, ties: int) -> Standing:
    rate = (wins + ties / 2) / n
    low, high = wilson(rate, n)
    return Standing(question_type, stakeholder_type, configuration, n, wins, ties, rate, low, high)
