"""The façade: what notebooks, CLI, MCP and HTTP call. Nothing else starts, resumes or reads a run.

Sync functions work in scripts and inside a running event loop alike; `aconduct_interviews` and `aresume` run in the
caller's own loop. Every argument beats the environment, which beats `.env`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from enquete.checkpoints.folders import find_run, latest, run_folder
from enquete.demo import demo_population
from enquete.graphs.registry import dotted_paths
from enquete.nodes.opening import begin, choose_run, interviews_folder, known_runs, run_status
from enquete.nodes.study_graph import planned
from enquete.nodes.workplace import Progress
from enquete.reports.synthesis import write_synthesis
from enquete.simulations.check import CheckReport
from enquete.simulations.check import check as check_simulation
from enquete.simulations.locate import list_simulations, locate
from enquete.simulations.population import Population
from enquete.simulations.population import load_population as read_population
from enquete.state.errors import RunNotFound
from enquete.state.settings import Environment, RunRequest, parse_request, resolve_machine, resolve_root
from enquete.study.background import wait
from enquete.study.driver import Driver
from enquete.study.run import Run, RunSummary, StageStatus

__all__ = [
    "Run",
    "RunSummary",
    "StageStatus",
    "aconduct_interviews",
    "aresume",
    "check",
    "conduct_interviews",
    "demo_population",
    "export",
    "list_instruments",
    "list_runs",
    "list_simulations",
    "load_population",
    "load_run",
    "resume",
]


def conduct_interviews(sim_id: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """Interview every agent of a simulation; the run to its end or its next stop.

    Arguments are those of `RunRequest`: root, out, methods, phase, language, respondent, model, base_url, temperature,
    seed, asking, instruments, settings, arms, budget_tokens, concurrency, new, … An unfinished run with the same
    settings is resumed, a finished one shown without a call.

    Raises InputError and its children for anything that the caller can put right, before the first call.
    """
    return _sync(_chosen(parse_request(sim=str(sim_id), **request)), progress)


async def aconduct_interviews(sim_id: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """`conduct_interviews` in the caller's event loop."""
    return await _drive(_chosen(parse_request(sim=str(sim_id), **request)), progress)


def resume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """Go on with an unfinished run, named by its resume token, its run_id, or its simulation (the latest unfinished one).

    Takes root, out, budget_tokens, concurrency, base_url, assume_completed and fresh. Raises RunNotFound.
    """
    return _sync(_to_resume(str(token_or_sim), request), progress)


async def aresume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Any) -> Run:
    """`resume` in the caller's event loop."""
    return await _drive(_to_resume(str(token_or_sim), request), progress)


def load_run(sim_id: str | Path, run_id: str | None = None, *, root: str | None = None, out: str | None = None) -> Run:
    """A stored run: by run_id or token, else the canonical one, else the latest. Raises RunNotFound."""
    interviews = _interviews(str(sim_id), root, out)
    if run_id:
        return Run(find_run(interviews, run_id), shown=True)
    canonical = latest(interviews).get("synthesis")
    known = list(known_runs(interviews))
    if canonical and run_folder(interviews, canonical) in known:
        return Run(run_folder(interviews, canonical), shown=True)
    if not known:
        raise RunNotFound(f"{sim_id}: nobody has been interviewed yet (no run in {interviews})")
    return Run(known[-1], shown=True)


def export(sim_id: str | Path, run_id: str | None = None, *, root: str | None = None, out: str | None = None) -> Path:
    """Write report, exports and aggregates of a stored run anew from its ledger; the folder with report.md.

    Makes no call and needs no lock. Raises RunNotFound, LedgerError.
    """
    run = load_run(sim_id, run_id, root=root, out=out)
    write_synthesis(run.folder, planned(run.record), partial=run.status != "completed")
    return run.path


