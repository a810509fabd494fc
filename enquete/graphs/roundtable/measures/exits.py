"""Whether a discussion is over after a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enquete.analysis.agreement import Exit, Limits, RoundStanding, exit_after
from enquete.graphs.roundtable.measures.clusters import agreement, likeness, voiced
from enquete.graphs.roundtable.responses import Response

__all__ = ["Exit", "Limits", "should_exit", "standings"]

Round = Mapping[str, Response]


def should_exit(rounds: Sequence[Round], limits: Limits | None = None, *, assigned: bool = False) -> Exit:
    """rounds: what was said to the group, complete rounds only. assigned: whether the mode told participants what to stand
    for; that they agree or stay is its doing then, and ends nothing."""
    known = [RoundStanding(None, 0, {}) for _ in rounds] if assigned else standings(rounds)
    return exit_after(known, limits or Limits())


def standings(rounds: Sequence[Round]) -> list[RoundStanding]:
    """Each round beside the one before it."""
    return [_standing(now, rounds[number - 1] if number else {}) for number, now in enumerate(rounds)]


def _standing(now: Round, before: Round) -> RoundStanding:
    spoke, earlier = voiced(now), voiced(before)
    kept = {who: likeness(spoke[who], earlier[who]) for who in spoke if who in earlier}
    return RoundStanding(agreement(now), len(spoke), kept, tuple(one.confidence for one in spoke.values()))
