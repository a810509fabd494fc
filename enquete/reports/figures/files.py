"""Figures as files: SVG by our own code; PNG and PDF from it by vl-convert, which needs no browser and is an extra."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from enquete.checkpoints.folders import write_atomically
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.svg import svg
from enquete.state.errors import InputError, SettingsError

FOLDER = "figures"
Kind: TypeAlias = Literal["svg", "png", "pdf"]
SCALE = 2.0  # px of a PNG by px of the figure


def save(figure: Figure, path: Path | str) -> Path:
    """By the name's ending: .svg, .png or .pdf. Raises InputError for another, SettingsError without vl-convert."""
    path = Path(path)
    drawn = svg(figure.spec, figure.alt, plain=True)
    if path.suffix == ".svg":
        write_atomically(path, drawn)
        return path
    if path.suffix not in (".png", ".pdf"):
        raise InputError(f"{path}: a figure is saved as .svg, .png or .pdf, not {path.suffix or 'without an ending'}")
    try:
        import vl_convert  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise SettingsError(f"{path.suffix} needs vl-convert: pip install 'enquete[figures]'") from error
    made = vl_convert.svg_to_png(drawn, scale=SCALE) if path.suffix == ".png" else vl_convert.svg_to_pdf(drawn)
    path.write_bytes(made)
    return path


def write_figures(folder: Path, figures: Sequence[Figure], kind: Kind = "svg") -> list[Path]:
    """figures/<methodology>-<name>.<kind> of all; those of an earlier writing that are no longer drawn are taken away."""
    into = folder / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    written = [save(each, into / f"{each.stem}.{kind}") for each in figures]
    for stale in set(into.glob(f"*.{kind}")) - set(written):
        stale.unlink()
    return written
