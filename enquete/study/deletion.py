"""Runs deleted: what Enquete wrote of them, and nothing else. The simulation itself stays."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from enquete.ledger.canonical import rebuild_latest
from enquete.ledger.drives import START_LOCK
from enquete.ledger.folders import drop_ledger, held, own_files, result_folders, run_folders
from enquete.memory.local import FILE as MEMORY
from enquete.memory.local import LocalMemory
from enquete.nodes.run_list import survey
from enquete.state.errors import InputError, RunNotFound
from enquete.study.simulations import interviews_of

__all__ = ["Deletion", "delete", "deletion"]


@dataclass(frozen=True)
class Deletion:
    """What goes, or went. kept: what lies in the folders of these runs and was written by somebody else. graphs: those
    outside that were sent episodes, and keep them."""

    interviews: Path
    runs: tuple[str, ...]
    files: tuple[Path, ...]
    kept: tuple[Path, ...]
    bytes: int
    graphs: tuple[str, ...]


class StillNeeded(InputError):
    """Another run rests on one that was to be deleted."""


def deletion(
    sim_id: str | Path, run_id: str | None = None, *, root: str | Path | None = None, out: str | Path | None = None
) -> Deletion:
    """What `delete` with these arguments would take away. Changes nothing. Raises as that does."""
    interviews = interviews_of(str(sim_id), str(root) if root else None, str(out) if out else None)
    runs = _named(interviews, run_id)
    _require_needed_by_none(interviews, {run.name for run in runs})
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(held(run))  # RunLocked: somebody drives it
    return _planned(interviews, runs)


def delete(
    sim_id: str | Path, run_id: str | None = None, *, root: str | Path | None = None, out: str | Path | None = None
) -> Deletion:
    """Delete a run, by its run_id or token, or all runs of a simulation: ledgers, checkpoints, results, and what the
    embedded memory holds of them. Nobody asks whether that is meant.

    Files that Enquete did not write stay, and so does the simulation. Raises RunNotFound, RunLocked where a run is
    being driven, StillNeeded where another run is measured against one of them.
    """
    planned = deletion(sim_id, run_id, root=root, out=out)
    runs = [planned.interviews / "runs" / name for name in planned.runs]
    folders = [folder for run in runs for folder in result_folders(run)]
    with ExitStack() as locks:
        for run in runs:
            locks.enter_context(held(run))
        for run in runs:
            drop_ledger(run)
        _forget(planned)
        for file in planned.files:
            if file.name != "lock":
                file.unlink(missing_ok=True)
    for run in runs:
        (run / "lock").unlink(missing_ok=True)
    for folder in folders:
        _remove_empty(folder, planned.interviews)
    rebuild_latest(planned.interviews)
    _remove_empty(planned.interviews / "tasks", planned.interviews)
    return planned


def _named(interviews: Path, run_id: str | None) -> list[Path]:
    there = run_folders(interviews)
    runs = there if run_id is None else [run for run in there if run.name == run_id.partition(".")[0]]
    if not runs:
        names = ", ".join(run.name for run in there) or "none"
        raise RunNotFound(f"no run {run_id or 'at all'!r} in {interviews} (runs there: {names})")
    return runs


def _require_needed_by_none(interviews: Path, going: set[str]) -> None:
    for run in survey(interviews).runs:
        if run.record.baseline_run_id in going and run.folder.name not in going:
            raise StillNeeded(
                f"run {run.record.baseline_run_id} holds the answers before the simulation that run {run.folder.name} "
                f"is measured against: delete {run.folder.name} first, or all runs"
            )


def _planned(interviews: Path, runs: list[Path]) -> Deletion:
    files = [file for run in runs for file in (*own_files(run), interviews / "tasks" / f"{run.name}.json")]
    going = [file for file in dict.fromkeys(files) if file.is_file() or file.is_symlink()]
    inside = [file for run in runs for folder in result_folders(run) for file in sorted(folder.rglob("*"))]
    names = {run.name for run in runs}
    graphs = {run.record.memory for run in survey(interviews).runs if run.folder.name in names} - {"local"}
    return Deletion(
        interviews,
        tuple(run.name for run in runs),
        tuple(going),
        tuple(file for file in inside if file not in set(going) and not file.is_dir()),
        sum(file.lstat().st_size for file in going),
        tuple(sorted(graphs)),
    )


def _forget(planned: Deletion) -> None:
    """What belongs to no run, the memory's file and the lock of starts, goes with the last one."""
    if len(run_folders(planned.interviews)) == len(planned.runs):
        for file in (*planned.interviews.glob(f"{MEMORY}*"), planned.interviews / START_LOCK):
            file.unlink(missing_ok=True)
    elif (planned.interviews / MEMORY).exists():
        with LocalMemory.opened(planned.interviews) as memory:
            memory.forget(planned.runs)


def _remove_empty(folder: Path, top: Path) -> None:
    """The folder, those within it and those around it, as far as nothing is in them."""
    for inner in sorted((entry for entry in folder.rglob("*") if entry.is_dir()), reverse=True):
        with suppress(OSError):
            inner.rmdir()
    while folder != top and folder.is_relative_to(top):
        with suppress(OSError):
            folder.rmdir()
        folder = folder.parent
