"""What a methodology makes of its answers, declared in one place: its analysis, and all that reports, health checks,
comparisons and figures need to know of it. `Methodology.results` names the object; it is imported on first use, because it
pulls in pandas and scipy.

A complete one, of a methodology whose findings are tables: it gets a generic section, the generic health checks, and no
claims, headlines or figures.

    EVALUATION = Evaluation(analyse=analyse)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from enquete.nodes.planning import load_methodology
from enquete.reports.context import AnalysisContext, Files, Found, ItemFacts
from enquete.reports.declarations import Analysis, Presentation
from enquete.reports.figures.canvas import Figure
from enquete.reports.health.checks import Humans, Made, OwnCheck, any_other
from enquete.reports.health.probes import Arms, repeated
from enquete.reports.key_findings import KeyFinding
from enquete.reports.table.lines import lines
from enquete.reports.talks import Talks, no_talks
from enquete.state.asking import Language
from enquete.state.imported import loaded
from enquete.state.methodology import Methodology

Shown = float | str | None


@dataclass(frozen=True, slots=True)
class Headline:
    """Something that a further run of the study can say too, or not. id: the same in all runs.

    kind: a key of `Evaluation.sentences`, whose sentence names `about`, in the run's language.
    """

    id: str
    kind: str
    said: Hashable | None  # what a further run must say too; None: this run does not say
    shown: Shown  # the figure it rests on, or a word
    about: tuple[str, ...] = ()
    leads: bool = True  # in the main arm: whether it is a headline at all
    methodology: str = ""  # filled in where headlines are joined


class Remembered(NamedTuple):
    """Something that the answers were gathered into, as it is told in an episode. id: unique within the methodology."""

    id: str
    text: str


def no_findings(found: Found, language: Language) -> Iterable[KeyFinding]:
    return ()


def as_found(found: Found, language: Language) -> Mapping[str, Any]:
    return {}


def plain_files(found: Found, frame: pd.DataFrame, phase: str) -> Files:
    return {"responses.jsonl": lines(frame), "findings.json": found}


def by_path(item_id: str, instrument: Any) -> ItemFacts:
    """The last part of an item's path is its dimension."""
    return ItemFacts(dimension=item_id.rpartition("/")[2] if "/" in item_id else "")


def no_figures(found: Found, language: Language) -> Iterable[Figure]:
    return ()


def no_headlines(found: Found, language: Language) -> Iterable[Headline]:
    return ()


def no_groups(found: Found, language: Language) -> Iterable[Remembered]:
    return ()


Analyse = Callable[[pd.DataFrame, Any, Any, AnalysisContext], Found | Analysis]
Checks = Callable[[Found, pd.DataFrame, Humans], Made]


@dataclass(frozen=True)
class Evaluation:
    """Slots; `found` is what `analyse` returned, {} where there are no findings yet, `rows` the methodology's main arm."""

    # (frame, instrument, settings, context) → findings; pure: see reports/findings.py
    analyse: Analyse

    # All that is read of its results, declared (reports/declarations.py); `analyse` then returns an `Analysis`, and none of
    # findings, section, appendix, shown, figures, agents, kinds, measures, groupings, remembered and headlines is given.
    presentation: Presentation | None = None

    # The report: findings as sentences, the most telling first, PER_METHODOLOGY at most; templates (see reports/templates.py) of
    # the section, which says in a sentence what was asked and has the tables that a reader looks up, and of the appendix; what
    # the two are given beside `found` and `title`.
    findings: Callable[[Found, Language], Iterable[KeyFinding]] = no_findings
    section: str = ""
    appendix: str = ""
    shown: Callable[[Found, Language], Mapping[str, Any]] = as_found

    # Terms of its own that a reader meets, with what they mean, for the glossary.
    glossary: Mapping[str, str] = field(default_factory=dict)

    # Files of one phase from findings and all its rows; what the instrument says of an item id; figures, plain data that need
    # no plotly, the most telling first: one whose data are missing is not yielded.
    files: Callable[[Found, pd.DataFrame, str], Files] = plain_files
    item_facts: Callable[[str, Any], ItemFacts] = by_path
    figures: Callable[[Found, Language], Iterable[Figure]] = no_figures

    # Its conversations with one agent, read from its own files: see reports/talks.py.
    talks: Talks = no_talks

    # Instrument health: checks of the main arm; what the arms of `Methodology.probes` say about it; rules and words of checks
    # that no other methodology has, by name.
    health: Checks = any_other
    probed: Callable[[Arms], Made] = repeated
    checks: Mapping[str, OwnCheck] = field(default_factory=dict)

    # Episodes of what the answers were gathered into (types, themes, scenarios), for the memory; one a group.
    remembered: Callable[[Found, Language], Iterable[Remembered]] = no_groups

    # Replicates: findings that they judge; sentences of those by kind, and words in place of figures; a replicate's tables
    # with arbitrary names (of groups, say) as in the main arm's, which are given second.
    headlines: Callable[[Found, Language], Iterable[Headline]] = no_headlines
    sentences: Mapping[str, str] = field(default_factory=dict)
    alike: Callable[[Analysis, Analysis], Analysis] | None = None


def evaluation(methodology: Methodology) -> Evaluation:
    found: Evaluation = loaded(methodology.results)
    return found


def evaluations(methods: Mapping[str, str]) -> dict[str, Evaluation]:
    """By name. methods: dotted paths, as a run's record has them."""
    return {name: evaluation(load_methodology(dotted)) for name, dotted in methods.items()}