def list_runs(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> list[RunSummary]:
    """Runs of a simulation, oldest first. Creates nothing."""
    found = known_runs(_interviews(str(sim_id), root, out))
    return [
        RunSummary(r.run_id, *run_status(folder), r.created_at, tuple(r.methods), r.language, r.token)
        for folder, r in found.items()
    ]


def list_instruments() -> dict[str, dict[str, str]]:
    """Methodologies and their titles by language."""
    from enquete.graphs.registry import methodologies  # noqa: PLC0415 - the graphs need seconds to import

    return {name: dict(methodology.title) for name, methodology in methodologies().items()}


def load_population(sim_id: str | Path, *, root: str | None = None) -> Population:
    """The agents of a simulation folder or personas file, as they would be interviewed."""
    request = RunRequest(root=root)
    return read_population(locate(str(sim_id), resolve_root(request, Environment.read())))


def check(sim_id: str | Path, *, root: str | None = None) -> CheckReport:
    """What was found, what is missing, what does not match. Creates nothing."""
    return check_simulation(str(sim_id), resolve_root(RunRequest(root=root), Environment.read()))


class _Task:
    """A run to drive, or only to show."""

    def __init__(self, folder: Path, request: RunRequest, *, resumed: bool, shown: bool = False, fresh: bool = False):
        self.folder = folder
        self.machine = resolve_machine(request, Environment.read())
        self.resumed = resumed
        self.shown = shown
        self.fresh = fresh
        self.begin: Any = None


def _chosen(request: RunRequest) -> _Task:
    choice, population = choose_run(request, Environment.read(), dotted_paths())
    task = _Task(choice.folder, request, resumed=choice.action == "resume", shown=choice.action == "finished")
    if choice.action == "new":
        task.begin = lambda: begin(choice, population)
    return task


def _to_resume(name: str, given: dict[str, Any]) -> _Task:
    fresh = bool(given.pop("fresh", False))
    sim = given.pop("sim", None)
    request = parse_request(sim=str(sim or ""), **given)
    if sim or _is_token(name):
        folder = _find_token(name, request)
    else:
        runs = known_runs(_interviews(name, request.root, request.out))
        unfinished = [folder for folder in runs if run_status(folder)[0] != "completed"]
        if not unfinished and not (fresh and runs):
            raise RunNotFound(f"{name}: no unfinished run to resume ({len(runs)} finished)")
        folder = unfinished[-1] if unfinished else list(runs)[-1]
    shown = run_status(folder)[0] == "completed" and not fresh
    return _Task(folder, request, resumed=True, shown=shown, fresh=fresh)


def _is_token(name: str) -> bool:
    return name.startswith("run_") and "/" not in name


def _find_token(name: str, request: RunRequest) -> Path:
    """A token names a run, not its simulation: look in --out, in the named one, then in every simulation under the root."""
    root = resolve_root(request, Environment.read())
    if request.out:
        return find_run(Path(request.out).expanduser().absolute(), name)
    if request.sim:
        return find_run(_interviews(request.sim, request.root, None), name)
    for known in list_simulations(root):
        interviews = known.path / "interviews"
        if (interviews / "runs" / name.partition(".")[0]).is_dir():
            return find_run(interviews, name)
    raise RunNotFound(f"no run {name!r} in any simulation under {root}; name its folder with --root, --out or --sim")


def _interviews(sim_id: str, root: str | None, out: str | None) -> Path:
    if out:
        return Path(out).expanduser().absolute()
    path = locate(sim_id, resolve_root(RunRequest(root=root), Environment.read()))
    return interviews_folder(read_population(path, strict=False), None)


def _sync(task: _Task, progress: Progress | None) -> Run:
    driver = Driver(task.folder, task.machine, progress, fresh=task.fresh)
    return wait(_drive(task, progress, driver), driver.pause)


async def _drive(task: _Task, progress: Progress | None, driver: Driver | None = None) -> Run:
    if not task.shown:
        if task.begin is not None:
            await task.begin()
        await (driver or Driver(task.folder, task.machine, progress, fresh=task.fresh)).drive()
    return Run(task.folder, resumed=task.resumed, shown=task.shown)
