"""What is remembered of a simulation's interviews: found again, sent to a graph, and what was preferred."""

from __future__ import annotations

from pathlib import Path

from enquete.memory.graph import connect
from enquete.memory.local import Delivery, LocalMemory, deliver
from enquete.memory.recall import MemoryRecord, PreferenceShare, episodes, search, standings
from enquete.nodes.run_list import survey
from enquete.state.errors import SettingsError
from enquete.state.request import DEFAULT_SYNC_PATIENCE_S, MOST_EPISODES, MemoryKind, RunRequest
from enquete.state.settings import Environment, resolve_machine
from enquete.study.simulations import interviews_of, nobody_interviewed

__all__ = ["Delivery", "MemoryRecord", "PreferenceShare", "memory_preferences", "search_memory", "sync_memory"]


def search_memory(
    sim_id: str | Path,
    query: str = "",
    *,
    agent: str = "",
    limit: int = 10,
    root: str | None = None,
    out: str | None = None,
) -> list[MemoryRecord]:
    """Episodes of a simulation's interviews that fit the words, best first; the newest without words.

    agent: only of whom this name or id is. Creates nothing and asks no graph: runs' own files are read. Raises
    RunNotFound where nobody was interviewed, MemoryFault where such a file is damaged.
    """
    interviews = interviews_of(str(sim_id), root, out)
    if not (interviews / "runs").is_dir():
        raise nobody_interviewed(sim_id, interviews)
    return search(episodes(interviews), query, agent=agent, limit=max(0, min(limit, MOST_EPISODES)))


def sync_memory(
    sim_id: str | Path,
    *,
    memory: MemoryKind | None = None,
    patience_s: float = DEFAULT_SYNC_PATIENCE_S,
    root: str | None = None,
    out: str | None = None,
) -> Delivery:
    """Send what the graph has not got of all runs' episodes, waiting for it as long as it asks and `patience_s` allows.

    memory: which graph; else that of the latest run that has one, else the environment's. Raises
    SettingsError where there is no graph, MemoryFault where it cannot be reached.
    """
    environment = Environment.read()
    interviews = interviews_of(str(sim_id), root, out)
    runs = survey(interviews).runs
    if not runs:
        raise nobody_interviewed(sim_id, interviews)
    kind = memory or next((run.record.memory for run in reversed(runs) if run.record.memory != "local"), None)
    kind = kind or environment.memory or "local"
    last = runs[-1]
    machine = resolve_machine(RunRequest(), environment)
    graph = connect(kind, last.record.simulation_of(last.folder), last.record.sim_id, machine)
    if graph is None:
        raise SettingsError(f"{sim_id}: no run has a graph; name one: memory=zep-cloud or zep")
    try:
        with LocalMemory.opened(interviews) as local:
            return deliver(local, graph, patience_s=patience_s)
    finally:
        graph.close()


def memory_preferences(sim_id: str | Path, *, root: str | None = None, out: str | None = None) -> list[PreferenceShare]:
    """Which configuration of a respondent was preferred how often over all runs, by question and stakeholder type."""
    with LocalMemory.opened(interviews_of(str(sim_id), root, out), read_only=True) as memory:
        return standings(memory.preferences())
