"""Which simulations there are, what each is about, which runs it has: looked at without importing what interviews."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from enquete.checkpoints.tokens import find_run
from enquete.ledger.folders import StoredRun, is_held
from enquete.runs.result_folders import out_folder, own_folder, population_folders, results_folder
from enquete.runs.run_list import UnreadableRun, survey
from enquete.simulations.locate import completion, is_simulation, locate
from enquete.simulations.population import load_population
from enquete.state.errors import RunNotFound, SimulationNotFound
from enquete.state.settings import root_of
from enquete.state.untrusted_input import FileCache

UNREADABLE = ("damaged", "newer")


def nobody_interviewed(sim_id: str | Path, interviews: Path) -> RunNotFound:
    others = [entry for entry in population_folders(interviews.parent) if entry.folder != interviews]
    listed = ", ".join(f"{entry.path} ({entry.folder.name})" for entry in others)
    beside = f"; {interviews.parent} holds results of {listed}" if listed else ""
    return RunNotFound(f"{sim_id}: nobody has been interviewed yet (no run in {interviews}{beside})")


@dataclass(frozen=True)
class RunSummary:
    """One line of a list of runs. `status` is one of UNREADABLE where the ledger cannot be read: see `note`."""

    run_id: str
    status: str
    note: str
    created_at: str
    methods: tuple[str, ...]
    language: str
    resume_token: str

    @property
    def is_readable(self) -> bool:
        return self.status not in UNREADABLE

    @property
    def can_go_on(self) -> bool:
        return self.is_readable and self.status != "completed"


def list_runs(sim_id: str | Path, *, root: str | Path | None = None, out: str | Path | None = None) -> list[RunSummary]:
    """Runs of a simulation, oldest first; one whose ledger cannot be read is `damaged`, or `newer` than this version,
    and its note says why and what can be done. Creates nothing."""
    stored = survey(interviews_of(str(sim_id), root, out))
    every: list[StoredRun | UnreadableRun] = [*stored.runs, *stored.lost]
    return [_summary(run) for run in sorted(every, key=lambda run: run.created_at)]


def _summary(run: StoredRun | UnreadableRun) -> RunSummary:
    if isinstance(run, StoredRun):
        r = run.record
        return RunSummary(r.run_id, run.status, run.note, r.created_at, tuple(r.methods), r.language, r.token)
    methods, language = (tuple(run.told.methods), str(run.told.language)) if run.told else ((), "")
    return RunSummary(run.folder.name, run.status, str(run.error), run.created_at, methods, language, "")


def is_driven(
    sim_id: str | Path, run_id: str, *, root: str | Path | None = None, out: str | Path | None = None
) -> bool:
    """Whether a process is driving this run right now. Raises RunNotFound."""
    return is_held(find_run(interviews_of(str(sim_id), root, out), run_id))


def interviews_of(sim_id: str, root: str | Path | None, out: str | Path | None) -> Path:
    """Where results of a population are, whether there are any or not.

    Below `out` a population that is gone is found by its name alone. Raises SimulationNotFound where it is not below
    `out` either, and SettingsError where results lie directly in `out`.
    """
    if not out:
        path = locate(sim_id, root_of(root))
        return own_folder(path, has_simulation=is_simulation(path))
    try:
        return results_folder(out, locate(sim_id, root_of(root)))
    except SimulationNotFound:
        folder = results_folder(out, Path(sim_id), is_there=False)
        known = population_folders(out_folder(out))
        if known and not any(entry.folder == folder for entry in known):
            raise
        return folder


class SimulationFacts(BaseModel):
    """What a simulation is about, whom it holds, whether it has completed."""

    topic: Annotated[str, Field(description="its requirement; empty where nothing says it")] = ""
    agents: int = 0
    types: Annotated[dict[str, int], Field(description="agents by stakeholder type, the most frequent first")] = {}
    completed: bool = False
    status: Annotated[str, Field(description="as the simulation says itself")] = ""


_remembered: FileCache[SimulationFacts] = FileCache(1000)


def remembered_facts(path: Path) -> SimulationFacts:
    """For servers: read again only when a file of the simulation has changed. Raises SimulationError."""
    return _remembered.get(path, _files(path), lambda: simulation_facts(path))


def _files(folder: Path) -> list[Path]:
    """Its own and those one folder deeper; not the interviews, which are ours."""
    inner = [entry for entry in folder.iterdir() if entry.is_dir() and entry.name != "interviews"]
    return sorted(file for place in (folder, *inner) for file in place.iterdir() if file.is_file())


def simulation_facts(path: Path) -> SimulationFacts:
    """Reads profiles and logs, not memories. Raises SimulationError."""
    population = load_population(path, strict=False)
    types = Counter(who.stakeholder_type for who in population.participants)
    end = population.completion if population.has_simulation else completion(path)
    listed = dict(sorted(types.items(), key=lambda pair: (-pair[1], pair[0])))
    return SimulationFacts(
        topic=population.topic, agents=len(population.participants), types=listed, completed=end.completed,
        status=end.status,
    )  # fmt: skip
