"""Choosing who of a population is asked, as a request says: by name, type, column, or as a sample."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest

from enquete.ledger.record import (
    Chosen,
)
from enquete.respondents.ground_truth import uniform
from enquete.respondents.ledger_context import sampled
from enquete.simulations.population import (
    Population,
    among,
)
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest

CHOOSING_FIELDS = (
    "agents", "types", "where", "missing_codes", "decimal_mark", "sample", "stratify", "skip_incomplete",
    "skip_non_people",
)  # fmt: skip
"""Fields of a request that say who is asked."""
MAX_NAMES_KEPT = 500
"""Names of people who are not asked, kept in a run's record."""


def choose_participants(population: Population, request: RunRequest) -> Population:
    """Return the population that the request leaves; a sample is drawn by the request's seed.

    Args:
        population: Everybody who was read.
        request: Says who is asked: by name, type or column, and how a sample is drawn (stratified by type or not).

    Raises:
        SettingsError: The request names what the population does not have, or stratifies without a sample.
    """
    if request.stratify and not request.sample:
        raise SettingsError("stratify: says how a sample is drawn; name its size too, such as sample=20 stratify=True")
    kept = among(
        population, request.agents, request.types, request.where, complete=request.skip_incomplete,
        missing_codes=request.missing_codes, decimal_mark=request.decimal_mark,
    )  # fmt: skip
    people, size = kept.participants, request.sample
    if size is None or size >= len(people):
        return kept
    if request.stratify:
        return kept.only({who.id for who in sampled(people, size, request.seed)})
    ids = (who.id for who in people)
    return kept.only(set(nsmallest(size, ids, key=lambda who: uniform(request.seed, "sample", who))))


def describe_choice(population: Population, request: RunRequest) -> Chosen | None:
    """Return what the run's record says of the choice; None where everybody in the file is asked."""
    others = population.left_out
    if not others and not population.rows_left_out:
        return None
    by = {name: value for name in CHOOSING_FIELDS if (value := getattr(request, name))}
    types = dict(Counter(who.stakeholder_type for who in others).most_common())
    of = len(population.participants) + len(others)
    names = [who.name for who in others[:MAX_NAMES_KEPT]]
    return Chosen(of=of, by=by, not_asked=types, names=names, rows_left_out=population.rows_left_out)
