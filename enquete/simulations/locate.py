"""Finding a simulation by id under a root, or a folder or personas file by path. Nothing is ever created."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from enquete.simulations.action_log import PLATFORMS, LogSummary, Platform, count_trace, database_path, summarise_logs
from enquete.simulations.agents import CONFIG, REDDIT, TWITTER
from enquete.simulations.sources import LINES, PARQUET, TABLE_FILE, TABLES, clean, clip, one_line, read_object, whole
from enquete.state.errors import SimulationError, SimulationNotFound
from enquete.state.untrusted_input import NO_WORKBOOK, WORKBOOKS

MARKS = (REDDIT, TWITTER, CONFIG)
DATABASES = tuple(f"{platform}_simulation.db" for platform in PLATFORMS)
"""What OASIS leaves behind where nothing else was written."""
PERSONA_SUFFIXES = (".json", *LINES, *TABLES, *PARQUET, *TABLE_FILE)
MOST_LISTED = 10


@dataclass(frozen=True)
class KnownSimulation:
    """A simulation under a root."""

    sim_id: str
    path: Path


def locate(sim: str | Path, root: Path | None = None, *, paths: bool = True) -> Path:
    """The folder or personas file that `sim` names.

    A str that is a plain name is an id first: `<root>/simulations/{id}`, then `<root>/{id}`. An id cannot leave the
    root, be it by "..", as an absolute path or through a symlink. Anything else is a path as the user typed it;
    `paths=False` (for servers) refuses paths given as text. Raises SimulationNotFound, which lists the known ones.
    """
    if isinstance(sim, str) and root is not None and (folder := by_id(sim, root)):
        return folder
    if (isinstance(sim, Path) or paths) and (folder := by_path(sim)):
        return folder
    raise SimulationNotFound(not_found(str(sim), root, paths=paths or isinstance(sim, Path)))


def by_id(sim_id: str, root: Path) -> Path | None:
    if not is_plain(sim_id):
        return None
    base = root.resolve()
    for candidate in (base / "simulations" / sim_id, base / sim_id):
        if is_folder(candidate) and candidate.resolve().is_relative_to(base) and is_simulation(candidate):
            return candidate
    return None


def is_plain(sim_id: str) -> bool:
    """One folder name: no separators, no dots that climb, nothing a file system or terminal trips over."""
    return bool(sim_id) and sim_id.isprintable() and not sim_id.startswith(".") and not set(sim_id) & set("/\\:")


def by_path(sim: str | Path) -> Path | None:
    if not str(sim).strip():
        return None
    path = Path(sim)
    if is_folder(path):
        return path.resolve() if is_simulation(path) or personas_files(path) else None
    if path.suffix.lower() in PERSONA_SUFFIXES and is_file(path):
        return path.resolve()
    return None


def is_simulation(folder: Path) -> bool:
    return any(is_file(folder / mark) for mark in (*MARKS, *DATABASES))


def personas_files(folder: Path) -> list[Path]:
    """The files of a folder that holds a population in parts, by name: JSON lines, CSV or Parquet, and no other kind of
    file beside them; none where it is no such folder."""
    try:
        files = sorted(file for file in folder.iterdir() if not file.name.startswith((".", "_")))
    except OSError:
        return []
    kinds = {file.suffix.lower() for file in files if not is_folder(file)}
    return files if any(kinds and kinds <= {*kind} for kind in (LINES, TABLES, PARQUET)) else []


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # too long a name, a null character
        return False


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def list_simulations(root: Path) -> list[KnownSimulation]:
    """The simulations under `<root>/simulations` and `<root>`, by id; a missing root holds none."""
    base = root.resolve()
    simulations: dict[str, KnownSimulation] = {}
    for parent in (base / "simulations", base):
        for folder in sorted(parent.iterdir()) if is_folder(parent) else ():
            inside = is_plain(folder.name) and is_folder(folder) and folder.resolve().is_relative_to(base)
            if inside and is_simulation(folder):
                simulations.setdefault(folder.name, KnownSimulation(folder.name, folder))
    return sorted(simulations.values(), key=lambda known: known.sim_id)


def not_found(sim: str, root: Path | None, *, paths: bool = True) -> str:
    path = Path(sim) if sim.strip() and sim.isprintable() else None
    if path and is_folder(path) and not is_simulation(path):
        return (
            f"{sim!r} is no simulation folder: none of {', '.join(MARKS)} is in it; nor is it a folder of personas "
            "files, all JSON lines, all CSV or all Parquet"
        )
    if path and path.suffix.lower() in WORKBOOKS and paths:
        return f"{sim}: {NO_WORKBOOK}"
    if path and is_file(path):
        return f"{sim!r} is no personas file: its name has to end in {', '.join(PERSONA_SUFFIXES)}"
    if paths and path and path.suffix.lower() in PERSONA_SUFFIXES:
        return f"{sim}: no such file{_files_beside(path)}"
    if paths and path and "/" in sim:
        return f"{sim}: no such folder"
    if root is None:
        return f"No simulation folder or personas file {sim!r}. Give a path, or an id together with a root"
    known = nearest(sim, [known.sim_id for known in list_simulations(root)])
    if not known:
        return f"No simulation {sim!r}: there are none under {str(root)!r}"
    return f"No simulation {sim!r} under {str(root)!r}. Known, nearest first: {some_of(known)}"


def _files_beside(path: Path) -> str:
    """Personas files in the folder that was named, nearest first."""
    if not is_folder(path.parent):
        return f"; the folder {path.parent} does not exist either"
    there = [file.name for file in path.parent.iterdir() if file.suffix.lower() in PERSONA_SUFFIXES]
    return f"; there are {', '.join(nearest(path.name, there)[:MOST_LISTED])}" if there else ""


def some_of(known: list[str]) -> str:
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"{', '.join(known[:MOST_LISTED])}{more}"


def nearest(sim: str, known: list[str]) -> list[str]:
    matcher = difflib.SequenceMatcher(b=sim[:100])

    def likeness(sim_id: str) -> float:
        matcher.set_seq1(sim_id)
        return matcher.ratio()

    return sorted(known, key=lambda sim_id: (-likeness(sim_id), sim_id))


# --- Whether a simulation has run to its end. run_state.json decides, unless it is stale. The action logs decide only
# where it is missing or unreadable, a database where OASIS left nothing else. state.json is never asked: it stays at
# "running" after a run has ended.

FINISHED = {"completed", "complete", "finished", "done"}
ENDING = {"stopping", "stopped"}
"""Steps that a runner which is gone may never have left. `running` is what a simulation that goes on says, too."""
ERROR_CHARS = 200


@dataclass(frozen=True)
class SimulationProgress:
    """`status`: run_state's own word, or ended / not_ended by the logs, or database, or not_started, or no_simulation.

    progress: rounds done and planned; error: what stopped the runner; both as run_state.json has them.
    """

    completed: bool
    status: str
    reason: str
    assumed: bool = False
    progress: tuple[int, int] | None = None
    error: str = ""


NO_SIMULATION = SimulationProgress(False, "no_simulation", "a personas file has no simulation")


def completion(path: Path, assume_completed: bool = False) -> SimulationProgress:
    """Whether the simulation in folder `path` has completed, and what says so.

    `assume_completed` is the user's word for a run that was killed and therefore still says running.
    """
    return completion_from(path, summarise_logs(path), assume_completed)


def completion_from(path: Path, logs: Mapping[Platform, LogSummary], assume_completed: bool) -> SimulationProgress:
    progress = from_run_state(path) or (from_logs(logs) if logs else from_databases(path))
    if progress.completed or not assume_completed:
        return progress
    return replace(progress, completed=True, reason=f"assumed to be completed; {progress.reason}", assumed=True)


def from_run_state(path: Path) -> SimulationProgress | None:
    """None where run_state.json is missing, unreadable or without a runner_status."""
    file = path / "run_state.json"
    try:
        state = read_object(file) if file.exists() else {}
    except SimulationError:
        return None
    word = clean(state.get("runner_status"))
    status = clip(re.sub(r"[\s-]+", "_", word).lower(), 60)
    if not status:
        return None
    done, planned = state.get("current_round"), state.get("total_rounds")
    progress = (done, planned) if isinstance(done, int) and isinstance(planned, int) and planned else None
    reason = f"run_state.json: runner_status is {clip(word, 60)!r}"
    error = clip(one_line(clean(state.get("error"))), ERROR_CHARS)
    if status in ENDING and not error and all_done(state):
        reason += ", but its platforms are completed and all rounds are done"
        return SimulationProgress(True, status, reason, progress=progress)
    return SimulationProgress(status in FINISHED, status, reason, progress=progress, error=error)


def all_done(states: Mapping[str, JsonValue]) -> bool:
    """Whether run_state.json is stale: it names a step of ending, while every platform that ran says that it has
    completed, and the last round is done."""
    completed = [states.get(f"{platform}_completed") for platform in PLATFORMS]
    begun = [whole(states.get(f"{p}_current_round")) or states.get(f"{p}_running") for p in PLATFORMS]
    ran = [end for end, started in zip(completed, begun, strict=True) if end or started]
    done, planned = whole(states.get("current_round")), whole(states.get("total_rounds"))
    is_last = done is not None and planned is not None and done >= planned > 0
    return is_last and bool(ran) and all(end is True for end in ran)


def from_databases(path: Path) -> SimulationProgress:
    """What OASIS alone leaves: a database without any state. Nothing else will be written into it."""
    counts = {database_path(path, platform).name: count_trace(path, platform) for platform in PLATFORMS}
    counted = {name: n for name, n in counts.items() if n}
    if not counted or (path / "state.json").exists():
        return SimulationProgress(False, "not_started", "neither run_state.json nor action logs can be read")
    held = ", ".join(f"{name} holds {n} actions" for name, n in counted.items())
    return SimulationProgress(True, "database", f"no state files and no action logs, but {held}")


def from_logs(logs: Mapping[Platform, LogSummary]) -> SimulationProgress:
    unfinished = [platform for platform, summary in logs.items() if not summary.ended]
    where = ", ".join(f"{platform}/actions.jsonl" for platform in unfinished or logs)
    if unfinished:
        return SimulationProgress(False, "not_ended", f"run_state.json cannot be read and {where} lacks simulation_end")
    return SimulationProgress(True, "ended", f"run_state.json cannot be read, but {where} ends with simulation_end")


def count_from(path: Path, logs: Mapping[Platform, LogSummary]) -> int:
    """Actions of agents on all platforms: lines of the logs, or rows of a database's trace where there is no log."""
    without_log = [platform for platform in PLATFORMS if platform not in logs]
    return sum(summary.actions for summary in logs.values()) + sum(count_trace(path, p) for p in without_log)
