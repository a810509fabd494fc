"""A discussion of a group: a conversation whose stored turns add up to rounds, with private positions before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

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

    `number`: the participant's, under which an anonymous group knows it in every round; `retried`: asked twice because of
    its violations, which `slips` holds; `weighed`: of the last turn of a round; `ratings` (consideration → value) and
    `ranking` (of the options, the best first): given privately.
    """

    role: str = ""
    number: int = 0
    private: bool = False
    response: Response = Response()
    ratings: Mapping[str, float] = {}
    ranking: tuple[str, ...] = ()
    retried: bool = False
    slips: tuple[Violation, ...] = ()
    weighed: Weighed | None = None


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
        return {turn.participant: turn.response for turn in self.turns if turn.private and turn.round == 0}

    @property
    def afterwards(self) -> Round:
        """Said privately after the last round."""
        return {turn.participant: turn.response for turn in self.turns if turn.private and turn.round > 0}

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
        for turn in self.turns:
            if not turn.private:
                found.setdefault(turn.round, {})[turn.participant] = turn.response
        return [found[number] for number in sorted(found)]

    @property
    def exit(self) -> Weighed | None:
        """Of the last round that is complete."""
        return next((turn.weighed for turn in reversed(self.turns) if turn.weighed is not None), None)


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
