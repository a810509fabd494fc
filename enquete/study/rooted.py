"""What a server may reach: simulations and runs under one root, named by id and never by path.

An id cannot leave the root, be it by "..", as an absolute path, or because a folder on the way is a symlink. Messages
name no folder of the machine.
"""

from __future__ import annotations

import re
from pathlib import Path

from enquete import study
from enquete.simulations.locate import MOST_LISTED, Known, by_id, list_simulations, nearest
from enquete.state.errors import RunNotFound, SimulationNotFound
from enquete.study.run import Run, RunSummary

LONGEST_SHOWN = 100
_TOKEN = re.compile(r"run_[0-9A-Za-z_]{1,64}(\.[0-9A-Za-z]{1,128})?")


class Rooted:
    """The simulations under a root. Raises SimulationNotFound where the root is no folder."""

    def __init__(self, root: Path):
        if not root.is_dir():
            raise SimulationNotFound(f"{root}: no such folder; name the one that holds simulations/ (ENQUETE_ROOT)")
        self.root = root.resolve()

    def simulations(self) -> list[Known]:
        """By id."""
        return list_simulations(self.root)

    def simulation(self, sim_id: str) -> Path:
        """The folder of a simulation. Raises SimulationNotFound, which lists the known ones, nearest first."""
        folder = by_id(sim_id, self.root)
        if folder is None or not self.holds(folder / "interviews"):
            raise SimulationNotFound(f"no simulation {sim_id[:LONGEST_SHOWN]!r}. {self._known(sim_id)}")
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
        return study.list_runs(sim_id, root=str(self.root))

    def run(self, sim_id: str, run_id: str | None = None) -> Run:
        """A run by run_id or resume token; else the latest unfinished one, else the canonical one.

        Raises RunNotFound, which lists the known ones.
        """
        known = self.runs(sim_id)
        if run_id is not None:
            self.require_known(sim_id, run_id, known)
        unfinished = [run.run_id for run in known if run.status != "completed"]
        wanted = run_id or (unfinished[-1] if unfinished else None)
        if not known:
            raise RunNotFound(f"{sim_id}: nobody has been interviewed yet")
        run = study.load_run(sim_id, wanted, root=str(self.root))
        self.require_inside(run.folder)
        return run

    def require_known(self, sim_id: str, run_id: str, known: list[RunSummary]) -> None:
        names = [run.run_id for run in known]
        if not _TOKEN.fullmatch(run_id) or run_id.partition(".")[0] not in names:
            listed = ", ".join(names[-MOST_LISTED:]) or "none"
            raise RunNotFound(f"no run {run_id[:LONGEST_SHOWN]!r} of {sim_id}; its latest runs: {listed}")

    def require_token(self, token: str) -> str:
        """A run_id or resume token; nothing else may be looked for. Raises RunNotFound."""
        if not _TOKEN.fullmatch(token):
            raise RunNotFound(
                f"{token[:LONGEST_SHOWN]!r} is no resume token: it begins with run_ and is given by a run"
            )
        return token

    def require_inside(self, path: Path) -> None:
        """Raises RunNotFound where a folder of the run is a symlink out of the root."""
        if not self.holds(path):
            raise RunNotFound(f"{path.name[:LONGEST_SHOWN]!r} does not lie under this server's root")

    def holds(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.root)
