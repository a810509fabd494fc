"""Who of a population is asked: by name, by stakeholder type, by a condition, only those with a persona."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Sequence

from enquete.instruments.document import fold, suggestion
from enquete.instruments.expressions import ExpressionError, expression
from enquete.simulations.population import Population
from enquete.state.asking import Participant
from enquete.state.errors import SettingsError


def among(
    population: Population,
    agents: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    where: str = "",
    *,
    complete: bool = False,
) -> Population:
    """The population with only those whom all of these leave, in its own order; `complete`: with a bio or persona.

    Raises SettingsError for a name, type or field that it has not, and where nobody is left.
    """
    kept: Collection[str] = {who.id for who in population.participants}
    if agents:
        kept = _named(population, agents)
    if types:
        kept = {who.id for who in _of_types(population, types) if who.id in kept}
    if where:
        kept = {who for who in _where(population, where) if who in kept}
    if complete:
        kept = {who for who in kept if who not in population.incomplete}
    if population.participants and not kept:
        raise SettingsError(f"{population.sim_id}: nobody is left to ask")
    return population.only(kept)


def _named(population: Population, names: Sequence[str]) -> set[str]:
    every = [(who, {who.id, fold(who.name)}) for who in population.participants]
    for name in names:
        if not any({name, fold(name)} & known for _, known in every):
            near = difflib.get_close_matches(name, [who.name for who in population.participants], n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"agents: {name!r} is no agent of {population.sim_id}{meant}")
    wanted = {key for name in names for key in (name, fold(name))}
    return {who.id for who, known in every if wanted & known}


def _of_types(population: Population, types: Sequence[str]) -> list[Participant]:
    there = Counter(who.stakeholder_type for who in population.participants)
    known = {fold(kind): kind for kind in there}
    for kind in types:
        if fold(kind) not in known:
            listed = ", ".join(f"{name} ({n})" for name, n in there.most_common(20))
            raise SettingsError(f"types: {kind!r} is no stakeholder type of {population.sim_id}; there are {listed}")
    wanted = {fold(kind) for kind in types}
    return [who for who in population.participants if fold(who.stakeholder_type) in wanted]


def _where(population: Population, text: str) -> set[str]:
    """Raises SettingsError, also for a field that no agent has."""
    try:
        asked = expression(text)
    except ExpressionError as error:
        raise SettingsError(f"where: {error}") from None
    facts = {who.id: _facts(population, who) for who in population.participants}
    known = sorted({name for each in facts.values() for name in each if "." not in name})
    for name in sorted({".".join(path) for path in asked.names} - set(known)):
        raise SettingsError(f"where: {name!r} is known of no agent here{suggestion(name, known)}")
    return {identity for identity, known in facts.items() if asked.holds(known)}


def _facts(population: Population, who: Participant) -> dict[str, str]:
    """What the files say of an agent, by column; and what Enquete calls it."""
    own = {"id": who.id, "name": who.name, "stakeholder_type": who.stakeholder_type, "type": who.stakeholder_type}
    more = {"persona": who.persona, "agent_id": "" if who.agent_id is None else str(who.agent_id)}
    stance = population.stances.get(who.id, "")
    return {**population.facts.get(who.id, {}), **({"stance": stance} if stance else {}), **own, **more}
