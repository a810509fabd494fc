"""Which run a request means, and how a new one begins: population read, instruments frozen, ledger made.

One unfinished match: resume it. A finished match: show it, no calls. An unfinished one that differs: refuse with the
differences. Nothing is written before everything that can be wrong was checked.
"""

from __future__ import annotations

import importlib.metadata
import platform
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from enquete.checkpoints.folders import (
    LEDGER,
    RECORD,
    latest,
    new_run_id,
    read_record,
    run_folder,
    run_folders,
    write_atomically,
)
from enquete.checkpoints.ledger import Ledger, connect, now
from enquete.checkpoints.record import RunRecord, UsedInstrument, differences
from enquete.instruments.load import freeze_instrument, load_instrument, load_shipped
from enquete.instruments.text import instrument_notices
from enquete.nodes.workplace import load_methodology, server_url
from enquete.simulations.join import join, population_hash, require_joinable
from enquete.simulations.locate import locate
from enquete.simulations.population import Population, load_population
from enquete.state.errors import LedgerError, RunMismatch, RunNotFound, SettingsError
from enquete.state.seam import Arm, Language, Methodology
from enquete.state.settings import Environment, RunRequest, resolve_arms, resolve_machine, resolve_root

PACKAGES = ("enquete", "langgraph", "langchain-openai", "pydantic", "pandas", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Choice:
    """The run that a request means."""

    action: Literal["new", "resume", "finished"]
    folder: Path
    record: RunRecord


def interviews_folder(population: Population, out: str | None) -> Path:
    """Where results go: the simulation's own folder, or --out."""
    if out:
        return Path(out).expanduser().absolute()
    if not population.has_simulation:
        raise SettingsError(f"{population.path.name} is a personas file: say where results go with --out FOLDER")
    return population.path.absolute() / "interviews"


def choose_run(
    request: RunRequest, environment: Environment, available: Mapping[str, str]
) -> tuple[Choice, Population]:
    """Decide without writing anything. `available`: name → dotted path of each methodology, in default order."""
    path = locate(request.sim, resolve_root(request, environment))
    population = load_population(path, assume_completed=request.assume_completed)
    interviews = interviews_folder(population, request.out)
    known = {} if request.new else undamaged_runs(interviews)
    unfinished = {folder: record for folder, record in known.items() if not is_finished(folder)}
    methods = choose_methods(request, available, unfinished)
    draft = draft_record(request, environment, population, methods, interviews)
    for folder, record in unfinished.items():
        if record.fingerprint == draft.fingerprint:
            return Choice("resume", folder, record), population
    for folder, record in reversed(known.items()):
        if record.fingerprint == draft.fingerprint:
            return Choice("finished", folder, record), population
    if unfinished:
        folder, record = next(reversed(unfinished.items()))
        raise RunMismatch(
            f"run {folder.name} is unfinished and differs from what you ask for:\n  "
            + "\n  ".join(differences(record, draft))
            + f"\nGo on with it: enquete resume {record.token}\nStart another beside it: add --new"
        )
    return Choice("new", run_folder(interviews, draft.run_id), draft), population


def known_runs(interviews: Path) -> dict[Path, RunRecord]:
    """Runs with a readable record, oldest first."""
    found = {}
    for folder in run_folders(interviews):
        try:
            found[folder] = read_record(folder)
        except LedgerError:
            continue
    return dict(sorted(found.items(), key=lambda run: run[1].created_at))  # names of one second are in no order


def undamaged_runs(interviews: Path) -> dict[Path, RunRecord]:
    """`known_runs`, but a damaged ledger is no reason to pay for the same run again unnoticed: raises LedgerError.

    A ledger without a record is another matter: that run was killed before its first question.
    """
    for folder in run_folders(interviews):
        if is_damaged(folder / LEDGER):
            raise LedgerError(
                f"{folder / LEDGER}: damaged, so nobody can tell whether this is the run you ask for. Restore it, move the "
                "folder away, or start another run beside it with --new"
            )
    return known_runs(interviews)


def is_damaged(path: Path) -> bool:
    try:
        connection = connect(path, read_only=True)
        try:
            connection.execute("SELECT count(*) FROM frozen").fetchone()
        finally:
            connection.close()
    except (sqlite3.DatabaseError, OSError):
        return True
    return False


def is_finished(folder: Path) -> bool:
    return run_status(folder)[0] == "completed"


def run_status(folder: Path) -> tuple[str, str]:
    """(status, note) as last filed: started, completed, awaiting_simulation, waiting, paused or failed."""
    connection = connect(folder / LEDGER, read_only=True)
    try:
        row = connection.execute("SELECT outcome, note FROM stages WHERE methodology='' AND phase=''").fetchone()
    finally:
        connection.close()
    return (str(row[0]), str(row[1])) if row else ("started", "")


def choose_methods(
    request: RunRequest, available: Mapping[str, str], unfinished: Mapping[Path, RunRecord]
) -> dict[str, str]:
    """Methods not named are those of the unfinished run, else the registry's defaults."""
    names = request.methods
    if names is None and unfinished:
        return list(unfinished.values())[-1].methods
    if names is None:
        names = [name for name, dotted in available.items() if load_methodology(dotted).default]
    unknown = [name for name in names if name not in available]
    if unknown or not names:
        raise SettingsError(f"methods: {', '.join(unknown) or 'none'} unknown; there are {', '.join(available)}")
    if len(set(names)) < len(names):
        raise SettingsError(f"methods: {', '.join(names)} names one twice")
    return {name: available[name] for name in names}


def draft_record(
    request: RunRequest, environment: Environment, population: Population, methods: dict[str, str], interviews: Path
) -> RunRecord:
    """The record that a new run would have. Raises before anything is written if instruments or settings are wrong."""
    language: Language = request.language or environment.language or "de"
    used, notices = freeze_instruments(request, methods, language)
    phases = choose_phases(request, population)
    require_questions(methods, phases)
    arms = resolve_arms(request, environment)
    server_url(arms, resolve_machine(request, environment))
    main = next(arm for arm in arms if arm.role == "main")
    baseline, baseline_run = choose_baseline(request, population, methods, phases, used, interviews, main)
    return RunRecord(
        run_id=new_run_id(),
        sim_id=population.sim_id,
        sim_path=str(population.path.absolute()),
        kind=population.kind,
        topic=population.topic or instrument_topic(used, language),
        methods=methods,
        phases=phases,
        arms=arms,
        language=language,
        asking=request.asking,
        seed=request.seed,
        settings=method_settings(request, methods),
        instruments=used,
        digest_chars=request.digest_chars,
        memoryless_weight=request.memoryless_weight,
        baseline=baseline,
        baseline_run_id=baseline_run,
        baseline_asked=request.baseline,
        actions_at_start=population.actions,
        assume_completed=request.assume_completed,
        population_hash=population_hash(population.participants),
        notices=[
            *notices,
            *unused_baseline(request, interviews, main, baseline),
            *(f"{issue.file}: {issue.message}" for issue in population.issues if issue.severity != "info"),
        ],
        versions=versions(),
        base_url=request.base_url or environment.base_url or "",
        created_at=now(),
    )


def instrument_topic(used: Mapping[str, UsedInstrument], language: Language) -> str:
    """What a personas file is asked about: the first instrument's topic."""
    for instrument in used.values():
        topic = instrument.content.get("topic")
        if isinstance(topic, dict):
            return str(topic.get(language) or next(iter(topic.values()), ""))
    return ""


def choose_phases(request: RunRequest, population: Population) -> list[str]:
    if population.has_simulation:
        return [request.phase] if request.phase else ["T0", "T1"]
    if request.phase == "T0":
        raise SettingsError("--phase T0: a personas file has no simulation, so there is one wave only (T1)")
    return ["T1"]


def require_questions(methods: Mapping[str, str], phases: list[str]) -> None:
    """Raises SettingsError where the phases asked for leave nothing to ask, instead of an empty run that completes."""
    if not any(set(phases) & set(load_methodology(dotted).phases) for dotted in methods.values()):
        raise SettingsError(f"--phase {phases[0]}: none of {', '.join(methods)} asks anything in that phase")


def freeze_instruments(
    request: RunRequest, methods: Mapping[str, str], language: Language
) -> tuple[dict[str, UsedInstrument], list[str]]:
    """One's own file where named, else the shipped one. Raises InstrumentError, SettingsError."""
    for name in request.instruments:
        if name not in methods:
            raise SettingsError(
                f"--instrument {name}=…: {name!r} is not among the methods of this run ({', '.join(methods)})"
            )
    used, notices = {}, []
    for name, dotted in methods.items():
        model = load_methodology(dotted).instrument
        own = request.instruments.get(name)
        instrument = load_instrument(model, Path(own)) if own else load_shipped(model, name)
        frozen = freeze_instrument(instrument, own or "shipped")
        notices += [f"{name}: {notice}" for notice in instrument_notices(instrument, language)]
        content = instrument.model_dump(mode="json", exclude_none=True)
        used[name] = UsedInstrument(hash=frozen.hash, source=Path(frozen.source).name, content=content)
    return used, notices


def method_settings(request: RunRequest, methods: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Each methodology's own settings, complete with defaults, so that the record says what was used."""
    for name in request.settings:
        if name not in methods:
            raise SettingsError(f"settings: {name!r} is not among the methods of this run ({', '.join(methods)})")
    found = {}
    for name, dotted in methods.items():
        methodology: Methodology[Any, Any] = load_methodology(dotted)
        try:
            found[name] = methodology.settings.model_validate(request.settings.get(name, {})).model_dump(mode="json")
        except ValidationError as error:
            lines = [f"{name}.{'.'.join(map(str, e['loc']))}: {e['input']!r} — {e['msg']}" for e in error.errors()]
            raise SettingsError("settings: " + "; ".join(lines)) from None
    return found


def choose_baseline(
    request: RunRequest,
    population: Population,
    methods: Mapping[str, str],
    phases: list[str],
    used: Mapping[str, UsedInstrument],
    interviews: Path,
    main: Arm,
) -> tuple[Literal["measured", "reconstructed", "earlier", "none"], str]:
    """Where T0 comes from: this run (before the simulation), an earlier run, or reconstructed after the fact."""
    if "longitudinal" not in methods or not population.has_simulation:
        return "none", ""
    if phases == ["T0"]:
        if population.completion.completed:
            raise SettingsError(
                f"--phase T0: simulation {population.sim_id} has completed already, so nothing can be measured before it; "
                "run without --phase for a reconstructed T0"
            )
        return "measured", ""
    run_id = measured_before(interviews, main) if request.baseline == "auto" else request.baseline
    if run_id and run_id != "reconstructed":
        return "earlier", require_baseline(interviews, run_id, population, used["longitudinal"])
    if request.baseline != "reconstructed" and not population.completion.completed:
        return "measured", ""
    return "reconstructed", ""


def measured_before(interviews: Path, main: Arm) -> str:
    """The latest measured T0, unless other kinds of respondents answered then: a synthetic T0 is no model's baseline."""
    run_id = latest(interviews).get("T0/longitudinal", "")
    if run_id and read_record(run_folder(interviews, run_id)).main.respondent == main.respondent:
        return run_id
    return ""


def unused_baseline(request: RunRequest, interviews: Path, main: Arm, baseline: str) -> list[str]:
    """A measured T0 that is not used is said aloud, because T0 is then asked, and paid for, once more."""
    run_id = latest(interviews).get("T0/longitudinal", "")
    if request.baseline != "auto" or baseline in ("earlier", "none") or not run_id:
        return []
    before = read_record(run_folder(interviews, run_id)).main.respondent
    return [
        f"run {run_id} holds a measured T0, but respondent {before!r} answered it and {main.respondent!r} answers now: "
        f"T0 is asked anew ({baseline}); --baseline {run_id} uses it all the same"
    ]


def require_baseline(interviews: Path, run_id: str, population: Population, used: UsedInstrument) -> str:
    """An earlier T0 counts only with the same instrument and joinable agents. A reconstructed one is no earlier T0."""
    folder = run_folder(interviews, run_id)
    if not (folder / LEDGER).is_file():
        raise RunNotFound(f"baseline run {run_id!r} is not in {interviews / 'runs'}")
    record = read_record(folder)
    if "longitudinal" not in record.instruments or record.baseline == "reconstructed":
        raise RunMismatch(f"run {run_id} holds no measured T0 of longitudinal")
    if record.instruments["longitudinal"].hash != used.hash:
        raise RunMismatch(
            f"T0 of run {run_id} was taken with another longitudinal instrument "
            f"(hash {record.instruments['longitudinal'].hash[:12]}, now {used.hash[:12]}): use that one, "
            "or --baseline reconstructed"
        )
    ledger = Ledger.reading(folder / LEDGER, run_id)
    try:
        stage = ledger.stages().get(("longitudinal", "T0"))
        if record.baseline != "earlier" and (stage is None or stage.outcome != "done"):
            raise RunMismatch(f"T0 of run {run_id} is not complete; resume it first: enquete resume {record.token}")
        require_joinable(join(ledger.population(), population.participants))
    finally:
        ledger.close_reading()
    return record.baseline_run_id if record.baseline == "earlier" else run_id


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in PACKAGES}


async def begin(choice: Choice, population: Population) -> None:
    """Write a new run: ledger first, then the readable record. A run without its record was never started."""
    choice.folder.mkdir(parents=True)
    record = choice.record
    participants = population.participants
    if record.baseline == "earlier":
        participants = baseline_personas(choice.folder.parent / record.baseline_run_id, population)
    ledger = Ledger(choice.folder / LEDGER, record.run_id, create=True)
    try:
        await ledger.store_population(participants)
        await ledger.freeze("", "", "", "record", record.model_dump(mode="json"))
        await ledger.set_stage("", "", "started")
    finally:
        await ledger.close()
    write_atomically(choice.folder / RECORD, record.model_dump_json(indent=2) + "\n")


def baseline_personas(folder: Path, population: Population) -> tuple[Any, ...]:
    """T0's personas are used at T1; agents that came later keep their own."""
    ledger = Ledger.reading(folder / LEDGER, folder.name)
    try:
        before = {who.id: who for who in ledger.population()}
    finally:
        ledger.close_reading()
    partner = {now_id: before[then] for then, now_id in join(list(before.values()), population.participants).matched}
    return tuple(
        partner[who.id].model_copy(update={"agent_id": who.agent_id}) if who.id in partner else who
        for who in population.participants
    )
