"""The planted chains as read from plant.yaml: who carries which thoughts, and in which words they are said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, field_validator

from enquete.respondents.planted import persona_hash, sample
from enquete.respondents.stakeholders import type_of
from enquete.state.seam import Language, Participant

CARRIED = 3
"""Chains an agent carries."""

Says = Mapping[Language, Mapping[str, tuple[str, ...]]]
Patterns = Mapping[Language, re.Pattern[str]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Thought(_Strict):
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


class Chain(_Strict):
    """Thoughts in their order; `who`: stakeholder types that carry it, everybody where none is named."""

    topic: str
    method: str
    who: tuple[str, ...] = ()
    thoughts: tuple[Thought, ...]

    @property
    def all_thoughts(self) -> tuple[Thought, ...]:
        return tuple(thought for one in self.thoughts for thought in (one, *one.beside))


class Fatigue(_Strict):
    """How many agents tire, and after which turn."""

    share: float
    after_turn: int


class Plant(_Strict):
    """The whole file; patterns as regular expressions without regard to case."""

    topics: Mapping[str, re.Pattern[str]]
    cues: Mapping[str, Patterns]
    leads: Mapping[str, tuple[str, ...]]  # kind → kinds it may bring up within its chain
    more: Patterns
    meaning: Patterns
    fatigue: Fatigue
    chains: tuple[Chain, ...]
    says: Says

    @field_validator("topics", "more", "meaning", mode="before")
    @classmethod
    def _compiled(cls, patterns: Mapping[str, str]) -> Mapping[str, re.Pattern[str]]:
        return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}

    @field_validator("cues", mode="before")
    @classmethod
    def _compiled_cues(cls, cues: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, re.Pattern[str]]]:
        return {kind: {name: re.compile(text, re.IGNORECASE) for name, text in by.items()} for kind, by in cues.items()}

    def carried(self, who: Participant, told: str, method: str, seed: int) -> tuple[Chain, ...]:
        """An agent's chains on the topic that the instruction tells of; those of its type, else drawn from all.

        A methodology that nothing was planted for is answered from the means-end chains.
        """
        methods = {chain.method for chain in self.chains}
        fitting = [
            chain for chain in self.chains if chain.method == (method if method in methods else "means_end_chain")
        ]
        topic = next((name for name, pattern in self.topics.items() if pattern.search(told)), "any")
        about = [one for one in fitting if one.topic == topic] or [one for one in fitting if one.topic == "any"]
        kind = type_of(who)
        own = [chain for chain in about if not chain.who or kind in chain.who] or about
        key = (seed, "laddering", "carried", method, persona_hash(who))
        return tuple(sample([(chain, 1.0) for chain in own], CARRIED, *key))


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


@cache
def plant() -> Plant:
    """plant.yaml, validated."""
    return Plant.model_validate(
        yaml.safe_load(files("enquete.graphs.laddering").joinpath("plant.yaml").read_text("utf-8"))
    )
