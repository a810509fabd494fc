"""A discussion in each mode with eleven agents: its report is written, and nothing of it is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import enquete
from tests.reports.conftest import made, people_file

MODES = sorted(path.stem for path in (Path(enquete.__file__).parent / "instruments" / "roundtable").glob("*.yaml"))
AVAILABLE = {"roundtable": "enquete.methods.roundtable:METHODOLOGY"}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("mode", MODES)
def test_a_report_is_written_in_every_mode(mode: str, language: str, tmp_path: Path) -> None:
    """Four of the seven crashed: a long name of an argument beside “{groups:group|groups}”."""
    run = made(
        **people_file(tmp_path, 11), language=language, methods=["roundtable"], available=AVAILABLE,
        settings={"roundtable": {"mode": mode}},
    )  # fmt: skip
    summary = json.loads((run.synthesis / "results.json").read_text("utf-8"))
    assert (summary["status"], summary["gaps"]) == ("completed", [])
    assert (run.synthesis / "report.html").stat().st_size > 0
    assert "|groups" not in run.report()
