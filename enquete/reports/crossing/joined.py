"""Claims across methods: what an agent's answers to one methodology say beside its answers to another, or its type.

Pure functions over findings and the response table. Agents are joined by participant id. Measured by: a claim names the
answers it rests on and where each of its figures stands; where a methodology failed or is partial, a claim is there with
the agents that are there, or absent with the reason, never empty. What is not part of the run is not missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

import pandas as pd

from enquete.locale import N_, Words, said
from enquete.reports.context import TYPE_NAMES, Found, at, chosen, responded
from enquete.reports.crossing.claims import Absent, Claim, Crossing, Grouping, Measure
from enquete.reports.crossing.comparing import NOBODY, between_sides, by_groups
from enquete.reports.evaluation import Evaluation

POPULATION = "exports/all_responses.csv → stakeholder_type"


def cross(evaluations: Mapping[str, Evaluation], results: Mapping[str, Found], frame: pd.DataFrame) -> Crossing:
    """All claims that can be made, and the reasons for those that cannot. frame: the response table of the run.

    Measures are compared between the groups of other methodologies, then between stakeholder types, then between two sides.
    """
    rows = responded(chosen(frame, frame["arm_role"].eq("main")))
    types = stakeholder_types(rows, results)
    made: list[Claim | Absent] = []
    measures: list[Measure] = []
    groupings: list[Grouping] = []
    for name, own in evaluations.items():
        found, theirs = results.get(name, {}), chosen(rows, rows["methodology"].eq(name))
        claims = own.claims(found, theirs, types)
        made += [replace(one, methods=(name,)) if isinstance(one, Claim) else one for one in claims]
        measures += [replace(one, methodology=name) for one in own.measures(found, theirs)]
        groupings += [replace(one, methodology=name) for one in own.groupings(found, theirs)]
    for grouping in (*(one for one in groupings if not one.sides), types):
        made += [by_groups(one, grouping) for one in measures if one.methodology != grouping.methodology]
    for grouping in (one for one in groupings if one.sides):
        others = [one for one in measures if one.methodology != grouping.methodology]
        made += [between_sides(list(variants), grouping) for _, variants in groupby(others, lambda one: one.name)]
    found_claims = tuple(one for one in made if isinstance(one, Claim))
    named = {name for claim in found_claims for name in claim.methods}
    legends = tuple(one.legend for one in groupings if one.legend and one.methodology in named)
    absent = {(one.claim, one.why): one for one in made if isinstance(one, Absent)}  # variants of a measure count once
    return Crossing(found_claims, tuple(absent.values()), legends)


def stakeholder_types(rows: pd.DataFrame, results: Mapping[str, Found]) -> Grouping:
    types = rows.drop_duplicates("participant").set_index("participant")["stakeholder_type"].astype("str")
    heading: Words = N_("by stakeholder type")
    names = {kind: name for found in results.values() for kind, name in (at(found, TYPE_NAMES) or {}).items()}
    called = {kind: said(N_("“{name}”"), name=name) for kind, name in names.items()}
    return Grouping("type", heading, types if len(types) else NOBODY, (POPULATION,), called=called)
