"""Which run a request means, and how a new one begins: population read, instruments pinned, ledger made.

One unfinished match: resume it. A finished match: show it, no calls. An unfinished one that differs: refuse with the
differences. Nothing is written before everything that can be wrong was checked.

The arms of a run beside its main one: respondent B, probes, placebo, replicates, as a request asks for them, and a
methodology's other ways of asking, as its settings do.

Every arm is the main one with one thing changed, so that a difference between the two has one reason. Probes ask a
sample of the agents, the same in all of them, at the later of the run's waves; which methodologies a probe makes sense
for is the methodology's own word.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn

from pydantic import JsonValue

from enquete.checkpoints.tokens import find_run
from enquete.instruments.pack import pack_named
from enquete.instruments.primary import parse_primary
from enquete.instruments.text import LANGUAGES
from enquete.ledger.backup import carry
from enquete.ledger.drives import store_of
from enquete.ledger.folders import (
    LEDGER,
    RECORD,
    StoredRun,
    drop_ledger,
    latest,
    make_run_folder,
    new_run_id,
    read_run,
    run_folder,
    write_atomically,
)
from enquete.ledger.ledger import Ledger, now
from enquete.ledger.record import (
    Chosen,
    RunRecord,
    UsedInstrument,
    content_differences,
    differences,
    persona_columns_name,
    role_models,
)
from enquete.memory.graph import require_reachable
from enquete.models.faults import shown_url
from enquete.models.local_model import weights_of
from enquete.respondents.critic import PLANTED, STAND_INS
from enquete.respondents.ground_truth import uniform
from enquete.respondents.ledger_context import sampled
from enquete.runs.fit import fit_of, fitting_pack, spoken_by
from enquete.runs.instrument_pins import as_file, drafts_named, method_settings, pin_instruments, revision, versions
from enquete.runs.model_server import require_served, server_url
from enquete.runs.own_files import move_setting_files
from enquete.runs.planning import load_methodology, of_two_waves, open_ledger, require_own_limits, served_by
from enquete.runs.run_list import interviews_folder, undamaged_runs
from enquete.runs.run_settings import record_settings
from enquete.runs.waves import baseline_personas, choose_baseline, copy_memories, unused_baseline
from enquete.simulations.locate import locate
from enquete.simulations.population import (
    Population,
    PopulationChange,
    among,
    compare_populations,
    load_population,
)
from enquete.state.asking import AS_WRITTEN, FEW, PRESENTATIONS, Arm, Language, PagedPeople, Participant, Spoken
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError, Unfit
from enquete.state.methodology import Methodology
from enquete.state.request import SHIPPED, CriticSettings, MemoryKind, RunRequest, fields_about
from enquete.state.settings import (
    LOCAL_URL,
    Environment,
    Machine,
    Weights,
    is_local,
    resolve_arms,
    resolve_machine,
    resolve_root,
)

# --- Arms ------------------------------------------------------------------------------------------------------------

_NEEDS_RETEST: Final = ("persona_swapped", "persona_null")
_TWO_WAVES: Final = "negative_control"
SECOND: Final = "b"
TEMPERATURE_B: Final = 0.5

Change = tuple[str, str, Mapping[str, Any]]
"""Id and role of an arm, and what differs from the main one."""

_CHANGES: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "retest": {"retest": {}},
    "options_reversed": {"options_reversed": {"presentation": "options_reversed"}},
    "items_shuffled": {
        "items_shuffled": {"presentation": "items_shuffled"},
        "items_shuffled_2": {"presentation": "items_shuffled_2"},
    },
    "paraphrase": {"paraphrase": {"presentation": "paraphrased"}},
    "persona_swapped": {"persona_swapped": {"persona": "swapped"}},
    # A memory would be a persona by the back door.
    "persona_null": {"persona_null": {"persona": "null", "digest": "none"}},
    "negative_control": {"negative_control": {"asks": "controls"}},
    "false_median": {"false_median": {"feedback": "false"}},
}
"""Kind → arm id → what differs from the main arm. A presentation is added to the main arm's own."""


