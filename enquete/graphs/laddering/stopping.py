"""When an interview ends: at its last turn, after a closing strategy, or because nothing more comes.

From turn `from_turn` on, or in the late phase: so many shallow answers in a row, turns without yield, turns at the same
depth, or no concept left that could still yield. Two of these are narrower than the words suggest, or they would end every
good interview: a turn counts as one at the same depth only if it found no link either (a second chain that catches up with
the first is no standstill), and concepts are exhausted only when every one is by its own state, or when all are dry and no
strategy is left that was not tried on each it suits (a concept could otherwise not be left for another one, nor be asked
about in another way).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal

from enquete.graphs.laddering.instrument import Stops
from enquete.graphs.laddering.nodestate import States
from enquete.graphs.laddering.signals.base import Past

Reason = Literal["", "max_turns", "closing", "shallow", "no_yield", "same_depth", "all_exhausted", "nothing_left"]

Pair = tuple[str, str]  # strategy, focus


def stop_reason(
    past: Sequence[Past],
    states: States,
    *,
    turns: int,
    closed: bool,
    phase: str,
    candidates: Collection[Pair],
    stops: Stops,
) -> Reason:
    """Why the interview ends after the last of `past`, "" to go on. `closed`: that turn's strategy was a closing one;
    `candidates`: every (strategy, focus) that could still be asked, "" for no focus."""
    if closed:
        return "closing"
    if len(past) >= turns:
        return "max_turns"
    if not candidates:
        return "nothing_left"
    if len(past) < stops.from_turn and phase != "late":
        return ""
    if in_a_row(past, lambda turn: turn.depth == "surface") >= stops.shallow:
        return "shallow"
    if in_a_row(past, lambda turn: not turn.yielded) >= stops.without_yield:
        return "no_yield"
    if in_a_row(past, lambda turn: turn.chain == past[-1].chain and not turn.new_edges) >= stops.same_depth:
        return "same_depth"
    return "all_exhausted" if all_exhausted(states, untried(past, states, candidates)) else ""


def in_a_row(past: Sequence[Past], holds: Callable[[Past], bool]) -> int:
    """How many of the last turns, without a gap."""
    count = 0
    for turn in reversed(past):
        if not holds(turn):
            break
        count += 1
    return count


def all_exhausted(states: States, untried: Collection[Pair] = ()) -> bool:
    """Every concept is exhausted by its own state; or each is dry, was in focus, and nothing is left to try."""
    if not states:
        return False
    if all(state.exhausted for state in states.values()):
        return True
    return not untried and all(state.focused and state.stagnant for state in states.values())


def untried(past: Sequence[Past], states: States, candidates: Collection[Pair]) -> list[Pair]:
    """Candidates whose strategy was not yet used on their concept; without a concept, not yet used at all."""
    used = {turn.strategy for turn in past if not turn.focus}
    return [
        (strategy, focus)
        for strategy, focus in candidates
        if (strategy not in states[focus].strategies if focus in states else strategy not in used)
    ]
