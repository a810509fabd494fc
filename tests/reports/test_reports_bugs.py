"""A methodology with bugs of its own: they stay with their unit or analysis, and everything else is written."""

from __future__ import annotations

from dataclasses import replace

from enquete.ledger.ledger import Failure
from enquete.methods.longitudinal import METHODOLOGY as LONGITUDINAL
from enquete.methods.longitudinal.evaluation import EVALUATION
from enquete.methods.longitudinal.procedure import Wave
from enquete.reports.synthesis import load_summary
from enquete.runs.run_session import RunSession


class Stumbling(Wave):
    """A wave that cannot say what its second agent owes."""

    def blocks(self, unit, round, context):
        if context.participants()[1].id == unit:
            raise KeyError("second agent")
        return super().blocks(unit, round, context)


def broken_analysis(frame, instrument, settings, context):
    raise ZeroDivisionError("n is 0")


STUMBLING = replace(
    LONGITUDINAL,
    asks=lambda: LONGITUDINAL.asks()._replace(procedure=Stumbling),
    evaluation=lambda: replace(EVALUATION, analyse=broken_analysis),
)


def test_bugs_stay_with_their_unit_and_their_analysis_and_fail_the_run(make, personas, monkeypatch):
    """A unit that cannot say what it owes keeps nobody else from the report, a broken analysis leaves the other
    methodology its findings."""
    monkeypatch.delenv("ENQUETE_RAISE_BUGS")
    available = {"longitudinal": f"{__name__}:STUMBLING", "delphi": "enquete.methods.delphi:METHODOLOGY"}

    async def more(run_session: RunSession) -> None:
        who = run_session.population[1].id
        for of in (("delphi", "T1", 2, who, "KeyError: 'x|y'"), ("synthesis", "", 0, "narrative", "KeyError: 'x'")):
            await run_session.ledger.record_failure(Failure("main", *of, "Traceback"))

    made = make(**personas(3), available=available, language="en", prepare=more)
    table, summary, report = made.table(), load_summary(made.folder), made.report()
    assert table[table["methodology"].eq("longitudinal")]["agent_name"].unique().tolist() == ["Agent 0", "Agent 2"]
    assert set(summary["results"]) == {"delphi"}
    assert summary["status"] == "failed"
    assert sorted(failure["error"] for failure in summary["failures"]) == [
        "KeyError: 'second agent'", "KeyError: 'x'", "KeyError: 'x|y'", "ZeroDivisionError: n is 0",
    ]  # fmt: skip
    assert "Agent 1: KeyError: 'second agent'" in report
    assert "A bug in Delphi T1, round 2, Agent 1: KeyError: 'x\\|y'" in report
    assert "A bug in Synthesis" in report
    assert "The analysis was stopped by a bug: ZeroDivisionError: n is 0." in report
    assert (made.interviews / "T1" / "longitudinal" / made.folder.name / "audit.jsonl").stat().st_size > 0
