"""Whether a simulation has run to its end.

run_state.json decides, unless it is stale. The action logs decide only where it is missing or unreadable, a database where OASIS
left nothing else. state.json is never asked: it stays at "running" after a run has ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from enquete.simulations.action_log import PLATFORMS, LogSummary, Platform, summarise_logs
from enquete.simulations.database import count_trace, database_path
from enquete.simulations.sources import read_object
from enquete.simulations.texts import clean, clip, one_line, whole
from enquete.state.errors import SimulationError

FINISHED = {"completed", "complete", "finished", "done"}
ENDING = {"stopping", "stopped"}
"""Steps that a runner which is gone may never have left. `running` is what a simulation that goes on says, too."""
ERROR_CHARS = 200


@dataclass(frozen=True)
class Completion:
    """`status`: run_state's own word, or ended / not_ended by the logs, or database, or not_started, or no_simulation.

    progress: rounds done and planned; error: what stopped the runner; both as run_state.json has them.
    """

    completed: bool
    status: str
    reason: str
    assumed: bool = False
    progress: tuple[int, int] | None = None
    error: str = ""


NO_SIMULATION = Completion(False, "no_simulation", "a personas file has no simulation")


def completion(path: Path, assume_completed: bool = False) -> Completion:
    """Whether the simulation in folder `path` has completed, and what says so.

    `assume_completed` is the user's word for a run that was killed and therefore still says running.
    """
    return completion_from(path, summarise_logs(path), assume_completed)


def completion_from(path: Path, logs: Mapping[Platform, LogSummary], assume_completed: bool) -> Completion:
    found = from_run_state(path) or (from_logs(logs) if logs else from_databases(path))
    if found.completed or not assume_completed:
        return found
    return replace(found, completed=True, reason=f"assumed to be completed; {found.reason}", assumed=True)


def from_run_state(path: Path) -> Completion | None:
    """None where run_state.json is missing, unreadable or without a runner_status."""
    file = path / "run_state.json"
    try:
        said = read_object(file) if file.exists() else {}
    except SimulationError:
        return None
    word = clean(said.get("runner_status"))
    status = clip(re.sub(r"[\s-]+", "_", word).lower(), 60)
    if not status:
        return None
    done, planned = said.get("current_round"), said.get("total_rounds")
    progress = (done, planned) if isinstance(done, int) and isinstance(planned, int) and planned else None
    reason = f"run_state.json: runner_status is {clip(word, 60)!r}"
    error = clip(one_line(clean(said.get("error"))), ERROR_CHARS)
    if status in ENDING and not error and all_done(said):
        reason += ", but its platforms are completed and all rounds are done"
        return Completion(True, status, reason, progress=progress)
    return Completion(status in FINISHED, status, reason, progress=progress, error=error)


def all_done(said: Mapping[str, JsonValue]) -> bool:
    """Whether run_state.json is stale: it names a step of ending, while every platform that ran says that it has completed, and
    the last round is done."""
    ran = [
        p
        for p in PLATFORMS
        if said.get(f"{p}_completed") or whole(said.get(f"{p}_current_round")) or said.get(f"{p}_running")
    ]
    done, planned = whole(said.get("current_round")), whole(said.get("total_rounds"))
    return (
        bool(ran)
        and all(said.get(f"{platform}_completed") is True for platform in ran)
        and done is not None
        and planned is not None
        and done >= planned > 0
    )


def from_databases(path: Path) -> Completion:
    """What OASIS alone leaves: a database without any state. Nothing else will be written into it."""
    counts = {database_path(path, platform).name: count_trace(path, platform) for platform in PLATFORMS}
    found = {name: n for name, n in counts.items() if n}
    if not found or (path / "state.json").exists():
        return Completion(False, "not_started", "neither run_state.json nor action logs can be read")
    held = ", ".join(f"{name} holds {n} actions" for name, n in found.items())
    return Completion(True, "database", f"no state files and no action logs, but {held}")


def from_logs(logs: Mapping[Platform, LogSummary]) -> Completion:
    unfinished = [platform for platform, summary in logs.items() if not summary.ended]
    where = ", ".join(f"{platform}/actions.jsonl" for platform in unfinished or logs)
    if unfinished:
        return Completion(False, "not_ended", f"run_state.json cannot be read and {where} lacks simulation_end")
    return Completion(True, "ended", f"run_state.json cannot be read, but {where} ends with simulation_end")


def count_from(path: Path, logs: Mapping[Platform, LogSummary]) -> int:
    """Actions of agents on all platforms: lines of the logs, or rows of a database's trace where there is no log."""
    without_log = [platform for platform in PLATFORMS if platform not in logs]
    return sum(summary.actions for summary in logs.values()) + sum(count_trace(path, p) for p in without_log)
