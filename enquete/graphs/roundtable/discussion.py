"""A discussion of a group: a conversation whose stored turns add up to rounds, with private positions before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.graphs.roundtable.responses import Response, Violation
from enquete.nodes.conversations import Conversation, Turn, stored_turns

Round = Mapping[str, Response]
"""participant → what it said, in the order of speaking."""


class Weighed(BaseModel):
    """What the exit criteria said after a round. `analysed`: what a model made of it, where one was asked as well."""

    model_config = ConfigDict(frozen=True)

    should_exit: bool
    reason: str = ""
    details: Mapping[str, JsonValue] = {}
    analysed: Mapping[str, JsonValue] = {}


class RoundtableTurn(Turn):
    """A turn as it is frozen. `round`: 0 is asked privately before, 1 to n are the rounds, n + 1 is asked privately after.

    `kind`: a remark of whoever leads the discussion is a turn of its own, `steer`, before the round that it opens; where the
    discussion had ended, it goes on from there. `earlier`: held in the run before, which paid for it.

    `number`: the participant's, under which an anonymous group knows it in every round; `retried`: asked twice because of
    its violations, which `slips` holds; `weighed`: of the last turn of a round; `ratings` (consideration → value) and
    `ranking` (of the options, the best first): given privately.
    """

    kind: Literal["said", "steer"] = "said"
    earlier: bool = False
    role: str = ""
    number: int = 0
    private: bool = False
    response: Response = Response()
    ratings: Mapping[str, float] = {}
    ranking: tuple[str, ...] = ()
    retried: bool = False
    slips: tuple[Violation, ...] = ()
    weighed: Weighed | None = None

    @property
    def asked_here(self) -> bool:
        return self.kind == "said" and not self.earlier


@dataclass(frozen=True)
class Discussion(Conversation[RoundtableTurn]):
    """`participants`: in the order of speaking. A control's has one, no rounds, and in `reads` whose arguments it read."""

    participants: tuple[str, ...] = field(default=(), kw_only=True)
    mode: str = field(default="", kw_only=True)
    reads: str = field(default="", kw_only=True)

    @property
    def seated(self) -> bool:
        """Whether this is a group, not somebody who reads or is alone."""
        return len(self.participants) > 1

    @property
    def before(self) -> Round:
        """Said privately before the first round."""
        return {turn.participant: turn.response for turn in self.spoken if turn.private and turn.round == 0}

    @property
    def afterwards(self) -> Round:
        """Said privately after the last round."""
        return {turn.participant: turn.response for turn in self.spoken if turn.private and turn.round > 0}

    @property
    def spoken(self) -> tuple[RoundtableTurn, ...]:
        """By participants; what they said privately after an end that was none is not in it."""
        lately = max((turn.turn for turn in self.remarks), default=0)
        return tuple(
            turn
            for turn in self.turns
            if turn.kind == "said" and not (turn.private and turn.round > 0 and turn.turn < lately)
        )

    @property
    def remarks(self) -> tuple[RoundtableTurn, ...]:
        """Of whoever leads the discussion."""
        return tuple(turn for turn in self.turns if turn.kind == "steer")

    @property
    def held(self) -> int:
        """Rounds that are complete."""
        return sum(turn.weighed is not None for turn in self.turns)

    @property
    def over(self) -> bool:
        """Whether the group has nothing more to say to one another."""
        return self.exit is not None and self.exit.should_exit

    def rounds(self) -> list[Round]:
        """What was said to the group, the last round perhaps unfinished."""
        found = dict[int, dict[str, Response]]()
        for turn in self.spoken:
            if not turn.private:
                found.setdefault(turn.round, {})[turn.participant] = turn.response
        return [found[number] for number in sorted(found)]

    @property
    def exit(self) -> Weighed | None:
        """Of the last round that is complete; None once the discussion has been steered beyond it."""
        for turn in reversed(self.turns):
            if turn.kind == "steer":
                return None
            if turn.weighed is not None:
                return turn.weighed
        return None


def discussions(frozen: Mapping[str, JsonValue], mode: str) -> Iterator[Discussion]:
    """Of all groups, then of those who read or were alone, as they are stored. `frozen`: of an analysis, `context.frozen`."""
    seating: Any = frozen.get("groups") or {}
    tables = {unit: (tuple(group), "") for unit, group in seating.get("groups", {}).items()}
    tables |= {unit: ((one["participant"],), one["reads"]) for unit, one in seating.get("controls", {}).items()}
    tables |= {unit: ((who,), "") for unit, who in seating.get("alone", {}).items()}
    for unit, (participants, reads) in tables.items():
        talk = Discussion(unit, participants=participants, mode=mode, reads=reads)
        for turn in stored_turns(frozen.get, unit, RoundtableTurn):
            talk = talk.after(turn)
        yield talk
