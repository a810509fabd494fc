"""A graph started in LangGraph Studio without naming a simulation: the demo's population, answered by the synthetic
respondent. Each start lays out a population of its own, so that T0, the pause and T1 can be watched every time.
"""

from __future__ import annotations

import os
from pathlib import Path

from enquete.checkpoints.folders import new_run_id
from enquete.demo import demo_population
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest

DEMO = "demo"
FOLDER = "studio-demo"
MARKER = ".enquete-studio-demo"


def require_blocking_allowed() -> None:
    """A run's ledger is an SQLite file that is written from the event loop, which `langgraph dev` forbids by itself.

    Raises SettingsError naming the flag, in place of a BlockingError out of some library.
    """
    if os.environ.get("LANGGRAPH_ALLOW_BLOCKING", "true").lower() == "false":
        raise SettingsError("the server forbids file access in nodes: start it with langgraph dev --allow-blocking")


def as_demo(request: RunRequest, root: Path, *, completed: bool) -> RunRequest:
    """The request, about a new demo population under `root`/studio-demo.

    completed=False: its simulation has just started, so a run takes T0 and pauses. A model answers only where the
    request names one: a key in the environment must not make a demonstration cost money.
    """
    folder = root / FOLDER / new_run_id().removeprefix("run_")
    path = demo_population(folder, completed=completed)
    (folder / MARKER).touch()
    is_open = request.respondent is None and request.model is None and request.arms is None
    return request.model_copy(
        update={"sim": str(path.absolute()), "respondent": "synthetic" if is_open else request.respondent}
    )


def is_demo(sim_path: Path) -> bool:
    """Whether this simulation was laid out by `as_demo`: `enquete demo` and real ones are left to themselves."""
    return (sim_path.parent.parent / MARKER).is_file()


def play_demo(sim_path: Path) -> None:
    """Let the simulation of such a demo run to its end."""
    demo_population(sim_path.parent.parent, completed=True)
