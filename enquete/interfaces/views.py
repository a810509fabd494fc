"""What a caller of any interface sees: how far a run is, its costs, lists of what there is, what a run has left."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, Field, JsonValue

import enquete
from enquete.ledger.connection import DatabaseError
from enquete.ledger.folders import NeverStarted
from enquete.locale import languages
from enquete.memory.recall import MemoryRecord
from enquete.simulations.locate import KnownSimulation
from enquete.state.asking import Spoken
from enquete.state.errors import EnqueteError, InputError, LedgerError, RunNotFound
from enquete.state.request import FileFormat, Layout, MemorySearch
from enquete.state.untrusted_input import warning
from enquete.study.instruments import InstrumentSummary, own_instruments, shipped_instruments
from enquete.study.run import Run, StageStatus
from enquete.study.runs import pointers, search_memory
from enquete.study.simulations import UNREADABLE, SimulationFacts, remembered_facts
from enquete.study.tasks import PathSandbox, Task

StatusWord: TypeAlias = Literal[
    "running", "pausing", "writing_up", "completed", "awaiting_simulation", "waiting", "paused", "failed"
]
Clear: TypeAlias = Callable[[str], str]
"""Takes secrets and folders out of a text."""
GOING_ON: tuple[StatusWord, ...] = ("running", "pausing", "writing_up")
"""Asking; finishing the requests in flight because it was told to pause; making the report of what was answered."""
ENDED = ("done", "failed", "waiting")


class NothingYet(InputError):
    """The run has not come to what is asked for."""


KILLED = "the process that drove this run was ended; nothing is lost, it can be resumed"


class Round(BaseModel):
    """Agents of the main arm who have answered in one round that has begun."""

    round: int
    n_responded: int


class Stage(BaseModel):
    """How far one methodology is in one phase. `remaining_tokens` is null where nothing was estimated."""

    methodology: str
    phase: str
    outcome: Annotated[str, Field(description="not started, running, done, short, waiting or failed")]
    note: str
    n_responded: Annotated[int, Field(description="agents with at least one usable answer")]
    n_total: int
    rounds: Annotated[list[Round], Field(description="those that have begun, in order")] = []
    answers: Annotated[dict[str, int], Field(description="ok, repaired, refused, invalid, failed")]
    calls: int
    tokens: int
    remaining_tokens: int | None


class RunBudget(BaseModel):
    """Tokens and US dollars; null: not known, or no cap."""

    tokens: int
    expected_tokens: int | None
    cap_tokens: int
    usd: float | None
    expected_usd: float | None
    cap_usd: float | None


def status_of(run: Run, task: Task | None) -> StatusWord:
    """`task`: what drives it here, if anything; another process may as well. What is filed as its status is older."""
    if task is None and (run.status == "completed" or not run.is_driven):
        return run.status
    if task is not None and task.is_pausing:
        return "pausing"
    stages = run.stages
    return "writing_up" if stages and all(stage.outcome == "done" for stage in stages) else "running"


def outcome_of(stage: StageStatus, status: StatusWord) -> str:
    """done, short, waiting, failed or not started; while the run goes on, what has begun and has not ended is running,
    whatever was filed when the run stopped the last time."""
    if status not in GOING_ON or stage.outcome in ENDED:
        return stage.outcome
    return "running" if stage.counts.get("calls", 0) > 0 else "not started"


def note_of(run: Run, status: StatusWord, task: Task | None, fault: str = "") -> str:
    """Why it stopped, or why nothing moves while it goes on. `fault`: what a server knows beside the ledger."""
    if status in GOING_ON:
        return task.waits_for if task is not None else ""
    return run.note or fault or (KILLED if status == "paused" else "")


def stage_of(run: Run, stage: StageStatus, status: StatusWord) -> Stage:
    """`status`: what is told of the whole run."""
    return Stage(
        methodology=stage.methodology,
        phase=stage.phase,
        outcome=outcome_of(stage, status),
        note=stage.note,
        n_responded=stage.responded,
        n_total=stage.total,
        rounds=[Round(round=number, n_responded=n) for number, n in stage.rounds.items()],
        answers=stage.answers,
        calls=stage.counts.get("calls", 0),
        tokens=stage.counts.get("tokens", 0),
        remaining_tokens=run.standing.remaining(stage.methodology, stage.phase),
    )


def budget_of(run: Run) -> RunBudget:
    stands = run.standing
    return RunBudget(
        tokens=stands.spent, expected_tokens=stands.expected, cap_tokens=stands.cap_tokens, usd=stands.paid_usd,
        expected_usd=stands.expected_usd, cap_usd=stands.cap_usd,
    )  # fmt: skip


class RunProgress(BaseModel):
    """How far a run is, from its ledger."""

    run_id: str
    sim_id: str
    note: Annotated[str, Field(description="why it stopped, or why nothing moves")]
    resume_token: Annotated[str | None, Field(description="to go on with it; null once completed")]
    respondent: str
    model: str
    language: Spoken
    stages: list[Stage]


def progress_of(
    run: Run, status: StatusWord, task: Task | None, clear: Clear, sim_id: str, fault: str = ""
) -> RunProgress:
    """`status`, `task`, `fault`: as above. `sim_id`: as the caller calls it."""
    main = run.record.main
    return RunProgress(
        run_id=run.run_id, sim_id=sim_id, note=clear(note_of(run, status, task, fault)), resume_token=run.resume_token,
        respondent=main.respondent, model=main.model, language=run.record.language,
        stages=[stage_of(run, stage, status) for stage in run.stages],
    )  # fmt: skip


def ran_short(run: Run) -> bool:
    """Paused because the budget was used up."""
    return run.status == "paused" and any(s.outcome == "short" for s in run.stages) and "budget" in run.note


# --- What there is, as lists: simulations with their runs, runs, instruments


TaskOf: TypeAlias = Callable[[Run], Task | None]
"""What drives a run in this server right now."""


class RunRow(BaseModel):
    """One line of a list of runs."""

    run_id: str
    status: Annotated[str, Field(description="as in a status; damaged or newer where the ledger cannot be read")]
    note: str
    created_at: str
    methods: list[str]
    language: str
    resume_token: str | None


class ListedSimulation(SimulationFacts):
    """A simulation. Its facts are empty where its files cannot be read."""

    sim_id: str
    problem: Annotated[str, Field(description="why it cannot be interviewed; empty where it can")] = ""


class SimulationRow(ListedSimulation):
    """A simulation with its runs."""

    runs: list[RunRow] = Field([], description="newest first")


class InstrumentRow(InstrumentSummary):
    """What a methodology asks, with its titles: one that ships, or a file of the server's own (`file`)."""

    titles: Annotated[dict[str, str], Field(description="of the methodology, by language")]


