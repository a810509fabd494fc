"""Instrument health of the waves: agents that never move or turn round, control statements, and neutral memories."""

from __future__ import annotations

import pandas as pd

from enquete.analysis.coherence import answer_stability
from enquete.analysis.probes import negative_control, placebo_exposure
from enquete.analysis.quality import direction_flips, zero_drift
from enquete.methods.longitudinal.results import WAVES
from enquete.reports.declarations import Analysis
from enquete.reports.health_checks import (
    PLACEBO,
    Arms,
    Humans,
    Made,
    answers,
    any_other,
    checkable,
    closed,
    each,
    missing,
    occasion,
    repeated,
)

CONTROL = "negative_control"


def health(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Yield the checks of agents that never move or turn round, of statements that nothing should move (only where T0
    was measured), of whether the waves hang together, and of each wave."""
    rows = checkable(rows)
    why = reason_without_drift(analysis)
    before, after = (answers(occasion(rows, phase)) for phase in WAVES)
    both_waves = bool(len(before.participants) and len(after.participants))
    if both_waves:
        yield from each("", (zero_drift(before, after), direction_flips(before, after)))
    else:
        yield from each("", (missing(name, "one_wave") for name in ("zero_drift", "direction_flips")))
    named = zip(analysis.column("items", "item"), analysis.column("items", "control"), strict=True)
    controls = [item for item, is_control in named if is_control is True]
    both = set(before.items) & set(after.items)
    if not why and both.issuperset(controls) and controls:
        yield "", negative_control(before, after, controls)
    yield "", answer_stability(before, after) if both_waves else missing("answer_stability", "one_wave")
    del before, after
    yield from any_other(analysis, rows, humans)


def reason_without_drift(analysis: Analysis) -> str:
    """Return why there is no drift to look at; "" where there is."""
    kind = analysis.facts.get("kind")
    if kind == "experience_effect":
        return "reconstructed"
    if kind != "drift":
        return "one_wave"
    return "incomparable" if analysis.facts.get("interpretable") is False else ""


def probed(arms: Arms) -> Made:
    """Yield the checks of each wave asked again, of control statements, and of another memory."""
    yield from repeated(arms)
    yield from _controlled(arms)
    yield from _placebo(arms)


def _waves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return closed(occasion(rows, "T0")), closed(occasion(rows, "T1"))


def _controlled(arms: Arms) -> Made:
    """Yield the drift of the control statements: all that the probe arm asks and the main arm does not."""
    if CONTROL not in arms.others:
        return
    before, after = _waves(arms.others[CONTROL])
    both = set(before["item_id"]) & set(after["item_id"])
    items = sorted(both - set(arms.main["item_id"])) or sorted(both)
    if items:
        yield "", negative_control(answers(before), answers(after), items)
    else:
        yield "", missing("negative_control", "one_wave")


def _placebo(arms: Arms) -> Made:
    """Yield the drift under the agents' own memories minus that under neutral ones.

    T0 is the main arm's where the placebo arm was not asked then.
    """
    if PLACEBO not in arms.others:
        return
    before, after = _waves(arms.main)
    placebo_before, placebo_after = _waves(arms.others[PLACEBO])
    why = reason_without_drift(arms.analysis) if arms.analysis.facts.get("kind") != "experience_effect" else ""
    why = why or ("" if len(placebo_after) else "one_wave")
    if why:
        yield "", missing("placebo_exposure", why)
        return
    neutral = placebo_before if len(placebo_before) else before
    yield "", placebo_exposure(*map(answers, (before, after, neutral, placebo_after)))
