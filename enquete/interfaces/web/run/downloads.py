"""What can be taken away from a run's pages: chosen answers as CSV, figures as SVG or PNG, sections, and the run's own files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from enquete.interfaces.service.left_behind import WORKBOOK
from enquete.interfaces.service.replies import NothingYet
from enquete.interfaces.web.run.run_cache import OpenRun
from enquete.interfaces.web.run.table import COLUMNS, Where
from enquete.locale import N_
from enquete.reports.charts import Picture
from enquete.reports.writing import csv_rows
from enquete.state.errors import InputError

FORMATS = {
    "xlsx": N_("Excel: one workbook (.xlsx)"), "sav": N_("SPSS, with labels and missing codes (.sav, zip)"),
    "parquet": N_("Parquet, for R and Python (zip)"), "csv": N_("CSV (zip)"),
}  # fmt: skip
CHUNK = 5_000
TYPES = {
    ".csv": "text/csv", ".json": "application/json", ".jsonl": "application/jsonl", ".md": "text/markdown",
    ".svg": "image/svg+xml", ".png": "image/png", ".html": "text/html", ".yaml": "application/yaml", ".xlsx": WORKBOOK,
}  # fmt: skip


class NoSuchFile(NothingYet):
    """The run has no file of this name."""


def as_csv(run: OpenRun, where: Where) -> Iterator[str]:
    """The chosen answers, a row each, as all_responses.csv writes them."""
    chosen = run.table.frame.iloc[run.table.places(where)][list(COLUMNS)]
    yield ",".join(COLUMNS) + "\r\n"
    for start in range(0, len(chosen), CHUNK):
        yield csv_rows(chosen.iloc[start : start + CHUNK])


def drawn_as(picture: Picture, kind: str) -> tuple[bytes, str]:
    """Content and type of a figure's file. Raises InputError for another kind."""
    if kind not in ("svg", "png"):
        raise InputError(f"{kind[:20]!r}: a figure is given as svg or png")
    return (picture.svg().encode(), "image/svg+xml") if kind == "svg" else (picture.png(), "image/png")


def files_of(run: OpenRun) -> list[tuple[str, list[tuple[str, int]]]]:
    """(title, [(path, bytes)]) of everything that the run wrote for its readers. Paths are as `open_file` takes them."""
    found = [("", _listed(run.run.path, ""))]
    for name, title in run.titles.items():
        own = [one for phase, folder in run.stage_folders(name) for one in _listed(folder, f"{name}/{phase}/")]
        found.append((title, own))
    return [(title, files) for title, files in found if files]


def _listed(folder: Path, prefix: str) -> list[tuple[str, int]]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return [(prefix + file.relative_to(folder).as_posix(), file.stat().st_size) for file in files]


def file_at(run: OpenRun, path: str) -> Path:
    """The file behind such a path. Raises NoSuchFile for anything that is not listed."""
    for folder, prefix in _folders(run):
        if path.startswith(prefix) and (folder / path[len(prefix) :]).is_file() and ".." not in path.split("/"):
            file = folder / path[len(prefix) :]
            run.shelf.sandbox.require_inside(file)
            return file
    raise NoSuchFile(f"run {run.run.run_id} has no file {path[:200]!r}")


def _folders(run: OpenRun) -> Iterator[tuple[Path, str]]:
    for name in run.titles:
        for phase, folder in run.stage_folders(name):
            yield folder, f"{name}/{phase}/"
    yield run.run.path, ""
