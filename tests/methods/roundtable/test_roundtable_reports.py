"""A discussion in each mode with eleven agents: its report is written, and nothing of it is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import enquete
from tests.reports.conftest import made, people_file

MODES = sorted(path.stem for path in (Path(enquete.__file__).parent / "instruments" / "roundtable").glob("*.yaml"))
AVAILABLE = {"roundtable": "enquete.methods.roundtable:METHODOLOGY"}


def report_in(language: str, mode: str, folder: Path) -> str:
    """Return the report of a discussion among eleven agents, of which nothing is missing."""
    run = made(
        **people_file(folder, 11), language=language, methods=["roundtable"], available=AVAILABLE,
        settings={"roundtable": {"mode": mode}},
    )  # fmt: skip
    summary = json.loads((run.synthesis / "results.json").read_text("utf-8"))
    assert (summary["status"], summary["gaps"]) == ("completed", [])
    return run.report()


@pytest.mark.parametrize("mode", MODES)
def test_a_report_is_written_in_every_mode(mode: str, tmp_path: Path) -> None:
    """Four of the seven crashed: a long name of an argument beside “{groups:group|groups}”."""
    assert "|groups" not in report_in("en", mode, tmp_path)
    (page,) = tmp_path.rglob("report.html")
    assert page.stat().st_size > 0


@pytest.mark.usefixtures("report_only")
@pytest.mark.parametrize("mode", MODES)
def test_its_text_is_written_in_german_too(mode: str, tmp_path: Path) -> None:
    """Figures and files are made in the same way in every language."""
    assert "|groups" not in report_in("de", mode, tmp_path)
