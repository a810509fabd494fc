"""The façade: what notebooks, CLI, MCP and HTTP call. Nothing else starts, resumes or reads a run.

Sync functions work in scripts and inside a running event loop alike; `aconduct_interviews` and `aresume` run in the
caller's own loop. Every argument beats the environment, which beats `.env`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typing_extensions import Unpack

from enquete.checkpoints.canonical import latest, mend_latest
from enquete.checkpoints.drives import require_writable
from enquete.checkpoints.folders import StoredRun, find_run
from enquete.demo import demo_population
from enquete.locale import languages, tell
from enquete.nodes.estimate import Estimate
from enquete.nodes.planning import planned
from enquete.nodes.survey import Survey, UnreadableRun, survey
from enquete.nodes.workplace import Progress
from enquete.simulations.check import CheckReport
from enquete.simulations.check import check as check_simulation
from enquete.simulations.locate import list_simulations, locate
from enquete.simulations.population import Population
from enquete.simulations.population import load_population as read_population
from enquete.state.errors import RunNotFound, SettingsError
from enquete.state.request import RunRequest, parse_request
from enquete.state.settings import Environment, resolve_root
from enquete.study.asked import Asked, AskedOn
from enquete.study.background import awaited, wait
from enquete.study.comparison import compare
from enquete.study.describing import OF_A_RUN, listing
from enquete.study.estimating import foresee
from enquete.study.run import Run, RunSummary
from enquete.study.standing import StageStatus
from enquete.study.starting import OF_RESUME, Start, chosen, drive, interviews_of, to_resume

__all__ = [
    "Estimate",
    "Run",
    "RunSummary",
    "StageStatus",
    "aconduct_interviews",
    "aestimate",
    "aresume",
    "check",
    "compare",
    "conduct_interviews",
    "current_run",
    "demo_population",
    "estimate",
    "export",
    "list_instruments",
    "list_runs",
    "list_simulations",
    "load_population",
    "load_run",
    "pointers",
    "resume",
]


COPY_TO_EXPORT = (
    "Exports are written beside the run: copy {}, and export the copy with out=COPY. `enquete report` shows the report "
    "that is there; in Python `load_run(SIM).responses` has the table without writing anything"
)


@listing(OF_A_RUN)
def conduct_interviews(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Asked]) -> Run:
    """Interview every agent of a simulation; the run to its end or its next stop.

    An unfinished run with the same settings is resumed, a finished one shown without a call.

    Raises InputError and its children for anything that the caller can put right, before the first call.
    """
    return _sync(chosen(parse_request(sim=str(sim_id), **request)), progress)


@listing(OF_A_RUN)
async def aconduct_interviews(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Asked]) -> Run:
    """`conduct_interviews` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(chosen(parse_request(sim=str(sim_id), **request)), progress)


@listing(OF_RESUME)
def resume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Unpack[AskedOn]) -> Run:
    """Go on with an unfinished run, named by its resume token, its run_id, or its simulation (the latest unfinished one).

    Raises RunNotFound.
    """
    return _sync(to_resume(str(token_or_sim), dict(request)), progress)


@listing(OF_RESUME)
async def aresume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Unpack[AskedOn]) -> Run:
    """`resume` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(to_resume(str(token_or_sim), dict(request)), progress)


@listing(OF_A_RUN)
def estimate(sim_id: str | Path, **request: Unpack[Asked]) -> Estimate:
    """What `conduct_interviews` with these arguments would cost: calls, tokens, money and time, each as a range.

    Nothing is asked and nothing is written; the prompts are built for a sample of the agents and measured. Raises
    InputError and its children for anything that is wrong with the arguments.
    """
    return wait(aestimate(sim_id, **request), lambda: None)


@listing(OF_A_RUN)
async def aestimate(sim_id: str | Path, **request: Unpack[Asked]) -> Estimate:
    """`estimate` in the caller's event loop."""
    return (await foresee(parse_request(sim=str(sim_id), **request))).estimate


def load_run(sim_id: str | Path, run_id: str | None = None, *, root: str | None = None, out: str | None = None) -> Run:
    """A stored run: by run_id or token, else the canonical one, else the latest.

    Raises RunNotFound, and LedgerError where that run, or one begun after it, cannot be read.
    """
    interviews = interviews_of(str(sim_id), root, out)
    if run_id:
        return Run(find_run(interviews, run_id), shown=True)
    return Run(_canonical(str(sim_id), interviews, survey(interviews)), shown=True)


