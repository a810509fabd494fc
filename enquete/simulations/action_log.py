"""The simulator's action logs, streamed line by line: {twitter,reddit}/actions.jsonl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from enquete.simulations.texts import clean
from enquete.state.regular_files import open_regular, parse_json

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
    """`ended`: the last simulation event of the log is simulation_end (a resumed run starts again after an end)."""

    actions: int
    ended: bool


def summarise(path: Path) -> LogSummary | None:
    """Number of actions and whether the simulation ended; None where the log is missing or unreadable."""
    actions, ended = 0, False
    try:
        for _, line in LogLines(path):
            event = clean(line.get("event_type"))
            if event in ("simulation_start", "simulation_end"):
                ended = event == "simulation_end"
            actions += is_action(line)
    except OSError:
        return None
    return LogSummary(actions, ended)


def is_action(line: Mapping[str, JsonValue]) -> bool:
    """An action of an agent; being interviewed is none."""
    action = clean(line.get("action_type"))
    return bool(action) and action.upper() != "INTERVIEW"


def summarise_logs(folder: Path) -> dict[Platform, LogSummary]:
    """The readable logs of a simulation."""
    summaries = ((platform, summarise(log_path(folder, platform))) for platform in PLATFORMS)
    return {platform: summary for platform, summary in summaries if summary is not None}
