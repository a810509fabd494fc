"""Which run a request means, and how a new one begins: population read, instruments frozen, ledger made.

One unfinished match: resume it. A finished match: show it, no calls. An unfinished one that differs: refuse with the
differences. Nothing is written before everything that can be wrong was checked.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn

from pydantic import JsonValue

from enquete.checkpoints.canonical import latest
from enquete.checkpoints.carrying import carry
from enquete.checkpoints.folders import (
    LEDGER,
    RECORD,
    StoredRun,
    find_run,
    make_run_folder,
    new_run_id,
    read_run,
    run_folder,
    write_atomically,
)
from enquete.checkpoints.ledger import Ledger, now
from enquete.checkpoints.record import PERSONA_COLUMNS, Chosen, RunRecord, UsedInstrument, differences
from enquete.instruments.pack import pack_named
from enquete.memory.connecting import require_reachable
from enquete.models.weights import weights_of
from enquete.nodes.arms import critic_settings, study_arms
from enquete.nodes.baselines import baseline_personas, choose_baseline, unused_baseline
from enquete.nodes.batching import in_batches, require_as_begun
from enquete.nodes.fitting import fit_of
from enquete.nodes.freezing import drafts_named, freeze_instruments, method_settings
from enquete.nodes.planning import load_methodology, require_own_limits
from enquete.nodes.provenance import as_file, revision, versions
from enquete.nodes.replaying import copy_memories
from enquete.nodes.reruns import (
    ARM_FIELDS,
    as_before,
    base_run,
    kept_instruments,
    require_same,
    rerun_record,
    settings_of,
)
from enquete.nodes.run_session import server_url
from enquete.nodes.survey import interviews_folder, undamaged_runs
from enquete.respondents.planted import uniform
from enquete.respondents.presenting import sampled
from enquete.simulations.among import among
from enquete.simulations.join import population_hash
from enquete.simulations.locate import locate
from enquete.simulations.population import Population, load_population
from enquete.state.asking import Arm, Language, Participant
from enquete.state.boxed_weights import LOCAL_URL, Weights, is_local
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError, Unfit
from enquete.state.request import CriticSettings, MemoryKind, RunRequest, fields_about
from enquete.state.settings import Environment, resolve_arms, resolve_machine, resolve_root

# --- Who is asked of a population, and who is not: what a request says of it, carried out ----------------------------

SAID = ("agents", "types", "where", "sample", "stratify", "skip_incomplete")
"""Fields of a request that choose."""
MOST_NAMES = 500
"""Of those who are not asked, in a run's record."""


def chosen(population: Population, request: RunRequest) -> Population:
    """Those whom the request leaves; a sample of them is drawn by its seed, stratified by type where that is said.

    Raises SettingsError.
    """
    if request.stratify and not request.sample:
        raise SettingsError("stratify: says how a sample is drawn; name its size too, such as sample=20 stratify=True")
    kept = among(population, request.agents, request.types, request.where, complete=request.skip_incomplete)
    people, size = kept.participants, request.sample
    if size is None or size >= len(people):
        return kept
    if request.stratify:
        return kept.only({who.id for who in sampled(people, size, request.seed)})
    return kept.only(
        {who.id for who in nsmallest(size, people, key=lambda who: uniform(request.seed, "sample", who.id))}
    )


def told(population: Population, request: RunRequest) -> Chosen | None:
    """What is written down of it; None where everybody is asked."""
    others = population.left_out
    if not others:
        return None
    by = {name: value for name in SAID if (value := getattr(request, name))}
    types = dict(Counter(who.stakeholder_type for who in others).most_common())
    of = len(population.participants) + len(others)
    return Chosen(of=of, by=by, not_asked=types, names=[who.name for who in others[:MOST_NAMES]])


# --- A run whose answers come from a local model: which file, settled before anything is asked -----------------------


def boxed(
    request: RunRequest, arms: list[Arm], critic: CriticSettings | None
) -> tuple[list[Arm], CriticSettings | None, Weights | None]:
    """Arms and critic with the local model by the name that its file has; as they are where none is local.

    Raises SettingsError where a package or file is missing, and where a run would need a local and another server at once.
    """
    asked = {arm.model for arm in arms if arm.respondent == "llm"} | (
        {critic.model} if critic and critic.model else set()
    )
    local = next(filter(is_local, sorted(asked)), None)
    if local is None:
        return arms, critic, None
    if len(asked) > 1:
        others = ", ".join(sorted(asked - {local}))
        raise SettingsError(f"model {local!r} answers a run alone: leave {others} out, or {local!r}")
    if request.base_url:
        raise SettingsError(f"model {local!r} has a server of its own: leave base_url out")
    weights = weights_of(local)
    return (
        _named(arms, weights),
        critic.model_copy(update={"model": weights.name}) if critic and critic.model else critic,
        weights,
    )


