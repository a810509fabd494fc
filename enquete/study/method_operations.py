"""Operations that methodologies offer beside a run (state/methodology.py), found in the registry and carried out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError

from enquete.checkpoints.tokens import find_run
from enquete.ledger.drives import alone
from enquete.ledger.folders import LEDGER, is_held, read_record, read_run, run_folders
from enquete.ledger.ledger import Ledger
from enquete.methods.registry import methodologies
from enquete.reports.run_reading import open_run
from enquete.respondents.person import last_submitted, open_forms, require_readable, submit
from enquete.runs.model_server import require_server_of
from enquete.runs.result_folders import claim_folder
from enquete.runs.run_session import using
from enquete.simulations.locate import locate
from enquete.state.errors import InputError, OverBudget, RunLocked, SettingsError, complaints
from enquete.state.methodology import BegunRun, Operation, RunSnapshot, StoppedRun, Worker
from enquete.state.request import parse_request
from enquete.state.settings import Environment
from enquete.study.background import awaited, run_in_thread
from enquete.study.run import Run
from enquete.study.start import Start, choose_start, drive, start_of_resume
from enquete.study.tasks import PathSandbox, StillPausing, Tasks, TooManyRuns

LOCK = "operation.lock"
"""In the folder of what an operation goes on with: held while it decides whether to begin a run."""
LOOKED_S = 0.5


@cache
def operations() -> Mapping[str, tuple[str, Operation]]:
    """name → (methodology, operation), of all methodologies there are."""
    return {
        operation.name: (name, operation)
        for name, methodology in methodologies().items()
        if methodology.offers
        for operation in methodology.offers.operations()
    }


def operation_named(name: str) -> tuple[str, Operation]:
    """Return the methodology and the operation of this name or alias. Raises SettingsError listing those there are."""
    for known, (methodology, operation) in operations().items():
        if name == known or name in operation.aliases:
            return methodology, operation
    raise SettingsError(f"no operation {name!r}; there are {', '.join(operations())}")


async def operate(
    name: str, given: Mapping[str, Any], root: Path, own_folder: str | None = None, tasks: Tasks | None = None
) -> dict[str, JsonValue]:
    """Carry an operation out. tasks: a server's, in its loop: so many runs are driven at once, and paused at its end.

    Raises SettingsError naming the argument that does not fit, InputError and its children, TooManyRuns, Busy."""
    methodology, operation = operation_named(name)
    try:
        asked = operation.takes.model_validate(dict(given))
    except ValidationError as error:
        raise SettingsError(complaints(error)) from None
    try:
        return await operation.does(FacadePort(root, own_folder, methodology, tasks), asked)
    except OverBudget as over:
        # In the operation's own arguments.
        takes_budget = "budget_tokens" in operation.takes.model_fields
        larger = f"with budget_tokens={over.estimate['sufficient_tokens']}; " if takes_budget else ""
        remedy = f"{operation.name} {larger}{operation.over_budget}"
        words = f"{over.fact}\nWhat would make it fit: {remedy}."
        raise OverBudget(words, over.estimate, fact=over.fact, remedy=remedy) from over


@dataclass(frozen=True)
class FacadePort:
    """The port of one methodology."""

    root: Path
    own_folder: str | None
    methodology: str
    tasks: Tasks | None = None

    def model(self) -> str:
        environment = Environment.read()
        is_asked = environment.respondent == "llm" if environment.respondent else environment.names_model
        return environment.model or "" if is_asked else ""

    def alone(self, out: str) -> AbstractAsyncContextManager[None]:
        return alone(Path(out) / LOCK)

    async def begin(self, sim: str | Path, **request: Any) -> BegunRun:
        if self.tasks is not None:
            self.tasks.require_room()
        fixed = {"methods": [self.methodology], "phase": "T1", "own_folder": self.own_folder, "new": True}

        def choose() -> Start:
            """The folder of an interview or discussion is that of its one population, from the beginning."""
            where = self._where(sim)
            if folder := request.get("out"):
                claim_folder(Path(folder).parent, Path(folder), locate(sim, self.root))
            return choose_start(parse_request(**where, **fixed, **request))

        task = await run_in_thread(choose, within_s=None)
        await task.begin()
        record = read_record(task.folder)
        return BegunRun(record.token, record.main.respondent, record.main.model)

    async def resume(self, sim: str | Path, token: str, *, in_talk: bool = False, **request: Any) -> StoppedRun:
        while True:
            task = await run_in_thread(lambda: start_of_resume(token, {**self._where(sim), **request}), within_s=None)
            task.in_talk = in_talk
            try:
                return self._stopped(await self._driven(task))
            except (TooManyRuns, StillPausing):
                raise
            except RunLocked:  # by another process, perhaps for the same request: its answers are ours
                while await run_in_thread(partial(is_held, task.folder)):  # noqa: ASYNC110 - its end sets no event here
                    await asyncio.sleep(LOOKED_S)

    async def submit(
        self, sim: str | Path, token: str, answers: str | Mapping[str, JsonValue], *, who: str = "", **request: Any
    ) -> None:
        async with self._ledger(sim, token, request) as ledger:
            waiting = [form.block for form in open_forms(ledger) if not who or form.block.key.participant == who]
            if not waiting:
                raise InputError("this interview waits for nobody's answer")
            block = waiting[0]
            given = dict.fromkeys((item.id for item in block.items), answers) if isinstance(answers, str) else answers
            require_readable(block, given)
            await submit(ledger, block, given)

    async def pin(self, sim: str | Path, token: str, name: str, value: JsonValue, **request: Any) -> None:
        async with self._ledger(sim, token, request) as ledger:
            await ledger.pin(ledger.record.main.id, self.methodology, "T1", name, value)

    async def work(
        self, sim: str | Path, token: str, name: str, role: Worker, subject: str, data: BaseModel, **request: Any
    ) -> dict[str, JsonValue]:
        task = await run_in_thread(lambda: start_of_resume(token, {**self._where(sim), **request}), within_s=None)
        with open_run(task.folder) as reading:
            stored = reading.pinned_values(reading.record.main.id, self.methodology).get(name)
            record = reading.record
        if isinstance(stored, dict):
            return stored
        await require_server_of(record, task.machine)
        async with using(str(task.folder), task.machine) as run_session:
            context = run_session.context(self.methodology, "T1")
            done = await role.work(context, run_session.settings(self.methodology), subject, data)
            if isinstance(done, str):
                why = run_session.budget.stopped or "the budget is used up: name a larger budget_tokens"
                raise InputError(f"{subject}: {why}")
            result, by = done
            kept = await context.pin(name, {**result.model_dump(mode="json"), "by": by})
        return kept if isinstance(kept, dict) else {}

    async def pause(self, out: str, run: str) -> bool:
        folder = find_run(Path(out), run)
        task = self.tasks.driven_in(folder) if self.tasks is not None else None
        if task is not None:
            task.pause()
            await task.wait()
            return True
        if await run_in_thread(partial(is_held, folder)):
            raise InputError("another process drives this discussion: pause it there, where Ctrl-C does it")
        return False

    def runs(self, out: str) -> Sequence[str]:
        return [folder.name for folder in run_folders(Path(out))]

    def look(self, out: str, run: str) -> RunSnapshot:
        folder = find_run(Path(out), run)
        stored = read_run(folder)
        with open_run(folder) as reading:
            return RunSnapshot(
                run=run, status=stored.status, note=stored.note, language=stored.record.language,
                respondent=stored.record.main.respondent, model=stored.record.main.model,
                settings=reading.settings(self.methodology),
                pinned=reading.pinned_values(stored.record.main.id, self.methodology),
                names={who.id: who.name for who in reading.population},
                forms=tuple(form.block for form in open_forms(reading.ledger)),
                submitted=last_submitted(reading.ledger), memories=reading.ledger.digests("T1"),
            )  # fmt: skip

    @asynccontextmanager
    async def _ledger(self, sim: str | Path, token: str, request: Mapping[str, Any]) -> AsyncIterator[Ledger]:
        folder = start_of_resume(token, {**self._where(sim), **request}).folder
        ledger = Ledger(folder / LEDGER, folder.name)
        try:
            yield ledger
        finally:
            await ledger.close()

    def _where(self, sim: str | Path) -> dict[str, str]:
        """A simulation that a caller names lies under the root, where callers may name no files at all."""
        if isinstance(sim, str) and self.own_folder is not None:
            PathSandbox(self.root).simulation(sim)
        return {"sim": str(sim), "root": str(self.root)}

    async def _driven(self, task: Start) -> Run:
        """Cancelled, the run pauses first: what is in flight is filed."""
        if self.tasks is not None:
            return await self.tasks.drive(task)
        driver = task.driver()
        return await awaited(drive(task, driver), driver.pause)

    def _stopped(self, run: Run) -> StoppedRun:
        result = run.results.get(self.methodology)
        with open_run(run.folder) as reading:
            waiting = open_forms(reading.ledger)
        question = waiting[0].block.items[0].wording if waiting else ""
        return StoppedRun(run.record.token, run.status, run.note, result if isinstance(result, dict) else {}, question)
