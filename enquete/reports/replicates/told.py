"""Replicates in words: whether a finding held and what chance does, and the section with the figure of every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from enquete.analysis.agreement.held import ALPHA, Replicated, fewest
from enquete.locale import N_, tell
from enquete.reports.evaluation import Evaluation, Shown
from enquete.reports.markdown import MISSING, share
from enquete.reports.replicates.again import Judged, Replicates
from enquete.reports.results import compared_columns
from enquete.reports.templates import render
from enquete.state.asking import Language

FILE = "replicates.json"
LISTED = 6  # figures of replicates that a cell lists one by one
ROWS = 60

VERDICTS: Mapping[str, str] = {
    "stable": N_("stable"),
    "fragile": N_("fragile"),
    "not decided": N_("not decided"),
    "not judged": N_("not judged"),
}
SOURCES: Mapping[str, str] = {
    "agent": N_("agent"),
    "item": N_("item"),
    "model": N_("model"),
    "replicate": N_("replicate"),
    "residual": N_("residual"),
}
"""Of variance."""


@dataclass(frozen=True, slots=True)
class Row:
    """A finding over the runs. further: figures of the further runs, with how often where they are words; range: the
    lowest and the highest of them and how many, where they are too many to list."""

    main: Shown
    further: Sequence[tuple[Shown, int]]
    range: tuple[float, float, int] | None
    held: Replicated


def section(
    replicates: Replicates,
    own: Mapping[str, Evaluation],
    titles: Mapping[str, str],
    language: Language,
) -> str:
    """The appendix's section, Markdown; "" for a run without replicates. own, titles (Markdown): by methodology."""
    if not replicates.arms:
        return ""
    main, *further = replicates.arms
    return render(
        "enquete.reports.replicates:section.md.j2", language, main=main, further=further, alpha=ALPHA, least=fewest(),
        shared_t0=replicates.shared_t0, n=Counter(one.held.verdict for one in replicates.judged),
        headlines=[(one, sentences(own[one.methodology], language), _row(found)) for one, found in replicates.headlines],
        spread=replicates.spread, titles=titles, most=ROWS, verdicts=VERDICTS, sources=SOURCES,
        chance=lambda held: _chance(held, language),
    ).strip()  # fmt: skip


def sentences(own: Evaluation, language: Language) -> Mapping[str, str]:
    return {kind: tell(one.label, language) + ": {0}" for kind, one in compared_columns(own.presentation).items()}


def _row(found: Judged) -> Row:
    if any(isinstance(one, str) for one in found.further):
        return Row(found.main, Counter(found.further).most_common(), None, found.held)
    known = [one for one in found.further if isinstance(one, int | float)]
    between = (min(known), max(known), len(known)) if known and len(found.further) > LISTED else None
    return Row(found.main, [(one, 0) for one in found.further[:LISTED]], between, found.held)


def _chance(held: Replicated, language: Language) -> str:
    """Per cent, never rounded down to nothing."""
    if held.chance is None:
        return tell(N_("not known"), language) if held.n else MISSING
    return f"< {share(0.01, language)}" if held.chance < 0.005 else share(held.chance, language)
