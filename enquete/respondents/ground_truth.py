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

from enquete.instruments.pack import NEUTRAL, Pack, pack_named
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


# --- Which stakeholder type of a pack an agent is of, recognised from free text, and how each type speaks. Shared by
# the synthetic respondents of all methodologies, so that one agent is of one type everywhere.

_UNTYPED = {"", "agent", "person", "user", "people", "individual", "entity", "node", "unknown", "other", "none"}


def type_of(who: Participant, pack: Pack) -> str:
    """One of the pack's types, else "other:<stakeholder type>", or "other:<persona hash>" for agents without a telling
    type.

    The stakeholder type decides; the persona is read only where the type says nothing of the kind and either of the two
    speaks of what the pack is about, so that a bank's "retail" customers are not taken for traders.
    """
    stated = who.stakeholder_type.strip()
    recognised = _recognised(pack.name, stated, who.persona)
    if recognised is not None:
        return recognised
    return f"other:{stated.casefold()}" if stated.casefold() not in _UNTYPED else f"other:{persona_hash(who)}"


def voice(kind: str, pack: Pack, language: Language, *key: str | int) -> str:
    """A sentence in which someone of this type (see `type_of`) speaks of themselves."""
    lines = pack.types[kind].voice if kind in pack.types else pack_named(NEUTRAL).voice
    return pick(lines[language], "voice", *key)


@lru_cache(maxsize=8192)  # asked again for every item of an agent
def _recognised(name: str, stated: str, persona: str) -> str | None:
    pack = pack_named(name)
    stated_type = _match(pack, stated)
    if stated_type is None:
        return _match(pack, persona) if pack.about and pack.about.search(f"{stated} {persona}") else None
    closer = _match(pack, persona)
    return closer if closer in pack.types[stated_type].others else stated_type


def _match(pack: Pack, text: str) -> str | None:
    text = text.replace("_", " ")
    return next((name for name, kind in pack.types.items() if kind.words.search(text)), None)
