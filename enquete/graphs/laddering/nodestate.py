"""What each concept went through: how often in focus, when it last yielded, how deep the answers were, with which strategies.

After an answer: `after_answer` (tick, depth to the focus that was asked about, yield). After a choice: `after_choice`.
Only a change of focus ends a streak; a yield does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Depth = Literal["surface", "moderate", "deep"]

RECENT = 3  # answers that "recently" looks back on
STALE_TURNS = 3  # turns without yield
STREAK = 2
SHALLOW_SHARE = 2 / 3


@dataclass(frozen=True, slots=True)
class NodeState:
    """Counts are of turns. `since_yield` counts from the concept's first mention until it yields."""

    focused: int = 0
    streak: int = 0
    yields: int = 0
    since_yield: int = 0
    since_focus: int = 0  # from its first mention until it is in focus
    depths: tuple[Depth, ...] = ()
    strategies: Mapping[str, int] = field(default_factory=dict)

    @property
    def yield_rate(self) -> float | None:
        """Yields per time in focus; None before it ever was."""
        return self.yields / self.focused if self.focused else None

    @property
    def shallow_ratio(self) -> float:
        """Share of shallow ones among the recent answers; 0 before there is one."""
        recent = self.depths[-RECENT:]
        return recent.count("surface") / len(recent) if recent else 0.0

    @property
    def stagnant(self) -> bool:
        return self.since_yield >= STALE_TURNS

    @property
    def exhausted(self) -> bool:
        """In focus at least once, three turns dry, twice in a row in focus, two thirds of the recent answers shallow."""
        return self.focused >= 1 and self.stagnant and self.streak >= STREAK and self.shallow_ratio >= SHALLOW_SHARE

    @property
    def exhaustion_score(self) -> float | None:
        """0 fresh … 1 exhausted: dryness .4, streak .3, shallowness .3. None before it was ever in focus: what nobody
        asked about cannot be used up."""
        if not self.focused:
            return None
        dry, streak = min(self.since_yield, 10) / 10, min(self.streak, 5) / 5
        return dry * 0.4 + streak * 0.3 + self.shallow_ratio * 0.3


States = Mapping[str, NodeState]


def after_answer(
    states: States, nodes: Sequence[str], focus: str, depth: Depth, *, yielded: bool
) -> dict[str, NodeState]:
    """An answer to a question about `focus` ("" for none): every known node ages by a turn, new ones begin at nought."""
    found = {}
    for node in nodes:
        before = states.get(node)
        found[node] = NodeState() if before is None else replace(
            before, since_yield=before.since_yield + 1, since_focus=before.since_focus + 1,
        )  # fmt: skip
    if focus in found:
        asked = found[focus]
        asked = replace(asked, depths=(*asked.depths, depth))
        found[focus] = replace(asked, yields=asked.yields + 1, since_yield=0) if yielded else asked
    return found


def after_choice(states: States, focus: str, strategy: str) -> dict[str, NodeState]:
    """The next question is about `focus` ("" for none): its streak goes on or begins, every other one's ends."""
    found = {
        node: replace(state, streak=0) if state.streak and node != focus else state for node, state in states.items()
    }
    if focus in found:
        chosen = found[focus]
        uses = {**chosen.strategies, strategy: chosen.strategies.get(strategy, 0) + 1}
        found[focus] = replace(
            chosen, focused=chosen.focused + 1, streak=chosen.streak + 1, since_focus=0, strategies=uses
        )
    return found
