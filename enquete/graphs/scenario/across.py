"""How desirable each scenario is to each agent, for tables and claims across methods, and the findings that replicates judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import pandas as pd

from enquete.analysis.agreement.held import sign
from enquete.locale import N_, Words, said
from enquete.reports.context import Found, at, figure, listed, responded
from enquete.reports.crossing.claims import Finding, Measure, Missing, Sentences
from enquete.reports.evaluation import Headline
from enquete.state.asking import Language

KINDS: Mapping[str, Words] = {"desirability": N_("desirability of the scenarios")}

NO_FINDINGS = Missing("no_scenario", N_("The scenarios are missing"))
NO_DESIRABILITY = Missing(
    "no_desirability",
    N_("The scenario instrument does not ask for desirability"),
)
NO_RATINGS = Missing("no_ratings", N_("No scenario was rated"))


@dataclass(frozen=True)
class Wishes:
    """ratings: participants × scenario ids. labels: by scenario id."""

    ratings: pd.DataFrame
    labels: Mapping[str, str]
    dimension: str
    scale: tuple[int, int]


def wishes(found: Found, rows: pd.DataFrame) -> Wishes | Missing:
    """How desirable each scenario is to each agent."""
    if not found:
        return NO_FINDINGS
    dimension = at(found, "polarity", "desirability")
    scales = {one.get("dimension"): (one.get("scale_min"), one.get("scale_max")) for one in listed(found, "dimensions")}
    low, high = scales.get(dimension, (None, None))
    if not isinstance(dimension, str) or not isinstance(low, int) or not isinstance(high, int):
        return NO_DESIRABILITY
    labels = {str(one["scenario"]): str(one.get("label") or one["scenario"]) for one in listed(found, "scenarios")}
    items = {f"{scenario}/{dimension}": scenario for scenario in labels}
    rated = responded(rows)
    rated = rated[rated["item_id"].isin(list(items)) & rated["value"].notna()]
    if rated.empty:
        return NO_RATINGS
    wide = rated.pivot(index="participant", columns="item_id", values="value").astype(float).rename(columns=items)
    return Wishes(wide, labels, dimension, (low, high))


def agents(found: Found, rows: pd.DataFrame) -> Iterator[Finding]:
    """Desirability of every scenario, and how far an agent sets the scenarios apart."""
    wished = wishes(found, rows)
    if isinstance(wished, Missing):
        return
    for scenario, label in wished.labels.items():
        if scenario in wished.ratings:
            name = said(N_("desirability of “{label}”"), label=label)
            yield Finding(f"desirability_{scenario}", "numeric", name, wished.ratings[scenario], "desirability")
    complete = wished.ratings.dropna()
    spread = complete.max(axis=1) - complete.min(axis=1)
    of_spread: Words = N_("range of desirabilities")
    yield Finding("desirability_range", "numeric", of_spread, spread)


# --- claims ----------------------------------------------------------------------------------------------------------

WISHED = Sentences(
    N_(
        "The scenario “{scenario}” is most desirable to {high} (mean {high_value} on {scale_min}–{scale_max}, "
        "{high_n} of {high_total} agents), least to {low} ({low_value}, {low_n} of {low_total})."
    ),
    N_(
        "The scenario “{scenario}” is equally desirable to all {n_groups} groups (mean {high_value} on "
        "{scale_min}–{scale_max}, {n} of {n_total} agents)."
    ),
)
WISHED_BY_SIDES = Sentences(
    N_(
        "Of {scenarios} scenarios “{scenario}” sets {them_there} apart most; more desirable to: {high} (mean "
        "{high_value} on {scale_min}–{scale_max}, n = {high_n}), less to: {low} ({low_value}, n = {low_n})."
    ),
    N_("None of {scenarios} scenarios sets {them_there} apart from the others."),
)
HEADING = N_("Desirability of scenarios")
OF_SIDES = N_("Desirability to {them}")


def measures(found: Found, rows: pd.DataFrame) -> Iterator[Measure]:
    """One a scenario: how desirable it is."""
    wished = wishes(found, rows)
    if isinstance(wished, Missing):
        yield Measure("desirability", HEADING, wished, sides_heading=OF_SIDES)
        return
    low, high = wished.scale
    for scenario in wished.ratings.columns:
        item = f"{scenario}/{wished.dimension}"
        yield Measure(
            "desirability",
            HEADING,
            wished.ratings[scenario],
            evidence=rows[rows["item_id"].eq(item) & rows["value"].notna()],
            by_value=True,
            rests_on=(f"exports/all_responses.csv → value, item_id=*/{wished.dimension}",),
            sentences=WISHED,
            sides=WISHED_BY_SIDES,
            sides_heading=OF_SIDES,
            facts=lambda labels: {"scale_min": low, "scale_max": high},
            terms={"scenario": wished.labels[scenario]},
            suffix=scenario,
            variants="scenarios",
        )


# --- headlines -------------------------------------------------------------------------------------------------------

SENTENCES: Mapping[str, str] = {
    "order": N_("“{0}” more desirable than “{1}” (difference)"),
    "quadrant": N_("“{0}”: quadrant"),
    "wished_expected": N_("wished for and expected"),
    "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("feared and expected"),
    "feared_unexpected": N_("feared, not expected"),
    "undecided": N_("on an axis"),
}


def headlines(found: Found, language: Language) -> Iterator[Headline]:
    """Which of two neighbours in the order of mean desirability comes first, and the quadrant of every scenario in one."""
    labels = {str(one.get("scenario")): str(one.get("label")) for one in listed(found, "scenarios")}
    wished = at(found, "polarity", "desirability")
    known = [one for one in listed(found, "ratings") if one.get("dimension") == wished]
    means = {str(one.get("scenario")): mean for one in known if (mean := figure(one, "mean")) is not None}
    order = sorted(means, key=lambda name: (-means[name], name))
    for a, b in permutations(order, 2):
        apart = round(means[a] - means[b], 2)  # as printed
        neighbours = apart > 0 and order.index(b) == order.index(a) + 1
        about = (labels.get(a, a), labels.get(b, b))
        yield Headline(f"scenario.order.{a}/{b}", "order", sign(apart), apart, about, neighbours)
    for one in listed(found, "polarity", "scenarios"):
        name, place = str(one.get("scenario")), one.get("quadrant")
        said = place if isinstance(place, str) else None
        own = (labels.get(name, name),)
        yield Headline(f"scenario.quadrant.{name}", "quadrant", said, said, own, said not in (None, "undecided"))
