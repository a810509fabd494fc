"""Drafting the record of a new run: methodologies, phases, instruments, arms and settings, checked before it begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from enquete.instruments.pack import pack_named
from enquete.instruments.primary import parse_primary
from enquete.instruments.text import LANGUAGES
from enquete.ledger.folders import (
    StoredRun,
    new_run_id,
    run_folder,
)
from enquete.ledger.ledger import now
from enquete.ledger.record import (
    RunRecord,
    UsedInstrument,
)
from enquete.memory.graph import require_reachable
from enquete.models.faults import shown_url
from enquete.runs.arms import critic_settings, study_arms
from enquete.runs.choose_participants import describe_choice
from enquete.runs.fit import fit_of, spoken_by
from enquete.runs.instrument_pins import drafts_named, method_settings, pin_instruments, revision, versions
from enquete.runs.local_weights import resolve_local_model
from enquete.runs.model_server import require_served, server_url
from enquete.runs.own_files import move_setting_files
from enquete.runs.planning import load_methodology, served_by
from enquete.runs.waves import choose_baseline, unused_baseline
from enquete.simulations.population import (
    Population,
)
from enquete.state.asking import FEW, Arm, Language, Participant, Spoken
from enquete.state.errors import SettingsError
from enquete.state.model_names import has_own_service
from enquete.state.request import MemoryKind, RunRequest
from enquete.state.settings import (
    Environment,
    resolve_arms,
    resolve_machine,
)


def choose_methods(
    request: RunRequest, available: Mapping[str, str], unfinished: Sequence[StoredRun]
) -> dict[str, str]:
    """Return name → dotted path of the methodologies that are asked.

    Where none is named they are those of one's own instruments, else of the unfinished run, else what the pack asks.

    Raises:
        SettingsError: A name is unknown or given twice.
    """
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
    """Return the methodologies of a request that names none.

    With instruments of one's own these alone are asked: a study of one topic must not be filled up with shipped
    questions on another. Else the registry's defaults, as far as the pack has them; all of a pack that has none.
    """
    files, pack = request.own_instruments, pack_named(request.pack)
    if files and request.pack:
        raise SettingsError(
            f"the pack {pack.name} and instruments of your own ({', '.join(files)}) may be about different things: "
            f"say what this run asks: methods={list(files)}"
        )
    if files:
        return list(files)
    shipped = [name for name in available if name in pack.instruments]
    return [name for name in shipped if load_methodology(available[name]).default] or shipped


def draft_record(
    request: RunRequest,
    environment: Environment,
    population: Population,
    methods: dict[str, str],
    interviews: Path,
    kept: Mapping[str, UsedInstrument] = MappingProxyType({}),
    *,
    only_estimated: bool = False,
) -> RunRecord:
    """Return the record that a new run would have. Nothing is written.

    Args:
        request: What is asked for.
        environment: Settings of this machine.
        population: Those who are asked.
        methods: name → dotted path of the methodologies.
        interviews: Folder of the runs.
        kept: Instruments of an earlier run, asked again as they were pinned.
        only_estimated: Nobody will be asked, so neither keys nor servers have to be there.

    Raises:
        SettingsError, InstrumentError: Settings or instruments are wrong.
    """
    language_named = request.language or environment.language
    request = move_setting_files(request, methods, load_methodology)
    language, (used, notices) = _in_language_of(
        population, language_named, lambda language: pin_instruments(request, methods, language, kept)
    )
    phases = choose_phases(request, population)
    require_questions(methods, phases)
    arms = resolve_arms(request, environment, needs_server=not only_estimated)
    settings = method_settings(request, methods, language, used)
    arms = study_arms(request, arms, methods, phases, has_simulation=population.has_simulation, settings=settings)
    arms, critic, weights = resolve_local_model(request, arms, critic_settings(request, arms), settings)
    main = next(arm for arm in arms if arm.role == "main")
    require_persons(methods, settings, population.participants, main.draw_seed)
    served = [model for name, dotted in methods.items() for model in served_by(dotted, settings[name])]
    if served and main.respondent != "llm":
        named = ", ".join(sorted({model.label(main.model) for model in served}))
        raise SettingsError(
            f"seats name models ({named}), but no model answers in this run: name the run's (model=…), or leave them "
            f"out"
        )
    machine = resolve_machine(request, environment)
    require_served(served, machine, listed=request.own_folder is not None, needs_keys=not only_estimated)
    memory: MemoryKind = request.memory or environment.memory or "local"
    if not only_estimated:
        require_reachable(memory, machine)
    baseline, baseline_run = choose_baseline(request, population, methods, phases, used, interviews, main)
    record = RunRecord(
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
        primary=parse_primary(request.primary, questions_tested(methods)),
        memory=memory,
        baseline=baseline,
        baseline_run_id=baseline_run,
        baseline_asked=request.baseline,
        actions_at_start=population.actions,
        assume_completed=request.assume_completed,
        population_hash=population.hash,
        agents=_named(population),
        chosen=describe_choice(population, request),
        fit=fit_of(population, _topical(request, used), methods, language, chosen=bool(language_named)),
        notices=[
            *drafts_named(request, language),
            *notices,
            *unused_baseline(request, interviews, methods, main, baseline),
            *(f"{issue.file}: {issue.message}" for issue in population.issues if issue.severity != "info"),
            *filter(None, [population.spellings.get(request.by)]),
        ],
        versions=dict(versions()),
        revision=revision(),
        base_url="" if weights else shown_url(named_url(request, environment, main)),
        key_variable=request.key_variable,
        created_at=now(),
        weights=weights,
        critic=critic,
    )
    if weights is None and not only_estimated:
        server_url(record, machine)
    return record


Pinned = tuple[dict[str, UsedInstrument], list[str]]
"""Instruments by methodology, and what is to be said about them."""


def _in_language_of(
    population: Population, named: Spoken | None, pin: Callable[[Spoken], Pinned]
) -> tuple[Spoken, Pinned]:
    """Return the language of the interviews, and the instruments in it: the one that was named, else the population's.

    Where a file of one's own lacks texts in the population's language, the interviews are held in the one that it is
    written in, and the check of fit says that the two differ.

    Args:
        population: that is to be asked.
        named: the language that the request or the environment names.
        pin: reads the instruments for a language, with a notice for every text that is not in it.
    """
    if named is not None:
        return named, pin(named)
    spoken = spoken_by(population) or LANGUAGES[0]
    chosen, pinned = spoken, pin(spoken)
    for other in LANGUAGES:
        _, notices = pinned
        if other == spoken or not notices:
            continue
        in_other = pin(other)
        if len(in_other[1]) < len(notices):  # fewer texts are missing
            chosen, pinned = other, in_other
    return chosen, pinned


def questions_tested(methods: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return what each methodology lets a study name as a primary question."""
    return {name: load_methodology(dotted).instrument.questions_tested for name, dotted in methods.items()}


