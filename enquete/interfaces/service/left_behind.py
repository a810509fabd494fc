"""What a run that stopped has left: findings, report, files. Nothing outside the server's root is read, and nobody is asked."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from enquete.interfaces.service.replies import NothingYet
from enquete.state.data_formats import FileFormat, Layout
from enquete.study.run import Run
from enquete.study.run_store import pointers
from enquete.study.sandbox import PathSandbox

WRITTEN = "it is written at the run's end and at every stop"


def findings_of(
    sandbox: PathSandbox, sim_id: str, methodology: str, run_id: str | None = None
) -> tuple[Run, dict[str, JsonValue]]:
    """Of the run named, else of the one that counts for this methodology, else of the latest that has any: a run that has
    not come so far hides no earlier one. Raises NothingYet naming the run that has them."""
    if run_id is not None:
        run = sandbox.finished(sim_id, run_id)
        found = _findings(sandbox, run, methodology)
        if found:
            return run, found
        others = [one.run_id for one, _ in _having(sandbox, sim_id, methodology)]
        there = f"run {others[0]} has some" if others else f"it has those of: {', '.join(run.results) or 'none so far'}"
        raise NothingYet(f"run {run.run_id} has no results of {methodology[:100]!r}; {there}")
    for run, found in _having(sandbox, sim_id, methodology):
        return run, found
    run = sandbox.finished(sim_id)
    there = ", ".join(run.results) or "none so far"
    raise NothingYet(f"no run of {sim_id} has results of {methodology[:100]!r}; run {run.run_id} has those of: {there}")


def _having(sandbox: PathSandbox, sim_id: str, methodology: str) -> Iterator[tuple[Run, dict[str, JsonValue]]]:
    """Runs with findings of it: those that count first, then the latest first."""
    canonical = pointers(sim_id, root=str(sandbox.root))
    counting = [canonical.get(f"{phase}/{methodology}", "") for phase in ("T1", "T0")]
    others = [one.run_id for one in reversed(sandbox.runs(sim_id)) if one.status not in ("damaged", "newer")]
    for run_id in dict.fromkeys([*(one for one in counting if one in others), *others]):
        run = sandbox.finished(sim_id, run_id)
        found = _findings(sandbox, run, methodology) if methodology in run.record.methods else {}
        if found:
            yield run, found


def _findings(sandbox: PathSandbox, run: Run, methodology: str) -> dict[str, JsonValue]:
    """As they were written at the run's last stop, else of a methodology that is done while others are being asked."""
    sandbox.require_inside(run.path)
    found = run.results.get(methodology)
    return found if isinstance(found, dict) and found else run.early_results(methodology)


def report_of(sandbox: PathSandbox, run: Run) -> str:
    """Raises NothingYet where the run has not stopped for the first time yet."""
    sandbox.require_inside(run.path)
    if not run.report:
        raise NothingYet(f"run {run.run_id} has no report yet: {WRITTEN}")
    return run.report


def table_of(sandbox: PathSandbox, run: Run) -> Path:
    """all_responses.csv. Raises NothingYet."""
    path = run.path / "exports" / "all_responses.csv"
    if not path.is_file():
        raise NothingYet(f"run {run.run_id} has no export yet: {WRITTEN}")
    sandbox.require_inside(path)
    return path


@dataclass(frozen=True)
class Parcel:
    """A run's data in one file, in a folder of its own that goes once it is handed over."""

    path: Path
    mediatype: str

    def remove(self) -> None:
        shutil.rmtree(self.path.parent, ignore_errors=True)


WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def parcel_of(
    sandbox: PathSandbox, run: Run, format_: FileFormat, layout: Layout = "both", *, bom: bool = False
) -> Parcel:
    """`Run.export` as one file: a workbook, or a zip of the folder. Written where nobody else writes, and nothing of the run is
    touched. Raises as that does."""
    sandbox.require_inside(run.folder)
    place = Path(tempfile.mkdtemp(prefix="enquete-"))
    try:
        written = run.export(format_, to=place, layout=layout, bom=bom)
        if format_ == "xlsx":
            return Parcel(written[0].replace(place / written[0].name), WORKBOOK)
        parcel = place / f"{run.run_id}_{format_}.zip"
        with zipfile.ZipFile(parcel, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in written:
                packed.write(file, file.relative_to(place).as_posix())
                file.unlink()
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return Parcel(parcel, "application/zip")
