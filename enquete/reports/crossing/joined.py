"""Claims across methods: what an agent's answers to one methodology say beside its answers to another, or its type.

Pure functions over findings and the response table. Agents are joined by participant id. Measured by: a claim names the
answers it rests on and where each of its figures stands; where a methodology is missing, failed or partial, a claim is
there with the agents that are there, or absent with the reason, never empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import pandas as pd

from enquete.reports.crossing.claims import FEWEST, Absent, Claim, Crossing, Group, Shown
from enquete.reports.crossing.inputs import (
    Camps,
    Drift,
    HoldOuts,
    Missing,
    Results,
    Wishes,
    archetypes,
    camps,
    drift,
    hold_outs,
    last_ratings,
    wishes,
)
from enquete.reports.crossing.sentences import enumerated
from enquete.reports.table.evidence import alternating, cited, with_ids
from enquete.reports.wording import dimension_name
from enquete.state.seam import Language

EVIDENCE = 8
"""Answers named by a claim; it says how many it rests on in all."""

DRIFT = "T1/longitudinal/aggregate.json → {kind}.agents"
TYPOLOGY = "T1/diversity/typology.json → members"
DELPHI = "T1/delphi/convergence.json → {part}"
POPULATION = "exports/all_responses.csv → stakeholder_type"
WISHES = "exports/all_responses.csv → value, item_id=*/{dimension}"

Grouping = tuple[Literal["archetype", "type"], "pd.Series[str] | Missing", str]
"""Name, label by participant, where it stands."""


def cross(results: Results, frame: pd.DataFrame) -> Crossing:
    """All claims that can be made, and the reasons for those that cannot. frame: the response table of the run."""
    rows = with_ids(frame[frame["arm_role"].eq("main")])
    types = rows.drop_duplicates("participant").set_index("participant")["stakeholder_type"].astype("str")
    by_archetype: Grouping = ("archetype", archetypes(results), TYPOLOGY)
    by_type: Grouping = ("type", types if len(types) else Missing("nobody"), POPULATION)
    moved, holding, wished = drift(results), to_compare(hold_outs(results, rows)), wishes(results, rows)
    split = camps(results)
    made: list[Claim | Absent] = [archetype_types(by_archetype, types, rows)]
    for grouping in (by_archetype, by_type):
        made += [
            drift_by(moved, grouping, rows),
            hold_outs_by(holding, grouping, rows),
            camps_by(split, grouping, rows),
            *desirability_by(wished, grouping, rows),
        ]
    made += [drift_of_hold_outs(moved, holding, rows), desirability_of_hold_outs(wished, holding, rows)]
    claims = tuple(one for one in made if isinstance(one, Claim))
    return Crossing(claims, tuple(one for one in made if isinstance(one, Absent)))


def grouped(values: pd.Series[float], labels: pd.Series[str], *, counts: bool = False) -> tuple[Group, ...]:
    """Mean of `values` in every group with at least one value, the largest first; ties by name."""
    joined = pd.DataFrame({"value": values.reindex(labels.index), "group": labels})
    found = []
    for name, part in joined.groupby("group", sort=True):
        known = part["value"].dropna()
        if len(known):
            count = int(known.sum()) if counts else None
            found.append(Group(str(name), len(known), len(part), float(known.mean()), count))
    return tuple(sorted(found, key=lambda group: (-(group.value or 0.0), group.group)))


def contrast(groups: Sequence[Group]) -> str:
    """Which of the two sentences fits: the largest against the smallest, or all alike."""
    first, last = groups[0], groups[-1]
    return "same" if f"{first.value:.2f}" == f"{last.value:.2f}" else "differs"


def _claim(
    name: str,
    grouping: str,
    groups: tuple[Group, ...],
    *,
    methods: tuple[str, ...],
    shown: Shown,
    answer_ids: Sequence[str],
    n_answers: int,
    rests_on: tuple[str, ...],
    facts: Mapping[str, int] | None = None,
    terms: Mapping[str, Mapping[Language, str]] | None = None,
    suffix: str = "",
) -> Claim | Absent:
    """The claim; absent where there are not two groups to compare, or no answer stands for it.

    groups: all with a value. Those too small to be compared are kept apart; the order stays.
    """
    key = f"{name}_by_{grouping}" if grouping else name
    small = tuple(group for group in groups if group.n < FEWEST)
    if len(groups) < 2:
        return Absent(key, "one_group")
    groups = comparable(groups)
    if len(groups) < 2:
        return Absent(key, "small_groups")
    if not answer_ids:
        return Absent(key, "nobody")
    return Claim(
        id=f"{key}_{suffix}" if suffix else key,
        template=f"{key}/{contrast(groups)}",
        methods=methods,
        groups=groups,
        shown=shown,
        n=sum(group.n for group in groups),
        n_total=sum(group.n_total for group in groups),
        answer_ids=tuple(answer_ids[:EVIDENCE]),
        n_answers=n_answers,
        rests_on=rests_on,
        facts=facts or {},
        terms=terms or {},
        small=small,
    )


def comparable(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Those with enough agents to be named as the largest or the smallest."""
    return tuple(group for group in groups if group.n >= FEWEST)


