"""Runs whose report nobody writes, for tests of what is asked, filed and paid: everything else is the product's own.

A quarter of a small run is asking, the rest analysis and files; whoever looks at the ledger alone does without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from enquete.ledger.folders import move_latest
from enquete.nodes.synthesis import Closed
from enquete.runs.run_session import Progress, RunSession
from enquete.state.request import parse_request
from enquete.study.background import wait
from enquete.study.run import Run
from enquete.study.start import Driver, Start, choose_start, drive, start_of_resume

EMPTY = '<svg width="1" height="1" viewBox="0 0 1 1"></svg>'


async def unwritten(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
    """The status that the synthesis would have given, and no file."""
    await run_session.ledger.drain()
    stages = run_session.ledger.stages()
    outcomes = {stages[stage].outcome if stage in stages else "" for stage in planned}
    if not partial and ("failed" in outcomes or run_session.ledger.failures()):
        return {"status": "failed", "findings": []}
    status = "completed" if outcomes == {"done"} and not partial else str(stages[("", "")].outcome)
    return {"status": status, "findings": []}


async def canonical(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
    """Likewise, and the run is what re-runs, replays and `load_run` go back to."""
    closed = await unwritten(run_session, planned, partial=partial)
    record, stages = run_session.record, run_session.ledger.stages()
    if not partial and not record.replay_of:
        done = [stage for stage in planned if stage in stages and stages[stage].outcome == "done"]
        waves = [(name, phase) for name, phase in done if phase != "T0" or record.baseline != "reconstructed"]
        moved = {f"{phase}/{name}": record.run_id for name, phase in waves}
        move_latest(run_session.folder.parent.parent, {**moved, "synthesis": record.run_id})
    return closed


@contextmanager
def without_reports() -> Iterator[None]:
    """Runs that callers of operations drive (HTTP, MCP, commands, Python), likewise."""
    import pytest  # the benchmarks, which measure this process, do without

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("enquete.reports.synthesis.synthesise", canonical)
        yield


@contextmanager
def without_partial_reports() -> Iterator[None]:
    """A run that is over is written up as ever; a report at a stop, which that one would replace, is not written."""
    import pytest

    from enquete.reports import synthesis

    whole = synthesis.synthesise

    async def at_the_end(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
        return await (unwritten if partial else whole)(run_session, planned, partial=partial)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthesis, "synthesise", at_the_end)
        yield


@contextmanager
def without_figures() -> Iterator[None]:
    """Reports are written whole, with an empty picture in place of each that Vega would draw."""
    import pytest
    import vl_convert

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: EMPTY)
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
            patch.setattr("enquete.reports.synthesis.write_exports", lambda *given: given[4]())  # the account
            patch.setattr("enquete.reports.synthesis.write_report", lambda *_, **__: SimpleNamespace(findings=[]))
        yield


def interview(sim: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """`enquete.conduct_interviews` without findings, report and exports."""
    return _driven(choose_start(parse_request(sim=str(sim), **request)), progress)


def base_run(sim: str | Path, **request: Any) -> Run:
    """`interview` of a run that others go back to."""
    task = choose_start(parse_request(sim=str(sim), **request))
    driver = Driver(task.machine, None, fresh=task.fresh, synthesise=canonical)
    return wait(drive(task, driver), driver.pause)


def resume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """`enquete.resume`, likewise."""
    return _driven(start_of_resume(str(token_or_sim), request), progress)


def _driven(task: Start, progress: Progress | None) -> Run:
    driver = Driver(task.machine, progress, fresh=task.fresh, synthesise=unwritten)
    return wait(drive(task, driver), driver.pause)
