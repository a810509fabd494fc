"""When a group has talked, or rated, enough: agreed, or settled, or sure and agreed, or at its last round.

Of texts or of ratings alike: a methodology says how far a round agrees and how much each participant kept of its own
position (`RoundStanding`). Confidence never ends anything alone: two who are sure of opposite things would be sent
home.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

ExitReason = Literal["", "consensus", "convergence", "confidence", "max_rounds"]
"""Why it is over; "" while it goes on."""

Share = Annotated[float, Field(ge=0, le=1)]


class Limits(BaseModel):
    """Thresholds, all from 0 to 1 but for the rounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    consensus: Share = 0.9  # agreement from which nothing is left to discuss
    stable: Share = 0.7  # likeness to one's own last position from which one has not moved
    stable_rounds: Annotated[int, Field(ge=1, le=10)] = 2  # on end, each compared with the one before
    stable_share: Share = 1.0  # of the participants who must not have moved
    confidence: Share = 0.85  # of everybody
    agreement: Share = 0.7  # that confidence needs beside it
    least_rounds: Annotated[int, Field(ge=1, le=20)] = 1
    most_rounds: Annotated[int, Field(ge=1, le=20)] = 3


@dataclass(frozen=True)
class RoundStanding:
    """Of one round. agreement: 0 to 1, None where there is nothing to compare; participants: who took a position; kept:
    likeness of each participant's position to its own of the round before, where it has both; confidences: None for who
    gave none."""

    agreement: float | None
    participants: Collection[str]
    kept: Mapping[str, float]
    confidences: Sequence[float | None] = ()


class Exit(BaseModel):
    """details: what was held against the limits, and the limits."""

    model_config = ConfigDict(frozen=True)

    should_exit: bool
    reason: ExitReason
    details: dict[str, JsonValue]


def exit_after(standings: Sequence[RoundStanding], limits: Limits) -> Exit:
    """Verdict after the last of these rounds. Reasons are tried in their order, and the first that holds is given."""
    if not standings:
        return Exit(should_exit=False, reason="", details={"round": 0})
    last, number = standings[-1], len(standings)
    settled = _settled(standings, limits)
    sure = min((0.0 if confidence is None else confidence for confidence in last.confidences), default=0.0)
    agreed = last.agreement or 0.0
    tried: dict[ExitReason, bool] = {
        "consensus": agreed >= limits.consensus,
        "convergence": settled is not None and settled >= limits.stable_share,
        "confidence": bool(last.confidences) and sure >= limits.confidence and agreed >= limits.agreement,
    }
    held = next((reason for reason, holds in tried.items() if holds and number >= limits.least_rounds), None)
    reason: ExitReason = held or ("max_rounds" if number >= limits.most_rounds else "")
    details: dict[str, JsonValue] = {
        "round": number,
        "agreement": last.agreement,
        "stable_share": settled,
        "least_confidence": sure if None not in last.confidences and last.confidences else None,
        "limits": limits.model_dump(),
    }
    return Exit(should_exit=bool(reason), reason=reason, details=details)


def _settled(standings: Sequence[RoundStanding], limits: Limits) -> float | None:
    """Return the share of the last round's participants who kept their position all `stable_rounds`; None before there
    are as many rounds, and where nobody has been there for so long.

    Who missed one of these rounds has not shown that it stays. Who joined during them could not show it, and is not
    counted: a late joiner does not keep the others going.
    """
    if len(standings) <= limits.stable_rounds:
        return None
    earlier, last = standings[: -limits.stable_rounds], standings[-limits.stable_rounds :]
    known = {who for standing in earlier for who in standing.participants}
    long_enough = [who for who in last[-1].participants if who in known]
    if not long_enough:
        return None
    stayed = [who for who in long_enough if all(standing.kept.get(who, 0.0) >= limits.stable for standing in last)]
    return len(stayed) / len(long_enough)