def _named(arms: Sequence[Arm], weights: Weights) -> list[Arm]:
    return [arm.model_copy(update={"model": weights.name}) if arm.respondent == "llm" else arm for arm in arms]


@dataclass(frozen=True)
class Choice:
    """The run that a request means."""

    action: Literal["new", "resume", "finished"]
    folder: Path
    record: RunRecord


def choose_run(
    request: RunRequest, environment: Environment, available: Mapping[str, str]
) -> tuple[Choice, Population]:
    """Decide without writing anything. `available`: name → dotted path of each methodology, in default order."""
    path = locate(request.sim, resolve_root(request, environment))
    population = chosen(load_population(path, assume_completed=request.assume_completed), request)
    interviews = interviews_folder(population, request.out)
    known = _known(request, population, interviews)
    unfinished = [run for run in known if not run.is_finished]
    if request.replay_of and request.respondent != "replay":
        raise SettingsError(f"replay_of {request.replay_of!r} is named, but the respondent is not replay")
    if request.respondent == "replay":
        draft = draft_replay(request, interviews)
    elif request.rerun:
        draft = draft_rerun(request, environment, population, available, interviews)
    else:
        methods = choose_methods(request, available, unfinished)
        draft = draft_record(request, environment, population, methods, interviews)
    require_own_limits(draft, request.limits or {})
    return _choice(request, draft, population, known, interviews), population


def chosen_again(choice: Choice, request: RunRequest, population: Population) -> Choice:
    """What a request for a new run means by now: somebody may have begun that run since. Raises RunMismatch."""
    interviews = choice.folder.parent.parent
    return _choice(request, choice.record, population, _known(request, population, interviews), interviews)


def _known(request: RunRequest, population: Population, interviews: Path) -> list[StoredRun]:
    """The runs that may be meant."""
    return [] if request.new else [_of(population, run) for run in undamaged_runs(interviews)]


def _choice(
    request: RunRequest, draft: RunRecord, population: Population, known: Sequence[StoredRun], interviews: Path
) -> Choice:
    unfinished = [run for run in known if not run.is_finished]
    for run in unfinished:
        if run.record.fingerprint == draft.fingerprint:
            require_as_begun(request, run.record)
            return Choice("resume", run.folder, run.record)
    for run in reversed(known):
        if run.record.fingerprint == draft.fingerprint and not request.rerun:
            return Choice("finished", run.folder, run.record)
    own = [run for run in unfinished if not (run.record.replay_of or run.record.rerun_of)]
    if own and not (draft.replay_of or draft.rerun_of):
        refuse_mismatch(own[-1], draft)
    return Choice("new", run_folder(interviews, draft.run_id), draft)


def _of(population: Population, run: StoredRun) -> StoredRun:
    """A run as that of the simulation it lies in: the folder may have another name since, as long as its agents are the same."""
    inside = run.record.kind == "simulation" and run.record.simulation_of(run.folder) == population.path.absolute()
    if not inside or run.record.population_hash != population_hash(population.participants):
        return run
    return replace(run, record=run.record.model_copy(update={"sim_id": population.sim_id}))


def refuse_mismatch(run: StoredRun, draft: RunRecord) -> NoReturn:
    lines = [f"run {run.folder.name} is unfinished and differs from what you ask for:", *differences(run.record, draft)]
    fact = "\n  ".join(lines)
    raise RunMismatch(
        f"{fact}\nGo on with it: enquete.resume('{run.record.token}')\nStart another beside it: new=True", fact=fact
    )


def draft_replay(request: RunRequest, interviews: Path) -> RunRecord:
    """The record of a replay. Raises RunNotFound, RunMismatch (the run is not finished)."""
    said = sorted(request.model_fields_set & {*fields_about("study")})
    if said:
        raise SettingsError(
            f"respondent replay: {', '.join(said)} cannot be chosen, the run that is replayed says it all"
        )
    run_id = request.replay_of or latest(interviews).get("synthesis")
    if not run_id:
        raise RunNotFound(f"respondent replay: no finished run in {interviews} that could be replayed")
    source = read_run(find_run(interviews, run_id))
    if not source.is_finished:
        raise RunMismatch(
            f"respondent replay: run {source.folder.name} is not finished, so there is nothing whole to replay"
        )
    return source.record.model_copy(
        update={"run_id": new_run_id(), "created_at": now(), "replay_of": source.folder.name, "batch": False}
    )


