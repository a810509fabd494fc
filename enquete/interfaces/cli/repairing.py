"""`enquete doctor --repair RUN`: the backup copy put in place of a damaged ledger."""

from __future__ import annotations

from pathlib import Path

from enquete.interfaces.cli.output import one_object, result
from enquete.state.errors import RunNotFound, SimulationNotFound


def repair(name: str, root: str | None, out: str | None, as_json: bool) -> int:
    """Raises RunNotFound, RunLocked, LedgerError (nothing was changed then)."""
    from enquete.checkpoints.backup import restore  # noqa: PLC0415 - not for --help

    folder = named_folder(name, root, out)
    report = restore(folder)
    if as_json:
        found = {
            "restored": bool(report.at),
            "copied_at": report.at,
            "settled": report.settled,
            "asked_again": report.again,
        }
        kept = None if report.kept is None else str(report.kept)
        one_object({"ledger": str(report.ledger), "kept": kept, **found, "exit_code": 0})
        return 0
    for line in report.lines():
        result(line)
    return 0


def named_folder(name: str, root: str | None, out: str | None) -> Path:
    """The run's folder or its ledger as a path; else its run_id or token under --root, --out, or its simulation."""
    from enquete.checkpoints.folders import LEDGER  # noqa: PLC0415 - not for --help
    from enquete.study.starting import damaged_run  # noqa: PLC0415

    path = Path(name).expanduser()
    if path.name == LEDGER and path.parent.is_dir():
        return path.parent
    if path.is_dir() and (path.name.startswith("run_") or (path / LEDGER).is_file()):
        return path
    try:
        return damaged_run(name, root=root, out=out)
    except SimulationNotFound as error:
        hint = "name the run's folder, such as SIM/interviews/runs/run_…, its run_id with --root or --out, or its simulation"
        raise RunNotFound(f"--repair {name!r}: no such folder, run or simulation; {hint}") from error
