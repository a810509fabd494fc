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
from typing import Any, TypeVar, get_type_hints

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
from enquete.study.people_frames import Population, as_source
from enquete.study.progress import shown_progress
from enquete.study.run import Run
from enquete.study.runs import load_run
from enquete.study.simulations import list_runs
from enquete.study.start import RESUME_ARGUMENTS, Start, choose_start, drive, foresee, start_of_resume

F = TypeVar("F", bound=Callable[..., Any])


def with_arguments(arguments: type, fields: Iterable[str]) -> Callable[[F], F]:
    """Put a run's arguments in place of `**request`: in the signature, which completion reads, and in `help()`.

    Args:
        arguments: the TypedDict that type checkers read.
        fields: the names of the arguments, in the order in which they are shown.
    """
    kinds = get_type_hints(arguments)
    names = [name for name in fields if name in kinds]

    def with_parameters(function: F) -> F:
        signature = inspect.signature(function)
        kept = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default_of(name), annotation=kinds[name])
            for name in names
            if name not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=[*kept, *named])  # type: ignore[attr-defined]

        meanings = [f"    {name}: {_meaning_of(name)}" for name in names]
        told = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = "\n".join([told, "", "Arguments, all by name and none needed:", *meanings, ""])
        return function

    return with_parameters


def _default_of(name: str) -> Any:
    return False if name == "fresh" else RunRequest.model_fields[name].get_default(call_default_factory=True)


def _meaning_of(name: str) -> str:
    return FRESH if name == "fresh" else RunRequest.model_fields[name].description or ""


RUN_ARGUMENTS = tuple(name for name in RunRequest.model_fields if name != "sim")


@with_arguments(Arguments, RUN_ARGUMENTS)
def conduct_interviews(
    sim_id: Population, *, progress: Progress | bool | None = None, **request: Unpack[Arguments]
) -> Run:
    """Interview every agent of a population; the run to its end or its next stop.

    An unfinished run with the same settings is resumed, a finished one shown without a call.

    Args:
        sim_id: A sim_id below `root`, a simulation's folder, a personas file, or a DataFrame with a row a person
            (columns name and persona; any others are kept). People without a simulation need `out`.
        progress: A callback; True and False switch bars on and off. Unless said, they are shown in notebooks and
            terminals.

    Returns:
        The run: run.responses is a DataFrame with a row an answer, run.findings what was found, run.report the report.

    Raises:
        InputError: anything that the caller can put right, before the first call.

    Example:
        >>> import enquete
        >>> import pandas as pd
        >>> people = pd.DataFrame({
        ...     "name": ["Ada", "Ben", "Cleo"],
        ...     "persona": ["Bakes bread in a village.", "Sells bread in a city.", "Eats bread every day."],
        ... })
        >>> run = enquete.conduct_interviews(
        ...     people, out="results", methods="poll", respondent="synthetic", language="en", progress=False
        ... )
        >>> run.status
        'completed'
        >>> run.responses["agent_name"].nunique()
        3
    """
    return _sync(_choose(sim_id, request), progress)


@with_arguments(Arguments, RUN_ARGUMENTS)
async def aconduct_interviews(
    sim_id: Population, *, progress: Progress | bool | None = None, **request: Unpack[Arguments]
) -> Run:
    """`conduct_interviews` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(_choose(sim_id, request), progress)


def _choose(population: Population, request: Mapping[str, Any]) -> Start:
    return choose_start(parse_request(sim=as_source(population, request.get("out")), **request))


@with_arguments(AskedOn, RESUME_ARGUMENTS)
def resume(token_or_sim: str | Path, *, progress: Progress | bool | None = None, **request: Unpack[AskedOn]) -> Run:
    """Go on with an unfinished run, named by its resume token, its run_id, or its simulation (the latest unfinished
    one).

    Raises RunNotFound.
    """
    return _sync(start_of_resume(str(token_or_sim), dict(request)), progress)


@with_arguments(AskedOn, RESUME_ARGUMENTS)
async def aresume(
    token_or_sim: str | Path, *, progress: Progress | bool | None = None, **request: Unpack[AskedOn]
) -> Run:
    """`resume` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(start_of_resume(str(token_or_sim), dict(request)), progress)


@with_arguments(Arguments, RUN_ARGUMENTS)
def estimate(sim_id: Population, **request: Unpack[Arguments]) -> Estimate:
    """What `conduct_interviews` with these arguments would cost: calls, tokens, money and time, each as a range.

    Nothing is asked and nothing is written; the prompts are built for a sample of the agents and measured. `refusals`
    says why such a run would not begin. Raises InputError and its children for anything that is wrong with the
    arguments.
    """
    return wait(aestimate(sim_id, **request), lambda: None)


@with_arguments(Arguments, RUN_ARGUMENTS)
async def aestimate(sim_id: Population, **request: Unpack[Arguments]) -> Estimate:
    """`estimate` in the caller's event loop."""
    source = as_source(sim_id, request.get("out"))
    return (await foresee(parse_request(sim=source, **request))).estimate


def _sync(task: Start, progress: Progress | bool | None) -> Run:
    wait(task.require_server())
    with shown_progress(progress) as report:
        driver = task.driver(report)  # to import the graphs takes longer than a server to answer
        return wait(drive(task, driver), driver.pause)


async def _async(task: Start, progress: Progress | bool | None) -> Run:
    await task.require_server()
    with shown_progress(progress) as report:
        driver = task.driver(report)
        return await awaited(drive(task, driver), driver.pause)


# --- Questions as Python objects: a study without any file


@with_arguments(Arguments, RUN_ARGUMENTS)
def ask(
    sim_id: Population,
    *questions: PollQuestion,
    topic: str = "",
    instruction: Words | None = None,
    confidence: bool = False,
    progress: Progress | bool | None = None,
    **request: Unpack[Arguments],
) -> Run:
    """Ask every agent these questions once; the run, with the ledger, table and report of any other.

    Example:
        >>> import enquete
        >>> import pandas as pd
        >>> people = pd.DataFrame({"name": ["Ada", "Ben"], "persona": ["Bakes bread.", "Sells bread."]})
        >>> run = enquete.ask(
        ...     people, enquete.Likert("Bread is too dear."), enquete.Open("Why?"), out="results",
        ...     respondent="synthetic", language="en", progress=False,
        ... )
        >>> run.wide.shape[0]
        2

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
    return conduct_interviews(sim_id, progress=progress, **asked)


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


@with_arguments(Arguments, RUN_ARGUMENTS)
def on_ready(sim_id: str | Path, *, progress: Progress | bool | None = None, **request: Unpack[Arguments]) -> Run:
    """Take T0: call it when a simulation is ready and has not begun.

    Arguments as in `conduct_interviews`. A T0 that was taken already is shown, an unfinished one is gone on with.
    Raises AlreadyCompleted where the simulation has completed, since nothing can be measured before it then.
    """
    return conduct_interviews(sim_id, progress=progress, **before(sim_id, request))


@with_arguments(Arguments, RUN_ARGUMENTS)
def on_completed(sim_id: str | Path, *, progress: Progress | bool | None = None, **request: Unpack[Arguments]) -> Run:
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
