"""Between T0 and T1: has the simulation completed, are its agents still the same, and what do they remember?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from enquete.checkpoints.record import RunRecord
from enquete.memory.connecting import Known, read_once
from enquete.nodes.run_session import RunSession
from enquete.simulations.digest import SOURCES, digests
from enquete.simulations.join import Join, join, require_joinable
from enquete.simulations.locate import Completion, completion
from enquete.simulations.population import Population, load_population

UNREAD = "the graph could not be read ({fault}): the agents remember what the simulation's files say, and no more"
WITHOUT = Completion(True, "no_simulation", "a personas file has no simulation to wait for")


def simulation_status(
    record: RunRecord, sim_path: Path, *, assume_completed: bool = False, read: Population | None = None
) -> Completion:
    """Decided by the files alone; the simulation's environment need not be running. `read`: as it was a moment ago, which
    is looked at again unless it had completed by then."""
    if record.kind == "personas" or record.replay_of:
        return WITHOUT
    if read is not None and read.completion.completed:
        return read.completion
    return completion(sim_path, assume_completed=assume_completed or record.assume_completed)


async def open_t1(run_session: RunSession) -> list[str]:
    """Join today's agents to the run's and freeze their memories. Returns what a reader must know. Done once a run.

    Raises PopulationMismatch where the agents cannot be joined, SimulationNotFound where the folder is gone.
    """
    read, run_session.simulation = run_session.simulation, None  # nobody asks for it again
    stored = run_session.ledger.frozen("", "", "T1", "memory")
    if stored is None:
        stored = await _remember(run_session, read)
    notes = stored.get("notes") if isinstance(stored, dict) else None
    return [str(note) for note in notes] if isinstance(notes, list) else []


async def _remember(run_session: RunSession, population: Population | None) -> JsonValue:
    record = run_session.record
    if record.kind == "personas":
        return await run_session.ledger.freeze("", "", "T1", "memory", {"notes": []})
    if population is None or not population.completion.completed:  # it has gone on since
        population = await asyncio.to_thread(load_population, run_session.sim_path, assume_completed=True)
    joined = join(run_session.population, population.participants)
    if record.agents:  # the others were not meant to be asked
        joined = replace(joined, new=())
    require_joinable(joined)
    texts: dict[str, str | None] = {}
    notes: list[str] = []
    if record.digest_chars > 0:
        known = await asyncio.to_thread(_known, run_session, [now for _, now in joined.matched])
        read = await asyncio.to_thread(
            digests, population, limit=record.digest_chars, language=record.language, known=known.agents
        )
        texts = {then: read.texts.get(now) for then, now in joined.matched}
        notes = [f"{issue.file}: {issue.message}" for issue in read.issues if issue.severity != "info"]
        notes += [UNREAD.format(fault=known.fault)] if known.fault else []
        named = {then: dict(read.named[now]) for then, now in joined.matched if now in read.named}
        await run_session.ledger.freeze("", "", "T1", SOURCES, {who: {**marks} for who, marks in named.items()})
    await run_session.ledger.store_digests("T1", texts)
    run_session.remember("T1")
    summary = _summary(joined, texts, [*_join_notes(joined), *notes]) | _ended(population)
    return await run_session.ledger.freeze("", "", "T1", "memory", summary)


def _known(run_session: RunSession, agents: list[str]) -> Known:
    """What the run's graph knows of them; nothing where it has none."""
    record = run_session.record
    found = read_once(
        run_session.folder, record.memory, run_session.sim_path, record.sim_id, run_session.machine, agents
    )
    return found or Known(graph="local")


def _summary(joined: Join, texts: dict[str, str | None], notes: list[str]) -> dict[str, JsonValue]:
    return {
        "matched": len(joined.matched),
        "lost": list(joined.lost),
        "new": list(joined.new),
        "changed": list(joined.changed),
        "with_memory": sum(text is not None for text in texts.values()),
        "notes": list(notes),
    }


def _ended(population: Population) -> dict[str, JsonValue]:
    """How far the simulation had come when memories were read; what it says of itself where its end was only assumed."""
    end = population.completion
    assumed: JsonValue = {"status": end.status, "progress": list(end.progress or ()), "error": end.error}
    return {"actions": population.actions, "assumed": assumed if end.assumed else None}


def _join_notes(joined: Join) -> list[str]:
    found = (
        ("lost", joined.lost, "no longer in the simulation, asked at T1 without memory"),
        ("new", joined.new, "in the simulation only since T0, not part of this run"),
        ("changed", joined.changed, "persona differs from T0's; T0's is used"),
    )
    return [f"{word}: {len(ids)} agents {meaning} ({', '.join(ids[:5])})" for word, ids, meaning in found if ids]
