"""Who sits together. Deals the agents of an arm into groups: by hand, of one type, mixed across types, or of most different
views; the same agents and the same draw give the same groups in every process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, zip_longest
from math import ceil

import numpy as np

from enquete.graphs.roundtable.settings import LEAST_SIZE, MOST_SIZE, RoundtableSettings
from enquete.respondents.planted import uniform
from enquete.state.asking import Participant


@dataclass(frozen=True)
class Control:
    """An agent who only reads: what `reads` said, "" where there is nobody to read."""

    participant: str
    reads: str


@dataclass(frozen=True)
class Seating:
    """groups and controls by unit; unseated: agents whom no group took; unknown: names by hand that nobody has."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: Mapping[str, Control] = field(default_factory=dict)
    alone: Mapping[str, str] = field(default_factory=dict)
    unseated: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def seated(people: Sequence[Participant], settings: RoundtableSettings, draw: int) -> Seating:
    if len(people) == 1:  # nobody to talk to: asked privately, so that a study of one says what it can
        return Seating(alone={"alone_01": people[0].id})
    if settings.compose == "hand":
        groups, unknown = _by_hand(people, settings)
    else:
        groups, unknown = _dealt(people, settings, draw), ()
    named = {f"group_{number:02d}": group for number, group in enumerate(groups, start=1)}
    taken = set(chain.from_iterable(groups))
    rest = sorted((who.id for who in people if who.id not in taken), key=lambda who: uniform(draw, "control", who))
    reading = rest[: settings.controls] if named else []
    units = list(named)
    controls = {
        f"control_{number:02d}": Control(who, units[(number - 1) % len(units)])
        for number, who in enumerate(reading, start=1)
    }
    return Seating(named, controls, {}, tuple(sorted(rest[len(reading) :])), unknown)


def _by_hand(
    people: Sequence[Participant], settings: RoundtableSettings
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """By id or name. A group that too few of are in the population is left out."""
    known = {who.name: who.id for who in people} | {who.id: who.id for who in people}
    groups = [tuple(dict.fromkeys(known[name] for name in group if name in known)) for group in settings.by_hand]
    unknown = tuple(name for group in settings.by_hand for name in group if name not in known)
    return [group for group in groups if len(group) >= LEAST_SIZE], unknown


def _dealt(people: Sequence[Participant], settings: RoundtableSettings, draw: int) -> list[tuple[str, ...]]:
    """Groups of `size`, or of nearly that where it does not go up: everybody has a seat unless `groups` says how many."""
    drawn = sorted(people, key=lambda who: uniform(draw, "seat", who.id))
    if settings.compose == "type":
        drawn = drawn[: _free(len(drawn), settings)]
        pools = [[who.id for who in drawn if who.stakeholder_type == kind] for kind in _types(drawn)]
        dealt = [group for pool in pools for group in _cut(pool, _number(len(pool), settings.size))]
        return dealt[: settings.groups or None]
    if settings.compose == "views":
        views = settings.played.views
        order = [who.id for who in drawn if who.id in views]
        return _apart(order, views, _reserved(len(order), settings), settings)
    order = _interleaved([[who.id for who in drawn if who.stakeholder_type == kind] for kind in _types(drawn)])
    seats = _reserved(len(order), settings)
    return _cut(order[:seats], settings.groups or _number(seats, settings.size))


def _reserved(n: int, settings: RoundtableSettings) -> int:
    """Agents who get a seat: all but the controls, or as many as the groups that were asked for have."""
    free = _free(n, settings)
    return min(free, settings.groups * settings.size) if settings.groups else free


def _free(n: int, settings: RoundtableSettings) -> int:
    return max(n - settings.controls, min(n, LEAST_SIZE))


def _number(n: int, size: int) -> int:
    """Groups of nearly `size` for n, none smaller than two."""
    return max(min(ceil(n / size), n // LEAST_SIZE), 1 if n >= LEAST_SIZE else 0)


def _cut(order: Sequence[str], number: int) -> list[tuple[str, ...]]:
    """In neighbouring stretches whose lengths differ by one at most; fewer groups where two each are not to be had."""
    number = min(number, len(order) // LEAST_SIZE)
    ends = [len(order) * place // number for place in range(number + 1)] if number else [0]
    return [tuple(order[lo:hi])[:MOST_SIZE] for lo, hi in pairwise(ends)]


def _types(people: Sequence[Participant]) -> list[str]:
    """The largest first."""
    kinds = [who.stakeholder_type for who in people]
    return sorted(set(kinds), key=lambda kind: (-kinds.count(kind), kind))


def _interleaved(pools: Iterable[Sequence[str]]) -> list[str]:
    """One of each in turn: neighbours are as different as the pools allow."""
    return [who for turn in zip_longest(*pools) for who in turn if who is not None]


def _apart(
    order: Sequence[str], views: Mapping[str, Sequence[float]], seats: int, settings: RoundtableSettings
) -> list[tuple[str, ...]]:
    """Each group in turn takes whoever is farthest, in loadings, from the nearest of those it has: maximin, greedily."""
    number = settings.groups or _number(seats, settings.size)
    number = min(number, seats // LEAST_SIZE)
    if not number:
        return []
    points = np.array([views[who] for who in order], dtype=float)
    free = np.ones(len(order), dtype=bool)
    groups: list[list[int]] = [[] for _ in range(number)]
    for seat in range(seats):
        group = groups[seat % number]
        group.append(_farthest(points, free, group))
        free[group[-1]] = False
    return [tuple(order[place] for place in group) for group in groups]


def _farthest(
    points: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    free: np.ndarray[tuple[int], np.dtype[np.bool_]],
    group: Sequence[int],
) -> int:
    """The free point whose nearest group member is farthest away; of an empty group the one of the strongest view."""
    if group:
        apart = np.min(np.linalg.norm(points[:, None, :] - points[None, list(group), :], axis=2), axis=1)
    else:
        apart = np.abs(points).max(axis=1)
    return int(np.argmax(np.where(free, apart, -1.0)))