def pointers(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> dict[str, str]:
    """Which run counts for each "phase/methodology", and for the synthesis. Raises LedgerError."""
    return latest(interviews_of(str(sim_id), root, out))


def current_run(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> Run:
    """The latest unfinished run, else what `load_run` shows. Raises as that does."""
    interviews = interviews_of(str(sim_id), root, out)
    found = survey(interviews)
    if not found.unfinished:
        return Run(_canonical(str(sim_id), interviews, found), shown=True)
    found.require_readable(found.unfinished[-1])
    return Run(found.unfinished[-1], shown=True)


def _canonical(sim_id: str, interviews: Path, found: Survey) -> StoredRun:
    canonical = latest(interviews).get("synthesis", "")
    runs = {run.folder.name: run for run in found.runs}
    chosen = runs.get(canonical) or (found.runs[-1] if found.runs else None)
    found.require_readable(chosen, canonical)
    if chosen is None:
        raise RunNotFound(f"{sim_id}: nobody has been interviewed yet (no run in {interviews})")
    return chosen


def export(
    sim_id: str | Path,
    run_id: str | None = None,
    *,
    root: str | None = None,
    out: str | None = None,
    figures: Literal["svg", "png", "pdf"] = "svg",
    language: str = "",
) -> Path:
    """Write report, figures, exports and aggregates of a stored run anew from its ledger; the folder with report.md.

    figures: a kind of file beside SVG. language: of what is read, any that has a catalogue; the interviews' unless named.
    Makes no call and needs no lock. Raises RunNotFound, LedgerError, SettingsError
    where a PNG or PDF needs an extra, and where nothing can be written.
    """
    from enquete.reports.figures.files import write_figures  # noqa: PLC0415 - for exports only
    from enquete.reports.synthesis import write_synthesis  # noqa: PLC0415 - analyses are slow to import

    if language and language not in languages():
        raise SettingsError(f"language: there are no words in {language!r}; there are {', '.join(languages())}")
    interviews = interviews_of(str(sim_id), root, out)
    if (interviews / "runs").is_dir():
        require_writable(interviews / "synthesis", COPY_TO_EXPORT.format(interviews))
    mend_latest(interviews)
    run = load_run(sim_id, run_id, root=root, out=out)
    write_synthesis(run.folder, planned(run.record), partial=run.status != "completed", language=language)
    if figures != "svg":
        write_figures(run.path, run.drawn, figures)
    return run.path


def list_runs(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> list[RunSummary]:
    """Runs of a simulation, oldest first; one whose ledger cannot be read is `damaged`, or `newer` than this version, and
    its note says why and what can be done. Creates nothing."""
    found = survey(interviews_of(str(sim_id), root, out))
    every: list[StoredRun | UnreadableRun] = [*found.runs, *found.lost]
    return [_summary(run) for run in sorted(every, key=lambda run: run.created_at)]


def _summary(run: StoredRun | UnreadableRun) -> RunSummary:
    if isinstance(run, StoredRun):
        r = run.record
        return RunSummary(r.run_id, run.status, run.note, r.created_at, tuple(r.methods), r.language, r.token)
    methods, language = (tuple(run.told.methods), str(run.told.language)) if run.told else ((), "")
    return RunSummary(run.folder.name, run.status, str(run.error), run.created_at, methods, language, "")


def list_instruments() -> dict[str, dict[str, str]]:
    """Methodologies and their titles by language."""
    from enquete.graphs.registry import methodologies  # noqa: PLC0415 - the graphs need seconds to import

    return {
        name: {language: tell(methodology.title, language) for language in languages()}
        for name, methodology in methodologies().items()
    }


def load_population(sim_id: str | Path, *, root: str | None = None) -> Population:
    """The agents of a simulation folder or personas file, as they would be interviewed."""
    request = RunRequest(root=root)
    return read_population(locate(str(sim_id), resolve_root(request, Environment.read())))


def check(sim_id: str | Path, *, root: str | None = None) -> CheckReport:
    """What was found, what is missing, what does not match. Creates nothing."""
    return check_simulation(str(sim_id), resolve_root(RunRequest(root=root), Environment.read()))


def _sync(task: Start, progress: Progress | None) -> Run:
    driver = task.driver(progress)
    return wait(drive(task, driver), driver.pause)


async def _async(task: Start, progress: Progress | None) -> Run:
    driver = task.driver(progress)
    return await awaited(drive(task, driver), driver.pause)