def require_persons(
    methods: Mapping[str, str], settings: Mapping[str, Mapping[str, Any]], people: Sequence[Participant], draw: int
) -> None:
    """Raises SettingsError where a methodology's settings seat a person who is not asked."""
    for name, dotted in methods.items():
        if not settings[name].get("people"):
            continue
        methodology = load_methodology(dotted)
        try:
            methodology.procedure.require_persons(methodology.settings.model_validate(settings[name]), people, draw)
        except SettingsError as error:
            raise SettingsError(f"settings: {name}.{error}") from None


def _named(population: Population) -> list[str]:
    """Whom it asks, where that is not everybody and they are few enough to be named; their hash is there anyhow."""
    people = population.participants
    if not population.left_out or (len(people) > FEW and not population.has_simulation):
        return []
    return [who.id for who in people]


def _topical(request: RunRequest, used: Mapping[str, UsedInstrument]) -> dict[str, UsedInstrument]:
    """Instruments that are about something: one's own and a pack's. What a methodology ships beside itself suits any
    topic, and settings may name what an interview is about."""
    shipped = pack_named(request.pack).instruments
    return {
        name: instrument
        for name, instrument in used.items()
        if (name in request.own_instruments or name in shipped) and name not in request.settings
    }


def instrument_topic(used: Mapping[str, UsedInstrument], language: Language) -> str:
    """Return what a personas file is asked about: the first instrument's topic."""
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
    """Raise SettingsError where the phases asked for leave nothing to ask, instead of an empty run that completes."""
    if not any(set(phases) & set(load_methodology(dotted).phases) for dotted in methods.values()):
        fact = f"phase {phases[0]}: none of {', '.join(methods)} asks anything in that phase"
        raise SettingsError(fact.replace("phase ", "phase: ", 1), fact=fact)


def named_url(request: RunRequest, environment: Environment, main: Arm) -> str:
    """The server that is named for a run; LLM_BASE_URL is that of names without a provider."""
    usual = "" if has_own_service(main.model) else environment.base_url
    return request.base_url or usual or ""
