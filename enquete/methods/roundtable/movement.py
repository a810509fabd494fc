"""Who moved between the private answers before and after a discussion, and toward whom.

Toward whom is a likeness of positions, not a cause: two may have moved for the same reason, which neither of them gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from enquete.analysis.vocabulary import content_words, jaccard
from enquete.methods.roundtable.agreement import ALIKE, likeness, same_side, voiced
from enquete.methods.roundtable.discussion import Round
from enquete.methods.roundtable.modes import Response, Stance
from enquete.respondents.rule_coder import Theme

LEAST_WORDS = 2
"""New words that a position must share with an argument to have moved on it."""


@dataclass(frozen=True)
class Move:
    """One participant, before and after. `moved`: another stance, or where there are none a position that is another
    one.

    surer: change of the confidence it gives itself; kept: likeness of the two positions; toward: those whose position
    before it came closer to, more than one where they are equally close; argument: id of the argument that its new
    position takes up, "" where it takes up none.
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
        if self.confidence_before is None or self.confidence_after is None:
            return None
        return self.confidence_after - self.confidence_before


def moves(before: Round, after: Round, arguments: Sequence[Theme] = ()) -> list[Move]:
    """Of everybody who took a position both times."""
    first, last = voiced(before), voiced(after)
    return [_move(who, first, last[who], arguments) for who in first if who in last]


def _move(who: str, before: Mapping[str, Response], after: Response, arguments: Sequence[Theme]) -> Move:
    earlier = before[who]
    kept = likeness(earlier, after)
    moved = earlier.stance != after.stance if earlier.stance and after.stance else kept < ALIKE
    move = Move(who, earlier.stance, after.stance, earlier.confidence, after.confidence, kept, moved)
    if not moved:
        return move
    gains = {other: _near(after, r) - _near(earlier, r) for other, r in before.items() if other != who}
    most = max(gains.values(), default=0.0)
    toward = tuple(sorted(other for other, gain in gains.items() if most > 0 and gain >= most - 1e-9))
    return replace(move, toward=toward, argument=_taken_up(earlier, after, toward, arguments))


def _near(response: Response, other: Response) -> float:
    """0 on different sides, ½ to 1 on the same, by their words."""
    if not same_side(response, other):
        return 0.0
    return (1 + jaccard(content_words(response.position), content_words(other.position))) / 2


def _taken_up(before: Response, after: Response, toward: Sequence[str], arguments: Sequence[Theme]) -> str:
    """The argument, of those whom it moved toward, that shares most words with what it did not say before."""
    new = content_words(f"{after.position} {after.reasoning}") - content_words(f"{before.position} {before.reasoning}")
    shared = {
        theme.id: len(new & content_words(f"{theme.label} {theme.description}"))
        for theme in arguments
        if {statement.partition("|")[0] for statement in theme.statements} & set(toward)
    }
    best = max(shared.values(), default=0)
    return min(name for name, words in shared.items() if words == best) if best >= LEAST_WORDS else ""
