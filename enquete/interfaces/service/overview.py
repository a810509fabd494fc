"""What there is, as lists: simulations with their runs, runs, instruments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field

import enquete
from enquete.interfaces.service.status import status_of
from enquete.locale import languages
from enquete.simulations.locate import Known
from enquete.state.errors import EnqueteError
from enquete.study.listing import own_instruments, shipped_instruments
from enquete.study.run import Run
from enquete.study.sandbox import PathSandbox
from enquete.study.simulation_list import remembered_facts
from enquete.study.tasks import Task

UNREADABLE = ("damaged", "newer")
TaskOf: TypeAlias = Callable[[Run], Task | None]
"""What drives a run in this server right now."""
Clear: TypeAlias = Callable[[str], str]
"""Takes secrets and folders out of a text."""


class RunRow(BaseModel):
    """One line of a list of runs."""

    run_id: str
    status: Annotated[str, Field(description="as in a status; damaged or newer where the ledger cannot be read")]
    note: str
    created_at: str
    methods: list[str]
    language: str
    resume_token: str | None


class SimulationRow(BaseModel):
    """A simulation. `topic`, `agents` and `types` are empty where its files cannot be read."""

    sim_id: str
    topic: str = ""
    agents: int = 0
    types: Annotated[dict[str, int], Field(description="agents by stakeholder type, the most frequent first")] = {}
    completed: bool = False
    status: Annotated[str, Field(description="as the simulation says itself")] = ""
    problem: Annotated[str, Field(description="why it cannot be interviewed; empty where it can")] = ""
    runs: Annotated[list[RunRow], Field(description="newest first")] = []


class InstrumentRow(BaseModel):
    """What a methodology asks: one that ships, or a file of the server's own (`file`)."""

    methodology: str
    titles: Annotated[dict[str, str], Field(description="of the methodology, by language")]
    answers: Annotated[str, Field(description="what its methodology finds out")]
    topic: str
    languages: list[str]
    items: Annotated[int, Field(description="0 where an interview has no fixed ones")]
    needs_t0: Annotated[bool, Field(description="asked before the simulation, too")]
    packs: Annotated[list[str], Field(description="values of `pack` that ask it")]
    file: Annotated[str, Field(description="its name, for `instruments`; empty for one that ships")] = ""
    problem: Annotated[str, Field(description="why it cannot be asked; empty where it can")] = ""


def simulation_rows(sandbox: PathSandbox, task_of: TaskOf, clear: Clear) -> list[SimulationRow]:
    """By id."""
    return [simulation_row(sandbox, known, task_of, clear) for known in sandbox.simulations()]


def simulation_row(sandbox: PathSandbox, known: Known, task_of: TaskOf, clear: Clear) -> SimulationRow:
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
    found = []
    for one in sandbox.runs(sim_id):
        status = one.status
        if status not in ("completed", *UNREADABLE):
            run = enquete.load_run(sim_id, one.run_id, root=str(sandbox.root))
            status = status_of(run, task_of(run))
        over = status in ("completed", *UNREADABLE)
        row: dict[str, Any] = {**vars(one), "status": status, "note": clear(one.note), "methods": list(one.methods)}
        found.append(RunRow(**{**row, "resume_token": None if over else one.resume_token}))
    return found[::-1]


def instrument_rows(shelf: Path, clear: Clear, language: str = "en") -> list[InstrumentRow]:
    """Those that ship, then the files in the server's own folder."""
    titles = enquete.list_instruments()
    found = []
    for one in (*shipped_instruments(language), *own_instruments(shelf, language)):
        row = {**vars(one), "languages": list(one.languages), "packs": list(one.packs), "problem": clear(one.problem)}
        named = titles.get(one.methodology, dict.fromkeys(languages(), one.methodology))
        found.append(InstrumentRow(**row, titles=named))
    return found
