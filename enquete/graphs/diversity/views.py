"""Q factors: which views the sorts share, who defines each at which pole, and what sets the views apart in statements.

Factors are numbered from 1. A view is a factor, or one pole of a bipolar one: "2", or "1+" and "1-", which sort alike with
opposite signs. A setting that does not fit these sorts is refused in words, and the automatic solution stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.qmethod.extraction import ALPHA, NumberOfFactors
from enquete.analysis.qmethod.scores import FlagEdits, threshold
from enquete.analysis.qmethod.solution import Extraction, QAnalysis, QFactor, agreement, q_analysis
from enquete.analysis.qmethod.statements import Comparison, Distinction
from enquete.analysis.typology.clustering import Labels, adjusted_rand
from enquete.analysis.typology.components import Matrix
from enquete.graphs.diversity.instrument import DiversityInstrument
from enquete.graphs.diversity.settings import DiversitySettings, FlagChanges
from enquete.graphs.diversity.sorting import Sorts, by_type
from enquete.locale import N_, Words, said, tell
from enquete.state.asking import Language

EIGENVALUES_LISTED = 30
OTHER: Mapping[Extraction, Extraction] = {"pca": "centroid", "centroid": "pca"}


@dataclass(frozen=True)
class Solution:
    """refused: what was set and could not be done. changes: the flags changed by hand, if they were."""

    q: QAnalysis
    refused: tuple[Words, ...]
    changes: FlagChanges | None = None


def views(
    sorts: Sorts,
    instrument: DiversityInstrument,
    settings: DiversitySettings,
    members: Sequence[Mapping[str, Any]],
    seed: int,
    language: Language,
) -> dict[str, Any]:
    """The findings under "q". members: the agents of the typology with `archetype` and `probabilities`; may be empty.

    Every agent with a complete legal sort takes part, also without axes.
    """
    solution = solve(sorts.sort, instrument.distribution, settings, seed)
    q, items = solution.q, [str(item) for item in sorts.sort.columns]
    archetypes = {str(member["participant"]): member for member in members}
    of_type = [archetypes.get(str(who), {}).get("archetype") for who in sorts.sort.index]
    labels = np.array([-1 if one is None else ord(one) for one in of_type], dtype=np.int64)
    other = q_analysis(
        sorts.sort.to_numpy(),
        instrument.distribution,
        extraction=OTHER[settings.extraction],
        number=q.number,
        seed=seed,
    )
    return {
        "reason": q.reason,
        "extraction": q.extraction,
        "rotation": "varimax",
        "refused": [tell(one, language) for one in solution.refused],
        "manual": solution.changes.model_dump(mode="json") if solution.changes else None,
        "n_total": q.n_total,
        "n_analysed": len(q.rows),
        "n_missing": q.n_missing,
        "n_illegal": q.n_illegal,
        "threshold": threshold(len(items)),
        "number": _number(q.number, q.loadings.shape[1], settings.n_factors),
        "factors": [_factor(one, sorts, items) for one in q.factors],
        "dropped": [{"factor": d.number + 1, "eigenvalue": d.eigenvalue, "reason": d.reason} for d in q.dropped],
        "correlations": q.correlations.tolist(),
        "sed": q.sed.tolist(),
        "comparisons": [_comparison(one, q, items) for one in q.comparisons],
        "consensus": [_common(s, q, items) for s in q.consensus],
        "agreement": asdict(agreement(q.groups(), labels)),
        "other": _other(q, other, labels, sorts, items),
        "members": _members(q, sorts, archetypes),
    }


def solve(sort: pd.DataFrame, grid: Mapping[int, int], settings: DiversitySettings, seed: int) -> Solution:
    """sort: participants × statements. Flags by hand are checked against the automatic ones before any is changed."""
    x, n_factors = sort.to_numpy(), settings.n_factors
    refused: list[Words] = []
    try:
        automatic = q_analysis(x, grid, extraction=settings.extraction, n_factors=n_factors, seed=seed)
    except ValueError:
        if n_factors is None:
            raise
        refused = [said(_FEWER, n=str(n_factors), sorts=str(len(x)))]
        n_factors = None
        automatic = q_analysis(x, grid, extraction=settings.extraction, seed=seed)
    if settings.flags == FlagChanges():
        return Solution(automatic, tuple(refused))
    problems = _problems(automatic, settings.flags, sort.index)
    if problems:
        return Solution(automatic, (*refused, *(said(_BY_HAND, why=one) for one in problems)))
    edits = FlagEdits(*(_pairs(changes, sort.index) for changes in (settings.flags.add, settings.flags.remove)))
    edited = q_analysis(x, grid, extraction=settings.extraction, n_factors=n_factors, flags=edits, seed=seed)
    return Solution(edited, tuple(refused), settings.flags)


def _pairs(changes: Mapping[str, Sequence[int]], people: pd.Index[Any]) -> list[tuple[int, int]]:
    rows = {str(who): row for row, who in enumerate(people)}
    return [(rows[who], factor - 1) for who, factors in changes.items() for factor in factors]


_FEWER = N_(
    "{sorts} sorts do not give the {n} shared views that were asked for; parallel analysis found their number instead"
)
_BY_HAND = N_("flags set by hand were not applied: {why}")
_NO_FACTORS = N_("there are no shared views")
_NO_SORT = N_("{who} is not one of the {n} participants with a complete sort that fits the grid")
_NO_FACTOR = N_("{who}: there is no shared view {factor}; there are 1 to {k}")
_NOT_FLAGGED = N_("{who}: its sort does not define shared view {factor}, so nothing can be taken away")
_FLAGGED = N_("{who}: its sort defines shared view {factor} already")


def _problems(q: QAnalysis, changes: FlagChanges, people: pd.Index[Any]) -> list[Words]:
    """What does not fit."""
    k, places = q.loadings.shape[1], {str(people[row]): place for place, row in enumerate(q.rows)}
    if not k:
        return [_NO_FACTORS]
    found: list[Words] = []
    for name, flagged in (("add", False), ("remove", True)):
        for who, factors in getattr(changes, name).items():
            if who not in places:
                found.append(said(_NO_SORT, who=f"{name}.{who}", n=str(len(places))))
                continue
            for factor in factors:
                if factor > k:
                    found.append(said(_NO_FACTOR, who=f"{name}.{who}", factor=str(factor), k=str(k)))
                elif bool(q.flags[places[who], factor - 1]) != flagged:
                    text = _NOT_FLAGGED if flagged else _FLAGGED
                    found.append(said(text, who=f"{name}.{who}", factor=str(factor)))
    return found


def _number(number: NumberOfFactors | None, used: int, asked: int | None) -> dict[str, Any]:
    """Eigenvalues of the correlations between persons, beside what chance gives, and what three rules make of them."""
    if number is None:
        return {"used": used, "asked": asked, "parallel": None, "kaiser": None, "two_loaders": None, "draws": 0,
                "alpha": ALPHA, "eigenvalues": []}  # fmt: skip
    figures = (number.eigenvalues, number.chance_mean, number.chance_95, number.p)
    rows = list(zip(*(values.tolist() for values in figures), strict=True))[:EIGENVALUES_LISTED]
    return {
        "used": used,
        "asked": asked,
        "parallel": number.parallel,
        "kaiser": number.kaiser,
        "two_loaders": number.two_loaders,
        "draws": number.draws,
        "alpha": ALPHA,
        "eigenvalues": [
            {"rank": i + 1, "eigenvalue": one, "chance_mean": mean, "chance_95": high, "p": p}
            for i, (one, mean, high, p) in enumerate(rows)
        ],
    }


# --- factors ---------------------------------------------------------------------------------------------------------


def _view(number: int, negative: bool, bipolar: bool) -> str:
    return f"{number + 1}{'-' if negative else '+' if bipolar else ''}"


def _factor(one: QFactor, sorts: Sorts, items: Sequence[str]) -> dict[str, Any]:
    return {
        "factor": one.number + 1,
        "bipolar": one.bipolar,
        "eigenvalue": one.eigenvalue,
        "explained": one.explained,
        "n_flagged": len(one.flagged),
        "n_negative": len(one.negative),
        "capped": one.capped,
        "reliability": one.reliability,
        "se": one.se,
        "views": _poles(one, sorts),
        "z": dict(zip(items, one.z.tolist(), strict=True)),
        "array": {item: int(place) for item, place in zip(items, one.array, strict=True)},
        "distinguishing": [_distinction(d, items) for d in one.distinguishing],
    }


def _poles(one: QFactor, sorts: Sorts) -> list[dict[str, Any]]:
    """Who defines each pole. by_type counts among the agents with a complete legal sort and the others alike."""
    negative = set(one.negative)
    sides = {False: [row for row in one.flagged if row not in negative], True: sorted(negative)}
    types = sorts.people.loc[sorts.sort.index, "stakeholder_type"]
    found = []
    for side, rows in sides.items():
        inside = np.isin(np.arange(len(types)), rows)
        if inside.any():
            view = _view(one.number, side, one.bipolar)
            found.append({"view": view, "n": len(rows), "by_type": by_type(types, inside, "view")})
    return found


def _distinction(one: Distinction, items: Sequence[str]) -> dict[str, Any]:
    figures = asdict(one)
    return {"item": items[figures.pop("statement")], **figures}


def _comparison(one: Comparison, q: QAnalysis, items: Sequence[str]) -> dict[str, Any]:
    figures = (items, one.difference.tolist(), one.level, one.p.tolist(), one.chance.tolist())
    return {
        "first": q.factors[one.first].number + 1,
        "second": q.factors[one.second].number + 1,
        "sed": one.sed,
        "statements": [
            {"item": item, "difference": difference, "level": level, "p": p, "chance_95": chance}
            for item, difference, level, p, chance in zip(*figures, strict=True)
        ],
    }


def _common(statement: int, q: QAnalysis, items: Sequence[str]) -> dict[str, Any]:
    """A consensus statement, with the smallest permutation p of its differences: SED alone proves no agreement."""
    return {
        "item": items[statement],
        "places": {str(one.number + 1): int(one.array[statement]) for one in q.factors},
        "p": min(float(one.p[statement]) for one in q.comparisons),
    }


# --- beside other groupings ------------------------------------------------------------------------------------------


def _other(q: QAnalysis, other: QAnalysis, clusters: Labels, sorts: Sorts, items: Sequence[str]) -> dict[str, Any]:
    """The other extraction, with automatic flags: its factors, and how far both place people alike."""
    own, theirs = q.groups(), other.groups()
    both = (own >= 0) & (theirs >= 0)
    return {
        "extraction": other.extraction,
        "reason": other.reason,
        "factors": [_factor(one, sorts, items) for one in other.factors],
        "matches": _matches(q, other),
        "ari": adjusted_rand(own[both], theirs[both]) if both.sum() > 1 else None,
        "n_compared": int(both.sum()),
        "agreement": asdict(agreement(theirs, clusters)),
    }


def _matches(q: QAnalysis, other: QAnalysis) -> list[dict[str, Any]]:
    """For each factor the one of the other extraction whose z-scores correlate with it most, sign aside."""
    if not other.factors:
        return []
    theirs: Matrix = np.array([one.z for one in other.factors])
    found = []
    for one in q.factors:
        r = np.corrcoef(one.z, theirs)[0, 1:]
        best = int(np.abs(r).argmax())
        found.append({"factor": one.number + 1, "other": other.factors[best].number + 1, "r": float(r[best])})
    return found


def _members(q: QAnalysis, sorts: Sorts, archetypes: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row an analysed sort. factor: the view that it defines, None for none or several. membership: the probability of
    its archetype."""
    bipolar = {one.number: one.bipolar for one in q.factors}
    groups = q.groups()
    names, types = sorts.people["name"].to_dict(), sorts.people["stakeholder_type"].to_dict()
    found = []
    for place, row in enumerate(q.rows if q.loadings.shape[1] else ()):
        who, group = sorts.sort.index[row], int(groups[row])
        member = archetypes.get(str(who), {})
        kept = group >= 0 and group // 2 in bipolar
        sure = member.get("probabilities")
        found.append(
            {
                "participant": who,
                "name": names[who],
                "stakeholder_type": types[who],
                "factor": _view(group // 2, bool(group % 2), bipolar[group // 2]) if kept else None,
                "flagged": [int(f) + 1 for f in np.flatnonzero(q.flags[place])],
                "loadings": q.loadings[place].tolist(),
                "archetype": member.get("archetype"),
                "membership": sure[member["archetype"]] if sure else None,
            }
        )
    return found
