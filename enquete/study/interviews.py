"""Interviews begun, gone on with, or only estimated; by hand, with questions as objects, or as a simulation's life asks
for.

Sync functions work in scripts and inside a running event loop alike; `aconduct_interviews` and `aresume` run in the
caller's own loop. Every argument beats the environment, which beats `.env`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import Unpack

from enquete.instruments.polls import PollQuestion, QuestionsInstrument, Words, as_document
from enquete.methods.registry import dotted_paths, methodologies
from enquete.runs.estimate import Estimate
from enquete.runs.planning import of_two_waves
from enquete.runs.run_session import Progress
from enquete.simulations.locate import completion, is_simulation, locate
from enquete.state.errors import SettingsError
from enquete.state.request import FRESH, RunRequest, fields_about, parse_request
from enquete.state.settings import root_of
from enquete.study.arguments import Arguments, AskedOn
from enquete.study.background import awaited, wait
from enquete.study.run import Run
from enquete.study.runs import load_run
from enquete.study.simulations import list_runs
from enquete.study.start import RESUME_ARGUMENTS, Start, choose_start, drive, foresee, start_of_resume

F = TypeVar("F", bound=Callable[..., Any])


def with_arguments(fields: Iterable[str]) -> Callable[[F], F]:
    """Adds these arguments with their meaning, for `help()`."""

    def with_meanings(function: F) -> F:
        if function.__doc__:
            meanings = {
                name: FRESH if name == "fresh" else RunRequest.model_fields[name].description for name in fields
            }
            lines = "\n".join(f"    {name}: {meaning}" for name, meaning in meanings.items())
            head = f"{inspect.cleandoc(function.__doc__)}\n\nArguments, all by name and none needed:"
            function.__doc__ = f"{head}\n{lines}\n"
        return function

    return with_meanings


RUN_ARGUMENTS = tuple(name for name in RunRequest.model_fields if name != "sim")


@with_arguments(RUN_ARGUMENTS)
def conduct_interviews(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]) -> Run:
    """Interview every agent of a simulation; the run to its end or its next stop.

    An unfinished run with the same settings is resumed, a finished one shown without a call.

    Raises InputError and its children for anything that the caller can put right, before the first call.
    """
    return _sync(choose_start(parse_request(sim=str(sim_id), **request)), progress)


@with_arguments(RUN_ARGUMENTS)
async def aconduct_interviews(
    sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]
) -> Run:
    """`conduct_interviews` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(choose_start(parse_request(sim=str(sim_id), **request)), progress)


@with_arguments(RESUME_ARGUMENTS)
def resume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Unpack[AskedOn]) -> Run:
    """Go on with an unfinished run, named by its resume token, its run_id, or its simulation (the latest unfinished
    one).

    Raises RunNotFound.
    """
    return _sync(start_of_resume(str(token_or_sim), dict(request)), progress)


@with_arguments(RESUME_ARGUMENTS)
async def aresume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Unpack[AskedOn]) -> Run:
    """`resume` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(start_of_resume(str(token_or_sim), dict(request)), progress)


@with_arguments(RUN_ARGUMENTS)
def estimate(sim_id: str | Path, **request: Unpack[Arguments]) -> Estimate:
    """What `conduct_interviews` with these arguments would cost: calls, tokens, money and time, each as a range.

    Nothing is asked and nothing is written; the prompts are built for a sample of the agents and measured. Raises
    InputError and its children for anything that is wrong with the arguments.
    """
    return wait(aestimate(sim_id, **request), lambda: None)


@with_arguments(RUN_ARGUMENTS)
async def aestimate(sim_id: str | Path, **request: Unpack[Arguments]) -> Estimate:
    """`estimate` in the caller's event loop."""
    return (await foresee(parse_request(sim=str(sim_id), **request))).estimate


def _sync(task: Start, progress: Progress | None) -> Run:
    wait(task.require_server())
    driver = task.driver(progress)  # to import the graphs takes longer than a server to answer
    return wait(drive(task, driver), driver.pause)


async def _async(task: Start, progress: Progress | None) -> Run:
    await task.require_server()
    driver = task.driver(progress)
    return await awaited(drive(task, driver), driver.pause)


# --- Questions as Python objects: a study without any file


@with_arguments(RUN_ARGUMENTS)
def ask(
    sim_id: str | Path,
    *questions: PollQuestion,
    topic: str = "",
    instruction: Words | None = None,
    confidence: bool = False,
    **request: Unpack[Arguments],
) -> Run:
    """Ask every agent these questions once; the run, with the ledger, table and report of any other.

    Takes all that `conduct_interviews` takes but methods and instruments. `confidence`: also ask how sure agents are of
    each rating, which doubles its cost. Raises InstrumentError with every question
    that cannot be asked.
    """
    if not questions:
        raise SettingsError('ask: name at least one question, such as Likert("Quotas are fair.")')
    wrong = [type(question).__name__ for question in questions if not isinstance(question, PollQuestion)]
    if wrong:
        raise SettingsError(f"ask: {wrong[0]} is no question; write Likert(…), Choice(…), Number(…) or Open(…)")
    name = next(name for name, method in methodologies().items() if issubclass(method.instrument, QuestionsInstrument))
    document = as_document(questions, topic, instruction, confidence=confidence)
    asked: Arguments = {**request, "methods": [name], "instruments": {name: document}}
    return conduct_interviews(sim_id, **asked)


# --- What a simulation's own life asks for: T0 when it is ready, everything else when it has completed


DRIVING = frozenset({*fields_about("driving"), "confirm"})
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


@with_arguments(RUN_ARGUMENTS)
def on_ready(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]) -> Run:
    """Take T0: call it when a simulation is ready and has not begun.

    Arguments as in `conduct_interviews`. A T0 that was taken already is shown, an unfinished one is gone on with.
    Raises AlreadyCompleted where the simulation has completed, since nothing can be measured before it then.
    """
    return conduct_interviews(sim_id, progress=progress, **before(sim_id, request))


@with_arguments(RUN_ARGUMENTS)
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
    end = completion(path) if is_simulation(path) else None
    if end is not None and end.completed:
        raise AlreadyCompleted(
            f"simulation {path.name} has completed already ({end.reason}), so nothing can be measured before it; "
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
    if not is_simulation(path):
        return
    end = completion(path, assume)
    if not end.completed:
        raise NotCompleted(
            f"simulation {path.name} has not completed ({end.reason}): ask for this once it has, or with "
            "assume_completed where it was killed and still says running"
        )


def _located(sim_id: str | Path, request: Mapping[str, Any]) -> Path:
    return locate(str(sim_id), root_of(request.get("root")))


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
