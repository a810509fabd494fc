"""The synthesis: findings, report and exports of a run, written after every stop and after its end."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import JsonValue, ValidationError

from enquete.ledger.connection import DatabaseError
from enquete.ledger.folders import RECORD, move_latest, write_atomically
from enquete.ledger.ledger import Failure
from enquete.locale import N_, tell
from enquete.memory.graph import connect
from enquete.memory.recall import Delivery, LocalMemory, MemoryFault, deliver
from enquete.nodes.synthesis import Closed
from enquete.reports import narrative
from enquete.reports.accounts import ACCOUNT, account, citations, every_call_failed, told_gaps
from enquete.reports.analyses import ACROSS, Findings, find, stated
from enquete.reports.context import chosen, give_back, statuses
from enquete.reports.evaluation import Evaluation, evaluations
from enquete.reports.exports import declared, reached, validate, write_exports, write_stage
from enquete.reports.files import Last, data_files, write_package
from enquete.reports.findings import KeyFinding, ranked
from enquete.reports.further_arms import (
    PREFERENCE,
    REPLICATES,
    preference_results,
    preferences,
    replicate,
    replicate_results,
)
from enquete.reports.gaps import UNIT, Gap, GapLog, failures_of
from enquete.reports.health import CHECKS_FAILED, HEALTH, Health, examine
from enquete.reports.health import flags as health_flags
from enquete.reports.health import results as health_results
from enquete.reports.pictures import pictures
from enquete.reports.report import MethodologyTexts, ReportMaterial, write_report
from enquete.reports.responses import PLAIN, AskedItem, items, responses, without_second
from enquete.reports.run_reading import RunReading, open_run, read_result
from enquete.reports.views import Names, Results
from enquete.reports.writing import write_json
from enquete.runs.answer_pairs import PairRecord
from enquete.runs.instrument_pins import as_file
from enquete.runs.planning import CRITIC
from enquete.runs.run_session import RunSession
from enquete.state.asking import RESPONDED, Language, PagedPeople, Participant
from enquete.state.errors import EnqueteError, LedgerError
from enquete.state.request import FileFormat, Layout

# --- After a stop or the end of a run: its complete episodes go to the run's graph, if it has one --------------------
# Nothing of it can fail a run. What became of it stands in memory.json in the run's folder: how many episodes the graph
# got now, which are still to be sent, and why; `enquete memory sync` sends them later.

FILE = "memory.json"
LONGEST_S = 60.0
"""Seconds that a stop of a run takes to send episodes; the rest is for a sync."""
PATIENCE_S = 10.0
"""Seconds in all that a stop of a run waits for a graph that asks to be waited for; a sync has more."""
log = logging.getLogger("enquete")


def remember(run_session: RunSession) -> None:
    """A replay says nothing new, so nothing is sent of it. Raises nothing, unless bugs are to be raised."""
    record = run_session.record
    if record.memory == "local" or record.replay_of:
        return
    try:
        sent = _send(run_session)
    except Exception as error:
        if run_session.raise_bugs and not isinstance(error, DatabaseError | OSError | EnqueteError | ValidationError):
            raise
        sent = Delivery(why=f"{type(error).__name__}: {error}")
    if sent.why:
        log.warning("%s: memory: %s (enquete memory sync sends what is left)", record.run_id, sent.why)
    told = {"memory": record.memory, "sent": sent.sent, "left": [episode.id for episode in sent.left], "why": sent.why}
    try:
        write_atomically(run_session.folder / FILE, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    except (OSError, EnqueteError) as error:
        log.warning("%s: %s", record.run_id, error)


def _send(run_session: RunSession) -> Delivery:
    record = run_session.record
    try:
        graph = connect(record.memory, run_session.sim_path, record.sim_id, run_session.machine)
    except MemoryFault as fault:
        return Delivery(why=str(fault))
    if graph is None:
        return Delivery()
    try:
        with LocalMemory.opened(run_session.interviews) as memory:
            return deliver(memory, graph, patience_s=PATIENCE_S, longest_s=LONGEST_S)
    finally:
        graph.close()


RESULTS = "results.json"


@dataclass(frozen=True)
class WrittenSynthesis:
    """What was made of a run: its status, findings by methodology, flags, and what is missing of a methodology."""

    status: str
    results: dict[str, JsonValue] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)  # page one's sentences
    gaps: tuple[Gap, ...] = ()
    missing: Sequence[str] = ()  # the gaps in sentences


@dataclass(frozen=True)
class Prepared:
    """What a narrative was written from, so that the files need not analyse the same rows again. every_arm: the whole
    response table."""

    every_arm: pd.DataFrame
    analysed: Findings
    findings: Sequence[narrative.FindingData] = ()
    gaps: Sequence[Gap] = ()  # of the analyses and of sentences


async def synthesise(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
    """Write everything and return the run's status, and page one's findings.

    "completed" when every planned stage is done; "failed" if a stage failed, a bug was recorded or every call failed;
    else, and always where `partial`, the status as it was filed. A bug in an analysis is filed like any other.
    Where a model answers, it may write the summary across methods; a stop (`partial`) is not worth a call.
    """
    await run_session.ledger.drain()
    run_session.rest()
    prepared = None if partial or not narrative.wanted(run_session) else await _narrate(run_session, planned)
    written = await asyncio.to_thread(
        write_synthesis,
        run_session.folder,
        planned,
        partial=partial,
        raise_bugs=run_session.raise_bugs,
        prepared=prepared,
        population=_held(run_session),
    )
    main = run_session.record.main.id
    failed = failures_of(written.gaps, main)
    for failure in failed:
        await run_session.ledger.record_failure(failure)
    for name in (*run_session.record.methods, ACROSS):
        if name not in {failure.methodology for failure in failed}:
            await run_session.ledger.clear_failure(main, name, "", 0, UNIT)
    await asyncio.to_thread(remember, run_session)
    page = synthesis_folder(run_session.folder) / "page_one.md"
    text = await asyncio.to_thread(page.read_text, "utf-8") if page.is_file() else ""
    return {"status": written.status, "findings": written.findings, "page_one": text}


def _held(run_session: RunSession) -> Sequence[Participant] | None:
    """Who is asked, where all are in memory: others are read by the thread that writes, from its own connection."""
    return None if isinstance(run_session.population, PagedPeople) else run_session.population


async def _narrate(run_session: RunSession, planned: Sequence[tuple[str, str]]) -> Prepared | None:
    """The model's summary, if it has not written one of these findings yet. A bug costs the summary, nothing else."""
    prepared = None
    try:
        prepared = await asyncio.to_thread(
            prepare, run_session.folder, planned, _held(run_session), raise_bugs=run_session.raise_bugs
        )
        await narrative.write(run_session, prepared.findings)
    except LedgerError:
        raise
    except Exception as error:
        if run_session.raise_bugs:
            raise
        key = (run_session.record.main.id, narrative.METHODOLOGY, "", 0, UNIT)
        text = f"{type(error).__name__}: {error}"
        await run_session.ledger.record_failure(Failure(*key, text, traceback.format_exc()))
    else:
        await run_session.ledger.clear_failure(run_session.record.main.id, narrative.METHODOLOGY, "", 0, UNIT)
    return prepared


