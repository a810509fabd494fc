"""Joining T1's agents to T0's, and the hashes that say whether a population is still the same."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from enquete.instruments.document import fold
from enquete.state.asking import Participant
from enquete.state.errors import PopulationMismatch


@dataclass(frozen=True)
class Join:
    """How two populations correspond, by participant id.

    matched: (baseline id, current id); changed: those of them whose persona differs, by current id;
    renamed: (id, name at baseline, name now) of matched ids whose name differs: most likely another agent.
    """

    matched: tuple[tuple[str, str], ...]
    lost: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    renamed: tuple[tuple[str, str, str], ...]


def persona_hash(participant: Participant) -> str:
    """SHA-256 (hex) over name and persona: what makes an agent that agent where no uuid does."""
    return digest_of([participant.name, participant.persona])


def population_hash(participants: Sequence[Participant]) -> str:
    """SHA-256 (hex) over id, name, type and persona of all participants in their order; memory is no part of it."""
    return digest_of([[p.id, p.name, p.stakeholder_type, p.persona] for p in participants])


def digest_of(value: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


def join(baseline: Sequence[Participant], current: Sequence[Participant]) -> Join:
    """Match by id (the entity's uuid), then what is left by name and persona hash where that is unique on both
    sides."""
    before, after = {p.id: p for p in baseline}, {p.id: p for p in current}
    partner = {identity: identity for identity in before if identity in after}
    lost = [p for p in baseline if p.id not in after]
    new = unique_hashes([p for p in current if p.id not in before])
    for persona, participant_id in unique_hashes(lost).items():
        if persona in new:
            partner[participant_id] = new[persona]
    matched = tuple((p.id, partner[p.id]) for p in before.values() if p.id in partner)
    taken = {now for _, now in matched}
    return Join(
        matched=matched,
        lost=tuple(identity for identity in before if identity not in partner),
        new=tuple(identity for identity in after if identity not in taken),
        changed=tuple(now for then, now in matched if persona_hash(before[then]) != persona_hash(after[now])),
        renamed=tuple(
            (now, before[then].name, after[now].name)
            for then, now in matched
            if fold(before[then].name) != fold(after[now].name)
        ),
    )


def unique_hashes(participants: Sequence[Participant]) -> dict[str, str]:
    """Participant id by persona hash, of hashes that occur once: twins cannot be told apart."""
    hashes = [(persona_hash(p), p.id) for p in participants]
    counts = Counter(value for value, _ in hashes)
    return {value: participant_id for value, participant_id in hashes if counts[value] == 1}


def require_joinable(result: Join) -> None:
    """Raise PopulationMismatch if nothing matches, or if a matched uuid now carries another name (the wrong agent)."""
    if not result.matched:
        problem = f"none of the {len(result.lost)} agents at T0 is among the {len(result.new)} at T1"
        fact = f"{problem}. T1 has to read the simulation that T0 was taken from"
        raise PopulationMismatch(f"{fact}; with new=True a new baseline is taken", fact=fact)
    if result.renamed:
        shown = "; ".join(f"{identity} was {then!r}, is {now!r}" for identity, then, now in result.renamed[:5])
        problem = f"{len(result.renamed)} agents carry another name than at T0: {shown}"
        raise PopulationMismatch(
            f"{problem}. Check the order of agents in simulation_config.json and the profile files"
        )
