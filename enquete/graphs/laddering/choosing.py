"""What comes after an answer: the next question, chosen among every strategy on every concept, or the end of the interview.

score = Σ weight × value, a key with a value counting 1 where it holds; times the phase multiplier of the strategy. A
negative score is divided by it instead, so that a phase which favours a strategy never makes it worse.

An interview ends at its last turn, after a closing strategy, or because nothing more comes.

From turn `from_turn` on, or in the late phase: so many shallow answers in a row that brought nothing, turns without yield,
turns at the same depth, or no concept left that could still yield. Two of these are narrower than the words suggest, or
they would end every good interview: a turn counts as one at the same depth only if it found no link either (a second chain
that catches up with the first is no standstill), and concepts are exhausted only when every one is by its own state, or
when all are dry and no strategy is left that was not tried on each it suits (a concept could otherwise not be left for
another one, nor be asked about in another way).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from enquete.graphs.laddering.instrument import Stops
from enquete.graphs.laddering.methods import InterviewMethod, Technique
from enquete.graphs.laddering.nodestate import States
from enquete.graphs.laddering.signals.base import Past, Values
from enquete.graphs.laddering.signals.registry import SIGNALS, Detected, split_key
from enquete.respondents.planted import uniform

CLOSING_FROM = 5  # turns an interview must have for a closing question: of fewer it would take too large a share
NEAR = 0.5  # of a score: pairs that close to the best one are as good
SHOWN = 5  # runners-up that are kept

Reason = Literal["", "max_turns", "closing", "shallow", "no_yield", "same_depth", "all_exhausted", "nothing_left"]

Pair = tuple[str, str]  # strategy, focus


class Use(NamedTuple):
    """What an interview has spent: the same technique of the same strategy never comes twice on the same concept."""

    strategy: str
    technique: str
    focus: str


class Candidate(NamedTuple):
    """A strategy, the concept it would ask about ("" for none), and the ways it could be put."""

    strategy: str
    focus: str
    techniques: tuple[Technique, ...]


class Scored(BaseModel):
    """A pair with its score and what made it up: weight key → contribution, before the multiplier."""

    model_config = ConfigDict(frozen=True)

    strategy: str
    focus: str
    score: float
    parts: Mapping[str, float] = {}


class Choice(BaseModel):
    """What the next question will be, and why. `runners_up`: the best others, without their parts.

    `because`: set on a closing question that was not chosen by its score: why the interview ends with the answer to it.
    """

    model_config = ConfigDict(frozen=True)

    strategy: str
    focus: str
    technique: str
    score: float
    parts: Mapping[str, float] = {}
    multiplier: float = 1.0
    runners_up: tuple[Scored, ...] = ()
    because: Reason = ""

    @property
    def use(self) -> Use:
        return Use(self.strategy, self.technique, self.focus)


def contributions(weights: Mapping[str, float], values: Values) -> dict[str, float]:
    """weight × value of every key that counts. A signal that is not active counts nothing."""
    found = {}
    for key, weight in weights.items():
        name, word = split_key(key)
        if name in values:
            signal, value = SIGNALS[name], values[name]
            share = float(signal.word(value) == word) if word else signal.normal(value)
            if share:
                found[key] = weight * share
    return found


def total(parts: Mapping[str, float], multiplier: float) -> float:
    score = sum(parts.values())
    return score * multiplier if score >= 0 else score / multiplier


def rank(method: InterviewMethod, candidates: Sequence[Candidate], detected: Detected) -> list[Scored]:
    """Candidates by score, the best first; equals in their given order."""
    phase = str(detected.interview["meta.interview.phase"])
    scored = [_scored(method, candidate, detected, phase) for candidate in candidates]
    return sorted(scored, key=lambda one: -one.score)


def _scored(method: InterviewMethod, candidate: Candidate, detected: Detected, phase: str) -> Scored:
    values = detected.of(candidate.strategy, candidate.focus)
    parts = contributions(method.strategies[candidate.strategy].weights, values)
    score = total(parts, method.multiplier(phase, candidate.strategy))
    return Scored(strategy=candidate.strategy, focus=candidate.focus, score=round(score, 6), parts=parts)


def at_random(candidates: Sequence[Candidate], *key: str | int) -> Scored:
    """Any candidate, each as likely as the other: the comparison that scoring is measured against."""
    chosen = candidates[int(uniform(*key, "random strategy") * len(candidates))]
    return Scored(strategy=chosen.strategy, focus=chosen.focus, score=0.0)


def script(method: InterviewMethod) -> list[tuple[str, str]]:
    """A fixed order of (strategy, technique): the first technique of each strategy that does not close, then the second, …"""
    ways = {name: one.techniques for name, one in method.strategies.items() if not one.closing}
    longest = max(map(len, ways.values()), default=0)
    return [(name, all_[place].id) for place in range(longest) for name, all_ in ways.items() if place < len(all_)]


def scripted(method: InterviewMethod, candidates: Sequence[Candidate], number: int) -> Choice | None:
    """What the script asks after turn `number`, whatever was said: its next way that can be put at all, about the latest concept
    where it needs one; None at its end. The comparison that adapting is measured against."""
    slots = script(method)
    for step in range(len(slots)):
        name, technique = slots[(number - 1 + step) % len(slots)]
        possible = [
            one for one in candidates if one.strategy == name and technique in {way.id for way in one.techniques}
        ]
        if possible:
            return Choice(strategy=name, focus=possible[-1].focus, technique=technique, score=0.0)
    return None


def choose(
    method: InterviewMethod,
    candidates: Sequence[Candidate],
    detected: Detected,
    linked_types: Mapping[str, frozenset[str]],
    types: Mapping[str, str],
    random_key: tuple[str | int, ...] | None = None,
    used: Sequence[Use] = (),
    key: tuple[str | int, ...] = (),
) -> Choice:
    """The best pair (with a `random_key` any that does not close the interview) and the technique that serves it.

    linked_types: node → types of its neighbours; types: node → its own type; used: what was asked so far; key: draws among pairs
    that are nearly as good as the best, so that not all interviews go the same way; the first without one.
    """
    ranked = rank(method, candidates, detected)
    near = [one for one in ranked if ranked[0].score - one.score <= NEAR] if key else ranked[:1]
    drawn = near[int(uniform(*key, "near") * len(near))] if key else ranked[0]
    best = at_random(_going_on(method, candidates), *random_key) if random_key else drawn
    candidate = next(one for one in candidates if (one.strategy, one.focus) == (best.strategy, best.focus))
    linked = frozenset[str | None](linked_types.get(best.focus, frozenset()))
    technique = least_used(method, candidate, linked, types.get(best.focus, ""), used, frozenset(types.values()))
    others = [one for one in ranked if (one.strategy, one.focus) != (best.strategy, best.focus)]
    phase = str(detected.interview["meta.interview.phase"])
    return Choice(
        strategy=best.strategy,
        focus=best.focus,
        technique=technique.id,
        score=best.score,
        parts=best.parts,
        multiplier=method.multiplier(phase, best.strategy),
        runners_up=tuple(one.model_copy(update={"parts": {}}) for one in others[:SHOWN]),
    )


def least_used(
    method: InterviewMethod,
    candidate: Candidate,
    linked: frozenset[str | None],
    own_type: str,
    used: Sequence[Use],
    known: frozenset[str] = frozenset(),
) -> Technique:
    """One that asks for a type still missing beside the concept: a comparison of three first, then a type that is not `known` in the
    interview yet, then the rung above; of those the one used least in the interview, then least on the concept, then the first
    of the file."""
    in_interview = Counter((use.strategy, use.technique) for use in used)
    on_concept = Counter(use.technique for use in used if use.focus == candidate.focus)

    above = method.next_type(own_type)

    def rank_of(one: Technique) -> tuple[bool, bool, bool, bool, int, int]:
        aim = method.aim(one.elicits, own_type)
        beside = above is not None and aim != above
        return (
            aim in linked,
            not one.triad,
            aim in known,
            beside,
            in_interview[candidate.strategy, one.id],
            on_concept[one.id],
        )

    return min(candidate.techniques, key=rank_of)


def _going_on(method: InterviewMethod, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Without closing strategies, as long as there are others: chance must not look bad for ending at once."""
    return [one for one in candidates if not method.strategies[one.strategy].closing] or candidates


# --- the end -----------------------------------------------------------------------------------------------------------


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
    if in_a_row(past, lambda turn: turn.barren) >= stops.shallow:
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


def closing_turn(
    method: InterviewMethod, used: Sequence[Use], *, turns: int, done: int, stop: Reason, heard: bool
) -> Choice | None:
    """The closing question that an interview which would end with `stop` ("" for one that goes on) is to have first.

    It is also the last of all `turns`. None where there is no turn for it, it was asked, or nothing was `heard` so far.
    """
    if not heard or turns < CLOSING_FROM or done >= turns or stop in ("max_turns", "closing"):
        return None
    because: Reason = stop or ("max_turns" if done == turns - 1 else "")
    closing = [(name, strategy) for name, strategy in method.strategies.items() if strategy.closing]
    if not because or not closing or {use.strategy for use in used} & {name for name, _ in closing}:
        return None
    name, strategy = closing[0]
    return Choice(strategy=name, focus="", technique=strategy.techniques[0].id, score=0.0, because=because)
