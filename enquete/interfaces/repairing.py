"""`enquete doctor --repair RUN`: a damaged ledger made anew from what can be read of it."""

from __future__ import annotations

from pathlib import Path

from enquete.interfaces.output import one_object, result
from enquete.state.errors import RunNotFound


def repair(name: str, as_json: bool) -> int:
    """`name`: the run's folder, or its ledger. Raises RunNotFound, RunLocked, LedgerError (nothing was changed then)."""
    from enquete.checkpoints.folders import LEDGER  # noqa: PLC0415 - not for --help
    from enquete.checkpoints.salvage import salvage  # noqa: PLC0415

    path = Path(name).expanduser()
    folder = path.parent if path.name == LEDGER else path
    if not folder.is_dir():
        raise RunNotFound(f"--repair {name!r}: no such folder; name the run's own, such as SIM/interviews/runs/run_…")
    report = salvage(folder)
    if as_json:
        found = {"rows": report.rows, "settled": report.settled, "lost": report.lost, "notes": report.notes}
        kept = None if report.kept is None else str(report.kept)
        one_object({"ledger": str(report.ledger), "kept": kept, **found, "exit_code": 0})
        return 0
    for line in report.lines():
        result(line)
    return 0
