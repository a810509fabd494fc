"""What the templates of scenarios cannot compute: means with intervals, groups that are large enough, quotes that are not doubled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.analysis.relations.polarity import QUADRANTS
from enquete.graphs.scenario.rated import Rated
from enquete.locale import N_, tell
from enquete.reports.context import Found, figure, listed
from enquete.reports.evaluation import Remembered
from enquete.reports.key_findings import FEWEST
from enquete.reports.markdown import number
from enquete.state.asking import Language

QUOTED = 3

PLACES: Mapping[str, str] = {
    "wished_expected": N_("wished for and expected"),
    "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("feared and expected"),
    "feared_unexpected": N_("feared, not expected"),
    "undecided": N_("on the midpoint"),
}
METHODS: Mapping[str, str] = {
    "chi-squared": "χ²",
    "exact permutation": N_("all permutations"),
    "random permutation": N_("random permutations"),
    "none": "–",
}
REASONS: Mapping[str, str] = {
    "too_few_raters": N_("no test. Agents who rated all scenarios: {n}; two are needed."),
    "no_variation": N_("no test, because all {n} agents rated all scenarios alike."),
}

Row = Mapping[str, Any]

GLOSSARY: Mapping[str, str] = {
    N_("wish and expectation"): N_(
        "mean desirability and plausibility; a scenario is placed where both lie clear of the midpoint"
    ),
}


def shown(found: Found, language: Language) -> dict[str, Any]:
    """rows: scenarios in the order of `main`; groups: means of it by group; the rest by its name."""
    rated = Rated(found)
    return {
        "labels": rated.labels, "dimensions": rated.dimensions, "main": rated.main, "rows": _rows(rated),
        "groups": _groups(rated), "p_of_groups": _p_of_groups(rated), "places": PLACES, "quadrants": QUADRANTS,
        "methods": METHODS, "reasons": REASONS, "fewest": FEWEST, "open": [*_open(found)],
        "tested": [one for one in listed(found, "group_tests") if not one["reason"]],
    }  # fmt: skip


SCENARIO = N_("scenario “{label}”, rated by {n} of {total} agents: {ratings}.{quadrant}")
RATED = N_("{dimension} {mean} on {scale}")


def remembered(found: Found, language: Language) -> Iterator[Remembered]:
    """A scenario with its mean ratings."""
    rated = Rated(found)
    for name, label in rated.labels.items():
        means = {dimension: rated.mean(name, dimension) for dimension in rated.dimensions}
        told = [
            tell(RATED, language).format(
                dimension=rated.label(dimension), mean=number(mean.mean, language), scale=rated.scale(dimension)
            )
            for dimension, mean in means.items()
            if mean.mean is not None
        ]
        one, quadrant = rated.ratings[name, rated.main], rated.quadrant(name)
        text = tell(SCENARIO, language).format(
            label=label, n=one["n_responded"], total=one["n_total"], ratings=", ".join(told) or "–",
            quadrant=f" {tell(PLACES[quadrant], language)}." if quadrant else "",
        )  # fmt: skip
        yield Remembered(f"scenario/{name}", text)


def _rows(rated: Rated) -> list[dict[str, Any]]:
    """Scenarios with a mean on every dimension and their quadrant, the highest on the main dimension first."""
    rows = [
        {
            "label": label,
            "n": min(int(rated.ratings[name, dimension]["n_responded"]) for dimension in rated.dimensions),
            "n_total": int(rated.ratings[name, rated.main]["n_total"]),
            "means": {dimension: rated.mean(name, dimension) for dimension in rated.dimensions},
            "quadrant": rated.quadrant(name),
        }
        for name, label in rated.labels.items()
    ]
    return sorted(rows, key=lambda row: -(row["means"][rated.main].mean or 0.0))


def _groups(rated: Rated) -> dict[str, dict[str, Row]]:
    """By group and scenario what enough of its agents rated on the main dimension."""
    groups: dict[str, dict[str, Row]] = {}
    for scenario in rated.labels:
        for one in listed(rated.ratings[scenario, rated.main], "by_type"):
            if one["n_responded"] >= FEWEST:
                groups.setdefault(one["stakeholder_type"], {})[scenario] = one
    return groups


def _p_of_groups(rated: Rated) -> dict[str, float | None]:
    tests = {one["scenario"]: one for one in listed(rated.found, "group_tests") if one["dimension"] == rated.main}
    return {scenario: figure(tests.get(scenario), "p_holm") for scenario in rated.labels}


def _open(found: Found) -> Iterator[dict[str, Any]]:
    """Scenarios with their themes, each with quotes: an answer may voice several, and those not quoted yet come first; and
    the groups with enough answers."""
    for entry in listed(found, "open", "scenarios"):
        seen: set[str] = set()
        themes = []
        for theme in entry["themes"]:
            quotes = sorted(theme["quoted"], key=lambda one: one["id"] in seen)[:QUOTED]
            seen.update(one["id"] for one in quotes)
            themes.append({**theme, "quotes": quotes})
        kinds = [one for one in entry["by_type"] if one["n_responded"] >= FEWEST]
        yield {**entry, "themes": themes, "kinds": kinds}
