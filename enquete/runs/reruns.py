"""Re-runs and replays: what their records take over from the run they go back to.

A re-run asks some methodologies anew, usually after their instrument was edited, and takes the others over as they were
answered. It is a run of its own with a report over everything; the run it goes back to is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from enquete.checkpoints.tokens import find_run
from enquete.ledger.folders import (
    latest,
    new_run_id,
    read_run,
    run_folder,
)
from enquete.ledger.ledger import now
from enquete.ledger.record import (
    RunRecord,
    UsedInstrument,
    content_differences,
)
from enquete.runs.draft_record import choose_methods, draft_record
from enquete.runs.planning import of_two_waves, open_ledger
from enquete.runs.population_changes import stored_people
from enquete.simulations.population import (
    Population,
    compare_populations,
)
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError
from enquete.state.request import SHIPPED, RunRequest, fields_about
from enquete.state.settings import (
    LOCAL_URL,
    Environment,
)


def draft_replay(request: RunRequest, interviews: Path) -> RunRecord:
    """Return the record of a replay.

    Raises:
        RunNotFound: There is no finished run to replay.
        RunMismatch: The run that is named is not finished.
    """
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
        update={"run_id": new_run_id(), "created_at": now(), "replay_of": source.folder.name}
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
    """Return the record of a re-run of the named methodologies. Everything that is not said stays as it was."""
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
        change = compare_populations(stored_people(ledger), now)
    if change.added or change.removed or change.edited:
        name = population.path.name
        fact = f"{name} has changed since run {base.run_id}, whose other answers are taken over: {change}"
        raise SettingsError(f"rerun: {fact}; start a run of its own with new=True", fact=fact)


CRITIC_FIELDS = {"critic_model", "critic_rubric", "critic_pairs"}
ARM_FIELDS = {
    "probes", "probe_sample", "replicates", "replicate_models", "placebo", "randomise", "elicitation", "respondent_b",
    "model_b", "temperature_b", *CRITIC_FIELDS,
}  # fmt: skip
"""What a request says about arms and how they are asked."""

KEPT = ("language", "asking", "arms", "digest_chars", "memory", "memoryless_weight", "seed")
"""What a re-run shares with the run it goes back to: else their answers would not belong into one table."""


def base_run(interviews: Path) -> RunRecord:
    """Return the record of the run that a re-run goes back to: the canonical one.

    Raises:
        RunNotFound: There is none.
        RunMismatch: It is not finished.
    """
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
    """Return what a re-run that says nothing of arms takes over from the run it goes back to."""
    critic = base.critic.model_dump() if base.critic else {}
    return {"arms": base.arms, **{f"critic_{name}": value or None for name, value in critic.items()}}


def require_same(base: RunRecord, draft: RunRecord, request: RunRequest) -> None:
    """Raise SettingsError where what was said contradicts the run that the other methodologies are taken from."""
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
    """Return what was said and makes other arms, in the words it was said in."""
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
    """Return the instruments of one's own that are asked again as they were pinned.

    A file that the earlier run asked may be gone or edited by now, so its pinned content counts unless another file is
    named. A shipped instrument is today's, because "as shipped" is what was asked for then.
    """
    files = {name: used for name, used in base.instruments.items() if used.source != SHIPPED}
    return {name: files[name] for name in methods if name in files and name not in request.instruments}


def rerun_record(base: RunRecord, draft: RunRecord, asked: list[str]) -> RunRecord:
    """Return the record of a re-run.

    Args:
        base: Record of the run it goes back to.
        draft: The record that a run of only the methodologies `asked` would have.
        asked: Methodologies that are asked anew; the others are carried over.
    """
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
    """Return what a reader must know about where the parts of this run come from."""
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
    """Return name → settings: those of the run that the re-run goes back to, but for what is said now."""
    return {name: {**base.settings.get(name, {}), **given.get(name, {})} for name in asked}
