"""Comparing the population of a run with that of a request: who was added, removed or edited since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from enquete.ledger.folders import (
    StoredRun,
)
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import (
    AGENTS_PER_PIN,
    RunRecord,
    persona_columns_name,
)
from enquete.runs.planning import open_ledger
from enquete.simulations.population import (
    Population,
    PopulationChange,
    compare_populations,
)
from enquete.state.asking import Participant


def differs_by_population(record: RunRecord, draft: RunRecord) -> bool:
    """Return whether two records are of the same study, but not of the same population."""
    asked_of_these = record.model_copy(update={"population_hash": draft.population_hash})
    return record.population_hash != draft.population_hash and asked_of_these.fingerprint == draft.fingerprint


def population_at_t1(run: StoredRun) -> str:
    """Return the hash of the simulation's agents as they were when a run read their memories, "" where it did not."""
    with open_ledger(run.folder, run.folder.name) as ledger:
        memory = ledger.pinned("", "", "T1", "memory")
    return str(memory.get("population", "")) if isinstance(memory, dict) else ""


def with_population_change(draft: RunRecord, known: Sequence[StoredRun], population: Population) -> RunRecord:
    """Return the record of a new run with a notice of how its population differs from that of an earlier run."""
    earlier = [run for run in known if differs_by_population(run.record, draft)]
    if not earlier or draft.replay_of or draft.rerun_of:
        return draft
    change = population_change(earlier[-1].folder, population)
    notice = f"{population.path.name}: another population than in run {earlier[-1].folder.name}: {change}"
    return draft.model_copy(update={"notices": [*draft.notices, notice]})


def population_change(folder: Path, population: Population) -> PopulationChange:
    """Say who was added, removed and edited since the run in this folder was begun."""
    now = ((who, population.columns.get(who.id)) for who in population.participants)
    with open_ledger(folder, folder.name) as ledger:
        return compare_populations(stored_people(ledger), now)


def stored_people(ledger: Ledger) -> Iterator[tuple[Participant, Mapping[str, Any] | None]]:
    """Yield those whom a run asks, with what their file said of them; columns are read for some agents at a time."""
    part, columns = 0, _stored_columns(ledger, 0)
    for place, who in enumerate(ledger.population()):
        if place // AGENTS_PER_PIN != part:
            part = place // AGENTS_PER_PIN
            columns = _stored_columns(ledger, part)
        yield who, columns.get(who.id)


def _stored_columns(ledger: Ledger, part: int) -> Mapping[str, Mapping[str, Any]]:
    columns: Any = ledger.pinned("", "", "", persona_columns_name(part))
    return columns if isinstance(columns, dict) else {}
