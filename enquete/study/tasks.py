"""What a server drives and may reach: runs in the background, started, followed, paused; simulations and runs under one
root.

A task is its run: its id is the run_id, and what becomes of it is in the run's folder. A server that was restarted
finds the run there (`PathSandbox.run`) and resumes it by its token; nothing is kept in memory that could be lost.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from enquete.ledger.drives import has_ledger
from enquete.simulations.locate import MOST_LISTED, KnownSimulation, by_id, list_simulations, nearest, some_of
from enquete.state.channels import Event, EventRow, row_of
from enquete.state.errors import InputError, RunLocked, RunNotFound, SimulationNotFound
from enquete.state.request import DEFAULT_RUNS_AT_ONCE, TOKEN, parse_request
from enquete.study.background import awaited, run_in_thread
from enquete.study.run import Run
from enquete.study.runs import current_run, load_run
from enquete.study.simulations import RunSummary, list_runs
from enquete.study.start import Start, choose_start, drive, start_of_resume

# --- Runs that a server drives ---------------------------------------------------------------------------------------

BEGUN_WITHIN_S = 10.0
PAUSED_WITHIN_S = 10.0
"""So long a resume waits for the pause that was asked for just before it."""


class TooManyRuns(RunLocked):
    """As many runs go on in this server as it may drive at once."""


class StillPausing(RunLocked):
    """A run that was told to pause has not stopped yet, and cannot be gone on with."""


class StillDriven(RunLocked):
    """A run that goes on under another cap than the one that is asked for."""


class Task:
    """A run that this process drives or has driven, in the loop that made it."""

    def __init__(self, chosen: Start):
        self.folder: Path = chosen.folder
        self.events: dict[EventRow, Event] = {}
        """The latest event of each methodology, phase, arm and round."""
        self._driver = chosen.driver(self._note)
        self._work = asyncio.create_task(drive(chosen, self._driver), name=self.run_id)
        self._work.add_done_callback(_looked_at)

    @property
    def run_id(self) -> str:
        return self.folder.name

    @property
    def is_over(self) -> bool:
        return self._work.done()

    @property
    def is_pausing(self) -> bool:
        """It was told to pause, and has not stopped yet."""
        return self._driver.is_pausing and not self.is_over

    def require_same_caps(self, wanted: Start) -> None:
        """Raise StillDriven where a start names another budget than the one the run goes on under: it would be
        ignored."""
        tokens, usd = self._driver.caps
        caps = (("budget_tokens", tokens, wanted.machine.cap_tokens), ("budget_usd", usd, wanted.machine.cap_usd))
        for name, cap, asked in caps:
            if asked is not None and asked != cap:
                under = "no budget" if cap is None else f"{cap:,}"
                raise StillDriven(
                    f"run {self.run_id} goes on under {name} {under}, so {asked:,} is not taken now: pause it, and "
                    "resume it with the new budget when it has stopped"
                )

    @property
    def done(self) -> int:
        """Agents answered, summed over the rounds so far: it only grows."""
        return sum(int(event["done"]) for event in self.events.values())

    @property
    def latest(self) -> Event | None:
        return next(reversed(self.events.values()), None)

    @property
    def waits_for(self) -> str:
        """Why nothing moves, while the model's server is away or being started; else ""."""
        return "" if self.is_over else self._driver.waits_for

    async def wait(self, seconds: float | None = None) -> Run | None:
        """The run at its end or next stop; None if that takes longer. Raises what the run raised."""
        ended, _ = await asyncio.wait({self._work}, timeout=seconds)
        return self._work.result() if ended else None

    async def end(self) -> Run:
        """The run at its end or next stop, however long that takes. Raises what the run raised."""
        await asyncio.wait({self._work})
        return self._work.result()

    def pause(self) -> None:
        """Launch no further call, let those in flight finish, stop with a token. The run's end is to be waited for."""
        if not self.is_over:
            self._driver.pause()

    def _note(self, event: Event) -> None:
        row = row_of(event)
        self.events.pop(row, None)  # the latest comes last
        self.events[row] = event


