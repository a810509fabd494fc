"""The graph of a run, if it has one: what must be there to reach it, and what is known from it, read once."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel, ValidationError

from enquete.ledger.folders import write_atomically
from enquete.memory.recall import TIMEOUT_S, Graph, MemoryFault
from enquete.simulations.agents import CONFIG, try_object
from enquete.simulations.digest import Knowledge
from enquete.simulations.sources import clean
from enquete.state.errors import SettingsError
from enquete.state.request import MemoryKind
from enquete.state.settings import Machine
from enquete.state.untrusted_input import read_regular

GRAPH = "graph.json"
LARGEST_FILE = 256_000_000
STATE = "state.json"


class GraphMemory(BaseModel):
    """What a run read from its graph, by participant id, or why nothing could be read. Kept in the run's folder."""

    graph: str
    agents: dict[str, Knowledge] = {}
    fault: str = ""


def require_reachable(kind: MemoryKind, machine: Machine) -> None:
    """Raises SettingsError naming what is missing on this machine."""
    if kind == "local":
        return
    if not machine.zep_api_key:
        raise SettingsError(f"memory {kind}: ZEP_API_KEY is not set")
    if kind == "zep" and not machine.zep_url:
        raise SettingsError("memory zep: name your Zep server in ZEP_API_URL, such as http://localhost:8000")
    if kind == "zep-cloud" and find_spec("zep_cloud") is None:
        raise SettingsError("memory zep-cloud: install the extra zep (pip install 'enquete[zep]')")


def connect(
    kind: MemoryKind, sim_path: Path, sim_id: str, machine: Machine, *, timeout_s: float = TIMEOUT_S
) -> Graph | None:
    """None where the embedded memory is all there is. What is read waits for its server as long as for a model's.

    Raises MemoryFault where the graph cannot be reached from here, or the simulation names none.
    """
    if kind == "local":
        return None
    try:
        require_reachable(kind, machine)
    except SettingsError as error:
        raise MemoryFault(str(error)) from error
    from enquete.memory.zep import Waiting, ZepCloudGraph, ZepSessions  # noqa: PLC0415 - slow to import

    key = machine.zep_api_key.get_secret_value() if machine.zep_api_key else ""
    waiting = Waiting(machine.patience_s)
    if kind == "zep":
        return ZepSessions(sim_id, key, machine.zep_url or "", timeout_s=timeout_s, waiting=waiting)
    graph_id = graph_of(sim_path)
    if not graph_id:
        raise MemoryFault(f"memory zep-cloud: neither {STATE} nor {CONFIG} of {sim_id} names a graph_id")
    return ZepCloudGraph(graph_id, key, machine.zep_url or "", timeout_s=timeout_s, waiting=waiting)


def graph_of(sim_path: Path) -> str:
    """The graph_id that the simulation filed; "" where there is none."""
    named = [clean(try_object(sim_path / file, []).get("graph_id")) for file in (STATE, CONFIG)]
    return next((graph_id for graph_id in named if graph_id), "")


def read_once(
    folder: Path, kind: MemoryKind, sim_path: Path, sim_id: str, machine: Machine, agents: list[str]
) -> GraphMemory | None:
    """What the graph knows of these agents: from the run's folder where it was read before, else read and kept there.

    Of all or of none: agents with and without facts could not be compared. Never raises for a graph; None without one.
    """
    if kind == "local":
        return None
    path = folder / GRAPH
    if path.exists():
        with suppress(OSError, ValidationError):  # what cannot be read is asked for again
            return GraphMemory.model_validate_json(read_regular(path, LARGEST_FILE))
    known = _read(kind, sim_path, sim_id, machine, agents)
    write_atomically(path, known.model_dump_json(indent=1))
    return known


def _read(kind: MemoryKind, sim_path: Path, sim_id: str, machine: Machine, agents: list[str]) -> GraphMemory:
    try:
        graph = connect(kind, sim_path, sim_id, machine)
    except MemoryFault as fault:
        return GraphMemory(graph=kind, fault=str(fault))
    assert graph is not None
    try:
        return GraphMemory(graph=graph.name, agents=graph.read(agents))
    except MemoryFault as fault:
        return GraphMemory(graph=graph.name, fault=str(fault))
    finally:
        graph.close()
