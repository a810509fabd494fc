"""The demo population on which a graph in LangGraph Studio runs when no simulation is named.

Each start lays out a population of its own, answered by the synthetic respondent, so that T0, the pause and T1 can be
watched every time.
"""

from __future__ import annotations

from pathlib import Path

from enquete.demo import demo_population
from enquete.ledger.folders import new_run_id
from enquete.state.request import RunRequest

DEMO = "demo"
FOLDER = "studio-demo"
MARKER = ".enquete-studio-demo"


def lay_out_demo(request: RunRequest, root: Path, *, completed: bool) -> RunRequest:
    """Write a new demo population under `root`/studio-demo and return the request about it.

    A model answers only where the request names one: a key in the environment must not make a demonstration cost money.

    Args:
        request: What was asked for, without a simulation.
        root: The folder that holds simulations.
        completed: Whether its simulation has completed; else it has just started, and a run takes T0 and pauses.
    """
    folder = root / FOLDER / new_run_id().removeprefix("run_")
    simulation = demo_population(folder, completed=completed, language=request.language or "de")
    (folder / MARKER).touch()
    names_respondent = request.respondent is not None or request.model is not None or request.arms is not None
    respondent = request.respondent if names_respondent else "synthetic"
    return request.model_copy(update={"sim": str(simulation.absolute()), "respondent": respondent})


def is_studio_demo(simulation: Path) -> bool:
    """Return whether a simulation was laid out by `lay_out_demo`; `enquete demo` and real ones are left alone."""
    return (simulation.parent.parent / MARKER).is_file()


def complete_demo(simulation: Path) -> None:
    """Let the demo's simulation run to its end."""
    demo_population(simulation.parent.parent, completed=True)
