"""Whose memory a row or line is.

It is attributed only where index and name agree or the username proves it. Where a shifted file makes the owner
doubtful it is withheld and reported: no agent is given another one's experience.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from enquete.instruments.reading import fold
from enquete.simulations.population import Seat
from enquete.simulations.sources import Issue
from enquete.simulations.texts import clean, whole


def owners_of(
    connection: sqlite3.Connection, file: str, seats: Sequence[Seat]
) -> tuple[dict[int, str], set[str], list[Issue]]:
    """Participant id by the database's user_id, the withheld participants, and what was found.

    OASIS writes the username into user.name. It identifies; the index counts only where no name contradicts it.
    """
    by_index = {seat.index: seat for seat in seats}
    by_username = unique_usernames(seats)
    owners: dict[int, str] = {}
    doubtful: set[str] = set()
    issues = []
    for user_id, agent_id, name, user_name in connection.execute("SELECT user_id, agent_id, name, user_name FROM user"):
        seat = by_index.get(user_id if agent_id is None else agent_id)
        known = {fold(clean(text)) for text in (name, user_name) if isinstance(text, str)} - {""}
        owner = owner_by_name(known, seat, by_username)
        if owner and seat and owner is not seat:
            place = f"index {owner.index} of the profiles"
            issues.append(
                Issue("warning", file, f"user {user_id} is {name!r}, who stands at {place}: joined by username")
            )
        if owner and isinstance(user_id, int):
            owners[user_id] = owner.participant
        elif seat:
            doubtful.add(seat.participant)
    withheld = doubtful - set(owners.values())
    return owners, withheld, issues + withheld_issue(file, withheld)


def owner_by_name(known: set[str], seat: Seat | None, by_username: Mapping[str, Seat]) -> Seat | None:
    named = next((by_username[text] for text in sorted(known) if text in by_username), None)
    if named or seat is None:
        return named
    return seat if seat.certain or known & seat.names else None


def unique_usernames(seats: Iterable[Seat]) -> dict[str, Seat]:
    found: dict[str, Seat | None] = {}
    for seat in seats:
        found[seat.username] = None if seat.username in found else seat
    return {username: seat for username, seat in found.items() if username and seat}


class LogOwners:
    """Participant of a log line. The simulator takes a line's name from the configuration and its index from the profiles."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self.by_index = {seat.index: seat for seat in seats}
        self.by_name: dict[str, list[Seat]] = {}
        for seat in seats:
            for name in seat.names:
                self.by_name.setdefault(name, []).append(seat)
        self.withheld: set[str] = set()

    def owner(self, line: Mapping[str, JsonValue]) -> str | None:
        """The agent at the line's index unless the line names another: then both of them are in doubt."""
        index = whole(line.get("agent_id"))
        seat = self.by_index.get(index) if index is not None else None
        name = fold(clean(line.get("agent_name")))
        if seat and (name in seat.names or (seat.certain and name not in self.by_name)):
            return seat.participant
        self.withheld |= {other.participant for other in self.by_name.get(name, ()) if seat or not other.certain}
        if seat:
            self.withheld.add(seat.participant)
        return None


def withheld_issue(file: str, withheld: set[str]) -> list[Issue]:
    if not withheld:
        return []
    shown = ", ".join(sorted(withheld)[:5])
    problem = f"index and name disagree for {len(withheld)} agents, whose memory of this platform is left out: {shown}"
    return [Issue("warning", file, problem)]
