"""Who plays which part: by the place at the table, stable over all rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from enquete.respondents.planted import pick
from enquete.state.errors import SettingsError

Assign = Literal["one", "alternate", "split", "perspectives"]
"""Of a mode: everybody the first role; the roles in turn; primary, opposition, evaluators; perspectives as the run sets them."""
Perspectives = Literal["round-robin", "random", "explicit"]


@dataclass(frozen=True)
class Seat:
    """A participant's place among `of`. `name`: as explicit perspectives call it; `key`: of a draw."""

    participant: str
    index: int
    of: int
    name: str = ""
    perspectives: Perspectives = "round-robin"
    explicit: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str | int, ...] = ()


def role_of(assign: Assign, roles: Sequence[str], seat: Seat) -> str:
    if assign == "alternate":
        return roles[seat.index % len(roles)]
    if assign == "split":
        return _split(roles, seat)
    if assign == "perspectives":
        return _perspective(roles, seat)
    return roles[0]


def _split(roles: Sequence[str], seat: Seat) -> str:
    """First, second, third role in this order: of two one each of the first two; from three on the third has one of an odd
    number and two of an even one, and the first two share the rest evenly."""
    first, second, third = roles[:3]
    third_has = 0 if seat.of <= 2 else 1 if seat.of % 2 else 2
    each = (seat.of - third_has) / 2
    return first if seat.index < each else second if seat.index < 2 * each else third


def _perspective(roles: Sequence[str], seat: Seat) -> str:
    if seat.perspectives == "random":
        return pick(roles, *seat.key, "perspective", seat.participant)
    if seat.perspectives == "round-robin":
        return roles[seat.index % len(roles)]
    named = seat.explicit.get(seat.participant) or seat.explicit.get(seat.name)
    if named is None:  # those whom nobody named go round
        return roles[seat.index % len(roles)]
    if named not in roles:
        raise SettingsError(f"perspective_of: {named!r} is no perspective of this mode; there are {', '.join(roles)}")
    return named
