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
from enquete.state.settings import root_of
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


def list_simulations(root: str | Path | None = None) -> list[KnownSimulation]:
    """The simulations under `<root>/simulations` and `<root>`, by id; a missing root holds none. root: ENQUETE_ROOT's,
    else this folder, unless named."""
    base = root_of(root).resolve()
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


# --- Whether a simulation has run to its end. run_state.json decides, with the ends of the action logs. The logs alone
# decide only where it is missing or unreadable, a database where OASIS left nothing else. state.json is never asked: it
# stays at "running" after a run has ended.

FINISHED = {"completed", "complete", "finished", "done"}
FAILED = {"failed", "failure", "error", "crashed"}
ENDING = {"stopping", "stopped"}
"""Steps that a runner which is gone may never have left. `running` is what a simulation that goes on says, too."""
ERROR_CHARS = 200
INGESTION_ERROR = re.compile(
    r"\b(zep|graphiti|neo4j|episodes?|ingest\w*)\b|\bgraph[ _-]?memory|\bmemory[ _-]?(update|write|graph)|图谱|记忆",
    re.IGNORECASE,
)
"""Errors of writing into a knowledge graph, which MiroFish does after the last round as well."""
PROCESS_ERROR = re.compile(r"^\s*(进程退出码|(process )?exit(ed)?( with)? code)", re.IGNORECASE)
"""Errors of the simulation's own process: what follows is the end of its log, in which anything may be named."""


@dataclass(frozen=True)
class SimulationProgress:
    """`status`: run_state's own word, or ended / not_ended by the logs, or database, or not_started, or no_simulation.

    progress: rounds done and planned; error: what stopped the runner; both as run_state.json has them. note: what a
    reader must know of a simulation that counts as completed although its runner says that something failed.
    """

    completed: bool
    status: str
    reason: str
    assumed: bool = False
    progress: tuple[int, int] | None = None
    error: str = ""
    note: str = ""


NO_SIMULATION = SimulationProgress(False, "no_simulation", "a personas file has no simulation")


def completion(path: Path, assume_completed: bool = False) -> SimulationProgress:
    """Whether the simulation in folder `path` has completed, and what says so.

    `assume_completed` is the user's word for a run that was killed and therefore still says running.
    """
    return completion_from(path, summarise_logs(path), assume_completed)


def completion_from(path: Path, logs: Mapping[Platform, LogSummary], assume_completed: bool) -> SimulationProgress:
    progress = from_run_state(path, logs) or (from_logs(logs) if logs else from_databases(path))
    if progress.completed or not assume_completed:
        return progress
    return replace(progress, completed=True, reason=f"assumed to be completed; {progress.reason}", assumed=True)


def from_run_state(path: Path, logs: Mapping[Platform, LogSummary]) -> SimulationProgress | None:
    """Read run_state.json; None where it is missing, unreadable or without a runner_status.

    MiroFish leaves `running` there after the last round until its process is stopped, and `failed` where only the
    knowledge graph could not be written. So a simulation has completed as well where all of its platforms have.
    """
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
    stated_error = clean(state.get("error"))
    error = clip(one_line(stated_error), ERROR_CHARS)
    as_stated = SimulationProgress(status in FINISHED, status, reason, progress=progress, error=error)
    if as_stated.completed:
        return as_stated

    by_logs = has_completed_by_logs(state, logs)
    by_state = status in ENDING and not error and not logs and all_done(state)
    if not (by_logs or by_state):
        return as_stated
    completed = replace(as_stated, completed=True, reason=f"{reason}, but {ALL_DONE}")
    if status not in FAILED:
        return completed
    if not is_ingestion_error(stated_error):
        return as_stated
    note = f"the runner says {status!r}, but only writing to the knowledge graph failed ({error}); {ALL_DONE}"
    return replace(completed, note=note)


ALL_DONE = "its platforms are completed and all rounds are done"


def is_ingestion_error(error: str) -> bool:
    """Whether the runner's error is one of writing to the knowledge graph, and not of the simulation's own process."""
    return bool(INGESTION_ERROR.search(error)) and not PROCESS_ERROR.match(error)


def has_completed_by_logs(state: Mapping[str, JsonValue], logs: Mapping[Platform, LogSummary]) -> bool:
    """Whether every platform that was started says that it has completed, and its log ends with the last round."""
    started = [p for p in PLATFORMS if is_started(state, p) or (p in logs and logs[p].is_begun)]
    planned = whole(state.get("total_rounds"))
    return bool(started) and all(
        state.get(f"{platform}_completed") is True and platform in logs and logs[platform].has_reached(planned)
        for platform in started
    )


def is_started(state: Mapping[str, JsonValue], platform: Platform) -> bool:
    """Whether run_state.json tells of anything that happened on a platform."""
    told = (f"{platform}_completed", f"{platform}_running", f"{platform}_current_round")
    return any(state.get(name) for name in told)


def all_done(state: Mapping[str, JsonValue]) -> bool:
    """Whether run_state.json itself says so, of a simulation whose logs are gone: every platform that was started has
    completed, and the last round is done."""
    started = [platform for platform in PLATFORMS if is_started(state, platform)]
    done, planned = whole(state.get("current_round")), whole(state.get("total_rounds"))
    is_last = done is not None and planned is not None and done >= planned > 0
    return is_last and bool(started) and all(state.get(f"{platform}_completed") is True for platform in started)


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