def prepare(
    folder: Path, planned: Sequence[tuple[str, str]], population: Sequence[Participant] | None = None, *,
    raise_bugs: bool = False,
) -> Prepared:  # fmt: skip
    """Response table and findings of a run whose interviews are over."""
    with open_run(folder, population=population) as reading:
        log = GapLog(folder, raise_bugs)
        every_arm = responses(reading, planned, plain=True, log=log)
        frame = without_second(every_arm)
        analysed = find(reading, frame, log)
        _, findings = _findings(reading, analysed, items(reading, frame, log), log)
        return Prepared(every_arm, analysed, narrative.shown(_listed(findings), frame, reading.run), tuple(log.gaps))


def _findings(
    reading: RunReading, analysed: Findings, asked: Sequence[AskedItem], log: GapLog
) -> tuple[Mapping[str, Results], Mapping[str, list[KeyFinding]]]:
    """What is declared, in the reader's language, and every finding by methodology."""
    results = declared(reading, asked, analysed)
    return results, stated(results, log)


def _listed(findings: Mapping[str, list[KeyFinding]]) -> list[KeyFinding]:
    """All of them, the best ranked first."""
    return ranked(finding for stated in findings.values() for finding in stated)


def write_synthesis(
    folder: Path,
    planned: Sequence[tuple[str, str]] | None = None,
    *,
    partial: bool = False,
    raise_bugs: bool = False,
    prepared: Prepared | None = None,
    language: Language = "",
    by: str = "",
    population: Sequence[Participant] | None = None,
) -> WrittenSynthesis:
    """Rebuild all files of the run in `folder` from its ledger. Needs neither its lock nor a model.

    Where the code of one methodology fails, at whatever step, everything else is written and the gap is named.

    prepared: table and findings that were just made of the same ledger, which are not made again.
    language: of what is read, where it is not to be that of the interviews. by: what agents are compared by, where it
    is not to be what the run named. population: see `open_run`. Raises LedgerError where the ledger cannot be read,
    ValueError where a row is not what the table promises.
    """
    with open_run(folder, language, population, by) as reading:
        log = GapLog(folder, raise_bugs, list(prepared.gaps) if prepared else [])
        every_arm = prepared.every_arm if prepared else responses(reading, planned, plain=True, log=log)
        frame = without_second(every_arm)
        stages = list(planned) if planned is not None else own_stages(reading, frame)
        findings = prepared.analysed if prepared else find(reading, frame, log, partial=partial)
        of = _results(reading, frame, findings, log)
        material = _material(reading, frame, stages, findings, of, log)
        _raise_flags(findings, material)
        for methodology, phase in stages:
            if reached(reading, methodology, phase, frame):
                write_stage(reading, every_arm, methodology, phase, findings, log)

        def account_of_all() -> Results:
            return _account(reading, frame, stages, findings, of, log.gaps, partial=partial)

        target = synthesis_folder(folder)
        its_account = write_exports(target, reading, material, every_arm, account_of_all, log)
        status = str(its_account.facts["status"])
        material = replace(material, declared={**material.declared, ACCOUNT: its_account}, gaps=tuple(log.gaps))
        page = write_report(target, reading, material, status=status, partial=partial)
        write_atomically(folder / RECORD, as_file(reading.record, reading.ledger))
        results: dict[str, JsonValue] = {name: dict(result) for name, result in findings.results.items()}
        missing = _sentences(reading, log.gaps)
        written = WrittenSynthesis(
            status, results, [*missing, *_flags(reading, findings)], [finding.text for finding in page.findings],
            tuple(log.gaps), missing,
        )  # fmt: skip
        write_json(target / RESULTS, _summary(reading, frame, written, partial=partial))
        if not partial:
            move_latest(reading.interviews, canonical(reading, stages, frame))
    return written