def draft_rerun(
    request: RunRequest,
    environment: Environment,
    population: Population,
    available: Mapping[str, str],
    interviews: Path,
) -> RunRecord:
    """The record of a re-run of the named methodologies. Everything that is not said stays as it was."""
    if not request.methods:
        raise SettingsError("rerun: name what is to be asked anew, such as methods=delphi rerun=True")
    base = base_run(interviews)
    methods = choose_methods(request, available, ())
    same = {
        "language": base.language,
        "asking": base.asking,
        "seed": base.seed,
        "digest_chars": base.digest_chars,
        "memory": base.memory,
    }
    unsaid = {name: value for name, value in same.items() if name not in request.model_fields_set}
    settings = settings_of(base, list(methods), request.settings)
    arms = request.model_fields_set & {"model", "respondent", "arms", "temperature", *ARM_FIELDS}
    asked = request.model_copy(
        update={**unsaid, "settings": settings, **({} if arms else as_before(base)), "root": request.root}
    )
    own = LOCAL_URL if base.weights else base.base_url
    machine = environment.model_copy(update={"base_url": environment.base_url or own or None})
    kept = kept_instruments(base, methods, request)
    draft = draft_record(asked, machine, population, methods, interviews, kept)
    require_same(base, draft, request)
    return rerun_record(base, draft, list(methods))


def choose_methods(
    request: RunRequest, available: Mapping[str, str], unfinished: Sequence[StoredRun]
) -> dict[str, str]:
    """Methods not named are those of the instruments of one's own, else of the unfinished run, else what the pack asks."""
    names = request.methods
    if names is None and unfinished and not request.own_instruments:
        return unfinished[-1].record.methods
    if names is None:
        names = unnamed_methods(request, available)
    unknown = [name for name in names if name not in available]
    if unknown or not names:
        raise SettingsError(f"methods: {', '.join(unknown) or 'none'} unknown; there are {', '.join(available)}")
    if len(set(names)) < len(names):
        raise SettingsError(f"methods: {', '.join(names)} names one twice")
    return {name: available[name] for name in names}


def unnamed_methods(request: RunRequest, available: Mapping[str, str]) -> list[str]:
    """Own instruments alone: a study of one topic must not be filled up with shipped questions on another.

    Else the registry's defaults, as far as the pack has them; all of a pack that has none of them.
    """
    own, pack = request.own_instruments, pack_named(request.pack)
    if own and request.pack:
        raise SettingsError(
            f"the pack {pack.name} and instruments of your own ({', '.join(own)}) may be about different things: "
            f"say what this run asks: methods={list(own)}"
        )
    if own:
        return list(own)
    shipped = [name for name in available if name in pack.instruments]
    return [name for name in shipped if load_methodology(available[name]).default] or shipped


def draft_record(
    request: RunRequest,
    environment: Environment,
    population: Population,
    methods: dict[str, str],
    interviews: Path,
    kept: Mapping[str, UsedInstrument] = MappingProxyType({}),
) -> RunRecord:
    """The record that a new run would have. `kept`: instruments of an earlier run, asked again as they were frozen.

    Raises before anything is written if instruments or settings are wrong.
    """
    said = request.language or environment.language
    language: Language = said or "de"
    used, notices = freeze_instruments(request, methods, language, kept)
    phases = choose_phases(request, population)
    require_questions(methods, phases)
    arms = resolve_arms(request, environment)
    settings = method_settings(request, methods, language, used)
    arms = study_arms(request, arms, methods, phases, has_simulation=population.has_simulation, settings=settings)
    arms, critic, weights = boxed(request, arms, critic_settings(request, arms))
    if weights is None:
        server_url(arms, resolve_machine(request, environment))
    main = next(arm for arm in arms if arm.role == "main")
    baseline, baseline_run = choose_baseline(request, population, methods, phases, used, interviews, main)
    return RunRecord(
        run_id=new_run_id(),
        sim_id=population.sim_id,
        sim_path=_sim_path(population, interviews),
        kind=population.kind,
        topic=population.topic or instrument_topic(used, language),
        methods=methods,
        phases=phases,
        arms=arms,
        language=language,
        asking=request.asking,
        seed=request.seed,
        settings=settings,
        instruments=used,
        digest_chars=request.digest_chars,
        memoryless_weight=request.memoryless_weight,
        by=population.require_column(request.by),
        memory=choose_memory(request, environment),
        baseline=baseline,
        baseline_run_id=baseline_run,
        baseline_asked=request.baseline,
        actions_at_start=population.actions,
        assume_completed=request.assume_completed,
        population_hash=population_hash(population.participants),
        agents=[who.id for who in population.participants] if population.left_out else [],
        chosen=told(population, request),
        fit=fit_of(population, _topical(request, used), methods, language, said=bool(said)),
        notices=[
            *drafts_named(request, language),
            *notices,
            *unused_baseline(request, interviews, methods, main, baseline),
            *(f"{issue.file}: {issue.message}" for issue in population.issues if issue.severity != "info"),
        ],
        versions=dict(versions()),
        revision=revision(),
        base_url="" if weights else request.base_url or environment.base_url or "",
        created_at=now(),
        weights=weights,
        critic=critic,
        batch=in_batches(request, arms, local=weights is not None),
    )


