"""The parent graph's first node: the run's population. It begins a run where the façade has not, as in Studio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from pydantic import BaseModel

from enquete.nodes.ask import Channels
from enquete.runs.begin_run import begin
from enquete.runs.model_server import require_server_of
from enquete.runs.planning import load_methodology
from enquete.runs.result_folders import claim_folder
from enquete.runs.run_choice import choose_run
from enquete.runs.run_session import using
from enquete.runs.run_settings import recorded_settings, resolve_run_machine
from enquete.runs.studio_demo import DEMO, lay_out_demo
from enquete.state.channels import InterviewsState
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest, parse_request
from enquete.state.settings import Environment, Machine, resolve_root


async def load_population(state: InterviewsState, context: BaseModel | None, available: Mapping[str, str]) -> Channels:
    """Open the run, or begin the one that input and context ask for, and count its agents.

    Args:
        state: With `run`, the folder of a run that exists, or `sim`, what is to be interviewed.
        context: What else is asked for, as the graph's context schema has it.
        available: name → dotted path of the methodologies that this graph can run.
    """
    address, machine = state.get("run"), None
    if not address:
        request = request_of(context, available).model_copy(update={"sim": state.get("sim") or _sim_of(context)})
        address, machine = await _begin_run(request, available)
    async with using(address, machine) as session:
        return {"run": address, "agents": len(session.population), "awaiting": ""}


def request_of(context: BaseModel | None, available: Mapping[str, str]) -> RunRequest:
    """Return what a graph's context asks for. A graph of one methodology asks for that one, with its settings."""
    given = context.model_dump(exclude_unset=True) if context is not None else {}
    if len(available) == 1:
        (name,) = available
        given.setdefault("methods", [name])
        if "settings" in given and not isinstance(context, RunRequest):  # the form of one methodology asks for its own
            given["settings"] = {name: given["settings"]} if given["settings"] else {}
    return parse_request(**given)


def _sim_of(context: BaseModel | None) -> str:
    return str(getattr(context, "sim", ""))


async def _begin_run(request: RunRequest, available: Mapping[str, str]) -> tuple[str, Machine]:
    """Begin the run; without a simulation, one on a demo population of its own. Returns its folder."""
    require_blocking_allowed()
    environment = Environment.read()
    if request.sim in ("", DEMO):
        root = resolve_root(request, environment)
        completed = not _starts_before_simulation(request, available)
        request = await asyncio.to_thread(lay_out_demo, request, root, completed=completed)
    choice, population = await asyncio.to_thread(choose_run, request, environment, available)
    machine = resolve_run_machine(request, environment, recorded_settings(choice.folder))
    if choice.action == "new":
        await require_server_of(choice.record, machine)
        if request.out:
            claim_folder(request.out, choice.folder.parent.parent, population.path)
        await begin(choice, population, machine=machine)
    return str(choice.folder), machine


def _starts_before_simulation(request: RunRequest, available: Mapping[str, str]) -> bool:
    """Return whether anything is asked before the simulation has completed."""
    if request.phase == "T1":
        return False
    names = request.methods or available
    return any("T0" in load_methodology(available[name]).phases for name in names if name in available)


def require_blocking_allowed() -> None:
    """Check that nodes may access files: a run's ledger is an SQLite file that is written from the event loop.

    Raises:
        SettingsError: The server forbids it, as `langgraph dev` does by itself; names the flag.
    """
    if os.environ.get("LANGGRAPH_ALLOW_BLOCKING", "true").lower() == "false":
        raise SettingsError("the server forbids file access in nodes: start it with langgraph dev --allow-blocking")
