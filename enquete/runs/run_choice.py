"""Deciding which run a request means.

One unfinished match is resumed. A finished match is shown without a call. An unfinished one that differs is refused
with the differences. Nothing is written before everything that can be wrong was checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

from enquete.instruments.primary import parse_primary
from enquete.ledger.drives import store_of
from enquete.ledger.folders import (
    StoredRun,
    run_folder,
)
from enquete.ledger.record import (
    RunRecord,
    differences,
)
from enquete.runs.choose_participants import choose_participants
from enquete.runs.draft_record import choose_methods, draft_record, questions_tested
from enquete.runs.fit import fitting_pack
from enquete.runs.planning import require_own_limits
from enquete.runs.population_changes import (
    differs_by_population,
    population_at_t1,
    population_change,
    with_population_change,
)
from enquete.runs.reruns import draft_replay, draft_rerun
from enquete.runs.run_list import interviews_folder, undamaged_runs
from enquete.simulations.locate import locate
from enquete.simulations.population import (
    Population,
    load_population,
)
from enquete.state.errors import RunMismatch, SettingsError
from enquete.state.request import RunRequest
from enquete.state.settings import (
    Environment,
    resolve_root,
)


@dataclass(frozen=True)
class RunChoice:
    """The run that a request means."""

    action: Literal["new", "resume", "finished"]
    folder: Path
    record: RunRecord
    store: str = ""  # of a new run: the address of the database that is to hold its ledger


def choose_run(
    request: RunRequest, environment: Environment, available: Mapping[str, str], *, only_estimated: bool = False
) -> tuple[RunChoice, Population]:
    """Decide which run a request means, without writing anything, and return it with the population it asks.

    Args:
        request: What is asked for.
        environment: Settings of this machine.
        available: name → dotted path of each methodology, in default order.
        only_estimated: Nobody will be asked, so neither keys nor servers have to be there.

    Raises:
        SettingsError, InputError: Something in the request is wrong.
        RunMismatch: An unfinished run differs from what is asked for.
    """
    path = locate(request.sim, resolve_root(request, environment))
    read = load_population(path, assume_completed=request.assume_completed, skip_non_people=request.skip_non_people)
    population = choose_participants(read, request)
    population = population.joined_by(request.guests)
    interviews = interviews_folder(population, request.out)
    request = _with_fitting_pack(request, environment, population, available)
    known = _known(request, population, interviews)
    unfinished = [run for run in known if not run.is_finished]
    if request.replay_of and request.respondent != "replay":
        raise SettingsError(f"replay_of {request.replay_of!r} is named, but the respondent is not replay")
    if request.respondent == "replay":
        draft = draft_replay(request, interviews)
    elif request.rerun:
        draft = draft_rerun(request, environment, population, available, interviews, only_estimated=only_estimated)
    else:
        methods = choose_methods(request, available, unfinished)
        draft = draft_record(request, environment, population, methods, interviews, only_estimated=only_estimated)
    require_own_limits(draft, request.limits or {})
    return _choice(request, draft, population, known, interviews), population


def _with_fitting_pack(
    request: RunRequest, environment: Environment, population: Population, available: Mapping[str, str]
) -> RunRequest:
    """Return the request with the pack on the population's topic, where it names neither questions nor a pack."""
    names_questions = request.pack or request.own_instruments or request.respondent == "replay" or request.rerun
    if names_questions or (request.fit or environment.fit) == "any":
        return request
    pack = fitting_pack(population, available)
    return request.model_copy(update={"pack": pack}) if pack else request


def choose_again(choice: RunChoice, request: RunRequest, population: Population) -> RunChoice:
    """Decide once more what a request for a new run means: somebody may have begun that run since.

    Raises:
        RunMismatch: An unfinished run differs from what is asked for.
    """
    interviews = choice.folder.parent.parent
    return _choice(request, choice.record, population, _known(request, population, interviews), interviews)


def _known(request: RunRequest, population: Population, interviews: Path) -> list[StoredRun]:
    """Return the runs that may be meant."""
    return [] if request.new else [_of(population, run) for run in undamaged_runs(interviews)]


def _choice(
    request: RunRequest, draft: RunRecord, population: Population, known: Sequence[StoredRun], interviews: Path
) -> RunChoice:
    unfinished = [run for run in known if not run.is_finished]
    for run in unfinished:
        if is_run_meant(run, draft):
            require_primary(request, run.record)
            require_store(request, run.folder)
            return RunChoice("resume", run.folder, run.record)
    for run in reversed(known):
        if is_run_meant(run, draft) and not request.rerun:
            require_primary(request, run.record)
            return RunChoice("finished", run.folder, run.record)
    begun = [run for run in unfinished if not (run.record.replay_of or run.record.rerun_of)]
    if begun and not (draft.replay_of or draft.rerun_of):
        refuse_mismatch(begun[-1], draft, population)
    store = request.store or Environment.read().store or ""
    told = with_population_change(draft, known, population)
    return RunChoice("new", run_folder(interviews, draft.run_id), told, store)


def _of(population: Population, run: StoredRun) -> StoredRun:
    """Return a run as one of the simulation it lies in, whatever its folder is called, if its agents are the same."""
    inside = run.record.kind == "simulation" and run.record.simulation_of(run.folder) == population.path.absolute()
    if not inside or run.record.population_hash != population.hash:
        return run
    return replace(run, record=run.record.model_copy(update={"sim_id": population.sim_id}))


def is_run_meant(run: StoredRun, draft: RunRecord) -> bool:
    """Return whether a request means this run: the same study of the same population.

    The agents of a simulation may change between T0 and T1, which are joined then: an unfinished run goes on with
    them, and a finished one is that of the agents that it met at T1 as well.
    """
    if run.record.fingerprint == draft.fingerprint:
        return True
    if run.record.kind != "simulation" or not differs_by_population(run.record, draft):
        return False
    return not run.is_finished or population_at_t1(run) == draft.population_hash


def refuse_mismatch(run: StoredRun, draft: RunRecord, population: Population) -> NoReturn:
    of_these = run.record.model_copy(update={"population_hash": draft.population_hash})
    lines = [f"run {run.folder.name} is unfinished and differs from what you ask for:", *differences(of_these, draft)]
    if run.record.population_hash != draft.population_hash:
        lines.append(f"population ({population.path.name}): {population_change(run.folder, population)}")
    fact = "\n  ".join(lines)
    raise RunMismatch(
        f"{fact}\nGo on with it: enquete.resume('{run.record.token}')\nStart another beside it: new=True", fact=fact
    )


def require_store(request: RunRequest, folder: Path) -> None:
    """Raise SettingsError where a run's ledger is elsewhere than in the store that is named."""
    if request.store and request.store != store_of(folder):
        there = store_of(folder) or "a file in its folder"
        raise SettingsError(
            f"store: the ledger of run {folder.name} is {there}, and it goes on there; leave store out to go on with "
            "it, or start another beside it: new=True"
        )


def require_primary(request: RunRequest, record: RunRecord) -> None:
    """Raise SettingsError where other questions are called primary than when the run was begun: whoever has seen
    answers cannot choose any more."""
    if not request.primary:
        return
    named = parse_primary(request.primary, questions_tested(record.methods))
    if named != record.primary:
        pinned = ", ".join(
            f"{name}.{one}={part:g}" for name, own in record.primary.items() for one, part in own.items()
        )
        raise SettingsError(
            f"primary: run {record.run_id} was begun with {pinned or 'the usual primary questions'}, and primary "
            "questions are fixed before the first answer; leave primary out, or start another run beside it: new=True"
        )
