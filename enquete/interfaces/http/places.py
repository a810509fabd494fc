"""Simulations and runs by id, inside the root and nowhere else. Looking creates nothing."""

from __future__ import annotations

import os
from pathlib import Path

from enquete import study
from enquete.checkpoints.folders import LEDGER
from enquete.interfaces.http.envelope import OutsideRoot
from enquete.state.errors import RunNotFound
from enquete.study import Run
from enquete.study.rooted import Rooted


class Places:
    """The folders of the server's root. Messages name no folder of the machine."""

    def __init__(self, rooted: Rooted):
        self.rooted = rooted

    def simulation(self, sim_id: str) -> Path:
        """Raises SimulationNotFound, which lists the known ones, and OutsideRoot."""
        folder = self.rooted.simulation(sim_id)
        self._require_enclosed(folder)
        return folder

    def run(self, sim_id: str, run_id: str | None = None) -> Run:
        """By run_id; else the latest unfinished one, else the canonical one. Raises RunNotFound, OutsideRoot."""
        folder = self.simulation(sim_id)
        if run_id is None:
            return self.rooted.run(sim_id)
        run = folder / "interviews" / "runs" / run_id
        return Run(run) if (run / LEDGER).is_file() else self.rooted.run(sim_id, run_id)

    def finished(self, sim_id: str, run_id: str | None) -> Run:
        """The same, but unless it is named the canonical run before an unfinished one: results are read from it."""
        if run_id is not None:
            return self.run(sim_id, run_id)
        self.simulation(sim_id)
        if not self.rooted.runs(sim_id):
            raise RunNotFound(f"{sim_id}: nobody has been interviewed yet")
        return study.load_run(sim_id, root=str(self.rooted.root))

    def _require_enclosed(self, folder: Path) -> None:
        """A link anywhere in the simulation's folder could make the server read or write elsewhere."""
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                path = Path(parent, name)
                if path.is_symlink() and not self.rooted.holds(path):
                    shown = path.relative_to(folder).as_posix()
                    raise OutsideRoot(f"{folder.name}: {shown!r} is a symbolic link out of this server's root")
