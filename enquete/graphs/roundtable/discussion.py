"""A discussion of a group: a conversation whose stored turns add up to rounds, with private positions before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.graphs.roundtable.responses import Response
from enquete.nodes.conversations import Conversation, Turn

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
    its violations; `weighed`: of the last turn of a round.
    """

    role: str = ""
    number: int = 0
    private: bool = False
    response: Response = Response()
    retried: bool = False
    weighed: Weighed | None = None


@dataclass(frozen=True)
class Discussion(Conversation[RoundtableTurn]):
    """`participants`: in the order of speaking. A control's has one, no rounds, and in `reads` whose arguments it read."""

    participants: tuple[str, ...] = field(default=(), kw_only=True)
    mode: str = field(default="", kw_only=True)
    reads: str = field(default="", kw_only=True)

    @property
    def before(self) -> Round:
        """Said privately before the first round."""
        return {turn.participant: turn.response for turn in self.turns if turn.private and turn.round == 0}

    @property
    def afterwards(self) -> Round:
        """Said privately after the last round."""
        return {turn.participant: turn.response for turn in self.turns if turn.private and turn.round > 0}

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
