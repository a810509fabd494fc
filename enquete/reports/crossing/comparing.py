"""Claims made of kinds of finding: a measure compared between the groups of a grouping, or between two sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from enquete.locale import N_, Words, said
from enquete.reports.context import PARTS, alternating, cited
from enquete.reports.crossing.claims import (
    Absent,
    Claim,
    Group,
    Grouping,
    Measure,
    Missing,
    Sentences,
    Shown,
)
from enquete.reports.key_findings import FEWEST

EVIDENCE = 8
"""Answers named by a claim; it says how many it rests on in all."""

NOBODY = Missing("nobody", N_("There are no answers"))
ONE_GROUP = Missing("one_group", N_("Only one group has answers"))
SMALL_GROUPS = Missing(
    "small_groups",
    said(N_("Fewer than two groups have at least {n} agents with answers"), n=str(FEWEST)),
)


def grouped(values: pd.Series[float], labels: pd.Series[str], *, counts: bool = False) -> tuple[Group, ...]:
    """Mean of `values` in every group with at least one value, the largest first; ties by name."""
    given, group = values.reindex(labels.index).to_numpy(dtype=float), labels.to_numpy(dtype=object)
    found = []
    for name in labels.dropna().unique():
        part = given[group == name]
        known = part[~np.isnan(part)]
        if known.size:
            count = int(known.sum()) if counts else None
            found.append(Group(str(name), known.size, part.size, float(known.mean()), count))
    return tuple(sorted(found, key=lambda group: (-(group.value or 0.0), group.group)))


def comparable(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Those with enough agents to be named as the largest or the smallest."""
    return tuple(group for group in groups if group.n >= FEWEST)


def members(labels: pd.Series[str], groups: Sequence[Group], place: int) -> list[str]:
    """Of the group that is named in this place of those that can be compared."""
    named = comparable(groups)
    return labels.index[labels.eq(named[place].group)].tolist() if named else []


def claim(
    key: str,
    heading: Words,
    groups: Sequence[Group],
    sentences: Sentences,
    *,
    methods: tuple[str, ...],
    shown: Shown,
    answer_ids: Sequence[str],
    n_answers: int,
    rests_on: tuple[str, ...],
    facts: Mapping[str, int] | None = None,
    terms: Mapping[str, Words] | None = None,
    words: Mapping[str, Words] | None = None,
    called: Mapping[str, Words] | None = None,
    subjects: tuple[str, ...] = (),
    suffix: str = "",
) -> Claim | Absent:
    """The claim; absent where there are not two groups to compare, or no answer stands for it.

    groups: all with a value, the largest first. Those too small to be compared are kept apart. words: {names} in sentences.
    """
    named = comparable(groups)
    if len(groups) < 2:
        return Absent(key, heading, ONE_GROUP)
    if len(named) < 2:
        return Absent(key, heading, SMALL_GROUPS)
    if not answer_ids:
        return Absent(key, heading, NOBODY)
    fits = "same" if f"{named[0].value:.2f}" == f"{named[-1].value:.2f}" else "differs"
    return Claim(
        id=f"{key}_{suffix}" if suffix else key,
        template=f"{key}/{fits}",
        methods=methods,
        groups=named,
        shown=shown,
        n=sum(group.n for group in named),
        n_total=sum(group.n_total for group in named),
        answer_ids=tuple(answer_ids[:EVIDENCE]),
        n_answers=n_answers,
        rests_on=rests_on,
        facts=facts or {},
        terms=terms or {},
        small=tuple(group for group in groups if group.n < FEWEST),
        heading=heading,
        text=getattr(sentences, fits),
        words=words or {},
        called=called or {},
        subjects=subjects,
    )


def by_groups(measure: Measure, grouping: Grouping) -> Claim | Absent:
    """The measure's mean, or share, by group."""
    key = f"{measure.name}_by_{grouping.name}"
    values, labels = measure.values, grouping.labels
    heading = said("{what} {by}", what=measure.heading, by=grouping.heading)
    if isinstance(values, Missing) or isinstance(labels, Missing):
        return Absent(key, heading, _first(values, labels))
    groups = grouped(values, labels, counts=measure.shown == "share")
    return claim(
        key, heading, groups, measure.sentences, methods=_methods(measure, grouping), shown=measure.shown,
        answer_ids=alternating(*(cited(one, EVIDENCE) for one in _ends(measure, labels, groups))),
        n_answers=len(measure.evidence), rests_on=(*measure.rests_on, *grouping.rests_on), facts=measure.facts(labels),
        terms=measure.terms, words={"heading": measure.heading},
        called=grouping.called, subjects=tuple(measure.terms), suffix=measure.suffix,
    )  # fmt: skip


def between_sides(variants: Sequence[Measure], sides: Grouping) -> Claim | Absent:
    """Two sides compared; of a measure's variants on the one that lies furthest apart."""
    first = variants[0]
    key = f"{first.name}_of_{sides.name}"
    heading = said(first.sides_heading, heading=first.heading, **sides.sides)
    if isinstance(first.values, Missing) or isinstance(sides.labels, Missing):
        return Absent(key, heading, _first(first.values, sides.labels))
    compared = [(one, grouped(one.values, sides.labels)) for one in variants if not isinstance(one.values, Missing)]
    both = [(one, groups) for one, groups in compared if len(comparable(groups)) == 2]
    measure, groups = max(both or compared, key=lambda pair: _apart(pair[1]))
    counted = {measure.variants: len(both)} if measure.variants else {}
    words = {"heading": measure.heading, **sides.sides}
    return claim(
        key, heading, groups, measure.sides, methods=_methods(measure, sides), shown=measure.shown,
        answer_ids=alternating(cited(measure.evidence, EVIDENCE), cited(sides.evidence, EVIDENCE)),
        n_answers=len(measure.evidence) + len(sides.evidence), rests_on=(*measure.rests_on, *sides.rests_on),
        facts={**measure.facts(sides.labels), **counted}, terms=measure.terms, words=words, called=sides.called,
        subjects=tuple(measure.terms),
    )  # fmt: skip


def _apart(groups: Sequence[Group]) -> float:
    return (groups[0].value or 0.0) - (groups[-1].value or 0.0) if groups else -1.0


def _methods(measure: Measure, grouping: Grouping) -> tuple[str, ...]:
    return tuple(name for name in (measure.methodology, grouping.methodology) if name)


def _first(*inputs: object) -> Missing:
    return next(one for one in inputs if isinstance(one, Missing))


def _ends(measure: Measure, labels: pd.Series[str], groups: Sequence[Group]) -> Iterator[pd.DataFrame]:
    """Answers of the members of the largest group, then of the smallest."""
    rows = measure.evidence[["value", *PARTS]]
    for place in (0, -1):
        own = rows.loc[rows["participant"].isin(members(labels, groups, place))]
        yield own.sort_values("value", ascending=place == -1, kind="stable") if measure.by_value else own
