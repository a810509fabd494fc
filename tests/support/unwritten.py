"""Runs whose report nobody writes, for tests of what is asked, filed and paid: everything else is the product's own.

A quarter of a small run is asking, the rest analysis and files; whoever looks at the ledger alone does without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from enquete.nodes.run_session import Progress, RunSession
from enquete.nodes.study_graph import Closed
from enquete.state.request import parse_request
from enquete.study.background import wait
from enquete.study.driver import Driver
from enquete.study.run import Run
from enquete.study.start import Start, choose_start, drive, start_of_resume


async def unwritten(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
    """The status that the synthesis would have given, and no file."""
    await run_session.ledger.drain()
    stages = run_session.ledger.stages()
    outcomes = {stages[stage].outcome if stage in stages else "" for stage in planned}
    if not partial and ("failed" in outcomes or run_session.ledger.failures()):
        return {"status": "failed", "findings": []}
    status = "completed" if outcomes == {"done"} and not partial else str(stages[("", "")].outcome)
    return {"status": status, "findings": []}


@contextmanager
def without_reports() -> Iterator[None]:
    """Runs that callers of operations drive (HTTP, MCP, commands, Python), likewise."""
    import pytest  # the benchmarks, which measure this process, do without

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("enquete.reports.synthesis.synthesise", unwritten)
        yield


@contextmanager
def results_alone(*, report: bool = False, exports: bool = False) -> Iterator[None]:
    """Such runs leave what was found and what they are canonical of, as usual; no figures and no page, and neither the
    report's text, with what it says of health and across methods, nor these and the exports unless they are wanted.
    All of it costs three times as much."""
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("enquete.reports.synthesis.pictures", lambda *_, **__: [])
        patch.setattr("enquete.reports.report.Report.html", lambda _: "")
        if not exports:
            patch.setattr("enquete.reports.exports.data_files", lambda *_: [])
            patch.setattr("enquete.reports.exports.write_standing", lambda *_: {})
            patch.setattr("enquete.reports.exports.markdown", lambda *_: "")
            patch.setattr("enquete.reports.exports.episodes", lambda *_: [])
        if not (report or exports):
            patch.setattr("enquete.reports.synthesis.write_exports", lambda *_: None)
            patch.setattr("enquete.reports.synthesis.write_report", lambda *_, **__: SimpleNamespace(findings=[]))
        yield


def interview(sim: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """`enquete.conduct_interviews` without findings, report and exports."""
    return _driven(choose_start(parse_request(sim=str(sim), **request)), progress)


def resume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """`enquete.resume`, likewise."""
    return _driven(start_of_resume(str(token_or_sim), request), progress)


def _driven(task: Start, progress: Progress | None) -> Run:
    driver = Driver(task.machine, progress, fresh=task.fresh, synthesise=unwritten)
    return wait(drive(task, driver), driver.pause)
