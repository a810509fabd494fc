"""Who moved between the private answers before and after: how far, toward whom, on which argument. And against a control.

Toward whom is a likeness of positions, not a cause: two may have moved for the same reason, which neither of them gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from enquete.analysis.vocabulary import content_words, jaccard
from enquete.graphs.roundtable.measures.clusters import ALIKE, likeness, same_side, voiced
from enquete.graphs.roundtable.responses import Response, Stance

LEAST_WORDS = 2
"""New words that a position must share with an argument to have moved on it."""


@dataclass(frozen=True)
class Move:
    """One participant, before and after. `moved`: another stance, or where there are none a position that is another one.

    kept: likeness of the two positions; toward: those whose position before it came closer to, more than one where they
    are equally close; argument: id of the argument that its new position takes up, "" where it takes up none.
    """

    participant: str
    before: Stance
    after: Stance
    confidence_before: float | None
    confidence_after: float | None
    kept: float
    moved: bool
    toward: tuple[str, ...] = ()
    argument: str = ""

    @property
    def surer(self) -> float | None:
        """Change of the confidence it gives itself."""
        if self.confidence_before is None or self.confidence_after is None:
            return None
        return self.confidence_after - self.confidence_before


@dataclass(frozen=True)
class Argument:
    """As much of an argument as movement needs: its words, and who voiced it."""

    id: str
    text: str
    voices: frozenset[str]


def moves(
    before: Mapping[str, Response], after: Mapping[str, Response], arguments: Sequence[Argument] = ()
) -> list[Move]:
    """Of everybody who took a position both times."""
    first, last = voiced(before), voiced(after)
    return [_move(who, first, last[who], arguments) for who in first if who in last]


def _move(who: str, before: Mapping[str, Response], after: Response, arguments: Sequence[Argument]) -> Move:
    own = before[who]
    kept = likeness(own, after)
    moved = own.stance != after.stance if own.stance and after.stance else kept < ALIKE
    move = Move(who, own.stance, after.stance, own.confidence, after.confidence, kept, moved)
    if not moved:
        return move
    toward = _toward(who, before, after)
    return replace(move, toward=toward, argument=_taken_up(own, after, toward, arguments))


def _toward(who: str, before: Mapping[str, Response], after: Response) -> tuple[str, ...]:
    """Whose position it came closest to, of those it came closer to at all."""
    gains = {
        other: _near(after, response) - _near(before[who], response)
        for other, response in before.items()
        if other != who
    }
    most = max(gains.values(), default=0.0)
    return tuple(sorted(other for other, gain in gains.items() if most > 0 and gain >= most - 1e-9))


def _near(one: Response, other: Response) -> float:
    """0 on different sides, ½ to 1 on the same, by their words."""
    if not same_side(one, other):
        return 0.0
    return (1 + jaccard(content_words(one.position), content_words(other.position))) / 2


def _taken_up(before: Response, after: Response, toward: Sequence[str], arguments: Sequence[Argument]) -> str:
    """The argument, of those whom it moved toward, that shares most words with what it did not say before."""
    new = content_words(f"{after.position} {after.reasoning}") - content_words(f"{before.position} {before.reasoning}")
    theirs = [one for one in arguments if one.voices & set(toward)]
    shared = {one.id: len(new & content_words(one.text)) for one in theirs}
    best = max(shared.values(), default=0)
    return min(name for name, words in shared.items() if words == best) if best >= LEAST_WORDS else ""


def persuasion(found: Iterable[Move]) -> dict[tuple[str, str], float]:
    """(who moved, toward whom) → how much of a move: a move toward k participants is 1/k for each, so that rows add up to 1."""
    return {(one.participant, other): 1 / len(one.toward) for one in found for other in one.toward}


@dataclass(frozen=True)
class Moved:
    """How much a number of participants moved. None where there is nobody to say it of."""

    n: int
    moved: int
    share: float | None
    surer: float | None  # mean change of confidence


def summed(found: Sequence[Move]) -> Moved:
    moved = sum(one.moved for one in found)
    surer = [one.surer for one in found if one.surer is not None]
    return Moved(len(found), moved, moved / len(found) if found else None, fmean(surer) if surer else None)