def choose_memory(request: RunRequest, environment: Environment) -> MemoryKind:
    """Raises SettingsError where the graph that was asked for cannot be reached from here, before anything is asked."""
    kind = request.memory or environment.memory or "local"
    require_reachable(kind, resolve_machine(request, environment))
    return kind


def _topical(request: RunRequest, used: Mapping[str, UsedInstrument]) -> dict[str, UsedInstrument]:
    """Instruments that are about something: one's own and a pack's. What a methodology ships beside itself suits any topic, and
    settings may name what an interview is about."""
    shipped = pack_named(request.pack).instruments
    return {
        name: one
        for name, one in used.items()
        if (name in request.own_instruments or name in shipped) and name not in request.settings
    }


def instrument_topic(used: Mapping[str, UsedInstrument], language: Language) -> str:
    """What a personas file is asked about: the first instrument's topic."""
    for instrument in used.values():
        topic = instrument.content.get("topic")
        if isinstance(topic, dict):
            return str(topic.get(language) or next(iter(topic.values()), ""))
    return ""


def _sim_path(population: Population, interviews: Path) -> str:
    path = population.path.absolute()
    inside = population.has_simulation and interviews.parent == path
    return os.path.relpath(path, run_folder(interviews, "run")) if inside else str(path)


def choose_phases(request: RunRequest, population: Population) -> list[str]:
    if population.has_simulation:
        return [request.phase] if request.phase else ["T0", "T1"]
    if request.phase == "T0":
        raise SettingsError("phase: T0: a personas file has no simulation, so there is one wave only (T1)")
    return ["T1"]


def require_questions(methods: Mapping[str, str], phases: list[str]) -> None:
    """Raises SettingsError where the phases asked for leave nothing to ask, instead of an empty run that completes."""
    if not any(set(phases) & set(load_methodology(dotted).phases) for dotted in methods.values()):
        fact = f"phase {phases[0]}: none of {', '.join(methods)} asks anything in that phase"
        raise SettingsError(fact.replace("phase ", "phase: ", 1), fact=fact)


async def begin(
    choice: Choice,
    population: Population,
    estimate: JsonValue = None,
    settle: Callable[[Ledger], Awaitable[RunRecord]] | None = None,
) -> None:
    """Write a new run: ledger first, then the readable record. A run without its record was never started.

    settle: what is still to be asked, with the run's ledger, and the record after it; where it raises, nothing is left
    of the run."""
    make_run_folder(choice.folder)
    ledger = Ledger(choice.folder / LEDGER, choice.record.run_id, create=True)
    try:
        await _write(choice, population, ledger, estimate, settle)
    except Unfit:
        await ledger.close()
        shutil.rmtree(choice.folder)
        raise
    except BaseException:
        await ledger.close()
        raise
    await ledger.close()


async def _write(
    choice: Choice,
    population: Population,
    ledger: Ledger,
    estimate: JsonValue,
    settle: Callable[[Ledger], Awaitable[RunRecord]] | None,
) -> None:
    record, runs = choice.record if settle is None else await settle(ledger), choice.folder.parent
    asked = run_population(choice, population)
    await ledger.store_population(asked)
    if population.columns:
        columns: dict[str, JsonValue] = {
            who.id: dict(population.columns[who.id]) for who in asked if who.id in population.columns
        }
        await ledger.freeze("", "", "", PERSONA_COLUMNS, columns)
    if record.replay_of:
        await copy_memories(runs / record.replay_of, ledger)
    if record.carried:
        await carry(runs / record.rerun_of / LEDGER, ledger, record.carried)
        await copy_memories(runs / record.rerun_of, ledger)
    if estimate is not None:
        await ledger.freeze("", "", "", "estimate", estimate)
    await ledger.freeze("", "", "", "record", record.model_dump(mode="json"))
    await ledger.set_stage("", "", "started")
    write_atomically(choice.folder / RECORD, as_file(record, ledger))


def run_population(choice: Choice, population: Population) -> Sequence[Participant]:
    """Whom a new run asks: the simulation's agents, with T0's personas where T0 was taken earlier; a replay's or a
    re-run's are those of the run it goes back to."""
    record, runs = choice.record, choice.folder.parent
    if record.replay_of or record.carried:
        source = Ledger.reading(
            runs / (record.replay_of or record.rerun_of) / LEDGER, record.replay_of or record.rerun_of
        )
        try:
            return source.population()
        finally:
            source.close_reading()
    if record.baseline == "earlier":
        return baseline_personas(runs / record.baseline_run_id, population)
    return population.participants
