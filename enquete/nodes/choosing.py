"""Who is asked of a population, and who is not: what a request says of it, carried out."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest

from enquete.checkpoints.record import Chosen
from enquete.respondents.planted import uniform
from enquete.respondents.presenting import sampled
from enquete.simulations.among import among
from enquete.simulations.population import Population
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest

SAID = ("agents", "types", "where", "sample", "stratify", "skip_incomplete")
"""Fields of a request that choose."""
MOST_NAMES = 500
"""Of those who are not asked, in a run's record."""


def chosen(population: Population, request: RunRequest) -> Population:
    """Those whom the request leaves; a sample of them is drawn by its seed, stratified by type where that is said.

    Raises SettingsError.
    """
    if request.stratify and not request.sample:
        raise SettingsError("stratify: says how a sample is drawn; name its size too, such as sample=20 stratify=True")
    kept = among(population, request.agents, request.types, request.where, complete=request.skip_incomplete)
    people, size = kept.participants, request.sample
    if size is None or size >= len(people):
        return kept
    if request.stratify:
        return kept.only({who.id for who in sampled(people, size, request.seed)})
    return kept.only(
        {who.id for who in nsmallest(size, people, key=lambda who: uniform(request.seed, "sample", who.id))}
    )


def told(population: Population, request: RunRequest) -> Chosen | None:
    """What is written down of it; None where everybody is asked."""
    others = population.left_out
    if not others:
        return None
    by = {name: value for name in SAID if (value := getattr(request, name))}
    types = dict(Counter(who.stakeholder_type for who in others).most_common())
    of = len(population.participants) + len(others)
    return Chosen(of=of, by=by, not_asked=types, names=[who.name for who in others[:MOST_NAMES]])