def simulation_rows(sandbox: PathSandbox, task_of: TaskOf, clear: Clear) -> list[SimulationRow]:
    """By id."""
    return [simulation_row(sandbox, known, task_of, clear) for known in sandbox.simulations()]


def simulation_row(sandbox: PathSandbox, known: KnownSimulation, task_of: TaskOf, clear: Clear) -> SimulationRow:
    """Raises nothing: one that cannot be read must not hide the others."""
    row = SimulationRow(sim_id=known.sim_id)
    try:
        row.runs = run_rows(sandbox, known.sim_id, task_of, clear)
        facts = remembered_facts(known.path)
    except (EnqueteError, OSError) as error:
        row.problem = clear(error.fact if isinstance(error, EnqueteError) else str(error.strerror or error))
        return row
    return row.model_copy(update=vars(facts))


def run_rows(sandbox: PathSandbox, sim_id: str, task_of: TaskOf, clear: Clear) -> list[RunRow]:
    """Newest first. Raises SimulationNotFound, OutsideRoot."""
    rows = []
    for summary in sandbox.runs(sim_id):
        status = summary.status
        if summary.can_go_on:
            run = enquete.load_run(sim_id, summary.run_id, root=str(sandbox.root))
            status = status_of(run, task_of(run))
        token = None if status in ("completed", *UNREADABLE) else summary.resume_token
        facts = {"status": status, "note": clear(summary.note), "methods": list(summary.methods), "resume_token": token}
        rows.append(RunRow(**{**vars(summary), **facts}))
    return rows[::-1]


def instrument_rows(own_folder: Path, clear: Clear, language: str = "en") -> list[InstrumentRow]:
    """Those that ship, then the files in the server's own folder."""
    titles = enquete.list_instruments()
    rows = []
    for instrument in (*shipped_instruments(language), *own_instruments(own_folder, language)):
        named = titles.get(instrument.methodology, dict.fromkeys(languages(), instrument.methodology))
        rows.append(InstrumentRow(**{**vars(instrument), "problem": clear(instrument.problem), "titles": named}))
    return rows


class Episode(BaseModel):
    """What an agent, or all of them, said in a methodology and phase; or what it was gathered into."""

    id: str
    text: str
    run_id: str
    agent_name: Annotated[str, Field(description="empty: of all agents")]
    methodology: str
    phase: str
    respondent: str
    model: str

    @classmethod
    def of(cls, record: MemoryRecord, most_chars: int | None = None) -> Self:
        """What it holds of a record, no more of its text than that."""
        facts = record.model_dump(include=set(cls.model_fields))
        return cls(**{**facts, "text": record.text[:most_chars]})


def search_episodes(sandbox: PathSandbox, sim_id: str, asked: MemorySearch) -> tuple[list[MemoryRecord], str | None]:
    """Episodes, best first, and a warning where no model and no person said some of it. Raises SimulationNotFound,
    OutsideRoot, RunNotFound where nobody was interviewed."""
    sandbox.simulation(sim_id)
    records = search_memory(sim_id, **asked.model_dump(), root=str(sandbox.root))
    return records, warning([record.respondent for record in records])