def _members(labels: pd.Series[str], groups: Sequence[Group], place: int) -> list[str]:
    named = comparable(groups)
    return labels.index[labels.eq(named[place].group)].tolist() if named else []


# --- who the archetypes are ------------------------------------------------------------------------------------------


def archetype_types(by_archetype: Grouping, types: pd.Series[str], rows: pd.DataFrame) -> Claim | Absent:
    """The share of each archetype's most frequent stakeholder type."""
    labels, where = by_archetype[1], by_archetype[2]
    if isinstance(labels, Missing):
        return Absent("types_of_archetypes", labels.why)
    kinds = types.reindex(labels.index)
    if kinds.nunique() < 2:
        return Absent("types_of_archetypes", "one_type")
    tops = {name: kinds[labels.eq(name)].mode().tolist() for name in sorted(set(labels))}
    tops = {name: modes for name, modes in tops.items() if modes}
    is_top = kinds.eq(labels.map({name: modes[0] for name, modes in tops.items()})).astype(float).where(kinds.notna())
    groups = grouped(is_top, labels, counts=True)
    sorts = rows[rows["methodology"].eq("diversity")]
    first, last = (_ids_of(sorts, _members(labels, groups, place)) for place in (0, -1))
    named = comparable(groups)
    ends = [(end, tops[named[place].group]) for end, place in (("high", 0), ("low", -1)) if named]
    terms = {f"type_{end}": _same(modes[0]) for end, modes in ends}
    terms |= {f"tied_{end}": {"de": _quoted(modes[1:], "de"), "en": _quoted(modes[1:], "en")}
              for end, modes in ends if len(modes) > 1}  # fmt: skip
    return _claim(
        "types_of_archetypes", "", groups, methods=("diversity",), shown="share",
        answer_ids=alternating(first, last), n_answers=len(sorts[sorts["participant"].isin(list(labels.index))]),
        rests_on=(where, POPULATION), terms=terms,
    )  # fmt: skip


def _quoted(names: Sequence[str], language: Language) -> str:
    return enumerated([f"„{name}“" if language == "de" else f"“{name}”" for name in names], language)


def _same(text: str) -> dict[Language, str]:
    return {"de": text, "en": text}


def _ids_of(rows: pd.DataFrame, members: Sequence[str]) -> list[str]:
    """One answer of each member, so that several of them are named."""
    own = rows[rows["participant"].isin(list(members))]
    return cited(own.drop_duplicates("participant"), EVIDENCE)


# --- drift -----------------------------------------------------------------------------------------------------------


def drift_by(moved: Drift | Missing, grouping: Grouping, rows: pd.DataFrame) -> Claim | Absent:
    """Mean absolute change in scale points, by group."""
    kind, labels, where = grouping
    if isinstance(moved, Missing) or isinstance(labels, Missing):
        return Absent(f"drift_by_{kind}", _first_reason(moved, labels))
    name = "drift" if moved.kind == "drift" else "experience"
    groups = grouped(moved.moved, labels.reindex(moved.moved.index.union(labels.index)).dropna())
    changes = changed_answers(rows[rows["participant"].isin(list(moved.moved.index))])
    ends = [changes[changes["participant"].isin(_members(labels, groups, place))] for place in (0, -1)]
    return _claim(
        name, kind, groups, methods=_methods("longitudinal", kind), shown="mean",
        answer_ids=alternating(cited(ends[0], EVIDENCE), cited(ends[1], EVIDENCE)), n_answers=len(changes),
        rests_on=(DRIFT.format(kind=moved.kind), where),
    )  # fmt: skip


