"""What the templates of the section and the appendix are given beside the findings: views and types in a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from enquete.locale import N_, tell
from enquete.reports.context import Found, at, listed, type_name
from enquete.reports.evaluation import Remembered
from enquete.reports.figures.canvas import signed
from enquete.reports.key_findings import FEWEST
from enquete.reports.markdown import escape, number, of
from enquete.state.asking import Language

ENDS, GROUPS, LOADINGS, CONSENSUS = (
    3,
    4,
    4,
    5,
)  # statements at an end, groups of a type, items of a component, statements
SURE = 0.8
"""Probability from which an agent is counted as a member of its type."""

REASONS = {
    "sort incomplete": N_("Sort incomplete"),
    "sort off the grid": N_("Sort off the grid"),
    "axes incomplete": N_("Axes incomplete"),
}
EXTRACTIONS = {"pca": N_("principal components"), "centroid": N_("centroid")}
DIRECTIONS = {"above": N_("higher"), "below": N_("lower"), "between": N_("between")}
HELD, REVERSED = N_("view {view} ({n} of {total})"), N_("view {view} reversed ({n} of {total})")

Row = Mapping[str, Any]

GLOSSARY: Mapping[str, str] = {
    N_("shared view"): N_(
        "a Q factor: what several agents' sorts have in common; an agent can share it or hold its reverse"
    ),
    N_("type"): N_("a cluster: agents who sort and place themselves alike; an agent belongs to one"),
    N_("parallel analysis"): N_("counts the views whose eigenvalue exceeds that of randomly permuted sorts"),
    N_("distinguishing statement"): N_("one that a view places elsewhere than every other view does, beyond chance"),
    N_("stability (Jaccard)"): N_("how much of a type is found again when agents are drawn anew; 1 is all of it"),
}


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    columns = [int(column) for column in at(found, "grid", "distribution")]
    short = {one["item"]: one["short"] for one in listed(found, "statements")}
    factors = listed(found, "q", "factors")
    ends = {one["factor"]: _ends(one, short, language) for one in factors}
    typology = at(found, "typology")
    axes = {one["item"]: _axis(one) for one in listed(found, "axes")}
    plain = {**short, **{one["item"]: one["wording"] for one in listed(found, "axes")}}
    consensus = [escape(short[one["item"]]) for one in listed(found, "q", "consensus")]
    return {
        "columns": [signed(column, language) for column in columns],
        "places": _places(found, language),
        "short": short,
        "axes": axes,
        "ends": ends,
        "views": [_view(one, ends[one["factor"]]) for one in factors],
        "types": [_type(one, found, language) for one in listed(found, "archetypes")],
        "tried": sorted({*typology["silhouettes"], *typology["gap"]["gaps"]}, key=int),
        "continuum": typology["continuum"] or {"expected": {}, "excess": {}},
        "moved": sorted(listed(found, "grid", "by_agent"), key=lambda one: (-int(one["moved"]), -int(one["again"]))),
        "unsure": _unsure(found),
        "sure": SURE,
        "fewest": FEWEST,
        "statements": sorted(
            listed(found, "statements"), key=lambda one: -99.0 if one["mean"] is None else -one["mean"]
        ),
        "consensus": consensus[:CONSENSUS] + ["…"] * (len(consensus) > CONSENSUS),
        "matches": ", ".join(
            f"{m['factor']}: {number(m['r'], language)}" for m in listed(found, "q", "other", "matches")
        ),
        "by_hand": {name: sum(map(len, flags.values())) for name, flags in (at(found, "q", "manual") or {}).items()},
        "reasons": REASONS,
        "extractions": EXTRACTIONS,
        "directions": DIRECTIONS,
        "signed": lambda place: signed(place, language),
        "groups": lambda by_type: _groups(by_type, found),
        "heavy": partial(_heavy, names=plain, language=language),
    }


TYPE = N_("type {letter}, {n} of {total} agents ({groups}), {name}. Unlike the others: {distinct}")
ABOVE, BELOW = N_("for “{item}”"), N_("against “{item}”")


def remembered(found: Found, language: Language) -> Iterator[Remembered]:
    """A type of agents, with the statements that set it apart."""
    short = {one["item"]: one["short"] for one in listed(found, "statements")}
    for one in listed(found, "archetypes"):
        distinct = [
            tell(BELOW if row["direction"] == "below" else ABOVE, language).format(item=short[row["item"]])
            for row in one["distinguishing"]
            if row["direction"] in ("above", "below") and row["item"] in short
        ]
        groups = [f"{type_name(found, row['stakeholder_type'])} {row['n']}" for row in one["by_type"][:GROUPS]]
        text = tell(TYPE, language).format(
            letter=one["archetype"], n=one["n"], total=one["n_total"], groups=", ".join(groups), name=one["name"],
            distinct=", ".join(distinct[: 2 * ENDS]) or "–",
        )  # fmt: skip
        yield Remembered(f"type/{one['archetype']}", text)


def _places(found: Found, language: Language) -> str:
    """How many statements each column takes."""
    grid = at(found, "grid", "distribution")
    return " · ".join(f"{signed(int(column), language)}: {n}" for column, n in grid.items())


def _ends(factor: Row, short: Mapping[str, str], language: Language) -> dict[str, list[str]]:
    """The statements that a view puts highest and lowest, with their places."""
    ordered = sorted(factor["z"], key=lambda item: (-factor["z"][item], item))
    both = {"top": ordered[:ENDS], "bottom": ordered[::-1][:ENDS]}
    return {
        end: [f"{escape(short[item])} ({signed(factor['array'][item], language)})" for item in items]
        for end, items in both.items()
    }


def _view(factor: Row, ends: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    held = factor["n_flagged"] - factor["n_negative"]
    return {
        "number": factor["factor"], "held": held, "reversed": factor["n_negative"], "explained": factor["explained"],
        "top": ends["top"][:2], "bottom": ends["bottom"][:2],
    }  # fmt: skip


def _type(archetype: Row, found: Found, language: Language) -> dict[str, Any]:
    """A type, the groups that it is made of, and the views that its members define."""
    theirs = [one for one in listed(found, "q", "members") if one["archetype"] == archetype["archetype"]]
    views = Counter(str(one["factor"]) for one in theirs if one["factor"] is not None)
    told = [
        tell(REVERSED if view.endswith("-") else HELD, language).format(
            view=view.rstrip("+-"), n=n, total=archetype["n"]
        )
        for view, n in views.most_common(2)
    ]
    return {
        "letter": archetype["archetype"], "name": archetype["name"], "n": archetype["n"], "n_total": archetype["n_total"],
        "jaccard": archetype["jaccard"], "views": ", ".join(told) or "–", "groups": archetype["by_type"][:GROUPS],
        "more": len(archetype["by_type"]) > GROUPS,
    }  # fmt: skip


def _groups(by_type: Sequence[Row], found: Found) -> str:
    return ", ".join(
        f"{escape(type_name(found, one['stakeholder_type']))} {of(one['n'], one['n_of_type'])}" for one in by_type
    )


def _axis(axis: Row) -> str:
    return f"{escape(axis['wording'])} (1 = {escape(axis['low'])}, {axis['points']} = {escape(axis['high'])})"


def _unsure(found: Found) -> list[Row]:
    """Members whose type is not sure, the least sure first."""
    known = [one for one in listed(found, "members") if one["probabilities"]]
    best = [(max(one["probabilities"].values()), str(one["participant"]), one) for one in known]
    return [one for sure, _, one in sorted(best, key=lambda each: each[:2]) if sure < SURE]


def _heavy(loadings: Mapping[str, float], names: Mapping[str, str], language: Language) -> str:
    """The items that a component is about, with their loadings."""
    heaviest = sorted(loadings.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:LOADINGS]
    return "; ".join(f"{escape(names[item])} ({number(value, language)})" for item, value in heaviest)
