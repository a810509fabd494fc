"""The simulations under the root as the home page shows them: what each is about, how many agents, how far its runs are."""

from __future__ import annotations

from dataclasses import dataclass, field

from enquete import study
from enquete.interfaces.http.reception import Desk
from enquete.interfaces.service.status import status_of
from enquete.simulations.locate import Known
from enquete.state.errors import EnqueteError
from enquete.study.listing import SimulationFacts, simulation_facts

UNREADABLE = ("damaged", "newer")


@dataclass(frozen=True)
class RunRow:
    """`status`: of what is filed and what drives it right now; damaged or newer where the ledger cannot be read."""

    run_id: str
    status: str
    note: str
    created_at: str
    methods: tuple[str, ...]
    language: str


@dataclass(frozen=True)
class SimulationRow:
    """`facts` None: its files cannot be read, and `problem` says why. Runs: newest first."""

    sim_id: str
    facts: SimulationFacts | None
    problem: str = ""
    runs: list[RunRow] = field(default_factory=list)


def simulation_rows(desk: Desk) -> list[SimulationRow]:
    """By id."""
    return [simulation_row(desk, known) for known in desk.rooted.simulations()]


def simulation_row(desk: Desk, known: Known) -> SimulationRow:
    try:
        runs = run_rows(desk, known.sim_id)
    except EnqueteError as error:
        return SimulationRow(known.sim_id, None, desk.mask(error.fact))
    try:
        return SimulationRow(known.sim_id, simulation_facts(known.path), runs=runs)
    except EnqueteError as error:
        return SimulationRow(known.sim_id, None, desk.mask(error.fact), runs)


def run_rows(desk: Desk, sim_id: str) -> list[RunRow]:
    """Newest first. Raises SimulationNotFound, OutsideRoot."""
    found = []
    for one in desk.rooted.runs(sim_id):
        status = one.status
        if status not in ("completed", *UNREADABLE):
            run = study.load_run(sim_id, one.run_id, root=str(desk.rooted.root))
            status = status_of(run, desk.task_of(run))
        found.append(RunRow(one.run_id, status, desk.mask(one.note), one.created_at, one.methods, one.language))
    return found[::-1]
