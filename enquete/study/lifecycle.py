"""What a simulation's own life asks for: T0 when it is ready, everything else when it has completed.

`on_ready` and `on_completed` are for whoever runs the simulation and can call Python; `before` and `after` say which
request of the façade each means, for servers that drive it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import Unpack

from enquete.graphs.registry import dotted_paths
from enquete.nodes.planning import of_two_waves
from enquete.nodes.run_session import Progress
from enquete.simulations.locate import completion, locate
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest, offered
from enquete.state.settings import Environment, resolve_root
from enquete.study.arguments import Arguments
from enquete.study.describing import OF_A_RUN, listing
from enquete.study.interviewing import conduct_interviews, resume
from enquete.study.run import Run
from enquete.study.run_store import load_run
from enquete.study.simulation_list import list_runs

DRIVING = frozenset({*offered("driving"), "confirm"})
"""What a request may say about how a run is driven; everything else is about the study itself."""


class NotCompleted(SettingsError):
    """What is to be asked after the simulation was asked for before it had completed."""


class AlreadyCompleted(SettingsError):
    """T0 was asked for when nothing could be measured before the simulation any more."""


@dataclass(frozen=True)
class Wanted:
    """A request of the façade: go on with `token`, or conduct interviews where there is none."""

    request: dict[str, Any]
    token: str | None = None


@listing(OF_A_RUN)
def on_ready(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]) -> Run:
    """Take T0: call it when a simulation is ready and has not begun.

    Arguments as in `conduct_interviews`. A T0 that was taken already is shown, an unfinished one is gone on with. Raises
    AlreadyCompleted where the simulation has completed, since nothing can be measured before it then.
    """
    return conduct_interviews(sim_id, progress=progress, **before(sim_id, request))


@listing(OF_A_RUN)
def on_completed(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]) -> Run:
    """Ask everything that is asked after the simulation: call it when a simulation has completed.

    Goes on with the run that waits for the simulation; without one it uses the latest T0, and without a T0 a
    reconstructed one. Raises NotCompleted.
    """
    wanted = after(sim_id, request)
    if wanted.token is None:
        return conduct_interviews(sim_id, progress=progress, **wanted.request)
    return resume(wanted.token, progress=progress, sim=str(sim_id), **wanted.request)


def before(sim_id: str | Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """The request that takes T0 and nothing else. Raises AlreadyCompleted naming what says so."""
    path = _located(sim_id, request)
    found = completion(path) if path.is_dir() else None
    if found is not None and found.completed:
        raise AlreadyCompleted(
            f"simulation {path.name} has completed already ({found.reason}), so nothing can be measured before it; "
            "ask for what comes after it, which reconstructs a T0 where none was taken"
        )
    return {**request, "methods": [of_two_waves(dotted_paths())], "phase": "T0"}


def after(sim_id: str | Path, request: Mapping[str, Any]) -> Wanted:
    """The request that asks what is left once the simulation has completed. Raises NotCompleted."""
    root, out = request.get("root"), request.get("out")
    require_completed(_located(sim_id, request), assume=bool(request.get("assume_completed")))
    runs = list_runs(sim_id, root=root, out=out)
    waiting = [run for run in runs if run.status == "awaiting_simulation"]
    if waiting and request.keys() <= DRIVING:
        return Wanted({name: value for name, value in request.items() if name != "confirm"}, waiting[-1].resume_token)
    return Wanted({**as_at_t0(sim_id, root, out), **request})


def require_completed(path: Path, *, assume: bool) -> None:
    """Raises NotCompleted naming what says so."""
    if not path.is_dir():
        return
    found = completion(path, assume)
    if not found.completed:
        raise NotCompleted(
            f"simulation {path.name} has not completed ({found.reason}): ask for this once it has, or with "
            "assume_completed where it was killed and still says running"
        )


def _located(sim_id: str | Path, request: Mapping[str, Any]) -> Path:
    return locate(str(sim_id), resolve_root(RunRequest(root=request.get("root")), Environment.read()))


def as_at_t0(sim_id: str | Path, root: str | None, out: str | None = None) -> dict[str, Any]:
    """Language, respondent and model of the latest T0 taken on its own: with others drift could not be told."""
    runs = list_runs(sim_id, root=root, out=out)
    alone = [run.run_id for run in runs if run.status == "completed" and run.methods == (of_two_waves(dotted_paths()),)]
    for run_id in reversed(alone):
        record = load_run(sim_id, run_id, root=root, out=out).record
        if record.phases == ["T0"]:
            main = record.main
            model = {"model": main.model, "temperature": main.temperature} if main.respondent == "llm" else {}
            return {"language": record.language, "respondent": main.respondent, "seed": record.seed, **model}
    return {}
