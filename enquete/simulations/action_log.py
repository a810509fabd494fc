"""What agents did in a simulation, as its action log and its database tell it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pydantic import JsonValue

from enquete.simulations.sources import clean, whole
from enquete.state.untrusted_input import open_regular, parse_json, require_regular

# --- The simulator's action logs, streamed line by line: {twitter,reddit}/actions.jsonl.

Platform = Literal["twitter", "reddit"]
PLATFORMS: tuple[Platform, ...] = ("twitter", "reddit")
LONGEST_LINE = 4 * 1024 * 1024


def log_path(folder: Path, platform: Platform) -> Path:
    return folder / platform / "actions.jsonl"


@dataclass
class LogLines:
    """The objects of one log with their line numbers. After iteration, `broken` and `torn` say what was left out."""

    path: Path
    broken: list[int] = field(default_factory=list)
    torn: bool = False
    lines: int = 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, JsonValue]]]:
        """Raises OSError where the file cannot be read. A last line cut off by a kill is `torn`, not `broken`."""
        self.broken, self.torn, self.lines = [], False, 0
        with open_regular(self.path) as stream:
            while raw := stream.readline(LONGEST_LINE):
                self.lines += 1
                value = parse_line(raw)
                if isinstance(value, dict):
                    yield self.lines, value
                elif raw.strip():
                    self.torn = not raw.endswith(b"\n")
                    self.broken.extend([] if self.torn else [self.lines])


def parse_line(raw: bytes) -> JsonValue:
    try:
        return parse_json(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What one platform's log says of its simulation.

    `ended`: the last simulation event of the log is simulation_end (a resumed run starts again after an end).
    `closed_round`: the last round that the log says has ended. `last_round`: the last one it tells anything of.
    `planned`: rounds as the simulation's end states them; its start states them before they are cut short.
    """

    actions: int
    ended: bool
    closed_round: int | None = None
    last_round: int | None = None
    planned: int | None = None
    is_begun: bool = False

    def has_reached(self, planned: int | None) -> bool:
        """Whether the log ends with the last round; `planned`: how many there are, if the run's state says so.

        A runner that is stopped early writes simulation_end as well, so that alone proves nothing.
        """
        last = planned or self.planned
        if not last:
            return False
        if self.closed_round is not None and self.closed_round >= last:
            return True
        return self.ended and self.last_round is not None and self.last_round >= last


def summarise(path: Path) -> LogSummary | None:
    """Number of actions and how far the simulation came; None where the log is missing or unreadable."""
    actions, ended, is_begun = 0, False, False
    closed_round = last_round = planned = None
    try:
        for _, line in LogLines(path):
            event, number = clean(line.get("event_type")), whole(line.get("round"))
            if event in ("simulation_start", "simulation_end"):
                ended = event == "simulation_end"
                planned = whole(line.get("total_rounds")) if ended else None
            if event == "simulation_start":
                closed_round = last_round = None
            if number is not None:
                last_round = number
            if event == "round_end":
                closed_round = number
            acted = is_action(line)
            actions += acted
            is_begun = is_begun or acted or bool(event)
    except OSError:
        return None
    return LogSummary(actions, ended, closed_round, last_round, planned, is_begun)


def is_action(line: Mapping[str, JsonValue]) -> bool:
    """An action of an agent; being interviewed is none."""
    action = clean(line.get("action_type"))
    return bool(action) and action.upper() != "INTERVIEW"


def summarise_logs(folder: Path) -> dict[Platform, LogSummary]:
    """The readable logs of a simulation."""
    summaries = ((platform, summarise(log_path(folder, platform))) for platform in PLATFORMS)
    return {platform: summary for platform, summary in summaries if summary is not None}


# --- Opening an OASIS database without leaving a trace beside it.

SIDECARS = ("-wal", "-journal")
TABLES = ("user", "post", "comment", "follow", "trace", "chat_group", "group_members", "group_messages")
LONGEST_VALUE = 4_000_000  # bytes of a text or blob; what an agent was shown in one go is some tens of kB
MOST_STEPS, STEPS = 300_000_000, 1_000_000  # of SQLite's machine: some seconds; a million rows take 40 million
NO_ACTION = ("sign_up", "refresh", "trend", "interview")


def database_path(folder: Path, platform: Platform) -> Path:
    return folder / f"{platform}_simulation.db"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection that creates no file beside the database.

    immutable=1 keeps SQLite from making -wal, -shm and locks, but it also ignores what a killed run left in a journal:
    then a copy is opened instead, where SQLite may recover it. A view is a program, so none may stand for a table; what
    is read has a largest size, and reading a largest number of steps. Raises sqlite3.Error or OSError.
    """
    for file in (path, *(journal(path, suffix) for suffix in SIDECARS if journal(path, suffix).exists())):
        require_regular(file)
    if any(journal(path, suffix).exists() for suffix in SIDECARS):
        with TemporaryDirectory(prefix="enquete-") as scratch, connected(copied(path, Path(scratch)), "rw") as copy:
            yield copy
    else:
        with connected(path, "ro&immutable=1") as connection:
            yield connection


@contextmanager
def connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.execute("PRAGMA trusted_schema=OFF")
        try:
            require_tables(connection)
            left = iter(range(MOST_STEPS // STEPS))
            connection.set_progress_handler(lambda: next(left, -1) < 0, STEPS)
            yield connection
        except UnicodeDecodeError as error:  # what SQLite says of a damaged schema quotes it
            raise sqlite3.DatabaseError("its schema is damaged") from error
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            raise sqlite3.OperationalError("it takes too many steps to read; is an index missing?") from error
        except sqlite3.DataError as error:
            raise sqlite3.DataError(f"a text or blob in it has more than {LONGEST_VALUE // 1_000_000} MB") from error


def require_tables(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError where a table's name is that of a view, or of a table that is a program as well."""
    marks = ", ".join("?" * len(TABLES))
    tables = connection.execute(
        f"SELECT type, name, rootpage FROM sqlite_master WHERE name IN ({marks}) ORDER BY name", TABLES
    )
    for kind, name, root in tables:
        if kind in ("table", "view") and not (kind == "table" and root):
            raise sqlite3.DatabaseError(f"{name} is no table but a {'view' if kind == 'view' else 'virtual table'}")


def journal(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def copied(path: Path, scratch: Path) -> Path:
    copy = scratch / path.name
    shutil.copyfile(path, copy)
    for suffix in SIDECARS:
        if journal(path, suffix).exists():
            shutil.copyfile(journal(path, suffix), journal(copy, suffix))
    return copy


def count_trace(folder: Path, platform: Platform) -> int:
    """Actions in a platform's trace; 0 where there is no readable database."""
    path = database_path(folder, platform)
    if not path.is_file():
        return 0
    query = f"SELECT count(*) FROM trace WHERE action NOT IN ({', '.join('?' * len(NO_ACTION))})"
    try:
        with opened(path) as connection:
            return int(connection.execute(query, NO_ACTION).fetchone()[0])
    except (sqlite3.Error, OSError):
        return 0