@dataclass(frozen=True)
class RunResults:
    """What is declared of a run: by methodology, and what is nobody's own but its account."""

    asked: Sequence[AskedItem]
    declared: dict[str, Results]
    findings: Mapping[str, list[KeyFinding]]
    health: Health
    pairs: Sequence[PairRecord]


def _results(reading: RunReading, frame: pd.DataFrame, found: Findings, log: GapLog) -> RunResults:
    asked, language = items(reading, frame, log), reading.language
    results, findings = _findings(reading, found, asked, log)
    replicates = replicate(reading, frame, found, log)
    health = examine(reading, found.analyses, frame, lambda name, error: log.add(name, "health", error))
    give_back()
    names, by_method = next(iter(results.values())).names, evaluations(reading.record.methods)
    health, health_told = _tell_health(health, by_method, names, language, log)
    against = preferences(reading)
    others = {
        HEALTH: health_told,
        REPLICATES: replicate_results(replicates, by_method, names, language),
        PREFERENCE: preference_results(against, names, language),
    }
    declared = {**results, **{name: each for name, each in others.items() if each is not None}}
    return RunResults(asked, declared, findings, health, against.pairs if against else ())


def _tell_health(
    health: Health, by_method: Mapping[str, Evaluation], names: Names, language: Language, log: GapLog
) -> tuple[Health, Results]:
    """Return health with its tables; without the checks of a methodology whose words for them fail."""

    def told(health: Health) -> Results:
        results = health_results(health, by_method, names, language)
        for place in ("section", "appendix"):
            results.at(place)
        for name in health.verdicts:
            health_flags(health, results, name)
        return results

    try:
        return health, told(health)
    except Exception:  # of one methodology: which, is found one by one
        for name in health.verdicts:
            with log.catch(name, "health"):
                told(replace(health, checks=tuple(health.of(name)), verdicts={name: health.verdicts[name]}))
        failed = {name for name in health.verdicts if log.has(name, "health")}
        checks = tuple(check for check in health.checks if check.methodology not in failed)
        without = replace(health, checks=checks, verdicts={**health.verdicts, **dict.fromkeys(failed, CHECKS_FAILED)})
        return without, told(without)


