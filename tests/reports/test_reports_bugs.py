"""A methodology with bugs of its own: they stay with their unit or analysis, and everything else is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from enquete.graphs.longitudinal import METHODOLOGY as LONGITUDINAL
from enquete.graphs.longitudinal.procedure import Wave
from enquete.graphs.longitudinal.results import EVALUATION
from enquete.reports.synthesis import load_summary


class Stumbling(Wave):
    """A wave that cannot say what its second agent owes."""

    def blocks(self, unit, round, context):
        if context.participants()[1].id == unit:
            raise KeyError("second agent")
        return super().blocks(unit, round, context)


def broken_analysis(frame, instrument, settings, context):
    raise ZeroDivisionError("n is 0")


STUMBLING = replace(LONGITUDINAL, asks=lambda: LONGITUDINAL.asks()._replace(procedure=Stumbling))
BROKEN = replace(EVALUATION, analyse=broken_analysis)
UNANALYSED = replace(LONGITUDINAL, evaluation=lambda: BROKEN)


def dotted(name: str) -> dict[str, str]:
    return {"longitudinal": f"{__name__}:{name}", "delphi": "enquete.graphs.delphi:METHODOLOGY"}


@pytest.fixture(autouse=True)
def bugs_are_recorded(monkeypatch):
    monkeypatch.delenv("ENQUETE_RAISE_BUGS", raising=False)


def test_a_unit_that_cannot_say_what_it_owes_keeps_nobody_else_from_the_report(make, personas):
    made = make(**personas(3), available=dotted("STUMBLING"), methods=["longitudinal"], language="en")
    table = made.table()
    assert table["agent_name"].unique().tolist() == ["Agent 0", "Agent 2"]
    assert load_summary(made.folder)["status"] == "failed"
    assert "Agent 1: KeyError: 'second agent'" in made.report()


def test_a_bug_in_one_analysis_leaves_the_other_its_findings_and_fails_the_run(make, personas):
    made = make(**personas(3), available=dotted("UNANALYSED"), language="en")
    summary = load_summary(made.folder)
    assert set(summary["results"]) == {"delphi"}
    assert summary["status"] == "failed"
    assert [failure["unit"] for failure in summary["failures"]] == ["analysis"]
    assert "The analysis was stopped by a bug: ZeroDivisionError: n is 0." in made.report()
    assert (made.interviews / "T1" / "longitudinal" / made.folder.name / "audit.jsonl").stat().st_size > 0
