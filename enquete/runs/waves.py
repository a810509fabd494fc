"""The two waves of a study: where T0 comes from, and what lies between T0 and T1."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from enquete.ledger import queries
from enquete.ledger.drives import has_ledger
from enquete.ledger.folders import latest, read_record, run_folder
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord, UsedInstrument
from enquete.memory.graph import GraphMemory, read_once
from enquete.runs.planning import closed, of_two_waves, open_ledger, rounds_owed
from enquete.runs.run_session import RunSession
from enquete.simulations.digest import SOURCES, digests
from enquete.simulations.locate import SimulationProgress, completion
from enquete.simulations.population import (
    GUEST,
    Join,
    Population,
    join,
    load_population,
    population_hash,
    require_joinable,
)
from enquete.state.asking import Arm, Participant
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError
from enquete.state.interview_context import REHEARSAL
from enquete.state.request import RunRequest

# --- Where T0 comes from: this run before the simulation, an earlier run, or reconstructed after the fact ------------


def choose_baseline(
    request: RunRequest,
    population: Population,
    methods: Mapping[str, str],
    phases: list[str],
    used: Mapping[str, UsedInstrument],
    interviews: Path,
    main: Arm,
) -> tuple[Literal["measured", "reconstructed", "earlier", "none"], str]:
    """Where T0 comes from: this run (before the simulation), an earlier run, or reconstructed after the fact."""
    name = of_two_waves(methods)
    if not name or not population.has_simulation:
        return "none", ""
    if phases == ["T0"]:
        if population.completion.completed:
            raise SettingsError(
                f"phase: T0: simulation {population.sim_id} has completed already, so nothing can be measured before "
                "it; leave phase out for a reconstructed T0"
            )
        return "measured", ""
    run_id = measured_before(interviews, name, main) if request.baseline == "auto" else request.baseline
    if run_id and run_id != "reconstructed":
        return "earlier", require_baseline(interviews, run_id, name, population, used[name])
    if request.baseline != "reconstructed" and not population.completion.completed:
        return "measured", ""
    return "reconstructed", ""


def measured_before(interviews: Path, name: str, main: Arm) -> str:
    """The latest measured T0, if the same kind of respondent answered: a synthetic T0 is no model's baseline."""
    run_id = latest(interviews).get(f"T0/{name}", "")
    if run_id and read_record(run_folder(interviews, run_id)).main.respondent == main.respondent:
        return run_id
    return ""


def unused_baseline(
    request: RunRequest, interviews: Path, methods: Mapping[str, str], main: Arm, baseline: str
) -> list[str]:
    """A measured T0 that is not used is said aloud, because T0 is then asked, and paid for, once more."""
    name = of_two_waves(methods)
    run_id = latest(interviews).get(f"T0/{name}", "")
    if request.baseline != "auto" or baseline in ("earlier", "none") or not run_id:
        return []
    before = read_record(run_folder(interviews, run_id)).main.respondent
    return [
        f"run {run_id} holds a measured T0, but respondent {before!r} answered it and {main.respondent!r} answers now: "
        f"T0 is asked anew ({baseline}); --baseline {run_id} uses it all the same"
    ]


def require_baseline(interviews: Path, run_id: str, name: str, population: Population, used: UsedInstrument) -> str:
    """An earlier T0 counts only with the same instrument and joinable agents. A reconstructed one is no earlier T0."""
    folder = run_folder(interviews, run_id)
    if not has_ledger(folder):
        raise RunNotFound(f"baseline run {run_id!r} is not in {interviews / 'runs'}")
    record = read_record(folder)
    if name not in record.instruments or record.baseline == "reconstructed":
        raise RunMismatch(f"run {run_id} holds no measured T0 of {name}")
    if record.instruments[name].hash != used.hash:
        fact = (
            f"T0 of run {run_id} was taken with another {name} instrument "
            f"(hash {record.instruments[name].hash[:12]}, now {used.hash[:12]})"
        )
        raise RunMismatch(f"{fact}: use that one, or baseline=reconstructed", fact=f"{fact}: use that one")
    with open_ledger(folder, run_id) as ledger:
        stage = ledger.stages().get((name, "T0"))
        if record.baseline != "earlier" and (stage is None or stage.outcome != "done"):
            fact = f"T0 of run {run_id} is not complete; resume it first"
            raise RunMismatch(f"{fact}: enquete resume {record.token}", fact=fact)
        require_joinable(join(ledger.population(), population.participants))
    return record.baseline_run_id if record.baseline == "earlier" else run_id


def baseline_personas(folder: Path, population: Population) -> tuple[Any, ...]:
    """T0's personas are used at T1; agents that came later keep their own."""
    with open_ledger(folder, folder.name) as ledger:
        before = {who.id: who for who in ledger.population()}
    partner = {now_id: before[then] for then, now_id in join(list(before.values()), population.participants).matched}
    return tuple(
        replace(partner[who.id], agent_id=who.agent_id) if who.id in partner else who for who in population.participants
    )


# --- Between T0 and T1: has the simulation completed, are its agents still the same, and what do they remember?

UNREAD = "the graph could not be read ({fault}): the agents remember what the simulation's files say, and no more"
WITHOUT = SimulationProgress(True, "no_simulation", "a personas file has no simulation to wait for")


def simulation_status(
    record: RunRecord, sim_path: Path, *, assume_completed: bool = False, read: Population | None = None
) -> SimulationProgress:
    """Decided by the files alone; the simulation's environment need not be running. `read`: as it was a moment ago,
    which is looked at again unless it had completed by then."""
    if record.kind == "personas" or record.replay_of:
        return WITHOUT
    if read is not None and read.completion.completed:
        return read.completion
    return completion(sim_path, assume_completed=assume_completed or record.assume_completed)