def _account(
    reading: RunReading, frame: pd.DataFrame, stages: Sequence[tuple[str, str]], found: Findings, of: RunResults,
    gaps: Sequence[Gap], *, partial: bool,
) -> Results:  # fmt: skip
    """Made last: it names the gaps of all that was made before."""
    language, names = reading.language, of.declared[HEALTH].names
    callers = {"synthesis": tell(N_("Synthesis"), language), CRITIC: tell(N_("Critic"), language)}
    named = replace(names, methodologies={**names.methodologies, **callers})
    status = run_status(reading, stages, gaps, partial=partial)
    return account(reading, frame, stages, found, of.health, named, gaps=gaps, status=status, partial=partial)


def _material(
    reading: RunReading, frame: pd.DataFrame, stages: Sequence[tuple[str, str]], found: Findings, of: RunResults,
    log: GapLog,
) -> ReportMaterial:  # fmt: skip
    """Return all that a report is made of but the account of the run, which names what failed until then."""
    prose = narrative.stored(reading, narrative.shown(_listed(of.findings), frame, reading.run))
    drawn = pictures(frame, evaluations(reading.record.methods), of.declared, reading.language, log)
    texts: dict[str, MethodologyTexts] = {}
    for name in found.results:
        texts[name] = MethodologyTexts()
        with log.catch(name, "section"):
            texts[name].section = of.declared[name].at("section")
        with log.catch(name, "appendix"):
            texts[name].appendix = of.declared[name].at("appendix")
    return ReportMaterial(
        frame, stages, found, of.findings, of.declared, texts, prose, of.health, of.asked, drawn, of.pairs,
        citations(reading, frame),
    )  # fmt: skip


@dataclass(frozen=True)
class ExportedFiles:
    """Files that were written, and in sentences what is missing of a methodology whose code failed."""

    paths: list[Path]
    gaps: list[str]


def data_frames(folder: Path, planned: Sequence[tuple[str, str]], *, partial: bool = False) -> dict[str, pd.DataFrame]:
    """Agents, items, answers and tables of the run in `folder` as frames, by the names that their files have:
    "agents", "wide", "delphi.ratings". Made anew from its ledger. Raises LedgerError."""
    with open_run(folder) as reading:
        log = GapLog(folder)
        every_arm = responses(reading, planned, plain=True, log=log)
        frame = without_second(every_arm)
        found = find(reading, frame, log, partial=partial)
        of = _results(reading, frame, found, log)
        stages = own_stages(reading, frame)
        account = Last(lambda: _account(reading, frame, stages, found, of, log.gaps, partial=partial))
        answers = every_arm.drop(columns=list(PLAIN))
        files = data_files(reading, answers, of.asked, found.agents, of.declared, "standing", log, account)
        return {file.name: file.frame for file in files}


def export_files(
    folder: Path, formats: Iterable[FileFormat], to: Path, *,
    layout: Layout = "both", bom: bool = False, partial: bool = False, language: Language = "",
    by: str = "", raise_bugs: bool = False,
) -> ExportedFiles:  # fmt: skip
    """The data of the run in `folder` in these formats, made anew from its ledger, below `to`: a folder a format, with
    its codebook.

    layout: see `data_files`; by: `open_run`. Raises LedgerError where the ledger cannot be read, InputError where a
    format cannot hold a file.
    """
    with open_run(folder, language, by=by) as reading:
        log = GapLog(folder, raise_bugs)
        every_arm = responses(reading, plain=True, log=log)
        frame = without_second(every_arm)
        found = find(reading, frame, log, partial=partial)
        of = _results(reading, frame, found, log)
        stages = own_stages(reading, frame)
        its_account = Last(lambda: _account(reading, frame, stages, found, of, log.gaps, partial=partial))
        rows = every_arm.drop(columns=list(PLAIN))
        validate(rows)
        files = data_files(reading, rows, of.asked, found.agents, of.declared, layout, log, its_account)
        paths = write_package(to, reading, of.asked, files, formats, bom=bom, log=log)
        return ExportedFiles(paths, _sentences(reading, log.gaps))


