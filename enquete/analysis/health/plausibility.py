"""Whether a methodology's results can be what agents think: drift, revision, scenarios told apart, structure.

Formulas, bounds and minima are those of `health_thresholds.PLAUSIBILITY`.
"""

from __future__ import annotations

import numpy as np

from enquete.analysis.answers import Aligned, Answers, aligned
from enquete.analysis.health.diagnostics import Diagnostic, Ruling, judged
from enquete.analysis.relations.polarity import rated_alike as count_alike


def zero_drift(before: Answers, after: Answers) -> Diagnostic:
    """Share of agents none of whose answers changed between the waves."""
    return _unchanged("zero_drift", aligned([before, after]))


def unrevised(first: Answers, last: Answers) -> Diagnostic:
    """Share of panelists whose last ratings all equal their first, over what they rated in both rounds."""
    return _unchanged("unrevised", aligned([first, last]))


def _unchanged(name: str, both: Aligned) -> Diagnostic:
    x, y = both.values
    known = ~np.isnan(x)
    still = ~(known & (x != y)).any(axis=1)[known.any(axis=1)]
    return judged(name, float(still.mean()) if still.size else None, both.counts, why_not=_no_pairs(both))


def direction_flips(before: Answers, after: Answers) -> Diagnostic:
    """Share of agents that crossed the midpoint on at least half of the items they answered in both waves."""
    both = aligned([before, after])
    x, y = both.values
    known = ~np.isnan(x)
    n = known.sum(axis=1)
    crossed = (np.where(known, x * y, 0.0) < 0).sum(axis=1)
    turned = (crossed[n > 0] * 2 >= n[n > 0]).astype(float)
    return judged(
        "direction_flips", float(turned.mean()) if turned.size else None, both.counts, why_not=_no_pairs(both)
    )


def _no_pairs(both: Aligned) -> str:
    return "" if both.counts["answers"] else "no_pairs"


def rated_alike(answers: Answers) -> Diagnostic:
    """Share of agents that give one rating to all items (all scenarios in one dimension), of those who rated all."""
    found = count_alike(answers.centred)
    counts = {"agents": found.n_complete, "items": answers.items.size}
    return judged("rated_alike", found.share, counts, detail={"n_incomplete": found.n_dropped})


def two_components(first_two: float | None, n_agents: int, n_beyond_chance: int) -> Diagnostic:
    """Variance of the first two components, beside how many leading components beat parallel analysis.

    first_two: share 0–1 as in components.principal_components; n_beyond_chance: against components.explained_by_chance.
    Raises ValueError for a share outside 0–1.
    """
    if first_two is not None and not 0 <= first_two <= 1:
        raise ValueError(f"first_two is a share of variance between 0 and 1; {first_two} was given")
    ruling = None
    if first_two is not None:
        ruling = Ruling("fine", "") if n_beyond_chance else Ruling("information", "no_more_than_chance")
    detail = {"n_beyond_chance": n_beyond_chance}
    return judged("two_components", first_two, {"agents": n_agents}, detail=detail, ruling=ruling)
