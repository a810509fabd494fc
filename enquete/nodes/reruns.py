"""Re-runs: some methodologies asked anew after their instrument was edited, the others taken over as they were answered.

A re-run is a run of its own with a report over everything; the run it goes back to is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from enquete.checkpoints.canonical import latest
from enquete.checkpoints.folders import read_run, run_folder
from enquete.checkpoints.record import RunRecord, UsedInstrument, content_differences
from enquete.nodes.planning import of_two_waves
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError
from enquete.state.request import SHIPPED, RunRequest

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
    said = request.model_fields_set & {"language", "asking", "digest_chars", "memory", "memoryless_weight", "seed"}
    wrong = [
        f"{name} ({_shown(getattr(base, name))} there, {_shown(getattr(draft, name))} asked for)"
        for name in KEPT
        if name in said and getattr(base, name) != getattr(draft, name)
    ]
    wrong += _arms_apart(base, draft, request)
    if wrong:
        is_one = len(wrong) == 1
        fact = (
            f"{', '.join(wrong)} {'differs' if is_one else 'differ'} from run {base.run_id}, whose other answers are taken "
            f"over; leave {'that' if is_one else 'these'} out"
        )
        raise SettingsError(f"rerun: {fact}, or start a run of its own with new=True", fact=fact)


MAIN_FIELDS = ("respondent", "model", "temperature")
"""What is said of the main arm itself."""


def _arms_apart(base: RunRecord, draft: RunRecord, request: RunRequest) -> list[str]:
    """What was said and makes other arms, in the words it was said in."""
    said = request.model_fields_set & {"arms", *MAIN_FIELDS, *ARM_FIELDS}
    if not said or base.arms == draft.arms:
        return []
    here, now = base.main, draft.main
    found = [
        f"{name} ({_shown(getattr(here, name))} there, {_shown(getattr(now, name))} asked for)"
        for name in MAIN_FIELDS
        if name in said and getattr(here, name) != getattr(now, name)
    ]
    return found + sorted(said & {"arms", *ARM_FIELDS}) or sorted(said)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def kept_instruments(base: RunRecord, methods: Mapping[str, str], request: RunRequest) -> dict[str, UsedInstrument]:
    """A file of one's own that the earlier run asked is asked again unless another is named: it may be gone, or edited.

    A shipped instrument is today's, because "as shipped" is what was asked for then.
    """
    own = {name: used for name, used in base.instruments.items() if used.source != SHIPPED}
    return {name: own[name] for name in methods if name in own and name not in request.instruments}


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
    found = [f"{name}: taken over from run {run}, not asked anew" for name, run in carried.items()]
    for name in asked:
        before = base.instruments.get(name)
        if before is None:
            found.append(f"{name}: not part of run {base.run_id}")
        elif before.hash == now[name].hash:
            source = "" if before.source == SHIPPED else f" ({before.source})"
            found.append(f"{name}: asked anew with the instrument of run {base.run_id}{source}")
        else:
            found.append(
                f"{name}: asked anew; its instrument differs from that of run {base.run_id} "
                f"({before.hash[:12]} → {now[name].hash[:12]}): {_changes(before.content, now[name].content)}"
            )
    return found


def _changes(before: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> str:
    lines = content_differences(before, now)
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return "; ".join(lines[:5]) + more


def settings_of(base: RunRecord, asked: list[str], given: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """A methodology's own settings stay those of the run, but for what is said now."""
    return {name: {**base.settings.get(name, {}), **given.get(name, {})} for name in asked}
