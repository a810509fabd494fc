"""Deterministic draws and the response function from which synthetic answers are built.

A draw depends on what it is about and on nothing else: never on order, timing, process or Python's hash().
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Protocol, TypeVar, runtime_checkable

from enquete.respondents.kinds import kind_of
from enquete.state.asking import Answer, Block, Item, Language, Participant
from enquete.state.methodology import Truth

T = TypeVar("T")
Key = tuple[str | int, ...]
_NORMAL = NormalDist()


@runtime_checkable
class Occasional(Protocol):
    """A truth whose own noise is drawn anew on every occasion of asking, so that a repeat is one occasion more."""

    def __call__(self, who: Participant, block: Block, language: Language, seed: int, /) -> Sequence[Answer]: ...

    def again(self, asking: int) -> Truth:
        """The same truth on another occasion, which `asking` names: what is planted stays, the noise is drawn anew."""
        ...


@lru_cache(maxsize=4096)  # asked again for every draw of an agent
def persona_hash(who: Participant) -> str:
    """Identifies the persona that answers: name, stakeholder type and persona text; not the memory, not the arm."""
    return hashlib.sha256("\x1f".join((who.name, who.stakeholder_type, who.persona)).encode()).hexdigest()[:16]


def uniform(*key: str | int) -> float:
    """A number in the open interval (0, 1), drawn by SHA-256 from `key`."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") + 0.5) / 2**64


def normal(*key: str | int) -> float:
    """A standard normal number, drawn from `key`."""
    return _NORMAL.inv_cdf(min(max(uniform(*key), 1e-12), 1 - 1e-12))


def pick(choices: Sequence[T], *key: str | int) -> T:
    """One of `choices`, each as likely as the other."""
    return choices[int(uniform(*key) * len(choices))]


def sample(weights: Sequence[tuple[T, float]], n: int, *key: str | int) -> list[T]:
    """`n` different choices, drawn without replacement in proportion to their weights (Efraimidis & Spirakis 2006)."""
    order = sorted((-math.log(uniform(*key, index)) / weight, index) for index, (_, weight) in enumerate(weights))
    return [weights[index][0] for _, index in order[:n]]


def spread(names: Iterable[str], *key: str | int) -> list[str]:
    """The names in an order drawn by name: who stands where does not depend on the order they are given in."""
    return sorted(names, key=lambda name: uniform(*key, name))


def side(options: Sequence[T], kind: str, persona: str, loyalty: float, *key: str | int) -> T:
    """The option that falls to an agent whose type nobody planted: with probability `loyalty` its type's, else any."""
    with_type = loyalty >= 1 or uniform(*key, "loyal", persona) < loyalty
    return pick(options, *key, kind if with_type else persona)


def answer_at(position: float, item: Item, *, confidence: float, text: str = "") -> Answer:
    """The answer to a closed item at a latent position, −1 (lowest) … 1 (highest). Works for any options and labels."""
    value, data = kind_of(item).at(min(max(position, -1.0), 1.0), item)
    sure = round(min(max(confidence, 0.05), 0.98), 2) if item.confidence else None
    return Answer(item.id, "ok", value=value, text=text, confidence=sure, data=data)