def _raise_flags(findings: Findings, material: ReportMaterial) -> None:
    """Flags of analyses, sentences in the run's language, and one for each check of instrument health that failed."""
    for name, result in findings.results.items():
        checks = health_flags(material.health, material.declared[HEALTH], name)
        flags: list[JsonValue] = [*dict.fromkeys((*_texts(result.get("flags")), *checks))]
        findings.results[name] = {**result, "flags": flags}


def synthesis_folder(folder: Path) -> Path:
    """synthesis/{run_id} beside runs/{run_id}."""
    return folder.parent.parent / "synthesis" / folder.name


def own_stages(reading: RunReading, frame: pd.DataFrame) -> list[tuple[str, str]]:
    """(methodology, phase) of the run's own rows, in their order."""
    rows = chosen(frame[["methodology", "phase"]], frame["run_id"].eq(reading.run))
    return list(dict.fromkeys(zip(rows["methodology"], rows["phase"], strict=True)))


def load_results(folder: Path) -> dict[str, JsonValue]:
    """Findings by methodology as the last synthesis of the run in `folder` wrote them; {} before the first.

    Raises LedgerError naming the file if it cannot be read.
    """
    results = load_summary(folder).get("results", {})
    return results if isinstance(results, dict) else {}


def load_summary(folder: Path) -> dict[str, JsonValue]:
    """All of results.json: run_id, status, partial, flags, counts, failures, gaps (those of them that the report has,
    one by one), results; {} before the first synthesis."""
    return read_result(synthesis_folder(folder) / RESULTS)


def run_status(reading: RunReading, stages: Sequence[tuple[str, str]], gaps: Sequence[Gap], *, partial: bool) -> str:
    """The run's status word; see `synthesise`."""
    filed = reading.stages.get(("", ""), "started")
    if partial:
        return filed
    outcomes = [reading.stages.get(stage, "") for stage in stages]
    if "failed" in outcomes or gaps or _failures(reading) or every_call_failed(reading):
        return "failed"
    return "completed" if outcomes and all(outcome == "done" for outcome in outcomes) else filed


def _failures(reading: RunReading) -> list[Failure]:
    """Bugs that left a unit without answers; one in an analysis is decided anew by each synthesis."""
    return [failure for failure in reading.ledger.failures() if failure.unit != UNIT]


def canonical(reading: RunReading, stages: Sequence[tuple[str, str]], frame: pd.DataFrame) -> dict[str, str]:
    """What this run becomes the canonical one of: stages done, with answers, a T0 if measured; a replay: nothing."""
    these = frame["run_id"].eq(reading.run) & frame["status"].isin(RESPONDED)
    answered = chosen(frame[["methodology", "phase"]], these)
    have = set(zip(answered["methodology"], answered["phase"], strict=True))
    done = [stage for stage in stages if reading.stages.get(stage) == "done" and stage in have]
    if reading.record.replay_of:  # a check of a run, not another one
        return {}
    measured = reading.baseline != "reconstructed"
    moved = {f"{phase}/{name}": reading.run for name, phase in done if phase != "T0" or measured}
    return {**moved, "synthesis": reading.run}


def _flags(reading: RunReading, findings: Findings) -> list[str]:
    """Notices of the run and its memory, and flags of the analyses."""
    raised = [flag for result in findings.results.values() for flag in _texts(result.get("flags"))]
    return sorted({*reading.record.notices, *_texts(reading.memory.get("notes")), *raised})


def _sentences(reading: RunReading, gaps: Sequence[Gap]) -> list[str]:
    return [tell(text, reading.language) for text in told_gaps(reading, gaps)]


def _texts(value: JsonValue) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else []


def _summary(reading: RunReading, frame: pd.DataFrame, written: WrittenSynthesis, *, partial: bool) -> dict[str, Any]:
    failures = [*_failures(reading), *failures_of(written.gaps, reading.record.main.id)]
    return {
        "run_id": reading.run, "sim_id": reading.record.sim_id, "status": written.status, "partial": partial,
        "counts": statuses(frame) if len(frame) else {}, "flags": written.flags,
        "failures": [
            {
                "arm": f.arm, "methodology": f.methodology, "phase": f.phase, "round": f.round, "unit": f.unit,
                "error": f.error,
            }
            for f in failures
        ],
        "gaps": [
            {"methodology": gap.methodology, "step": gap.step, "what": gap.what, "error": gap.error, "says": says}
            for gap, says in zip(written.gaps, written.missing, strict=True)
        ],
        "results": written.results,
    }  # fmt: skip
