"""What happened on each platform, from the OASIS database where it can be read, else from the action log."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from enquete.simulations.action_log import PLATFORMS, LogLines, Platform, is_action, log_path
from enquete.simulations.database import database_path, opened
from enquete.simulations.entries import Memory, interpret
from enquete.simulations.ownership import LogOwners, owners_of, withheld_issue
from enquete.simulations.population import Population, Seat
from enquete.simulations.sources import Issue
from enquete.simulations.texts import clean, one_line
from enquete.simulations.trace import read_trace

Source = Literal["database", "log", "none"]


@dataclass
class Experience:
    """One platform's record: memories by participant id.

    `withheld`: participants whose entries cannot be told from another's. `exposure`: whether it is recorded what
    agents were shown (only databases do). `length`: rows or lines, to compare places across platforms.
    """

    platform: Platform
    source: Source = "none"
    memories: dict[str, Memory] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)
    exposure: bool = False
    length: int = 1


def read_experience(population: Population, budget: int) -> tuple[list[Experience], list[Issue]]:
    """The platforms' records, about `budget` characters per agent, platform and kind.

    Damaged files never raise: a database that cannot be read gives way to the log, and an unreadable log to nothing
    (source "none"), each with an Issue.
    """
    issues: list[Issue] = []
    experiences = []
    names = {who.id: who.name for who in (*population.participants, *population.left_out)}
    for platform in PLATFORMS:
        seats = [seat for seat in population.seats if seat.platform == platform]
        if seats:
            found = from_database(population.path, platform, seats, names, budget, issues)
            experiences.append(found or from_log(population.path, platform, seats, budget, issues))
    return experiences, issues


def from_database(
    folder: Path, platform: Platform, seats: Sequence[Seat], names: dict[str, str], budget: int, issues: list[Issue]
) -> Experience | None:
    path = database_path(folder, platform)
    if not path.exists():
        return None
    try:
        with opened(path) as connection:
            owners, withheld, found = owners_of(connection, path.name, seats)
            trace = read_trace(connection, owners, names, budget)
    except (sqlite3.Error, OSError) as error:
        why = one_line(str(getattr(error, "strerror", None) or error))
        problem = f"cannot be read as an OASIS database ({why}); the action log is used instead"
        issues.append(Issue("warning", path.name, problem))
        return None
    issues.extend(found)
    return Experience(platform, "database", trace.memories, withheld, trace.exposure, trace.length)


def from_log(folder: Path, platform: Platform, seats: Sequence[Seat], budget: int, issues: list[Issue]) -> Experience:
    path = log_path(folder, platform)
    if not path.exists():
        return Experience(platform)
    lines, owners = LogLines(path), LogOwners(seats)
    memories: dict[str, Memory] = {}
    try:
        understood = read_lines(lines, owners, memories, budget)
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error}): no memory from it"
        issues.append(Issue("warning", f"{platform}/{path.name}", problem))
        return Experience(platform)
    issues.extend(line_issues(f"{platform}/{path.name}", lines, understood))
    issues.extend(withheld_issue(f"{platform}/{path.name}", owners.withheld))
    source: Source = "log" if understood or not lines.broken else "none"
    return Experience(platform, source, memories, owners.withheld, length=max(lines.lines, 1))


def read_lines(lines: LogLines, owners: LogOwners, memories: dict[str, Memory], budget: int) -> int:
    """Fills `memories`, oldest first. Returns the number of lines understood; failed actions are no experience."""
    understood = 0
    for number, line in lines:
        understood += 1
        args = line.get("action_args")
        if not is_action(line) or line.get("success") is False or not isinstance(args, dict):
            continue
        owner = owners.owner(line)
        told = interpret(clean(line.get("action_type")), args, float(number)) if owner else None
        if owner and told:
            memory = memories.setdefault(owner, Memory(budget))
            memory.shelves[told[0]].add_newer(told[1])
    return understood


def line_issues(file: str, lines: LogLines, understood: int) -> list[Issue]:
    issues = []
    if lines.torn:
        issues.append(Issue("warning", file, f"line {lines.lines} is torn, as after a kill, and is left out"))
    if lines.broken:
        numbers = ", ".join(map(str, lines.broken[:5]))
        rest = "" if understood else "; nothing in it can be read"
        message = f"{len(lines.broken)} lines are no JSON objects and are left out: line {numbers}{rest}"
        issues.append(Issue("warning", file, message))
    return issues
