"""Which checks of instrument health a methodology's main arm gets, and what they are computed from.

A check that the data do not allow is "not computed" with the reason, never a pass and never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.diagnostics import Diagnostic, judged
from enquete.analysis.exposure_probes import negative_control
from enquete.analysis.health_thresholds import THRESHOLDS
from enquete.analysis.nonresponse import nonresponse
from enquete.analysis.plausibility import direction_flips, rated_alike, two_components, unrevised, zero_drift
from enquete.analysis.response_quality import flat_items, human_anchor, persona_flattening, variance_ratio
from enquete.analysis.response_style import style
from enquete.reports.health_answers import answers, asked, closed, occasion, phases, rounds

Findings = Mapping[str, JsonValue]
OF_STYLE = ("acquiescence", "extreme_style", "midpoint_style", "straightlining", "position_share")
OF_QUALITY = ("flat_items", "variance_ratio", "persona_flattening", "human_jsd", "human_w1")


@dataclass(frozen=True, slots=True)
class Check:
    """One diagnostic of a methodology: where it was taken, and whether a probe gave it."""

    methodology: str
    phase: str  # "" where it spans phases
    found: Diagnostic
    probe: bool = False


def main_checks(name: str, findings: Findings, rows: pd.DataFrame) -> list[Check]:
    """All checks of the main arm, those of the methodology's own plausibility first. rows: its main arm, with `block`."""
    make = by_probabilities if probabilities(rows) else _OWN.get(name, any_other)
    return [Check(name, phase, found) for phase, found in make(findings, rows)]


def probabilities(rows: pd.DataFrame) -> bool:
    """Whether answers are probabilities over the options: their means are no points of a scale, and no style."""
    return bool(rows["elicitation"].eq("distribution").any())


Made = Iterator[tuple[str, Diagnostic]]


def missing(name: str, why: str) -> Diagnostic:
    """The check as not computed."""
    return judged(name, None, dict.fromkeys(THRESHOLDS[name].least, 0), why_not=why)


def _each(phase: str, found: Iterable[Diagnostic]) -> Made:
    yield from ((phase, one) for one in found)


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


# --- what every methodology gets -------------------------------------------------------------------------------------


def scales(rows: pd.DataFrame) -> Iterator[Diagnostic]:
    """Style, spread and profiles of the closed items of one occasion, in the table's order.

    Not meant for revisions: agreement after feedback is wanted, and no style.
    """
    own = closed(rows)
    if len(own):
        table = answers(own)
        yield from style(table)
        yield from (flat_items(table), variance_ratio(table), persona_flattening(table), *human_anchor(table))


def gaps(rows: pd.DataFrame) -> Made:
    """Refused, repaired and missing answers of each phase, open questions included."""
    for phase in phases(rows):
        yield from _each(phase, nonresponse(asked(occasion(rows, phase))))


def by_probabilities(findings: Findings, rows: pd.DataFrame) -> Made:
    """Gaps alone; what rests on points of a scale is not computed."""
    yield from _each("", (missing(name, "distribution") for name in (*OF_STYLE, *OF_QUALITY)))
    yield from gaps(rows)


def any_other(findings: Findings, rows: pd.DataFrame) -> Made:
    """A methodology without plausibility checks of its own: closed items of each phase as first asked, and gaps."""
    for phase in phases(rows):
        own = occasion(rows, phase)
        first = rounds(own)[:1]
        yield from _each(phase, scales(occasion(own, phase, first[0]) if first else own.iloc[:0]))
    yield from gaps(rows)


# --- longitudinal ----------------------------------------------------------------------------------------------------


def longitudinal(findings: Findings, rows: pd.DataFrame) -> Made:
    """Agents that never move or turn round, only where T0 was measured; items that nothing should move; each wave."""
    why = no_drift(findings)
    waves = [closed(occasion(rows, phase)) for phase in ("T0", "T1")]
    if why:
        yield from _each("", (missing(name, why) for name in ("zero_drift", "direction_flips")))
    else:
        before, after = map(answers, waves)
        yield from _each("", (zero_drift(before, after), direction_flips(before, after)))
    controls = [str(one["item"]) for one in listed(findings.get("items")) if one.get("control")]
    both = set(waves[0]["item_id"]) & set(waves[1]["item_id"])
    if not why and both.issuperset(controls) and controls:
        yield "", negative_control(answers(waves[0]), answers(waves[1]), controls)
    yield from any_other(findings, rows)


def no_drift(findings: Findings) -> str:
    """Why there is no drift to look at; "" where there is."""
    kind = findings.get("kind")
    if kind == "experience_effect":
        return "reconstructed"
    if kind != "drift":
        return "one_wave"
    if mapping(findings.get("drift")).get("interpretable") is False:
        return "incomparable"
    return ""


# --- the others ------------------------------------------------------------------------------------------------------


def forced(rows: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the forced grid, whose places run through zero; the rating scales begin above it."""
    return rows["scale_min"].le(0).fillna(False).astype(bool)


def diversity(findings: Findings, rows: pd.DataFrame) -> Made:
    """Structure; profiles of the sorts, whose grid settles style and entropy; the ratings beside them as anywhere."""
    pca = mapping(findings.get("pca"))
    first_two, n = pca.get("first_two"), pca.get("n_agents")
    share = float(first_two) if isinstance(first_two, int | float) else None
    beyond = pca.get("above_chance")
    yield "", two_components(share, n if isinstance(n, int) else 0, beyond if isinstance(beyond, int) else 0)
    for phase in phases(rows):
        own = occasion(rows, phase)
        sorts, ratings = own[forced(own)], own[~forced(own)]
        yield from _each(phase, [persona_flattening(answers(sorts))] if len(sorts) else [])
        yield from _each(phase, (one for one in scales(ratings) if one.name != "persona_flattening"))
    yield from gaps(rows)


def delphi(findings: Findings, rows: pd.DataFrame) -> Made:
    """Panelists whose revision left all as it was; ratings before feedback as anywhere, revised ones for gaps alone."""
    for phase in phases(rows):
        own = occasion(rows, phase)
        rated = rounds(own)
        if len(rated) > 1:
            first, last = (answers(closed(occasion(own, phase, number))) for number in (rated[0], rated[-1]))
            yield phase, unrevised(first, last)
        else:
            yield phase, missing("unrevised", "no_revision")
        if rated:
            yield from _each(phase, scales(occasion(own, phase, rated[0])))
    yield from gaps(rows)


def scenario(findings: Findings, rows: pd.DataFrame) -> Made:
    """Agents that wish for all scenarios alike; ratings as anywhere."""
    wanted = mapping(findings.get("polarity")).get("desirability")
    for phase in phases(rows):
        own = closed(occasion(rows, phase))
        wishes = own[own["dimension"].eq(str(wanted))] if wanted else own.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(findings, rows)


_OWN: Mapping[str, Callable[[Findings, pd.DataFrame], Made]] = {
    "longitudinal": longitudinal,
    "diversity": diversity,
    "delphi": delphi,
    "scenario": scenario,
}
