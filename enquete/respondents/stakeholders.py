"""Which stakeholder type of a pack an agent is of, recognised from free text, and how each type speaks.

Shared by the synthetic respondents of all methodologies, so that one agent is of one type everywhere.
"""

from __future__ import annotations

from functools import lru_cache

from enquete.instruments.pack import NEUTRAL, Pack, pack_named
from enquete.respondents.planted import persona_hash, pick
from enquete.state.asking import Language, Participant

_UNTYPED = {"", "agent", "person", "user", "people", "individual", "entity", "node", "unknown", "other", "none"}


def type_of(who: Participant, pack: Pack) -> str:
    """One of the pack's types, else "other:<stakeholder type>", or "other:<persona hash>" for agents without a telling type.

    The stakeholder type decides; the persona is read only where the type says nothing of the kind and either of the two
    speaks of what the pack is about, so that a bank's "retail" customers are not taken for traders.
    """
    stated = who.stakeholder_type.strip()
    found = _recognised(pack.name, stated, who.persona)
    if found is not None:
        return found
    return f"other:{stated.casefold()}" if stated.casefold() not in _UNTYPED else f"other:{persona_hash(who)}"


def voice(kind: str, pack: Pack, language: Language, *key: str | int) -> str:
    """A sentence in which someone of this type (see `type_of`) speaks of themselves."""
    lines = pack.types[kind].voice if kind in pack.types else pack_named(NEUTRAL).voice
    return pick(lines[language], "voice", *key)


@lru_cache(maxsize=8192)  # asked again for every item of an agent
def _recognised(name: str, stated: str, persona: str) -> str | None:
    pack = pack_named(name)
    found = _match(pack, stated)
    if found is None:
        return _match(pack, persona) if pack.about and pack.about.search(f"{stated} {persona}") else None
    closer = _match(pack, persona)
    return closer if closer in pack.types[found].others else found


def _match(pack: Pack, text: str) -> str | None:
    text = text.replace("_", " ")
    return next((name for name, kind in pack.types.items() if kind.words.search(text)), None)