class Tasks:
    """The runs that a server drives, under its root. One event loop."""

    def __init__(self, sandbox: PathSandbox, *, most: int = DEFAULT_RUNS_AT_ONCE):
        self._sandbox = sandbox
        self._most = most
        self._tasks: dict[Path, Task] = {}
        # Two equal requests at once must find one run, not make two; one whose files hang must not hold up another's.
        self._choosing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._beginning: dict[asyncio.Future[None], str] = {}
        self._closing = False

    async def start(self, sim_id: str, **request: Any) -> Task:
        """Begin, go on with or find the run that these arguments of `conduct_interviews` mean.

        Returns once the run is on disk; it goes on in the background. One that this server drives already is not
        started twice. Raises InputError and its children (OverBudget with the estimate), TooManyRuns.
        """
        await run_in_thread(lambda: self._sandbox.simulation(sim_id))
        asked = parse_request(sim=sim_id, **self._sandbox.given, **request)
        async with self._choosing[sim_id]:
            return await self._launched(await run_in_thread(lambda: choose_start(asked)))

    async def resume(self, token: str, **request: Any) -> Task:
        """Go on with an unfinished run in the background. Raises RunNotFound, TooManyRuns."""
        sim = request.pop("sim", None) or await run_in_thread(lambda: self._sandbox.simulation_of(token))
        await run_in_thread(lambda: self._sandbox.simulation(sim))
        given: dict[str, Any] = {**self._sandbox.given, "sim": sim, **request}
        name = self._sandbox.require_token(token)
        async with self._choosing[sim]:
            return await self._launched(await run_in_thread(lambda: start_of_resume(name, given)))

    async def _launched(self, chosen: Start) -> Task:
        self._sandbox.require_inside(chosen.folder)
        if self._closing:
            raise TooManyRuns("this server is being stopped")
        driven = self.driven_in(chosen.folder)
        if driven is not None and driven.is_pausing:
            await driven.wait(PAUSED_WITHIN_S)
            driven = self.driven_in(chosen.folder)
        if driven is not None and driven.is_pausing:
            why = "was told to pause and waits for its requests in flight; resume it when it has stopped"
            raise StillPausing(f"run {driven.run_id} {why}")
        if driven is not None:
            driven.require_same_caps(chosen)
            return driven
        if not chosen.shown:
            self.require_room()
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._beginning[begun] = chosen.folder.name
        try:
            await chosen.begin()  # or find what another process has begun since
            task = self._tasks[chosen.folder] = self.driven_in(chosen.folder) or Task(chosen)
        finally:
            del self._beginning[begun]
            begun.set_result(None)
        return task

    async def drive(self, chosen: Start) -> Run:
        """A run that its caller waits for, to its end or next stop. Cancelled, it pauses first. Raises TooManyRuns."""
        task = await self._launched(chosen)
        return await awaited(task.end(), task.pause)

    def require_room(self) -> None:
        """Raises TooManyRuns where no further run could be driven now."""
        going_on = [task.run_id for task in self._tasks.values() if not task.is_over]
        self._tasks = {folder: task for folder, task in self._tasks.items() if not task.is_over}
        going_on.extend(self._beginning.values())
        if len(going_on) >= self._most:
            which = f"{', '.join(going_on)}. Wait for one of them or pause it"
            raise TooManyRuns(f"this server drives {self._most} at once, and as many go on: {which}")

    def driven_in(self, folder: Path) -> Task | None:
        """The task that drives the run in this folder right now: a copy of it elsewhere has the same run_id."""
        task = self._tasks.get(folder)
        return None if task is None or task.is_over else task

    def driven(self, run_id: str) -> Task | None:
        """A task that drives a run of this name right now."""
        tasks = list(self._tasks.values())  # a server asks from another thread than the runs' own
        return next((task for task in tasks if task.run_id == run_id and not task.is_over), None)

    async def close(self) -> None:
        """Begin nothing more, pause every run and wait for its stop: what is in flight is finished and filed."""
        self._closing = True
        if self._beginning:  # whoever is halfway through it is in the list afterwards, unless it hangs
            await asyncio.wait(self._beginning, timeout=BEGUN_WITHIN_S)
        going_on = [task for task in self._tasks.values() if not task.is_over]
        for task in going_on:
            task.pause()
        await asyncio.gather(*(task.wait() for task in going_on), return_exceptions=True)


def _looked_at(work: asyncio.Task[Run]) -> None:
    """A run that failed while nobody waited is told by its status; asyncio need not complain."""
    if not work.cancelled():
        work.exception()


# --- What a server may reach: simulations and runs under one root, named by id and never by path


LONGEST_SHOWN = 100
OWN_FOLDER = "instruments"
"""Below the root: files of the operator's own that clients may name (docs/security.md)."""


class OutsideRoot(InputError):
    """A symbolic link of the simulation leads out of the server's root."""


class NobodyInterviewed(RunNotFound):
    """The simulation has no run yet."""


