"""What a knowledge graph holds about an agent: a summary and facts. It is context, not experience."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

_WORD = re.compile(r"\w{4,}")


class Fact(BaseModel):
    """A sentence about an agent, with when it became true or was learnt (ISO 8601)."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str
    at: str = ""


class Knowledge(BaseModel):
    """What is known of one agent."""

    model_config = ConfigDict(frozen=True)

    summary: str = ""
    facts: tuple[Fact, ...] = ()


def by_relevance(facts: Sequence[Fact], topic: str) -> list[Fact]:
    """The facts that share most words of four letters or more with the topic first, of equals the newest; each text once."""
    wanted = _words(topic)
    newest = sorted({fact.text: fact for fact in facts}.values(), key=lambda fact: fact.at, reverse=True)
    return sorted(newest, key=lambda fact: -len(_words(fact.text) & wanted))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
