"""Where a simulation and its results are, as the user named them, and the commands that name them again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """`sim` may be an id under `root` or a path; `out` is where results go instead; `instruments`: files, by methodology."""

    sim: str
    root: str | None = None
    out: str | None = None
    instruments: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_token(self) -> bool:
        """Named by a run, so that the simulation is known only once the run is read."""
        return self.sim.startswith("run_") and not self.by_path

    @property
    def by_path(self) -> bool:
        return "/" in self.sim or Path(self.sim).exists()

    def command(self, verb: str, *more: str) -> str:
        """`enquete verb SIM …` with everything needed to find the simulation again."""
        options = [("--root", None if self.by_path else self.root), ("--out", self.out)]
        named = [word for option, value in options if value for word in (option, value)]
        return shlex.join(["enquete", *verb.split(), self.sim, *more, *named])

    def resume(self, token: str, base_url: str = "", *more: str) -> str:
        """A token names a run, not where it is, nor the server that an option named."""
        if self.out:
            where = ["--out", self.out]
        elif self.by_path:
            where = ["--sim", self.sim]
        else:
            where = ["--root", self.root] if self.root else []
        server = ["--base-url", base_url] if base_url else []
        return shlex.join(["enquete", "resume", token, *more, *where, *server])