# --- What a run that stopped has left: findings, report, files. Nothing outside the root is read, and nobody is asked


WRITTEN = "it is written at the run's end and at every stop"


def findings_of(
    sandbox: PathSandbox, sim_id: str, methodology: str, run_id: str | None = None
) -> tuple[Run, dict[str, JsonValue]]:
    """Of the run named, else of the one that counts for this methodology, else of the latest that has any: a run that
    has not come so far hides no earlier one. Raises NothingYet naming the run that has them."""
    if run_id is not None:
        run = sandbox.finished(sim_id, run_id)
        findings = _findings_in(sandbox, run, methodology)
        if findings:
            return run, findings
        others = [other.run_id for other, _ in _having(sandbox, sim_id, methodology)]
        there = f"run {others[0]} has some" if others else f"it has those of: {', '.join(run.results) or 'none so far'}"
        raise NothingYet(f"run {run.run_id} has no results of {methodology[:100]!r}; {there}")
    for run, findings in _having(sandbox, sim_id, methodology):
        return run, findings
    run = sandbox.finished(sim_id)
    there = ", ".join(run.results) or "none so far"
    raise NothingYet(f"no run of {sim_id} has results of {methodology[:100]!r}; run {run.run_id} has those of: {there}")


def _having(sandbox: PathSandbox, sim_id: str, methodology: str) -> Iterator[tuple[Run, dict[str, JsonValue]]]:
    """Runs with findings of it: those that count first, then the latest first."""
    canonical = pointers(sim_id, root=str(sandbox.root))
    counting = [canonical.get(f"{phase}/{methodology}", "") for phase in ("T1", "T0")]
    others = [known.run_id for known in reversed(sandbox.runs(sim_id)) if known.is_readable]
    for run_id in dict.fromkeys([*(name for name in counting if name in others), *others]):
        run = sandbox.finished(sim_id, run_id)
        findings = _findings_in(sandbox, run, methodology) if methodology in run.record.methods else {}
        if findings:
            yield run, findings


def _findings_in(sandbox: PathSandbox, run: Run, methodology: str) -> dict[str, JsonValue]:
    """As they were written at the run's last stop, else of a methodology that is done while others are being asked."""
    sandbox.require_inside(run.path)
    result = run.results.get(methodology)
    return result if isinstance(result, dict) and result else run.early_results(methodology)


def report_of(sandbox: PathSandbox, run: Run) -> str:
    """Raises NothingYet where the run has not stopped for the first time yet."""
    sandbox.require_inside(run.path)
    if not run.report:
        raise NothingYet(f"run {run.run_id} has no report yet: {WRITTEN}")
    return run.report


def table_of(sandbox: PathSandbox, run: Run) -> Path:
    """all_responses.csv. Raises NothingYet."""
    path = run.path / "exports" / "all_responses.csv"
    if not path.is_file():
        raise NothingYet(f"run {run.run_id} has no export yet: {WRITTEN}")
    sandbox.require_inside(path)
    return path


@dataclass(frozen=True)
class Parcel:
    """A run's data in one file, in a folder of its own that goes once it is handed over."""

    path: Path
    mediatype: str

    def remove(self) -> None:
        shutil.rmtree(self.path.parent, ignore_errors=True)


WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def parcel_of(
    sandbox: PathSandbox, run: Run, format_: FileFormat, layout: Layout = "both", *, bom: bool = False
) -> Parcel:
    """`Run.export` as one file: a workbook, or a zip of the folder. Written where nobody else writes, and nothing of
    the run is touched. Raises as that does."""
    sandbox.require_inside(run.folder)
    place = Path(tempfile.mkdtemp(prefix="enquete-"))
    try:
        written = run.export(format_, to=place, layout=layout, bom=bom)
        if format_ == "xlsx":
            return Parcel(written[0].replace(place / written[0].name), WORKBOOK)
        parcel = place / f"{run.run_id}_{format_}.zip"
        with zipfile.ZipFile(parcel, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in written:
                packed.write(file, file.relative_to(place).as_posix())
                file.unlink()
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return Parcel(parcel, "application/zip")


# --- What is read while another thread or process writes the run: a file may be replaced, or not be there yet


T = TypeVar("T")
LOOKS = 4
APART_S = 0.05


def retry_read(read: Callable[[], T]) -> T:
    """What `read` gives. What fails is looked at again: damage is still there then, a change under the reader not."""
    for look in range(LOOKS - 1):
        with contextlib.suppress(NeverStarted, LedgerError, OSError, ValueError, DatabaseError):
            return read()
        time.sleep(APART_S * 2**look)
    try:
        return read()
    except NeverStarted as error:
        why = "the run is only just being begun, or was broken off before its first question"
        raise RunNotFound(why) from error
