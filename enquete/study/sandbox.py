"""What a server may reach: simulations and runs under one root, named by id and never by path.

An id cannot leave the root, be it by "..", as an absolute path, or because anything of the simulation is a symlink.
Looking creates nothing. Messages name no folder of the machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from enquete.checkpoints.folders import LEDGER
from enquete.simulations.locate import MOST_LISTED, Known, by_id, list_simulations, nearest
from enquete.state.errors import InputError, RunNotFound, SimulationNotFound
from enquete.study.run import Run
from enquete.study.run_store import current_run, load_run
from enquete.study.simulation_list import RunSummary, list_runs

LONGEST_SHOWN = 100
SHELF = "instruments"
"""Below the root: files of the operator's own that clients may name (docs/security.md)."""
_TOKEN = re.compile(r"run_[0-9A-Za-z_]{1,64}(\.[0-9A-Za-z]{1,128})?")


class OutsideRoot(InputError):
    """A symbolic link of the simulation leads out of the server's root."""


class NobodyInterviewed(RunNotFound):
    """The simulation has no run yet."""


class PathSandbox:
    """The simulations under a root. Raises SimulationNotFound where the root is no folder."""

    def __init__(self, root: Path):
        if not root.is_dir():
            raise SimulationNotFound(f"{root}: no such folder; name the one that holds simulations/ (ENQUETE_ROOT)")
        self.root = root.resolve()

    @property
    def given(self) -> dict[str, Any]:
        """What every request of a client holds beside its own words: where simulations are, and which files settings may name."""
        return {"root": str(self.root), "shelf": str(self.root / SHELF)}

    def simulations(self) -> list[Known]:
        """By id."""
        return list_simulations(self.root)

    def simulation(self, sim_id: str) -> Path:
        """The folder of a simulation, nothing of which leads out of the root.

        Raises SimulationNotFound, which lists the known ones, nearest first, and OutsideRoot.
        """
        folder = by_id(sim_id, self.root)
        if folder is None:
            raise SimulationNotFound(f"no simulation {sim_id[:LONGEST_SHOWN]!r}. {self._known(sim_id)}")
        for link in links(folder):
            if not self.holds(link):
                shown = link.relative_to(folder).as_posix()
                raise OutsideRoot(f"{folder.name}: {shown!r} is a symbolic link out of this server's root")
        return folder

    def _known(self, sim_id: str) -> str:
        known = nearest(sim_id, [known.sim_id for known in self.simulations()])
        if not known:
            return "There are no simulations under this server's root"
        more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
        return f"Known, nearest first: {', '.join(known[:MOST_LISTED])}{more}"

    def runs(self, sim_id: str) -> list[RunSummary]:
        """Runs of a simulation, oldest first."""
        self.simulation(sim_id)
        return list_runs(sim_id, root=str(self.root))

    def run(self, sim_id: str, run_id: str | None = None) -> Run:
        """A run by run_id or resume token; else the latest unfinished one, else the canonical one.

        Raises RunNotFound, which lists the known ones.
        """
        if run_id is not None:
            return self._named(sim_id, run_id)
        self._begun(sim_id)
        return current_run(sim_id, root=str(self.root))

    def finished(self, sim_id: str, run_id: str | None = None) -> Run:
        """The same, but unless it is named the canonical run, else the latest: results are read from it, whatever was
        begun since."""
        if run_id is not None:
            return self._named(sim_id, run_id)
        self._begun(sim_id)
        return load_run(sim_id, root=str(self.root))

    def simulation_of(self, token: str) -> str:
        """The sim_id of the run that a run_id or resume token names. Raises RunNotFound, OutsideRoot."""
        run_id = self.require_token(token).partition(".")[0]
        holding = [
            known.sim_id for known in self.simulations() if (known.path / "interviews" / "runs" / run_id).is_dir()
        ]
        if len(holding) > 1:
            raise RunNotFound(f"run {run_id!r} is in several simulations: {', '.join(holding)}; say which")
        if not holding:
            raise RunNotFound(f"no run {run_id!r} in any simulation under this server's root")
        self.simulation(holding[0])
        return holding[0]

    def _begun(self, sim_id: str) -> list[RunSummary]:
        known = self.runs(sim_id)
        if not known:
            raise NobodyInterviewed(f"{sim_id}: nobody has been interviewed yet")
        return known

    def _named(self, sim_id: str, run_id: str) -> Run:
        """One that is there is found without reading all the others: a status is asked for again and again."""
        folder = self.simulation(sim_id) / "interviews" / "runs" / run_id
        if _TOKEN.fullmatch(run_id) and (folder / LEDGER).is_file():
            return Run(folder, shown=True)
        known = [run.run_id for run in self.runs(sim_id)]
        if not _TOKEN.fullmatch(run_id) or run_id.partition(".")[0] not in known:
            listed = ", ".join(known[-MOST_LISTED:]) or "none"
            raise RunNotFound(f"no run {run_id[:LONGEST_SHOWN]!r} of {sim_id}; its latest runs: {listed}")
        return load_run(sim_id, run_id, root=str(self.root))

    def require_token(self, token: str) -> str:
        """A run_id or resume token; nothing else may be looked for. Raises RunNotFound."""
        if not _TOKEN.fullmatch(token):
            raise RunNotFound(
                f"{token[:LONGEST_SHOWN]!r} is no resume token: it begins with run_ and is given by a run"
            )
        return token

    def require_inside(self, path: Path) -> None:
        """Raises OutsideRoot where a path of the run, which may be newer than the look at its simulation, leads out."""
        if not self.holds(path):
            raise OutsideRoot(f"{path.name[:LONGEST_SHOWN]!r} does not lie under this server's root")

    def holds(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.root)


def links(folder: Path) -> Iterator[Path]:
    """Every symlink below the folder; none is followed. A folder that cannot be listed cannot be read through either."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            yield from links(Path(entry.path))