def changed_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Closed answers given in both waves, the largest change first; T0 and T1 of a pair stand together."""
    own = rows[rows["methodology"].eq("longitudinal") & rows["value"].notna()]
    waves = {wave: own[own["phase"].eq(wave)] for wave in ("T0", "T1")}
    keys = ["participant", "item_id"]
    pairs = waves["T0"][[*keys, "value"]].merge(waves["T1"][[*keys, "value"]], on=keys, suffixes=("_0", "_1"))
    pairs["size"] = (pairs["value_1"] - pairs["value_0"]).abs()
    ordered = pairs.sort_values("size", ascending=False, kind="stable").reset_index(names="pair_order")
    ordered["pair_order"] = range(len(ordered))
    both = own.merge(ordered[[*keys, "pair_order"]], on=keys)
    return both.sort_values(["pair_order", "phase"], kind="stable")


def _methods(own: str, kind: str) -> tuple[str, ...]:
    return (own, "diversity") if kind == "archetype" else (own,)


def _first_reason(*inputs: object) -> str:
    return next(one.why for one in inputs if isinstance(one, Missing))


# --- hold-outs and camps ---------------------------------------------------------------------------------------------


def to_compare(holding: HoldOuts | Missing) -> HoldOuts | Missing:
    """Nothing is said of hold-outs unless enough agents hold out somewhere, enough nowhere, and the others are more."""
    if isinstance(holding, Missing):
        return holding
    out = int(holding.share.gt(0).sum())
    others = len(holding.share) - out
    if not out:
        return Missing("no_hold_outs")
    if min(out, others) < FEWEST:
        return Missing("few_hold_outs")
    return holding if out < others else Missing("most_hold_out")


def hold_outs_by(holding: HoldOuts | Missing, grouping: Grouping, rows: pd.DataFrame) -> Claim | Absent:
    """The share of each group's agents who hold out on at least one theme."""
    kind, labels, where = grouping
    if isinstance(holding, Missing) or isinstance(labels, Missing):
        return Absent(f"hold_outs_by_{kind}", _first_reason(holding, labels))
    groups = grouped(holding.share.gt(0).astype(float), labels, counts=True)
    revised = revisions(holding, rows)
    ends = [revised[revised["participant"].isin(_members(labels, groups, place))] for place in (0, -1)]
    own = holding.share.reindex(labels.index).dropna()
    facts = {"holding_out": int(own.gt(0).sum()), "raters": len(own), "held": len(holding.held)}
    return _claim(
        "hold_outs", kind, groups, methods=_methods("delphi", kind), shown="share",
        answer_ids=alternating(cited(ends[0], EVIDENCE), cited(ends[1], EVIDENCE)), n_answers=len(revised),
        rests_on=(*_held_in(holding), where), facts=facts,
    )  # fmt: skip


def revisions(holding: HoldOuts, rows: pd.DataFrame) -> pd.DataFrame:
    """Last ratings of what is held out on: those of the hold-outs first, with a reason before those without."""
    last = last_ratings(rows, holding.last_round)
    own = last[last["item_id"].isin(list(holding.held))].copy()
    out = [who in holding.held[item] for who, item in zip(own["participant"], own["item_id"], strict=True)]
    own["conformed"], own["silent"] = [not one for one in out], own["text"].eq("")
    return own.sort_values(["conformed", "silent"], kind="stable")


def _held_in(holding: HoldOuts) -> tuple[str, ...]:
    return tuple(DELPHI.format(part=part) for part in holding.parts)


def _by_holding_out(holding: HoldOuts) -> pd.Series[str]:
    """Those who hold out on at least one theme, and the others."""
    return holding.share.gt(0).map({True: "holding_out", False: "others"}).astype("str")


def camps_by(split: Camps | Missing, grouping: Grouping, rows: pd.DataFrame) -> Claim | Absent:
    """Of the theme that splits the panel most: the share of each group that stands in the upper camp."""
    kind, labels, where = grouping
    if isinstance(split, Missing) or isinstance(labels, Missing):
        return Absent(f"camps_by_{kind}", _first_reason(split, labels))
    sides = pd.Series({**dict.fromkeys(sorted(split.below), 0.0), **dict.fromkeys(sorted(split.above), 1.0)})
    groups = grouped(sides, labels, counts=True)
    last = last_ratings(rows, split.last_round)
    own = last[last["item_id"].eq(split.item) & last["participant"].isin(list(sides.index))]
    ends = [own[own["participant"].isin(_members(labels, groups, place))] for place in (0, -1)]
    return _claim(
        "camps", kind, groups, methods=_methods("delphi", kind), shown="share", suffix=split.item,
        answer_ids=alternating(cited(ends[0], EVIDENCE), cited(ends[1], EVIDENCE)), n_answers=len(own),
        rests_on=(DELPHI.format(part="disagreements"), where),
        facts={"n_below": len(split.below), "n_above": len(split.above), "n_items": split.n_items},
        terms={"theme": _same(split.theme), "dimension": {"de": dimension_name(split.dimension, "de"),
                                                          "en": dimension_name(split.dimension, "en")}},
    )  # fmt: skip