CUT_OFF = "cut_off"
"""Under which name it is pinned how many agents T0 had reached when it was closed because the simulation had ended."""


async def close_t0_if_too_late(run_session: RunSession, name: str) -> None:
    """Close a measured T0 that had stopped before it was done, where the simulation has completed since.

    What was answered before stays T0. The others are not asked any more: their answers would be paid for and would
    stand for a time that is over. How many had answered is pinned, for the report to say.
    """
    record, ledger = run_session.record, run_session.ledger
    if record.baseline != "measured" or record.replay_of or ledger.run == REHEARSAL:
        return
    stage = ledger.stages().get((name, "T0"))
    (answers,) = ledger.read(queries.COUNTED, (name, "T0", record.main.id)).fetchone()
    has_begun = stage is not None or answers > 0
    is_done = stage is not None and stage.outcome == "done"
    if is_done or not has_begun:
        return
    status = await asyncio.to_thread(
        simulation_status, record, run_session.sim_path, assume_completed=run_session.machine.assume_completed
    )
    if not status.completed:
        return
    answered = ledger.read(queries.COUNT_ANSWERING, (name, "T0", record.main.id)).fetchone()[0]
    await ledger.pin(record.main.id, name, "T0", CUT_OFF, {"answered": answered})
    for arm in record.arms:
        context = run_session.context(name, "T0", arm.id)
        for number in rounds_owed(run_session.procedure(name).rounds, context):
            await context.pin(closed(number), "end")


async def open_t1(run_session: RunSession) -> list[str]:
    """Join today's agents to the run's and pin their memories. Returns what a reader must know. Done once a run.

    Raises PopulationMismatch where the agents cannot be joined, SimulationNotFound where the folder is gone.
    """
    read, run_session.simulation = run_session.simulation, None  # nobody asks for it again
    stored = run_session.ledger.pinned("", "", "T1", "memory")
    if stored is None:
        stored = await _remember(run_session, read)
    notes = stored.get("notes") if isinstance(stored, dict) else None
    return [str(note) for note in notes] if isinstance(notes, list) else []


async def _remember(run_session: RunSession, population: Population | None) -> JsonValue:
    record = run_session.record
    if record.kind == "personas":
        return await run_session.ledger.pin("", "", "T1", "memory", {"notes": []})
    if population is None or not population.completion.completed:  # it has gone on since
        population = await asyncio.to_thread(load_population, run_session.sim_path, assume_completed=True)
    simulated = [who for who in run_session.population if not who.id.startswith(GUEST)]
    joined = join(simulated, population.participants)
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
        await run_session.ledger.pin("", "", "T1", SOURCES, {who: {**marks} for who, marks in named.items()})
    guests = [who for who in run_session.population if who.id.startswith(GUEST)]
    summary = _summary(joined, texts, [*_join_notes(joined), *notes]) | _ended(population)
    summary["population"] = _hash_of_today(record, joined, population, guests)
    await run_session.ledger.store_digests("T1", texts, summary)
    run_session.remember("T1")
    return summary


def _known(run_session: RunSession, agents: list[str]) -> GraphMemory:
    """What the run's graph knows of them; nothing where it has none."""
    record = run_session.record
    memory = read_once(
        run_session.folder, record.memory, run_session.sim_path, record.sim_id, run_session.machine, agents
    )
    return memory or GraphMemory(graph="local")


def _summary(joined: Join, texts: dict[str, str | None], notes: list[str]) -> dict[str, JsonValue]:
    return {
        "matched": len(joined.matched),
        "lost": list(joined.lost),
        "new": list(joined.new),
        "changed": list(joined.changed),
        "with_memory": sum(text is not None for text in texts.values()),
        "notes": list(notes),
    }


def _hash_of_today(record: RunRecord, joined: Join, population: Population, guests: Sequence[Participant]) -> str:
    """Return the hash that a run which begins now would have, of those who are asked."""
    asked = {now for _, now in joined.matched} if record.agents else None
    people = [who for who in population.participants if asked is None or who.id in asked]
    return population_hash([*people, *guests], population.columns)


def _ended(population: Population) -> dict[str, JsonValue]:
    """How far the simulation had come when memories were read; what it says of itself if its end was assumed."""
    end = population.completion
    assumed: JsonValue = {"status": end.status, "progress": list(end.progress or ()), "error": end.error}
    return {"actions": population.actions, "assumed": assumed if end.assumed else None}


def _join_notes(joined: Join) -> list[str]:
    groups = (
        ("lost", joined.lost, "no longer in the simulation, asked at T1 without memory"),
        ("new", joined.new, "in the simulation only since T0, not part of this run"),
        ("changed", joined.changed, "persona differs from T0's; T0's is used"),
    )
    return [f"{word}: {len(ids)} agents {meaning} ({', '.join(ids[:5])})" for word, ids, meaning in groups if ids]


async def copy_memories(source: Path, ledger: Ledger) -> None:
    """What agents remembered then, so that neither the simulation nor its databases are needed."""
    with open_ledger(source) as origin:
        memory = origin.pinned("", "", "T1", "memory")
        if memory is not None:
            await ledger.pin("", "", "T1", SOURCES, origin.pinned("", "", "T1", SOURCES))
            await ledger.store_digests("T1", origin.digests("T1"), memory)
