"""Beginning a new run: its ledger is written first, then the readable record."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from pydantic import JsonValue

from enquete.ledger.backup import carry
from enquete.ledger.folders import (
    LEDGER,
    RECORD,
    drop_ledger,
    make_run_folder,
    write_atomically,
)
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import (
    AGENTS_PER_PIN,
    RunRecord,
    persona_columns_name,
)
from enquete.runs.instrument_pins import as_file
from enquete.runs.planning import open_ledger
from enquete.runs.run_choice import RunChoice
from enquete.runs.run_settings import record_settings
from enquete.runs.waves import baseline_personas, copy_memories
from enquete.simulations.population import (
    Population,
)
from enquete.state.asking import PagedPeople, Participant
from enquete.state.errors import Unfit
from enquete.state.settings import (
    Machine,
)


async def begin(
    choice: RunChoice,
    population: Population,
    estimate: JsonValue = None,
    settle: Callable[[Ledger], Awaitable[RunRecord]] | None = None,
    machine: Machine | None = None,
) -> None:
    """Write a new run: ledger first, then the readable record. A run without its record was never started.

    Args:
        choice: The run.
        population: What was read; who of it is asked, the run's record decides.
        estimate: Pinned for comparison with what the run will cost.
        settle: Asks, with the run's ledger, what has to be known before it begins, and returns the record after that.
            Where it raises Unfit, nothing is left of the run.
        machine: How the run is driven, in force wherever it goes on; that of its first session unless given.
    """
    make_run_folder(choice.folder, choice.store)
    ledger = Ledger(choice.folder / LEDGER, choice.record.run_id, create=True)
    try:
        try:
            await _write(choice, population, ledger, estimate, settle, machine)
        finally:
            await ledger.close()
    except Unfit:
        drop_ledger(choice.folder)
        shutil.rmtree(choice.folder)
        raise


async def _write(
    choice: RunChoice,
    population: Population,
    ledger: Ledger,
    estimate: JsonValue,
    settle: Callable[[Ledger], Awaitable[RunRecord]] | None,
    machine: Machine | None,
) -> None:
    record, runs = choice.record if settle is None else await settle(ledger), choice.folder.parent
    if machine is not None:
        server = machine.base_url or record.base_url or None
        await record_settings(ledger, machine.model_copy(update={"base_url": server}))
    asked = run_population(choice, population)
    await ledger.store_population(asked)
    for part, columns in enumerate(_columns(population, asked)):
        await ledger.pin("", "", "", persona_columns_name(part), columns)
    if record.replay_of:
        await copy_memories(runs / record.replay_of, ledger)
    if record.carried:
        await carry(runs / record.rerun_of / LEDGER, ledger, record.carried)
        await copy_memories(runs / record.rerun_of, ledger)
    if estimate is not None:
        await ledger.pin("", "", "", "estimate", estimate)
    await ledger.pin("", "", "", "record", record.model_dump(mode="json"))
    await ledger.set_stage("", "", "started")
    write_atomically(choice.folder / RECORD, as_file(record, ledger))


def _columns(population: Population, asked: Sequence[Participant]) -> Iterator[JsonValue]:
    """Yield what a personas file says of those who are asked, some agents at a time."""
    if not population.columns:
        return
    people = iter(asked)
    while some := list(islice(people, AGENTS_PER_PIN)):
        known = ((who.id, population.columns.get(who.id)) for who in some)
        yield {who: {**columns} for who, columns in known if columns is not None}


def run_population(choice: RunChoice, population: Population) -> Sequence[Participant]:
    """Return whom a new run asks.

    They are the simulation's agents, with T0's personas where T0 was taken earlier. A replay or a re-run asks those of
    the run it goes back to.
    """
    record, runs = choice.record, choice.folder.parent
    if record.replay_of or record.carried:
        source = record.replay_of or record.rerun_of
        return _people_of(runs / source)
    if record.baseline == "earlier":
        return baseline_personas(runs / record.baseline_run_id, population)
    return population.participants


def _people_of(folder: Path) -> Sequence[Participant]:
    """Return those of another run, whose ledger is opened for each page of them where they are many."""
    with open_ledger(folder, folder.name) as ledger:
        people = ledger.population()
    if not isinstance(people, PagedPeople):
        return people

    def read(low: int, high: int) -> list[Participant]:
        with open_ledger(folder, folder.name) as ledger:
            return ledger.people_between(low, high)

    def find(participant: str) -> Participant | None:
        with open_ledger(folder, folder.name) as ledger:
            return ledger.person(participant)

    return PagedPeople(len(people), read, find)
