"""What a server wrote down about the runs it drives, so that another one after it knows.

One small JSON file per task, `interviews/tasks/{run_id}.json`. How far the run is stands in the run's ledger alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from enquete.checkpoints.folders import write_atomically
from enquete.state.regular_files import read_regular

Kind = Literal["pre", "post", "rerun", "resume", "watch"]


class TaskFile(BaseModel):
    """`ended_at` None: a server drives the run, or was killed while it did. `stopped`: a server paused it because it was
    being stopped itself. `error`: what ended it, where that stands nowhere else."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    sim_id: str
    kind: Kind
    started_at: str
    ended_at: str | None = None
    stopped: bool = False
    error: str = ""

    @property
    def is_broken_off(self) -> bool:
        """Nobody decided that the run should stop here."""
        return self.ended_at is None or self.stopped


def path_of(simulation: Path, task_id: str) -> Path:
    return simulation / "interviews" / "tasks" / f"{task_id}.json"


def write_task(simulation: Path, task: TaskFile) -> None:
    write_atomically(path_of(simulation, task.task_id), task.model_dump_json(indent=1) + "\n")


def read_task(simulation: Path, task_id: str) -> TaskFile | None:
    """None where no server has started this run, or the file cannot be read: the run itself does not depend on it."""
    try:
        return TaskFile.model_validate_json(read_regular(path_of(simulation, task_id)))
    except (OSError, ValidationError):
        return None


def tasks_of(simulation: Path) -> list[TaskFile]:
    """In the order of their names, which is that of their runs."""
    files = sorted((simulation / "interviews" / "tasks").glob("run_*.json"))
    return [task for file in files if (task := read_task(simulation, file.stem)) is not None]
