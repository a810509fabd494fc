"""How a run is begun, found again and driven: the steps behind the façade, which servers take one by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enquete.checkpoints.backup import is_sound, require_sound
from enquete.checkpoints.connection import NewerLedger
from enquete.checkpoints.drives import START_LOCK, alone
from enquete.checkpoints.folders import find_run, is_held, read_run, run_folders
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.graphs.registry import dotted_paths
from enquete.nodes.fit import is_open, judged, require_fit
from enquete.nodes.model_server import require_server_of
from enquete.nodes.planning import require_own_limits
from enquete.nodes.run_choice import RunChoice, begin, choose_run, chosen_again
from enquete.nodes.run_session import Progress
from enquete.nodes.survey import survey
from enquete.nodes.waves import simulation_status
from enquete.simulations.locate import list_simulations
from enquete.simulations.population import Population
from enquete.state.errors import RunNotFound, SettingsError
from enquete.state.request import RunRequest, offered, parse_request
from enquete.state.settings import Environment, resolve_machine, resolve_root
from enquete.study.estimating import estimate_run, is_checked, require_affordable
from enquete.study.instrument_mismatch import other_methodology_named
from enquete.study.run import Run
from enquete.study.simulation_list import interviews_of
from enquete.study.threads import run_in_thread

if TYPE_CHECKING:
    from enquete.study.driver import Driver


class Start:
    """A run to drive, or only to show. `simulation`: as it was read when the run was chosen; `to_begin`: what has not begun."""

    def __init__(
        self,
        folder: Path,
        request: RunRequest,
        *,
        resumed: bool = False,
        shown: bool = False,
        fresh: bool = False,
        simulation: Population | None = None,
    ):
        self.folder = folder
        self.request = request
        self.machine = resolve_machine(request, Environment.read())
        self.resumed = resumed
        self.shown = shown
        self.fresh = fresh
        self.simulation = simulation
        self.to_begin: RunChoice | None = None
        self._is_there = False  # the model's server, when it was asked

    def driver(self, progress: Progress | None = None) -> Driver:
        from enquete.study.driver import Driver  # noqa: PLC0415 - the graphs need seconds to import

        return Driver(self.machine, progress, fresh=self.fresh)

    async def begin(self) -> None:
        """Write the run, unless it exists: estimated first, and refused where the estimate exceeds the budget. Before anything else
        the model's server is asked whether it is there. One that another process or task has begun meanwhile is gone on with.
        Raises Busy, ModelError."""
        await self.require_server()
        choice, population = self.to_begin, self.simulation
        if choice is None or population is None:
            return
        frozen = None
        if not choice.record.replay_of:
            checked = is_checked(self.request, choice)
            expected = await estimate_run(choice, population, self.machine, checked=checked)
            require_affordable(expected, confirmed=self.request.confirm)
            frozen = expected.as_frozen()
        async with alone(choice.folder.parent.parent / START_LOCK):
            self.take(chosen_again(choice, self.request, population))
            if self.to_begin is not None:
                await begin(choice, population, frozen, self._judged if is_checked(self.request, choice) else None)
        self.to_begin = None
        if not population.has_simulation:
            self.simulation = None  # its agents are in the ledger now, and nothing else of it is asked for again

    def take(self, choice: RunChoice) -> None:
        """This is the run that is meant."""
        self.folder = choice.folder
        self.resumed, self.shown = choice.action == "resume", choice.action == "finished"
        self.to_begin = choice if choice.action == "new" else None

    async def require_server(self) -> None:
        """Once, where models are going to be asked now: not of a run that waits for people, or for its simulation still. Raises
        ModelError."""
        if self.shown or self._is_there:
            return
        record = self.to_begin.record if self.to_begin is not None else await run_in_thread(self._record_if_asking)
        if record is not None:
            await require_server_of(record, self.machine)
        self._is_there = True

    def _record_if_asking(self) -> RunRecord | None:
        run = read_run(self.folder)
        asks_nobody = run.is_finished or run.status == "waiting"
        if run.status == "awaiting_simulation":
            sim_path, assumed = run.record.simulation_of(self.folder), self.machine.assume_completed
            asks_nobody = not simulation_status(run.record, sim_path, assume_completed=assumed).completed
        return run.record if self.machine.retry_failed or not asks_nobody else None

    async def _judged(self, ledger: Ledger) -> RunRecord:
        """What the words leave open is for the run's model to say. Raises Unfit."""
        choice, population = self.to_begin, self.simulation
        if choice is None or population is None:
            raise RuntimeError("nothing is to begin")
        if not is_open(choice.record):
            return choice.record
        fit = await judged(choice.record, population, ledger, self.machine)
        require_fit(fit)
        return choice.record.model_copy(update={"fit": fit})