class PathSandbox:
    """The simulations under a root. Raises SimulationNotFound where the root is no folder."""

    def __init__(self, root: Path):
        if not root.is_dir():
            raise SimulationNotFound(f"{root}: no such folder; name the one that holds simulations/ (ENQUETE_ROOT)")
        self.root = root.resolve()

    @property
    def given(self) -> dict[str, Any]:
        """What a client's request holds beside its own words: where simulations are, which files settings may name."""
        return {"root": str(self.root), "own_folder": str(self.root / OWN_FOLDER)}

    def simulations(self) -> list[KnownSimulation]:
        """By id."""
        return list_simulations(self.root)

    def simulation(self, sim_id: str) -> Path:
        """The folder of a simulation, nothing of which leads out of the root.

        Raises SimulationNotFound, which lists the known ones, nearest first, and OutsideRoot.
        """
        folder = by_id(sim_id, self.root)
        if folder is None:
            known = nearest(sim_id, [known.sim_id for known in self.simulations()])
            none = "There are no simulations under this server's root"
            there = f"Known, nearest first: {some_of(known)}" if known else none
            raise SimulationNotFound(f"no simulation {sim_id[:LONGEST_SHOWN]!r}. {there}")
        for link in links(folder):
            if not self.holds(link):
                shown = link.relative_to(folder).as_posix()
                raise OutsideRoot(f"{folder.name}: {shown!r} is a symbolic link out of this server's root")
        return folder

    def runs(self, sim_id: str) -> list[RunSummary]:
        """Runs of a simulation, oldest first."""
        self.simulation(sim_id)
        return list_runs(sim_id, root=str(self.root))

    def run(self, sim_id: str, run_id: str | None = None) -> Run:
        """A run by run_id or resume token; else the latest unfinished one, else the canonical one.

        Raises RunNotFound, which lists the known ones.
        """
        if run_id is not None:
            return self._named(sim_id, run_id)
        self._require_begun(sim_id)
        return current_run(sim_id, root=str(self.root))

    def finished(self, sim_id: str, run_id: str | None = None) -> Run:
        """The same, but unless named the canonical run, else the latest: results are read from it."""
        if run_id is not None:
            return self._named(sim_id, run_id)
        self._require_begun(sim_id)
        return load_run(sim_id, root=str(self.root))

    def simulation_of(self, token: str) -> str:
        """The sim_id of the run that a run_id or resume token names. Raises RunNotFound, OutsideRoot."""
        run_id = self.require_token(token).partition(".")[0]
        holding = [
            known.sim_id for known in self.simulations() if (known.path / "interviews" / "runs" / run_id).is_dir()
        ]
        if len(holding) > 1:
            raise RunNotFound(f"run {run_id!r} is in several simulations: {', '.join(holding)}; say which")
        if not holding:
            raise RunNotFound(f"no run {run_id!r} in any simulation under this server's root")
        self.simulation(holding[0])
        return holding[0]

    def _require_begun(self, sim_id: str) -> None:
        if not self.runs(sim_id):
            raise NobodyInterviewed(f"{sim_id}: nobody has been interviewed yet")

    def _named(self, sim_id: str, run_id: str) -> Run:
        """One that is there is found without reading all the others: a status is asked for again and again."""
        folder = self.simulation(sim_id) / "interviews" / "runs" / run_id
        if re.fullmatch(TOKEN, run_id) and has_ledger(folder):
            return Run(folder, shown=True)
        known = [run.run_id for run in self.runs(sim_id)]
        if not re.fullmatch(TOKEN, run_id) or run_id.partition(".")[0] not in known:
            listed = ", ".join(known[-MOST_LISTED:]) or "none"
            raise RunNotFound(f"no run {run_id[:LONGEST_SHOWN]!r} of {sim_id}; its latest runs: {listed}")
        return load_run(sim_id, run_id, root=str(self.root))

    def require_token(self, token: str) -> str:
        """A run_id or resume token; nothing else may be looked for. Raises RunNotFound."""
        if not re.fullmatch(TOKEN, token):
            why = "is no resume token: it begins with run_ and is given by a run"
            raise RunNotFound(f"{token[:LONGEST_SHOWN]!r} {why}")
        return token

    def require_inside(self, path: Path) -> None:
        """Raises OutsideRoot where a path of the run, which may be newer than the look at its simulation, leads out."""
        if not self.holds(path):
            raise OutsideRoot(f"{path.name[:LONGEST_SHOWN]!r} does not lie under this server's root")

    def holds(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.root)


def links(folder: Path) -> Iterator[Path]:
    """Every symlink below the folder; none is followed. What cannot be listed cannot be read through either."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            yield from links(Path(entry.path))
