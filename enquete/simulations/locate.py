"""Finding a simulation by id under a root, or a folder or personas file by path. Nothing is ever created."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from enquete.simulations.action_log import PLATFORMS
from enquete.simulations.agents import CONFIG, REDDIT, TWITTER
from enquete.state.errors import SimulationNotFound
from enquete.state.regular_files import NO_WORKBOOK, WORKBOOKS

MARKS = (REDDIT, TWITTER, CONFIG)
DATABASES = tuple(f"{platform}_simulation.db" for platform in PLATFORMS)
"""What OASIS leaves behind where nothing else was written."""
PERSONA_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")
MOST_LISTED = 10


@dataclass(frozen=True)
class Known:
    """A simulation under a root."""

    sim_id: str
    path: Path


def locate(sim: str | Path, root: Path | None = None, *, paths: bool = True) -> Path:
    """The folder or personas file that `sim` names.

    A str that is a plain name is an id first: `<root>/simulations/{id}`, then `<root>/{id}`. An id cannot leave the
    root, be it by "..", as an absolute path or through a symlink. Anything else is a path as the user typed it;
    `paths=False` (for servers) refuses paths given as text. Raises SimulationNotFound, which lists the known ones.
    """
    if isinstance(sim, str) and root is not None and (found := by_id(sim, root)):
        return found
    if (isinstance(sim, Path) or paths) and (found := by_path(sim)):
        return found
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
        return path.resolve() if is_simulation(path) else None
    if path.suffix.lower() in PERSONA_SUFFIXES and is_file(path):
        return path.resolve()
    return None


def is_simulation(folder: Path) -> bool:
    return any(is_file(folder / mark) for mark in (*MARKS, *DATABASES))


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


def list_simulations(root: Path) -> list[Known]:
    """The simulations under `<root>/simulations` and `<root>`, by id; a missing root holds none."""
    base = root.resolve()
    found: dict[str, Known] = {}
    for parent in (base / "simulations", base):
        for folder in sorted(parent.iterdir()) if is_folder(parent) else ():
            inside = is_plain(folder.name) and is_folder(folder) and folder.resolve().is_relative_to(base)
            if inside and is_simulation(folder):
                found.setdefault(folder.name, Known(folder.name, folder))
    return sorted(found.values(), key=lambda known: known.sim_id)


def not_found(sim: str, root: Path | None, *, paths: bool = True) -> str:
    path = Path(sim) if sim.strip() and sim.isprintable() else None
    if path and is_folder(path) and not is_simulation(path):
        return f"{sim!r} is no simulation folder: none of {', '.join(MARKS)} is in it"
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
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"No simulation {sim!r} under {str(root)!r}. Known, nearest first: {', '.join(known[:MOST_LISTED])}{more}"


def _files_beside(path: Path) -> str:
    """Personas files in the folder that was named, nearest first."""
    if not is_folder(path.parent):
        return f"; the folder {path.parent} does not exist either"
    there = [file.name for file in path.parent.iterdir() if file.suffix.lower() in PERSONA_SUFFIXES]
    return f"; there are {', '.join(nearest(path.name, there)[:MOST_LISTED])}" if there else ""


def nearest(sim: str, known: list[str]) -> list[str]:
    matcher = difflib.SequenceMatcher(b=sim[:100])

    def likeness(sim_id: str) -> float:
        matcher.set_seq1(sim_id)
        return matcher.ratio()

    return sorted(known, key=lambda sim_id: (-likeness(sim_id), sim_id))
