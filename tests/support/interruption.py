"""A run's folder as a kill would leave it, without a process: copied while the run goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import bare_runs
from tests.support.populations import mirofish_folder
from tests.support.studies import run_folder, stored_answers

METHODS = ["longitudinal", "delphi"]


@dataclass(frozen=True)
class Interrupted:
    """`whole`: the answers of the run that nobody interrupted; `killed`: its results folder, as it was on the way."""

    whole: list[tuple[Any, ...]]
    killed: Path
    done: Path

    def copied(self, to: Path) -> Path:
        """The run's folder in a copy of what the kill left."""
        return run_folder(Path(shutil.copytree(self.killed, to)))


def interrupted(base: Path, agents: int, when: Callable[[dict[str, Any]], bool], **asked: Any) -> Interrupted:
    """Copied at the first progress of which `when` is true."""

    def look(event: dict[str, Any]) -> None:
        if not (base / "killed").exists() and when(event):
            shutil.copytree(base / "out", base / "killed")

    run = bare_runs.interview(
        mirofish_folder(base / "sim_1", agents), out=str(base / "out"), respondent="synthetic", progress=look,
        **{"methods": METHODS, "language": "en", **asked},
    )  # fmt: skip
    assert run.status == "completed"
    return Interrupted(stored_answers(run.folder), base / "killed", run.folder)
