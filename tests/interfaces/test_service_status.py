"""How a stage is told by every server: what is filed is older than what goes on."""

from __future__ import annotations

import pytest

from enquete.interfaces.service.status import StatusWord, outcome_of
from enquete.study import StageStatus


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
