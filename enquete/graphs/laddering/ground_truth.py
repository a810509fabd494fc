"""The planted chains: who carries which thoughts (truth/laddering.yaml of a pack), and in which words they are said (plant.yaml)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle, pairwise
from typing import NamedTuple

from enquete.graphs.laddering.concept import Concept
from enquete.instruments.pack import Data, Pack, Words, pack_on, read_yaml
from enquete.instruments.text import Text
from enquete.respondents.planted import persona_hash, sample
from enquete.respondents.stakeholders import type_of
from enquete.state.asking import Language, Participant

CARRIED = 3
"""Chains an agent carries."""

ELEMENT = "{element}"

Says = Mapping[Language, Mapping[str, tuple[str, ...]]]
Patterns = Mapping[Language, Words]


class Thought(Data):
    """A concept in several wordings. `kind`: what a question must ask for to bring it up; "" for the first of a chain.

    `beside`: what else it leads to, and nothing follows from.
    """

    kind: str = ""
    de: tuple[str, ...]
    en: tuple[str, ...]
    beside: tuple[Thought, ...] = ()

    def wordings(self, language: Language) -> tuple[str, ...]:
        return {"de": self.de, "en": self.en}[language]

    @property
    def all_wordings(self) -> tuple[str, ...]:
        return (*self.de, *self.en)

    def about(self, element: Text) -> Thought:
        """With an element of the concept in the place of {element}."""
        de, en = (
            tuple(wording.replace(ELEMENT, element.in_(language)) for wording in self.wordings(language))
            for language in ("de", "en")
        )
        return self if (de, en) == (self.de, self.en) else self.model_copy(update={"de": de, "en": en})


class Chain(Data):
    """Thoughts in their order; `who`: stakeholder types that carry it, everybody where none is named."""

    method: str
    who: tuple[str, ...] = ()
    thoughts: tuple[Thought, ...]

    @property
    def all_thoughts(self) -> tuple[Thought, ...]:
        return tuple(thought for one in self.thoughts for thought in (one, *one.beside))


class Fatigue(Data):
    """How many agents tire, and after which turn."""

    share: float
    after_turn: int


class LadderingTruth(Data):
    """truth/laddering.yaml. A thought of the neutral pack may be {element}: one of whatever the interview is about."""

    chains: tuple[Chain, ...] = ()


class Manner(Data):
    """plant.yaml: how planted thoughts are brought up and said, whatever they are about."""

    cues: Mapping[str, Patterns]
    leads: Mapping[str, tuple[str, ...]]  # kind → kinds it may bring up within its chain
    more: Patterns
    triad: Patterns
    meaning: Patterns
    fatigue: Fatigue
    says: Says


@dataclass(frozen=True)
class Plant:
    """What agents carry on one concept: the chains of the pack that knows its topic, else chains that begin with its elements."""

    manner: Manner
    pack: Pack
    chains: tuple[Chain, ...]
    elements: tuple[Text, ...]

    def carried(self, who: Participant, method: str, seed: int) -> tuple[Chain, ...]:
        """An agent's chains; those of its type, else drawn from all.

        A methodology that nothing was planted for is answered from the means-end chains.
        """
        methods = {chain.method for chain in self.chains}
        fitting = [one for one in self.chains if one.method == (method if method in methods else "means_end_chain")]
        kind = type_of(who, self.pack)
        own = [chain for chain in fitting if not chain.who or kind in chain.who] or fitting
        key = (seed, "laddering", "carried", method, persona_hash(who))
        drawn = sample([(chain, 1.0) for chain in own], CARRIED, *key)
        about = sample([(element, 1.0) for element in self.elements], CARRIED, *key, "element")
        return tuple(
            chain.model_copy(update={"thoughts": tuple(one.about(element) for one in chain.thoughts)})
            for chain, element in zip(drawn, cycle(about), strict=False)
        )


class Link(NamedTuple):
    """Two thoughts of which the first leads to the second."""

    source: Thought
    target: Thought


def links(chains: Sequence[Chain], leads: Mapping[str, Sequence[str]] | None = None) -> list[Link]:
    """What an interview can find at most: each chain in its order, what lies beside its thoughts, and what the kinds lead to."""
    ahead = [Link(a, b) for chain in chains for a, b in pairwise(chain.thoughts)]
    beside = [Link(a, b) for chain in chains for a in chain.thoughts for b in a.beside]
    across = [
        Link(a, b) for chain in chains for a in chain.all_thoughts for b in chain.all_thoughts
        if b.kind in (leads or {}).get(a.kind, ())
    ]  # fmt: skip
    return list({(id(link.source), id(link.target)): link for link in (*ahead, *beside, *across)}.values())


def plant(concept: Concept) -> Plant:
    """What is planted about a concept."""
    pack = pack_on(concept.topic)
    elements = tuple(element.label for element in concept.elements.values())
    return Plant(manner(), pack, pack.truth("laddering", LadderingTruth).chains, elements)


@cache
def manner() -> Manner:
    """plant.yaml, validated."""
    return Manner.model_validate(read_yaml(files("enquete.graphs.laddering") / "plant.yaml"))