def drift_of_hold_outs(moved: Drift | Missing, holding: HoldOuts | Missing, rows: pd.DataFrame) -> Claim | Absent:
    """Whether those who hold out in the Delphi are those who moved in the survey."""
    if isinstance(moved, Missing) or isinstance(holding, Missing):
        return Absent("drift_of_hold_outs", _first_reason(moved, holding))
    labels = _by_holding_out(holding)
    groups = grouped(moved.moved, labels)
    changes = changed_answers(rows[rows["participant"].isin(list(moved.moved.index))])
    revised = revisions(holding, rows)
    name = "drift_of_hold_outs" if moved.kind == "drift" else "experience_of_hold_outs"
    return _claim(
        name, "", groups, methods=("longitudinal", "delphi"), shown="mean",
        answer_ids=alternating(cited(revised, EVIDENCE), cited(changes, EVIDENCE)),
        n_answers=len(changes) + len(revised), rests_on=(DRIFT.format(kind=moved.kind), *_held_in(holding)),
    )  # fmt: skip


# --- desirability ----------------------------------------------------------------------------------------------------


def desirability_by(wished: Wishes | Missing, grouping: Grouping, rows: pd.DataFrame) -> Iterator[Claim | Absent]:
    """One claim a scenario: to whom it is most and least desirable."""
    kind, labels, where = grouping
    if isinstance(wished, Missing) or isinstance(labels, Missing):
        yield Absent(f"desirability_by_{kind}", _first_reason(wished, labels))
        return
    for scenario in wished.ratings.columns:
        values = wished.ratings[scenario]
        groups = grouped(values, labels)
        own = _ratings_of(wished, scenario, rows)
        ends = [own[own["participant"].isin(_members(labels, groups, place))] for place in (0, -1)]
        highest, lowest = (
            end.sort_values("value", ascending=place == 1, kind="stable") for place, end in enumerate(ends)
        )
        yield _claim(
            "desirability", kind, groups, methods=_methods("scenario", kind), shown="mean", suffix=scenario,
            answer_ids=alternating(cited(highest, EVIDENCE), cited(lowest, EVIDENCE)), n_answers=len(own),
            rests_on=(WISHES.format(dimension=wished.dimension), where), facts=_scale(wished),
            terms={"scenario": _same(wished.labels[scenario])},
        )  # fmt: skip


def _ratings_of(wished: Wishes, scenario: str, rows: pd.DataFrame) -> pd.DataFrame:
    item = f"{scenario}/{wished.dimension}"
    return rows[rows["methodology"].eq("scenario") & rows["item_id"].eq(item) & rows["value"].notna()]


def _scale(wished: Wishes) -> dict[str, int]:
    return {"scale_min": wished.scale[0], "scale_max": wished.scale[1]}


def desirability_of_hold_outs(
    wished: Wishes | Missing, holding: HoldOuts | Missing, rows: pd.DataFrame
) -> Claim | Absent:
    """The scenario on which those who hold out and the others lie furthest apart."""
    key = "desirability_of_hold_outs"
    if isinstance(wished, Missing) or isinstance(holding, Missing):
        return Absent(key, _first_reason(wished, holding))
    labels = _by_holding_out(holding)
    compared = {scenario: grouped(wished.ratings[scenario], labels) for scenario in wished.ratings.columns}
    pairs = {scenario: groups for scenario, groups in compared.items() if len(comparable(groups)) == 2}
    if not pairs:
        return Absent(key, "small_groups")
    scenario = max(pairs, key=lambda one: (pairs[one][0].value or 0.0) - (pairs[one][1].value or 0.0))
    own, revised = _ratings_of(wished, scenario, rows), revisions(holding, rows)
    return _claim(
        key, "", pairs[scenario], methods=("scenario", "delphi"), shown="mean",
        answer_ids=alternating(cited(own, EVIDENCE), cited(revised, EVIDENCE)), n_answers=len(own) + len(revised),
        rests_on=(WISHES.format(dimension=wished.dimension), *_held_in(holding)),
        facts={**_scale(wished), "scenarios": len(pairs)},
        terms={"scenario": _same(wished.labels[scenario])},
    )  # fmt: skip