def study_arms(
    request: RunRequest,
    arms: Sequence[Arm],
    methods: Mapping[str, str],
    phases: Sequence[str],
    *,
    has_simulation: bool,
    settings: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> list[Arm]:
    """`arms` and what request and `settings` add: respondent B, probes, placebo, replicates, variants.

    methods: name → dotted path of the run's methodologies; settings: of each, as they are kept. Raises SettingsError
    for what cannot be asked in this run.
    """
    main = next(arm for arm in arms if arm.role == "main")
    known = {name: load_methodology(dotted) for name, dotted in methods.items()}
    changed = [
        *_second(request, main),
        *_probes(request, main, known, phases, has_simulation),
        *_placebo(request, known, phases, has_simulation),
        *_replicates(request, main),
        *_variants(known, settings),
    ]
    added = [_beside(main, request, *change) for change in changed]
    twice = [arm.id for arm in added if arm.id in {given.id for given in arms}]
    if twice:
        raise SettingsError(
            f"arms: {', '.join(twice)} stand among the arms given already; leave respondent_b, probes, placebo and "
            "replicates out"
        )
    return [*arms, *added]


def critic_settings(request: RunRequest, arms: Iterable[Arm]) -> CriticSettings | None:
    """How respondent B is compared with the main arm; None in a run without one. Raises SettingsError."""
    arms = list(arms)
    named = {name: getattr(request, name) for name in ("critic_model", "critic_rubric", "critic_pairs")}
    fields = {name: value for name, value in named.items() if value is not None}
    if not any(arm.role == "b" for arm in arms):
        if fields:
            raise SettingsError(f"{', '.join(fields)}: there is no second respondent to compare with; add respondent_b")
        return None
    model = request.critic_model or ""
    has_model = any(arm.respondent == "llm" for arm in arms)
    if model and not has_model and model not in STAND_INS:
        raise SettingsError(f"critic_model {model!r}: no model answers in this run; one of {', '.join(STAND_INS)}")
    return CriticSettings(model=model, rubric=request.critic_rubric or "realistic", pairs=request.critic_pairs or 0)


def _second(request: RunRequest, main: Arm) -> Iterable[Change]:
    """Respondent B: everything once more by another model or other sampling, never by other behaviour."""
    fields = [name for name in ("model_b", "temperature_b") if getattr(request, name) is not None]
    if not request.respondent_b:
        if fields:
            raise SettingsError(f"{', '.join(fields)}: say respondent_b too, or leave it out")
        return
    model = request.model_b or main.model
    if main.respondent == "synthetic" and model not in PLANTED:
        raise SettingsError(f"model_b {model!r}: no model answers in this run; one of {', '.join(PLANTED)}")
    given = TEMPERATURE_B if request.temperature_b is None else request.temperature_b
    temperature = main.temperature if main.respondent == "synthetic" else given
    changes = {"model": model, "temperature": temperature, "seed": other_seed(main.seed, SECOND)}
    yield SECOND, "b", changes


def _probes(
    request: RunRequest, main: Arm, methods: Mapping[str, Methodology], phases: Sequence[str], has_simulation: bool
) -> Iterable[Change]:
    for kind in _kinds(request):
        asked = tuple(name for name, methodology in methods.items() if kind in methodology.probes)
        two_waves = kind != _TWO_WAVES or has_simulation
        if not (asked and two_waves):
            if kind in request.probes:
                why = f"makes no sense for {', '.join(methods)}; leave it out"
                if asked:
                    why = "compares two waves, and a personas file has one; name a simulation, or leave it out"
                raise SettingsError(f"probes: {kind!r} {why}")
            continue
        for arm_id, changes in _CHANGES[kind].items():
            seed = other_seed(main.seed, arm_id) if kind == "retest" else main.seed
            waves = () if kind == _TWO_WAVES else (max(phases),)
            common = {"methods": asked, "phases": waves, "sample": request.probe_sample, "seed": seed}
            yield arm_id, "probe", {**common, **changes}


def _kinds(request: RunRequest) -> list[str]:
    """In the order of _CHANGES, each once. What a persona changes is judged against a retest, so that comes with it."""
    wanted = set(request.probes)
    if "all" in wanted:
        return list(_CHANGES)
    if wanted & set(_NEEDS_RETEST):
        wanted.add("retest")
    return [kind for kind in _CHANGES if kind in wanted]


def _placebo(
    request: RunRequest, methods: Mapping[str, Methodology], phases: Sequence[str], has_simulation: bool
) -> Iterable[Change]:
    """Everybody once more at T1. At T0 nobody remembers anything, so the main arm's T0 is the placebo's as well."""
    if not request.placebo:
        return
    asked = tuple(name for name, methodology in methods.items() if {"T0", "T1"} <= set(methodology.phases))
    if not (asked and has_simulation and "T1" in phases and request.digest_chars):
        raise SettingsError(
            "placebo: it puts a neutral memory in place of the simulation's in a second wave; that needs a methodology "
            "of two waves (T0, T1) among the methods, a simulation, phase T1 and digest_chars above 0"
        )
    yield "placebo", "placebo", {"digest": "neutral", "methods": asked, "phases": ("T1",)}


def _replicates(request: RunRequest, main: Arm) -> Iterable[Change]:
    """The whole study again, by other seeds or by other models."""
    models = request.replicate_models
    if models and main.respondent != "llm":
        raise SettingsError(f"replicate_models: {', '.join(models)} are named, but no model answers in this run")
    if models and request.replicates not in (1, len(models) + 1):
        raise SettingsError(
            f"replicates: {request.replicates} with {len(models)} replicate_models; the study itself is the first, so "
            f"that makes {len(models) + 1}; leave replicates out"
        )
    if twice := [model for model in models if models.count(model) > 1 or model == main.model]:
        raise SettingsError(f"replicate_models: {twice[0]!r} answers already; name each other model once")
    names: Sequence[str | None] = models or [None] * (request.replicates - 1)
    for number, model in enumerate(names, start=2):
        arm_id = f"replicate_{number}"
        changes = {"model": model} if model else {"seed": other_seed(main.seed, arm_id)}
        yield arm_id, "replicate", changes


def _variants(methods: Mapping[str, Methodology], settings: Mapping[str, Mapping[str, Any]]) -> Iterable[Change]:
    """Everybody once more in each other way of asking that a methodology's settings name."""
    for name, methodology in methods.items():
        for variant in methodology.procedure.variants(methodology.settings.model_validate(settings.get(name, {}))):
            yield f"{name}_{variant}", "variant", {"methods": (name,), "variant": variant}


def _beside(main: Arm, request: RunRequest, arm_id: str, role: str, changes: Mapping[str, Any]) -> Arm:
    """The main arm with these changes, validated. Samples and orders are drawn by the run's seed in all arms alike."""
    given = {**main.model_dump(), "draw_seed": request.seed, **changes, "id": arm_id, "role": role}
    if new := changes.get("presentation"):
        # An order of items takes the place of the main arm's own; anything else comes on top of it.
        shows = {part for part in main.shows if not (part.startswith("items") and new.startswith("items"))} | {new}
        given["presentation"] = "+".join(part for part in PRESENTATIONS if part in shows) or AS_WRITTEN
    return Arm.model_validate(given)


def other_seed(seed: int, arm_id: str) -> int:
    """A seed of the arm's own, by SHA-256, 31 bits: what servers take."""
    return int.from_bytes(sha256(f"{seed}|{arm_id}".encode()).digest()[:4], "big") >> 1


# --- Who is asked of a population, and who is not: what a request says of it, carried out ----------------------------

SAID = (
    "agents", "types", "where", "missing_codes", "decimal_mark", "sample", "stratify", "skip_incomplete",
    "skip_non_people",
)  # fmt: skip
"""Fields of a request that choose."""
MOST_NAMES = 500
"""Of those who are not asked, in a run's record."""
COLUMNS_AT_ONCE = 20_000
"""Agents whose further columns are pinned together."""


def chosen(population: Population, request: RunRequest) -> Population:
    """Those whom the request leaves; a sample of them is drawn by its seed, stratified by type where that is said.

    Raises SettingsError.
    """
    if request.stratify and not request.sample:
        raise SettingsError("stratify: says how a sample is drawn; name its size too, such as sample=20 stratify=True")
    kept = among(
        population, request.agents, request.types, request.where, complete=request.skip_incomplete,
        missing_codes=request.missing_codes, decimal_mark=request.decimal_mark,
    )  # fmt: skip
    people, size = kept.participants, request.sample
    if size is None or size >= len(people):
        return kept
    if request.stratify:
        return kept.only({who.id for who in sampled(people, size, request.seed)})
    ids = (who.id for who in people)
    return kept.only(set(nsmallest(size, ids, key=lambda who: uniform(request.seed, "sample", who))))


def told(population: Population, request: RunRequest) -> Chosen | None:
    """What is written down of it; None where everybody in the file is asked."""
    others = population.left_out
    if not others and not population.rows_left_out:
        return None
    by = {name: value for name in SAID if (value := getattr(request, name))}
    types = dict(Counter(who.stakeholder_type for who in others).most_common())
    of = len(population.participants) + len(others)
    names = [who.name for who in others[:MOST_NAMES]]
    return Chosen(of=of, by=by, not_asked=types, names=names, rows_left_out=population.rows_left_out)


# --- A run whose answers come from a local model: which file, settled before anything is asked -----------------------


def with_local_model(
    request: RunRequest,
    arms: list[Arm],
    critic: CriticSettings | None,
    settings: dict[str, dict[str, Any]],
) -> tuple[list[Arm], CriticSettings | None, Weights | None]:
    """Arms and critic with the local model by the name that its file has; as they are where none is local. Settings
    that name it for the interviewer of persons do so by that name, too.

    Raises SettingsError where a package or file is missing, and where a run would need a local and another server at
    once.
    """
    asked = {arm.model for arm in arms if arm.respondent == "llm"}
    asked |= {critic.model} if critic and critic.model else set()
    persons = any(arm.role == "main" and arm.respondent == "human" for arm in arms)
    asked |= set(role_models(settings)) if persons else set()
    local = next(filter(is_local, sorted(asked)), None)
    if local is None:
        return arms, critic, None
    if len(asked) > 1:
        others = ", ".join(sorted(asked - {local}))
        raise SettingsError(f"model {local!r} answers a run alone: leave {others} out, or {local!r}")
    if request.base_url:
        raise SettingsError(f"model {local!r} has a server of its own: leave base_url out")
    weights = weights_of(local)
    named = {"model": weights.name}
    for options in settings.values() if persons else ():
        roles = [name for name, value in options.items() if name.endswith("_model") and value == local]
        options.update(dict.fromkeys(roles, weights.name))
    arms = [arm.model_copy(update=named) if arm.respondent == "llm" else arm for arm in arms]
    return arms, critic.model_copy(update=named) if critic and critic.model else critic, weights


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
    """Decide without writing anything. `available`: name → dotted path of each methodology, in default order.

    only_estimated: nobody will be asked, so neither keys nor servers have to be there.
    """
    path = locate(request.sim, resolve_root(request, environment))
    read = load_population(path, assume_completed=request.assume_completed, skip_non_people=request.skip_non_people)
    population = chosen(read, request)
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


def chosen_again(choice: RunChoice, request: RunRequest, population: Population) -> RunChoice:
    """What a request for a new run means by now: somebody may have begun that run since. Raises RunMismatch."""
    interviews = choice.folder.parent.parent
    return _choice(request, choice.record, population, _known(request, population, interviews), interviews)


def _known(request: RunRequest, population: Population, interviews: Path) -> list[StoredRun]:
    """The runs that may be meant."""
    return [] if request.new else [_of(population, run) for run in undamaged_runs(interviews)]


def _choice(
    request: RunRequest, draft: RunRecord, population: Population, known: Sequence[StoredRun], interviews: Path
) -> RunChoice:
    unfinished = [run for run in known if not run.is_finished]
    for run in unfinished:
        if is_run_meant(run, draft):
            require_as_begun(request, run.record)
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
    """A run as that of the simulation it lies in, whatever the folder is called now, if its agents are the same."""
    inside = run.record.kind == "simulation" and run.record.simulation_of(run.folder) == population.path.absolute()
    if not inside or run.record.population_hash != population.hash:
        return run
    return replace(run, record=run.record.model_copy(update={"sim_id": population.sim_id}))


# --- The population is part of which run is meant: who changed since a run was begun ----------------------------------


def is_run_meant(run: StoredRun, draft: RunRecord) -> bool:
    """Whether a request means this run: the same study of the same population.

    The agents of a simulation may change between T0 and T1, which are joined then: an unfinished run goes on with
    them, and a finished one is that of the agents that it met at T1 as well.
    """
    if run.record.fingerprint == draft.fingerprint:
        return True
    if run.record.kind != "simulation" or not differs_by_population(run.record, draft):
        return False
    return not run.is_finished or population_at_t1(run) == draft.population_hash


def differs_by_population(record: RunRecord, draft: RunRecord) -> bool:
    """Whether two records are of the same study, but not of the same population."""
    asked_of_these = record.model_copy(update={"population_hash": draft.population_hash})
    return record.population_hash != draft.population_hash and asked_of_these.fingerprint == draft.fingerprint


def population_at_t1(run: StoredRun) -> str:
    """Return the hash of the simulation's agents as they were when a run read their memories, "" where it did not."""
    with open_ledger(run.folder, run.folder.name) as ledger:
        memory = ledger.pinned("", "", "T1", "memory")
    return str(memory.get("population", "")) if isinstance(memory, dict) else ""


def with_population_change(draft: RunRecord, known: Sequence[StoredRun], population: Population) -> RunRecord:
    """Return the record of a new run with a notice of how its population differs from that of an earlier run."""
    earlier = [run for run in known if differs_by_population(run.record, draft)]
    if not earlier or draft.replay_of or draft.rerun_of:
        return draft
    change = population_change(earlier[-1].folder, population)
    notice = f"{population.path.name}: another population than in run {earlier[-1].folder.name}: {change}"
    return draft.model_copy(update={"notices": [*draft.notices, notice]})


def population_change(folder: Path, population: Population) -> PopulationChange:
    """Say who was added, removed and edited since the run in this folder was begun."""
    now = ((who, population.columns.get(who.id)) for who in population.participants)
    with open_ledger(folder, folder.name) as ledger:
        return compare_populations(_stored_people(ledger), now)


def _stored_people(ledger: Ledger) -> Iterator[tuple[Participant, Mapping[str, Any] | None]]:
    """Those whom a run asks, with what their file said of them; the columns of some agents at a time."""
    part, columns = 0, _stored_columns(ledger, 0)
    for place, who in enumerate(ledger.population()):
        if place // COLUMNS_AT_ONCE != part:
            part = place // COLUMNS_AT_ONCE
            columns = _stored_columns(ledger, part)
        yield who, columns.get(who.id)


def _stored_columns(ledger: Ledger, part: int) -> Mapping[str, Mapping[str, Any]]:
    columns: Any = ledger.pinned("", "", "", persona_columns_name(part))
    return columns if isinstance(columns, dict) else {}


def refuse_mismatch(run: StoredRun, draft: RunRecord, population: Population) -> NoReturn:
    of_these = run.record.model_copy(update={"population_hash": draft.population_hash})
    lines = [f"run {run.folder.name} is unfinished and differs from what you ask for:", *differences(of_these, draft)]
    if run.record.population_hash != draft.population_hash:
        lines.append(f"population ({population.path.name}): {population_change(run.folder, population)}")
    fact = "\n  ".join(lines)
    raise RunMismatch(
        f"{fact}\nGo on with it: enquete.resume('{run.record.token}')\nStart another beside it: new=True", fact=fact
    )


def draft_replay(request: RunRequest, interviews: Path) -> RunRecord:
    """The record of a replay. Raises RunNotFound, RunMismatch (the run is not finished)."""
    fields = sorted(request.model_fields_set & {*fields_about("study")})
    if fields:
        raise SettingsError(
            f"respondent replay: {', '.join(fields)} cannot be chosen, the run that is replayed says it all"
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
    *,
    only_estimated: bool = False,
) -> RunRecord:
    """The record of a re-run of the named methodologies. Everything that is not said stays as it was."""
    if not request.methods:
        raise SettingsError("rerun: name what is to be asked anew, such as methods=delphi rerun=True")
    methods = choose_methods(request, available, ())
    base = base_run(interviews)
    same = {"language", "asking", "seed", "digest_chars", "memory", "key_variable"}
    unsaid = {name: getattr(base, name) for name in same - request.model_fields_set}
    settings = settings_of(base, list(methods), request.settings)
    arms = request.model_fields_set & {"model", "respondent", "arms", "temperature", *ARM_FIELDS}
    asked = request.model_copy(
        update={**unsaid, "settings": settings, **({} if arms else as_before(base)), "root": request.root}
    )
    server = LOCAL_URL if base.weights else base.base_url
    machine = environment.model_copy(update={"base_url": environment.base_url or server or None})
    kept = kept_instruments(base, methods, request)
    draft = draft_record(asked, machine, population, methods, interviews, kept, only_estimated=only_estimated)
    require_same(base, draft, request)
    record = rerun_record(base, draft, list(methods))
    if record.carried and base.kind == "personas":
        require_same_people(run_folder(interviews, base.run_id), base, population)
    return record


def require_same_people(folder: Path, base: RunRecord, population: Population) -> None:
    """Raise SettingsError where a personas file has changed since the run whose other answers are taken over."""
    if base.population_hash == population.hash:
        return
    everybody = [*population.participants, *population.left_out]
    with open_ledger(folder, folder.name) as ledger:
        asked = {who.id for who in ledger.population()}
        now = ((who, population.columns.get(who.id)) for who in everybody if who.id in asked or not base.chosen)
        change = compare_populations(_stored_people(ledger), now)
    if change.added or change.removed or change.edited:
        name = population.path.name
        fact = f"{name} has changed since run {base.run_id}, whose other answers are taken over: {change}"
        raise SettingsError(f"rerun: {fact}; start a run of its own with new=True", fact=fact)


def choose_methods(
    request: RunRequest, available: Mapping[str, str], unfinished: Sequence[StoredRun]
) -> dict[str, str]:
    """Methods not named are those of one's own instruments, else of the unfinished run, else what the pack asks."""
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
    """The record that a new run would have. `kept`: instruments of an earlier run, asked again as they were pinned.
    only_estimated: nobody will be asked, so neither keys nor servers have to be there.

    Raises before anything is written if instruments or settings are wrong.
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
    arms, critic, weights = with_local_model(request, arms, critic_settings(request, arms), settings)
    main = next(arm for arm in arms if arm.role == "main")
    require_persons(methods, settings, population.participants, main.draw_seed)
    served = [model for name, dotted in methods.items() for model in served_by(dotted, settings[name])]
    if served and main.respondent != "llm":
        named = ", ".join(sorted({model.label(main.model) for model in served}))
        raise SettingsError(
            f"seats name models ({named}), but no model answers in this run: name the run's (model=…), or leave them "
            f"out"
        )
    if served and request.batch:
        raise SettingsError("batch: seats are asked at servers of their own, one at a time; leave one of them out")
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
        primary=parse_primary(request.primary, _questions_tested(methods)),
        memory=memory,
        baseline=baseline,
        baseline_run_id=baseline_run,
        baseline_asked=request.baseline,
        actions_at_start=population.actions,
        assume_completed=request.assume_completed,
        population_hash=population.hash,
        agents=_named(population),
        chosen=told(population, request),
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
        base_url="" if weights else shown_url(request.base_url or environment.base_url or ""),
        key_variable=request.key_variable,
        created_at=now(),
        weights=weights,
        critic=critic,
        batch=in_batches(request, arms, local=weights is not None),
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


def _questions_tested(methods: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
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
    choice: RunChoice,
    population: Population,
    estimate: JsonValue = None,
    settle: Callable[[Ledger], Awaitable[RunRecord]] | None = None,
    machine: Machine | None = None,
) -> None:
    """Write a new run: ledger first, then the readable record. A run without its record was never started.

    settle: what is still to be asked, with the run's ledger, and the record after it; where it raises, nothing is left
    of the run. machine: how the run is driven, in force wherever it goes on; those of its first session unless given.
    """
    make_run_folder(choice.folder, choice.store)
    ledger = Ledger(choice.folder / LEDGER, choice.record.run_id, create=True)
    try:
        try:
            await _write(choice, population, ledger, estimate, settle, machine)
        finally:
            await ledger.close()
    except Unfit:
        drop_ledger(choice.folder)
        shutil.rmtree(choice.folder)
        raise


async def _write(
    choice: RunChoice,
    population: Population,
    ledger: Ledger,
    estimate: JsonValue,
    settle: Callable[[Ledger], Awaitable[RunRecord]] | None,
    machine: Machine | None,
) -> None:
    record, runs = choice.record if settle is None else await settle(ledger), choice.folder.parent
    if machine is not None:
        server = machine.base_url or record.base_url or None
        await record_settings(ledger, machine.model_copy(update={"base_url": server}))
    asked = run_population(choice, population)
    await ledger.store_population(asked)
    for part, columns in enumerate(_columns(population, asked)):
        await ledger.pin("", "", "", persona_columns_name(part), columns)
    if record.replay_of:
        await copy_memories(runs / record.replay_of, ledger)
    if record.carried:
        await carry(runs / record.rerun_of / LEDGER, ledger, record.carried)
        await copy_memories(runs / record.rerun_of, ledger)
    if estimate is not None:
        await ledger.pin("", "", "", "estimate", estimate)
    await ledger.pin("", "", "", "record", record.model_dump(mode="json"))
    await ledger.set_stage("", "", "started")
    write_atomically(choice.folder / RECORD, as_file(record, ledger))


def _columns(population: Population, asked: Sequence[Participant]) -> Iterator[JsonValue]:
    """What a personas file says of those who are asked, some agents at a time."""
    if not population.columns:
        return
    people = iter(asked)
    while some := list(islice(people, COLUMNS_AT_ONCE)):
        known = ((who.id, population.columns.get(who.id)) for who in some)
        yield {who: {**columns} for who, columns in known if columns is not None}


def run_population(choice: RunChoice, population: Population) -> Sequence[Participant]:
    """Whom a new run asks: the simulation's agents, with T0's personas where T0 was taken earlier; a replay's or a
    re-run's are those of the run it goes back to."""
    record, runs = choice.record, choice.folder.parent
    if record.replay_of or record.carried:
        source = record.replay_of or record.rerun_of
        return _people_of(runs / source)
    if record.baseline == "earlier":
        return baseline_personas(runs / record.baseline_run_id, population)
    return population.participants


def _people_of(folder: Path) -> Sequence[Participant]:
    """Those of another run, whose ledger is opened for each page of them where they are many."""
    with open_ledger(folder, folder.name) as ledger:
        people = ledger.population()
    if not isinstance(people, PagedPeople):
        return people

    def read(low: int, high: int) -> list[Participant]:
        with open_ledger(folder, folder.name) as ledger:
            return ledger.people_between(low, high)

    def find(participant: str) -> Participant | None:
        with open_ledger(folder, folder.name) as ledger:
            return ledger.person(participant)

    return PagedPeople(len(people), read, find)


# --- Re-runs: some methodologies asked anew after their instrument was edited, the others taken over as they were
# answered A re-run is a run of its own with a report over everything; the run it goes back to is never touched.

CRITIC_FIELDS = {"critic_model", "critic_rubric", "critic_pairs"}
ARM_FIELDS = {
    "probes", "probe_sample", "replicates", "replicate_models", "placebo", "randomise", "elicitation", "respondent_b",
    "model_b", "temperature_b", *CRITIC_FIELDS,
}  # fmt: skip
"""What a request says about arms and how they are asked."""

KEPT = ("language", "asking", "arms", "digest_chars", "memory", "memoryless_weight", "seed")
"""What a re-run shares with the run it goes back to: else their answers would not belong into one table."""


def base_run(interviews: Path) -> RunRecord:
    """The record of the run that a re-run goes back to: the canonical one. Raises RunNotFound, RunMismatch."""
    run_id = latest(interviews).get("synthesis")
    folder = run_folder(interviews, run_id) if run_id else None
    if folder is None or not folder.is_dir():
        raise RunNotFound(
            f"rerun: no finished run in {interviews}; start one first",
            fact="there is no finished run that a methodology could be asked anew in",
        )
    base = read_run(folder)
    if not base.is_finished:
        fact = f"run {folder.name} is not finished, so nothing can be asked anew in it"
        raise RunMismatch(
            f"rerun: run {folder.name} is not finished; first: enquete.resume('{base.record.token}')", fact=fact
        )
    return base.record


def as_before(base: RunRecord) -> dict[str, Any]:
    """What a re-run that says nothing of arms takes over from the run it goes back to."""
    critic = base.critic.model_dump() if base.critic else {}
    return {"arms": base.arms, **{f"critic_{name}": value or None for name, value in critic.items()}}


def require_same(base: RunRecord, draft: RunRecord, request: RunRequest) -> None:
    """Raises SettingsError where what was said contradicts the run that the other methodologies are taken from."""
    fields = request.model_fields_set & {"language", "asking", "digest_chars", "memory", "memoryless_weight", "seed"}
    wrong = [
        f"{name} ({_shown(getattr(base, name))} there, {_shown(getattr(draft, name))} asked for)"
        for name in KEPT
        if name in fields and getattr(base, name) != getattr(draft, name)
    ]
    wrong += _arms_apart(base, draft, request)
    if wrong:
        is_one = len(wrong) == 1
        fact = (
            f"{', '.join(wrong)} {'differs' if is_one else 'differ'} from run {base.run_id}, whose other answers are "
            f"taken over; leave {'that' if is_one else 'these'} out"
        )
        raise SettingsError(f"rerun: {fact}, or start a run of its own with new=True", fact=fact)


MAIN_FIELDS = ("respondent", "model", "temperature")
"""What is said of the main arm itself."""


def _arms_apart(base: RunRecord, draft: RunRecord, request: RunRequest) -> list[str]:
    """What was said and makes other arms, in the words it was said in."""
    fields = request.model_fields_set & {"arms", *MAIN_FIELDS, *ARM_FIELDS}
    if not fields or base.arms == draft.arms:
        return []
    here, now = base.main, draft.main
    changed = [
        f"{name} ({_shown(getattr(here, name))} there, {_shown(getattr(now, name))} asked for)"
        for name in MAIN_FIELDS
        if name in fields and getattr(here, name) != getattr(now, name)
    ]
    return changed + sorted(fields & {"arms", *ARM_FIELDS}) or sorted(fields)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def kept_instruments(base: RunRecord, methods: Mapping[str, str], request: RunRequest) -> dict[str, UsedInstrument]:
    """A file of one's own that the earlier run asked is asked again unless another is named: it may be gone, or edited.

    A shipped instrument is today's, because "as shipped" is what was asked for then.
    """
    files = {name: used for name, used in base.instruments.items() if used.source != SHIPPED}
    return {name: files[name] for name in methods if name in files and name not in request.instruments}


def rerun_record(base: RunRecord, draft: RunRecord, asked: list[str]) -> RunRecord:
    """`draft`: the record that a run of only the methodologies `asked` would have."""
    methods = {**base.methods, **{name: draft.methods[name] for name in asked}}
    carried = {name: base.asked_by(name) for name in base.methods if name not in asked}
    change = draft if of_two_waves(methods) in asked else base
    instruments = {name: (draft if name in asked else base).instruments[name] for name in methods}
    return draft.model_copy(
        update={
            **{name: getattr(base, name) for name in KEPT},
            "topic": base.topic,
            "methods": methods,
            "phases": base.phases if carried else draft.phases,
            "settings": {name: (draft if name in asked else base).settings[name] for name in methods},
            "instruments": instruments,
            "baseline": change.baseline,
            "baseline_run_id": change.baseline_run_id,
            "actions_at_start": change.actions_at_start,
            **({"population_hash": base.population_hash, "agents": base.agents} if carried else {}),
            "rerun_of": base.run_id,
            "carried": carried,
            "base_url": "" if base.weights else draft.base_url or base.base_url,
            "weights": base.weights,
            "notices": [*draft.notices, *_notices(base, draft.instruments, carried, asked)],
        }
    )


def _notices(
    base: RunRecord, now: Mapping[str, UsedInstrument], carried: Mapping[str, str], asked: list[str]
) -> list[str]:
    """What a reader must know about where the parts of this run come from."""
    notices = [f"{name}: taken over from run {run}, not asked anew" for name, run in carried.items()]
    for name in asked:
        before = base.instruments.get(name)
        if before is None:
            notices.append(f"{name}: not part of run {base.run_id}")
        elif before.hash == now[name].hash:
            source = "" if before.source == SHIPPED else f" ({before.source})"
            notices.append(f"{name}: asked anew with the instrument of run {base.run_id}{source}")
        else:
            notices.append(
                f"{name}: asked anew; its instrument differs from that of run {base.run_id} "
                f"({before.hash[:12]} → {now[name].hash[:12]}): {_changes(before.content, now[name].content)}"
            )
    return notices


def _changes(before: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> str:
    lines = content_differences(before, now)
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return "; ".join(lines[:5]) + more


def settings_of(base: RunRecord, asked: list[str], given: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """A methodology's own settings stay those of the run, but for what is said now."""
    return {name: {**base.settings.get(name, {}), **given.get(name, {})} for name in asked}


def in_batches(request: RunRequest, arms: Sequence[Arm], *, local: bool) -> bool:
    """Of a new run. Raises SettingsError where no server with a Batch API is asked."""
    if request.batch and (local or not any(arm.respondent == "llm" for arm in arms)):
        why = "a local model has" if local else "no model answers, so there is"
        raise SettingsError(f"batch: {why} no Batch API; leave it out")
    return request.batch


def require_store(request: RunRequest, folder: Path) -> None:
    """Raises SettingsError where a run's ledger is elsewhere than in the store that is named."""
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
    named = parse_primary(request.primary, _questions_tested(record.methods))
    if named != record.primary:
        pinned = ", ".join(
            f"{name}.{one}={part:g}" for name, own in record.primary.items() for one, part in own.items()
        )
        raise SettingsError(
            f"primary: run {record.run_id} was begun with {pinned or 'the usual primary questions'}, and primary "
            "questions are fixed before the first answer; leave primary out, or start another run beside it: new=True"
        )


def require_as_begun(request: RunRequest, record: RunRecord) -> None:
    """Raises SettingsError where a run would go on at twice the price that is asked for."""
    if request.batch and not record.batch:
        raise SettingsError(
            f"batch: run {record.run_id} is unfinished and was begun without batches, so it goes on without; leave "
            "batch out to go on with it, or start another beside it: new=True"
        )
