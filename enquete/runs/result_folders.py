"""Where results go: into a simulation's own folder, or below `--out`, where every population has a folder of its own.

A population's folder is named after its file or simulation, and its `population.json` says which one it is, so that
two files of one name are told apart. Looking creates nothing; `claim_folder` is for whoever begins a run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.tokens import find_run
from enquete.ledger.drives import START_LOCK
from enquete.ledger.folders import NAME as LATEST
from enquete.ledger.folders import run_folders, write_atomically
from enquete.state.errors import RunNotFound, SettingsError
from enquete.state.untrusted_input import parse_json, read_regular

POPULATION = "population.json"
"""In a population's folder below `--out`: its name, and the path that it was read from."""


@dataclass(frozen=True)
class PopulationFolder:
    """A folder below `--out`.

    name: of the file or simulation, with its ending. path: where it was read from. beside: the same path as seen from
    the folder that `--out` names, which still holds once a study was copied as a whole.
    """

    folder: Path
    name: str
    path: str
    beside: str

    def is_named(self, wanted: str) -> bool:
        """Whether a file or simulation of this name may be the one that this folder belongs to."""
        return wanted in {self.name, Path(self.name).stem, self.folder.name}

    def is_of(self, population: Path) -> bool:
        """Whether this is the folder of the population at this path."""
        return self.path == str(population) or self.beside == path_beside(self.folder.parent, population)

    @property
    def has_moved(self) -> bool:
        """Whether nothing is left where the population was read from, as on another machine."""
        return not Path(self.path).exists()


def path_beside(out: Path, population: Path) -> str:
    """Return a population's path as seen from the folder that `--out` names, "" where there is no such way."""
    try:
        return os.path.relpath(population, out.resolve())
    except ValueError:  # another drive of Windows
        return ""


def own_folder(path: Path, *, has_simulation: bool) -> Path:
    """Where results go unless something else is said. Raises SettingsError for personas, which have no such folder."""
    if not has_simulation:
        raise SettingsError(f"{path.name} is a personas file: say where results go with out=FOLDER")
    return path.absolute() / "interviews"


def out_folder(out: str | Path) -> Path:
    """Return the folder that `--out` names; that of one population stands for the folder above it.

    Raises SettingsError where results lie directly in it.
    """
    folder = Path(out).expanduser().absolute()
    if read_population_folder(folder) is not None:
        return folder.parent
    if has_old_layout(folder):
        raise SettingsError(
            f"out: {folder} holds runs directly (runs/, {LATEST}), as earlier versions left them; now every population "
            f"has a folder of its own there. Name another folder, such as out={folder / 'by_population'}; what is in "
            "this one stays as it is"
        )
    return folder


def has_old_layout(folder: Path) -> bool:
    """Whether runs lie directly in a folder that is named with `--out`."""
    return (folder / LATEST).is_file() or bool(run_folders(folder))


def population_folders(out: Path) -> list[PopulationFolder]:
    """Return the populations that have results below a folder, by the names of their folders."""
    try:
        inside = sorted(entry for entry in out.iterdir() if entry.is_dir())
    except OSError:
        return []
    read = (read_population_folder(folder) for folder in inside)
    return [known for known in read if known is not None]


def read_population_folder(folder: Path) -> PopulationFolder | None:
    """Return what a folder's `population.json` says; None where there is none that can be read."""
    try:
        content = parse_json(read_regular(folder / POPULATION))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict):
        return None
    told = [content.get(key) for key in ("population", "path", "beside")]
    if not all(isinstance(value, str) for value in told):
        return None
    name, path, beside = map(str, told)
    return PopulationFolder(folder, name, path, beside)


def results_folder(out: str | Path, population: Path, *, is_there: bool = True) -> Path:
    """Return the folder of a population's results below `--out`, whether it exists yet or not.

    Args:
        out: as it was named.
        population: the path of the people file or simulation folder, or the name of one that is gone.
        is_there: whether that path exists; a name alone finds whatever has it.

    Raises:
        SettingsError: where results lie directly in `out`, where it is the folder of another population, or where a
            name is that of several populations.
    """
    folder, given = out_folder(out), Path(out).expanduser().absolute()
    held = read_population_folder(given)
    if held is not None:
        if held.is_of(population) or is_moved_one(held, population, is_there=is_there):
            return given
        raise SettingsError(
            f"out: {given} is the folder of another population, {held.path}; name the folder above it: out={folder}"
        )

    known = population_folders(folder)
    for entry in known:
        if is_there and entry.is_of(population):
            return entry.folder
    named = [entry for entry in known if is_moved_one(entry, population, is_there=is_there)]
    if len(named) > 1:
        listed = ", ".join(f"{entry.folder.name} ({entry.path})" for entry in named)
        raise SettingsError(
            f"out: several populations in {folder} are called {population.name}: {listed}; name the path of the one "
            "that is meant"
        )
    return named[0].folder if named else folder / free_name(folder, population)


def is_moved_one(entry: PopulationFolder, population: Path, *, is_there: bool) -> bool:
    """Whether a folder belongs to a population of this name, one of which is no longer where it was read from."""
    return entry.is_named(population.name) and (entry.has_moved or not is_there)


def free_name(out: Path, population: Path) -> str:
    """Return a name that no other population and nothing else in the folder has."""
    stem = population.name if population.is_dir() else population.stem
    name, number = stem, 1
    while is_taken(out / name):
        number += 1
        name = f"{stem}-{number}"
    return name


def is_taken(place: Path) -> bool:
    """Whether something lies there; a folder in which a start broke off holds a lock and nothing else."""
    if not place.is_dir():
        return place.exists()
    return any(entry.name != START_LOCK for entry in place.iterdir())


def claim_folder(out: str | Path, folder: Path, population: Path) -> None:
    """Write down whose results a folder below `--out` holds, before the first run begins in it.

    Raises:
        SettingsError: where another population of the same name has taken the folder in the meantime.
    """
    held = read_population_folder(folder)
    if held is not None and not held.is_of(population) and not held.has_moved:
        raise SettingsError(
            f"out: {held.path} has begun to use {folder} for its results just now; ask again, and {population} gets "
            f"a folder of its own below {out}"
        )
    if held is None or held.path != str(population):
        beside = path_beside(folder.parent, population)
        told = {"population": population.name, "path": str(population), "beside": beside}
        write_atomically(folder / POPULATION, json.dumps(told, ensure_ascii=False, indent=1) + "\n")


def find_run_below(out: str | Path, token: str) -> Path:
    """Return the folder of a run below `--out`, whichever population it asked. Raises RunNotFound listing all."""
    folder, given = out_folder(out), Path(out).expanduser().absolute()
    run_id = token.partition(".")[0]
    places = results_below(folder) if folder == given else [given]
    holding = [place for place in places if any(run.name == run_id for run in run_folders(place))]
    if not holding:
        known = ", ".join(run.name for place in places for run in run_folders(place)) or "none"
        raise RunNotFound(f"no run {run_id!r} in {folder} (runs there: {known})")
    return find_run(holding[0], token)


def results_below(out: Path) -> Sequence[Path]:
    """Return the folders with runs, one a population."""
    return [entry.folder for entry in population_folders(out)]
