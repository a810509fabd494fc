"""What a run asks, stage by stage, and in which order its work gets budget."""

from __future__ import annotations

import importlib
from typing import Any

from pydantic import JsonValue

from enquete.checkpoints.budget import Claim
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.state.seam import Arm, Methodology

NARRATIVE = "narrative"
OF_PROBES = " of probes"
"""Ends the note of a stage whose main arm is done and whose probes or replicates are not."""
NARRATIVE_SHARE = 20
"""The narrative may hold back one part in so many of the cap; a run with less to spend gets the rule's text."""


def load_methodology(dotted: str) -> Methodology[Any, Any]:
    """`package.module:NAME`, so that a run's record (and a worker process) can name a methodology."""
    module, _, name = dotted.partition(":")
    found: Methodology[Any, Any] = getattr(importlib.import_module(module), name)
    return found


def planned(record: RunRecord) -> list[tuple[str, str]]:
    """(methodology, phase) of everything this run asks or has taken over, in the order it gets budget.

    T0 of an earlier run is not asked.
    """
    stages = []
    for name, dotted in record.methods.items():
        for phase in load_methodology(dotted).phases:
            here = record.baseline in ("measured", "reconstructed") if phase == "T0" else phase in record.phases
            stages += [(name, phase)] if here else []
    return sorted(stages, key=lambda stage: stage[1])


def claim_name(methodology: str, phase: str, arm: Arm) -> str:
    """The claim on the budget that calls of this arm draw on."""
    return f"{methodology}/{phase}/probes" if arm.aside else f"{methodology}/{phase}"


def claims(record: RunRecord, ledger: Ledger, cap: int) -> dict[str, Claim]:
    """Narrative's reserve, main arms as asked for, then probes and replicates (see budget.py), with what they have spent."""
    estimate = ledger.frozen("", "", "", "estimate")
    expected = estimate.get("claims") if isinstance(estimate, dict) else None
    stages = planned(record)
    names = [NARRATIVE, *(f"{n}/{p}" for n, p in stages), *(f"{n}/{p}/probes" for n, p in stages)]
    found = {name: _claim(expected.get(name) if isinstance(expected, dict) else None) for name in names}
    found[NARRATIVE].need = min(found[NARRATIVE].need, cap // NARRATIVE_SHARE)
    arms = {arm.id: arm for arm in record.arms}
    for (arm, name, phase, _, counter), value in ledger.counters().items():
        drawn = found.get(NARRATIVE if not phase else claim_name(name, phase, arms[arm]))
        if drawn is not None:
            drawn.spent += value if counter == "tokens" else 0
            drawn.calls += value if counter == "calls" else 0
    for (name, phase), stage in ledger.stages().items():
        over = stage.outcome in ("done", "failed")
        for name_ in (f"{name}/{phase}", f"{name}/{phase}/probes"):
            main_is_over = stage.note.endswith(OF_PROBES) and not name_.endswith("/probes")
            if name_ in found and (over or main_is_over):
                found[name_].closed = True
    return found


def _claim(expected: JsonValue) -> Claim:
    if not isinstance(expected, dict):
        return Claim(0)
    need, likely, calls = (int(str(expected.get(name, 0))) for name in ("high", "likely", "calls"))
    course = expected.get("course")  # a run of an earlier version has none
    return Claim(need, likely, calls, [float(str(share)) for share in course] if isinstance(course, list) else ())
