"""What the report says across methods: the summary, then each claim with its groups and its evidence. Templates."""

from __future__ import annotations

from collections.abc import Sequence

from enquete.reports.crossing.claims import DIGITS, FILE, Claim, Crossing
from enquete.reports.crossing.narrative import Prose
from enquete.reports.crossing.sentences import group_name, reason, sentence
from enquete.reports.key_findings import FEWEST
from enquete.reports.replicates.again import Replicates
from enquete.reports.replicates.told import mark
from enquete.reports.templates import render
from enquete.state.asking import Language

SHOWN_GROUPS = 8


def summary(crossing: Crossing, prose: Prose, model: str, language: Language, replicates: Replicates) -> str:
    """Prose, who wrote it, and what cannot be said, Markdown. Beside a claim's own sentence: whether it holds in replicates."""
    return render(
        "enquete.reports.crossing:summary.md.j2", language, claims=crossing.claims, legends=crossing.legends, prose=prose,
        absent=list(dict.fromkeys(reason(one, language) for one in crossing.absent)), model=model,
        replicated=bool(replicates.arms), mark=lambda claim: mark(claim, replicates, language),
    ).strip()  # fmt: skip


def details(claims: Sequence[Claim], language: Language, replicates: Replicates) -> str:
    """Each claim with its groups, whether it holds, its answers and its source: for the appendix, Markdown."""
    return render(
        "enquete.reports.crossing:claims.md.j2", language, claims=claims, groups=SHOWN_GROUPS, digits=DIGITS, fewest=FEWEST,
        file=FILE, sentence=lambda claim: sentence(claim, language), mark=lambda claim: mark(claim, replicates, language),
        name=lambda claim, group: group_name(claim, group, language),
    ).strip()  # fmt: skip
