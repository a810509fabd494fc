"""How a stage is told by every server: what is filed is older than what goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

import enquete
from enquete.interfaces.cli import summary
from enquete.interfaces.cli.summary import Place
from enquete.interfaces.mcp.run_states import describe_run
from enquete.interfaces.views import StatusWord, outcome_of
from enquete.ledger.folders import held
from enquete.study.run import StageStatus
from tests.support.studies import personas

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.mark.parametrize(
    ("filed", "calls", "status", "told"),
    [
        ("not started", 0, "running", "not started"),
        ("not started", 150, "running", "running"),
        ("short", 150, "running", "running"),  # resumed with more budget
        ("done", 150, "running", "done"),
        ("failed", 150, "running", "failed"),
        ("short", 150, "paused", "short"),
        ("not started", 150, "paused", "not started"),
    ],
)
def test_what_has_begun_and_not_ended_is_running(filed: str, calls: int, status: StatusWord, told: str) -> None:
    stage = StageStatus("delphi", "T1", filed, "", {"calls": calls}, 10, 12)
    assert outcome_of(stage, status) == told


def test_a_run_that_goes_on_says_nothing_of_what_an_earlier_stop_found(tmp_path: Path) -> None:
    """Health is of the answers that were there then: while somebody drives the run, a status has its notices alone."""
    out = str(tmp_path / "out")
    run = enquete.conduct_interviews(
        str(personas(tmp_path, 3)), out=out, respondent="synthetic", methods=["longitudinal"], language="en"
    )
    flags = set(run.flags) - set(run.record.notices)
    assert flags
    with held(run.folder):
        assert run.flags == describe_run(run, None, str).warnings == list(run.record.notices)
        shown = "\n".join(summary.summary_lines(run, Place(str(tmp_path), out=out)))
    assert not [flag for flag in flags if flag in shown]
    assert set(run.flags) >= flags  # afterwards they are told again
