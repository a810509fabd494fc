"""Which strategy to use on which concept: every pair is scored by the weights of its strategy over the signals.

score = Σ weight × value, a key with a value counting 1 where it holds; times the phase multiplier of the strategy. A
negative score is divided by it instead, so that a phase which favours a strategy never makes it worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from enquete.graphs.laddering.methods import InterviewMethod, Technique
from enquete.graphs.laddering.signals.base import Values
from enquete.graphs.laddering.signals.registry import SIGNALS, Detected, split_key
from enquete.graphs.laddering.stopping import Reason
from enquete.respondents.planted import uniform

SHOWN = 5  # runners-up that are kept


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


def choose(
    method: InterviewMethod,
    candidates: Sequence[Candidate],
    detected: Detected,
    linked_types: Mapping[str, frozenset[str]],
    types: Mapping[str, str],
    random_key: tuple[str | int, ...] | None = None,
    used: Sequence[Use] = (),
) -> Choice:
    """The best pair (with a `random_key` any that does not close the interview) and the technique that serves it.

    linked_types: node → types of its neighbours; types: node → its own type; used: what was asked so far.
    """
    ranked = rank(method, candidates, detected)
    best = at_random(_going_on(method, candidates), *random_key) if random_key else ranked[0]
    candidate = next(one for one in candidates if (one.strategy, one.focus) == (best.strategy, best.focus))
    linked = frozenset[str | None](linked_types.get(best.focus, frozenset()))
    technique = least_used(method, candidate, linked, types.get(best.focus, ""), used)
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
    method: InterviewMethod, candidate: Candidate, linked: frozenset[str | None], own_type: str, used: Sequence[Use]
) -> Technique:
    """One that asks for a type still missing beside the concept, the rung above first; of those the one used least in the
    interview, then least on the concept, then the first of the file."""
    in_interview = Counter((use.strategy, use.technique) for use in used)
    on_concept = Counter(use.technique for use in used if use.focus == candidate.focus)

    above = method.next_type(own_type)

    def rank_of(one: Technique) -> tuple[bool, bool, int, int]:
        aim = method.aim(one.elicits, own_type)
        beside = above is not None and aim != above
        return aim in linked, beside, in_interview[candidate.strategy, one.id], on_concept[one.id]

    return min(candidate.techniques, key=rank_of)


def _going_on(method: InterviewMethod, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Without closing strategies, as long as there are others: chance must not look bad for ending at once."""
    return [one for one in candidates if not method.strategies[one.strategy].closing] or candidates
