"""Which checks of instrument health a methodology's main arm gets, and what they are computed from.

A check that the data do not allow is "not computed" with the reason, never a pass and never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.answer_table import Answers
from enquete.analysis.health.coherence import answer_stability, coherence, family_alpha
from enquete.analysis.health.diagnostics import DISTRIBUTION, Diagnostic, judged
from enquete.analysis.health.expected import Expected
from enquete.analysis.health.exposure import negative_control
from enquete.analysis.health.nonresponse import nonresponse
from enquete.analysis.health.plausibility import direction_flips, rated_alike, two_components, unrevised, zero_drift
from enquete.analysis.health.quality import flat_items, human_anchor, persona_flattening, variance_ratio
from enquete.analysis.health.style import acquiescence, extreme_style, midpoint_style, style
from enquete.analysis.health.thresholds import THRESHOLDS
from enquete.instruments.human import Human
from enquete.reports.health.occasions import answers, asked, closed, expected, occasion, phases, rounds

Findings = Mapping[str, JsonValue]
Humans = Mapping[str, Human]
"""What the instrument says of people's answers, by item."""


@dataclass(frozen=True, slots=True)
class Check:
    """One diagnostic of a methodology: where it was taken, and whether a probe gave it."""

    methodology: str
    phase: str  # "" where it spans phases
    found: Diagnostic
    probe: bool = False


def main_checks(name: str, findings: Findings, rows: pd.DataFrame, humans: Humans | None = None) -> list[Check]:
    """All checks of the main arm, those of the methodology's own plausibility first. rows: its main arm, with `block`."""
    made = _OWN.get(name, any_other)(findings, rows, humans or {})
    return [Check(name, phase, found) for phase, found in made]


def probabilities(rows: pd.DataFrame) -> bool:
    """Whether answers were given as probabilities over the options; their values are medians."""
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


def scales(rows: pd.DataFrame, humans: Humans) -> Iterator[Diagnostic]:
    """Coherence, style, spread and profiles of the closed items of one occasion, in the table's order.

    Not meant for revisions: agreement after feedback is wanted, and no style.
    """
    own = closed(rows)
    if len(own):
        table = answers(own)
        given = expected(own)
        yield coherence(table)
        yield from style_of(table, given) if probabilities(own) else style(table)
        yield flat_items(table)
        known = {item: human for item, human in humans.items() if item in table.items}
        tables = given.tables if given else None
        sds = {item: human.sd for item, human in known.items() if human.sd is not None}
        yield sourced(variance_ratio(table, sds, tables=tables), known)
        yield persona_flattening(table)
        marginals = {item: human.marginals for item, human in known.items() if human.marginals}
        yield from (sourced(one, known) for one in human_anchor(table, marginals, tables=tables))


def sourced(found: Diagnostic, humans: Humans) -> Diagnostic:
    """With where the data of people are from."""
    sources = list(dict.fromkeys(human.source for human in humans.values()))
    return replace(found, detail={**found.detail, "sources": sources}) if sources else found


def style_of(table: Answers, given: Expected | None) -> Iterator[Diagnostic]:
    """Style of probabilities, from their mass. Straight lines and places of options are habits of giving one answer."""
    if given is None:
        yield from (missing(name, DISTRIBUTION) for name in ("acquiescence", "extreme_style", "midpoint_style"))
    else:
        yield acquiescence(given.means)
        yield extreme_style(table, given.ends)
        yield midpoint_style(table, given.middle)
    yield from (missing(name, DISTRIBUTION) for name in ("straightlining", "position_share"))


def gaps(rows: pd.DataFrame) -> Made:
    """Refused, repaired and missing answers of each phase, open questions included."""
    for phase in phases(rows):
        yield from _each(phase, nonresponse(asked(occasion(rows, phase))))


def any_other(findings: Findings, rows: pd.DataFrame, humans: Humans) -> Made:
    """A methodology without plausibility checks of its own: closed items of each phase as first asked, and gaps."""
    for phase in phases(rows):
        own = occasion(rows, phase)
        first = rounds(own)[:1]
        yield from _each(phase, scales(occasion(own, phase, first[0]) if first else own.iloc[:0], humans))
    yield from gaps(rows)


# --- longitudinal ----------------------------------------------------------------------------------------------------


def longitudinal(findings: Findings, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that never move or turn round, only where T0 was measured; items that nothing should move; whether waves and
    families hang together; each wave."""
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
    yield (
        "",
        answer_stability(*map(answers, waves)) if all(map(len, waves)) else missing("answer_stability", "one_wave"),
    )
    for phase, wave in zip(("T0", "T1"), waves, strict=True):
        yield from _each(phase, [family_alpha(answers(wave))] if len(wave) else [])
    yield from any_other(findings, rows, humans)


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


def diversity(findings: Findings, rows: pd.DataFrame, humans: Humans) -> Made:
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
        yield from _each(phase, (one for one in scales(ratings, humans) if one.name != "persona_flattening"))
    yield from gaps(rows)


def delphi(findings: Findings, rows: pd.DataFrame, humans: Humans) -> Made:
    """Panelists whose revision left all as it was; ratings before feedback as anywhere, revised ones for gaps alone."""
    for phase in phases(rows):
        own = occasion(rows, phase)
        rated = rounds(own)
        if len(rated) > 1:
            first, last = (answers(closed(occasion(own, phase, number))) for number in (rated[0], rated[-1]))
            yield from _each(phase, (unrevised(first, last), answer_stability(first, last)))
        else:
            yield from _each(phase, (missing(name, "no_revision") for name in ("unrevised", "answer_stability")))
        if rated:
            yield from _each(phase, scales(occasion(own, phase, rated[0]), humans))
    yield from gaps(rows)


def scenario(findings: Findings, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that wish for all scenarios alike; ratings as anywhere."""
    wanted = mapping(findings.get("polarity")).get("desirability")
    for phase in phases(rows):
        own = closed(occasion(rows, phase))
        wishes = own[own["dimension"].eq(str(wanted))] if wanted else own.iloc[:0]
        yield phase, rated_alike(answers(wishes)) if len(wishes) else missing("rated_alike", "no_desirability")
    yield from any_other(findings, rows, humans)


_OWN: Mapping[str, Callable[[Findings, pd.DataFrame, Humans], Made]] = {
    "longitudinal": longitudinal,
    "diversity": diversity,
    "delphi": delphi,
    "scenario": scenario,
}