def chosen(request: RunRequest) -> Start:
    """The run that a request means; a new one is not written yet. Raises InputError and its children."""
    environment = Environment.read()
    with other_methodology_named(request):
        choice, population = choose_run(request, environment, dotted_paths(request.methods))
    if is_checked(request, choice):
        fit = choice.record.fit
        require_fit(fit.model_copy(update={"methods": []}) if fit and is_open(choice.record) else fit)
    task = Start(choice.folder, request, simulation=population)
    task.take(choice)
    return task


def to_resume(name: str, given: dict[str, Any]) -> Start:
    """The run that a token, a run_id or a simulation (its latest unfinished one) means. Raises RunNotFound, LedgerError."""
    _require_of_resume(given)
    sim = given.pop("sim", None)
    retry = bool(given.get("retry_failed", False))
    fresh = bool(given.pop("fresh", False)) or retry  # a finished run is walked once more
    request = parse_request(sim=str(sim or ""), **given)
    folder = find_named(name, request) if sim or _is_token(name) else _latest_to_resume(name, request, fresh)
    run = read_run(folder)
    require_own_limits(run.record, request.limits or {})
    return Start(folder, request, resumed=True, shown=run.is_finished and not fresh, fresh=fresh)


OF_RESUME = (*offered("driving", "resume"), "shard_size", "sim", "fresh")
"""What may be said when a run goes on: everything else is as it was begun."""


def _require_of_resume(given: Mapping[str, Any]) -> None:
    for name in given:
        if name in RunRequest.model_fields and name not in (*OF_RESUME, "shelf", "confirm"):
            raise SettingsError(f"{name}: a run goes on as it was begun; resume takes {', '.join(OF_RESUME)}")


def _latest_to_resume(sim: str, request: RunRequest, fresh: bool) -> Path:
    found = survey(interviews_of(sim, request.root, request.out))
    wanted = found.unfinished or (list(found.runs) if fresh else [])
    found.require_readable(wanted[-1] if wanted else None)
    if not wanted:
        raise RunNotFound(f"{sim}: no unfinished run to resume ({len(found.runs)} finished)")
    return wanted[-1].folder


def _is_token(name: str) -> bool:
    return name.startswith("run_") and "/" not in name


def damaged_run(name: str, *, root: str | None = None, out: str | None = None) -> Path:
    """The run that is to be repaired: a run_id or token, or the only run of a simulation whose ledger is not sound.

    The latest run where all are sound. Raises RunNotFound, also where several are not sound, which are then listed.
    """
    if _is_token(name):
        return find_named(name, RunRequest(root=root, out=out))
    interviews = interviews_of(name, root, out)
    known = run_folders(interviews)
    ill = [folder for folder in known if _is_ill(folder)]
    if len(ill) > 1:
        raise RunNotFound(f"{name}: name the run to repair, one of {', '.join(folder.name for folder in ill)}")
    if not known:
        raise RunNotFound(f"{name}: there is no run to repair in {interviews}")
    return ill[0] if ill else known[-1]


def _is_ill(folder: Path) -> bool:
    try:
        return not is_sound(folder)
    except NewerLedger:
        return False


def find_named(name: str, request: RunRequest) -> Path:
    """A token names a run, not its simulation: look in --out, in the named one, then in every simulation under the root.

    A copied simulation brings copies of its runs along, and only the user knows which of them is meant.
    """
    root = resolve_root(request, Environment.read())
    if request.out:
        return find_run(Path(request.out).expanduser().absolute(), name)
    if request.sim:
        return find_run(interviews_of(request.sim, request.root, None), name)
    run_id = name.partition(".")[0]
    holding = [known for known in list_simulations(root) if (known.path / "interviews" / "runs" / run_id).is_dir()]
    if len(holding) > 1:
        there = ", ".join(known.sim_id for known in holding)
        raise RunNotFound(
            f"run {run_id!r} is in several simulations under {root} ({there}); say which with sim=START_LOCK"
        )
    if not holding:
        raise RunNotFound(f"no run {name!r} in any simulation under {root}; name its folder with root, out or sim")
    return find_run(holding[0].path / "interviews", name)


async def drive(task: Start, driver: Driver) -> Run:
    """The run at its end or its next stop. Raises LedgerError also where a finished one is damaged."""
    if task.shown and not is_held(task.folder):
        require_sound(task.folder)
    if not task.shown:
        await task.begin()
    if not task.shown:
        driver.simulation, task.simulation = task.simulation, None  # whoever needs it has it, and nobody keeps it
        await driver.drive(task.folder)
    return Run(task.folder, resumed=task.resumed, shown=task.shown)
