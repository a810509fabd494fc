"""The checks of instrument health that every methodology gets, and how one declares others of its own.

A check that the data do not allow is "not computed" with the reason, never a pass and never left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from enquete.analysis.answers import Answers
from enquete.analysis.health.coherence import coherence, reversed_items
from enquete.analysis.health.contentless import contentless
from enquete.analysis.health.diagnostics import DISTRIBUTION, Diagnostic, judged
from enquete.analysis.health.expected import Expected
from enquete.analysis.health.nonresponse import nonresponse
from enquete.analysis.health.order import order_smoothness
from enquete.analysis.health.quality import flat_items, human_anchor, persona_flattening, variance_ratio
from enquete.analysis.health.style import acquiescence, extreme_style, midpoint_style, style
from enquete.analysis.health.thresholds import THRESHOLDS, Threshold
from enquete.instruments.scales import Human
from enquete.locale import tell
from enquete.reports.declarations import Analysis
from enquete.reports.health.occasions import answers, asked, expected, occasion, phases, rounds
from enquete.reports.health.words import CHECKS, REASONS, Unit
from enquete.state.asking import Language

Humans = Mapping[str, Human]
"""What the instrument says of people's answers, by item."""


@dataclass(frozen=True)
class OwnCheck:
    """A check that one methodology alone has: its rule, and its words by language. `judged(name, …, rule=rule)` makes one."""

    rule: Threshold
    unit: Unit  # of the value
    words: tuple[str, str]  # what it is, and what a caution means
    reasons: Mapping[str, str] = field(default_factory=dict)  # of its own codes


@dataclass(frozen=True, slots=True)
class Check:
    """One diagnostic of a methodology: where it was taken, and whether a probe gave it."""

    methodology: str
    phase: str  # "" where it spans phases
    found: Diagnostic
    probe: bool = False
    own: OwnCheck | None = None

    def what(self, language: Language) -> str:
        return tell(self._words()[0], language)

    def meaning(self, language: Language) -> str:
        """What a caution means."""
        return tell(self._words()[1], language)

    def why(self, language: Language) -> str:
        """The reason in words."""
        own = self.own.reasons if self.own else {}
        return tell({**REASONS, **own}[self.found.reason_code], language)

    @property
    def rule(self) -> Threshold:
        return self.own.rule if self.own else THRESHOLDS[self.found.name]

    @property
    def unit(self) -> Unit:
        return self.own.unit if self.own else CHECKS[self.found.name][0]

    def _words(self) -> tuple[str, str]:
        return self.own.words if self.own else CHECKS[self.found.name][1:]


Made = Iterator[tuple[str, Diagnostic]]
"""Checks, each with the phase it was taken in; "" where it spans phases."""


def missing(name: str, why: str, *, rule: Threshold | None = None) -> Diagnostic:
    """The check as not computed. rule: of a methodology's own."""
    return judged(name, None, dict.fromkeys((rule or THRESHOLDS[name]).least, 0), why_not=why, rule=rule)


def each(phase: str, found: Iterable[Diagnostic]) -> Made:
    yield from ((phase, one) for one in found)


# --- what every methodology gets -------------------------------------------------------------------------------------


def scales(rows: pd.DataFrame, humans: Humans) -> Iterator[Diagnostic]:
    """Coherence, style, spread and profiles of the closed items of one occasion, in the table's order.

    Not meant for revisions: agreement after feedback is wanted, and no style.
    """
    has_scale = rows["scale_min"].notna()
    if has_scale.any():
        table, given = answers(rows), expected(rows)
        likely = bool((has_scale & rows["elicitation"].eq("distribution")).any())  # then values are medians
        yield coherence(table)
        yield order_smoothness(table)
        yield reversed_items(table)
        yield from style_of(table, given) if likely else style(table)
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
        yield from each(phase, nonresponse(asked(occasion(rows, phase))))


def contents(rows: pd.DataFrame) -> Made:
    """Answers without content of each phase, of whatever methodology; nothing of tables without the column."""
    for phase in phases(rows) if "content" in rows else ():
        yield from each(phase, contentless(asked(occasion(rows, phase))))


def any_other(analysis: Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """A methodology without plausibility checks of its own: closed items of each phase as first asked, and gaps."""
    for phase in phases(rows):
        own = occasion(rows, phase)
        first = rounds(own)[:1]
        yield from each(phase, scales(occasion(own, phase, first[0]) if first else own.iloc[:0], humans))
    yield from gaps(rows)
