"""What is planted in the synthetic respondents of the scenario study (docs/synthetic-respondent.md explains it).

Positions run from −1 (lowest scale point) to 1 (highest); on a scale of k points one unit is (k − 1)/2 points.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from enquete.respondents.planted import uniform

DIMENSIONS = ("desirability", "plausibility", "impact", "fairness")

Position = tuple[float, float, float, float]
"""In the order of DIMENSIONS."""


@dataclass(frozen=True, slots=True)
class PlantedScenario:
    """`words` recognise the scenario in the id or name that an instrument gives it."""

    key: str
    words: re.Pattern[str]
    position: Mapping[str, Position]  # by stakeholder type


@dataclass(frozen=True, slots=True)
class ScenarioTruth:
    """Positions by scenario and type, and the spread around them."""

    scenarios: tuple[PlantedScenario, ...]
    other_range: float  # types, scenarios and dimensions that the tables do not name lie within ± this
    person_sd: float  # an agent's own deviation on an item

    def position(self, scenario: str, kind: str, dimension: str) -> float:
        """Planted position of a type; what the tables do not name is drawn by its name and does not change."""
        known = {planted.key: planted for planted in self.scenarios}.get(scenario)
        if known is not None and kind in known.position and dimension in DIMENSIONS:
            return known.position[kind][DIMENSIONS.index(dimension)]
        return self.other_range * (2 * uniform("scenario", "type", scenario, dimension, kind) - 1)


def _scenario(key: str, words: str, position: Mapping[str, Position]) -> PlantedScenario:
    return PlantedScenario(key, re.compile(words, re.IGNORECASE), position)


TRUTH = ScenarioTruth(
    scenarios=(
        _scenario(
            "erholung",
            r"erhol|recover",
            {
                "small_scale": (0.85, -0.15, 0.80, 0.55),
                "industrial": (0.55, 0.10, 0.40, 0.25),
                "angler": (0.80, -0.20, 0.60, 0.40),
                "ngo": (0.75, -0.35, 0.35, 0.45),
                "scientist": (0.75, -0.40, 0.15, 0.40),
                "administration": (0.75, 0.15, 0.30, 0.50),
                "processor": (0.65, 0.00, 0.60, 0.40),
                "consumer": (0.70, 0.05, 0.40, 0.45),
                "municipality": (0.80, -0.05, 0.65, 0.50),
            },
        ),
        _scenario(
            "kollaps",
            r"kollaps|zusammenbruch|collaps",
            {
                "small_scale": (-0.95, 0.35, -0.90, -0.80),
                "industrial": (-0.75, -0.10, -0.60, -0.40),
                "angler": (-0.85, 0.30, -0.70, -0.50),
                "ngo": (-0.80, 0.45, -0.40, -0.60),
                "scientist": (-0.75, 0.40, -0.10, -0.40),
                "administration": (-0.85, -0.05, -0.40, -0.40),
                "processor": (-0.55, 0.10, -0.30, -0.20),
                "consumer": (-0.50, 0.15, -0.30, -0.30),
                "municipality": (-0.85, 0.25, -0.75, -0.60),
            },
        ),
        _scenario(
            "festung_europa",
            r"festung|fortress",
            {
                "small_scale": (-0.30, 0.20, -0.20, -0.25),
                "industrial": (-0.60, 0.25, -0.55, -0.50),
                "angler": (-0.90, 0.30, -0.90, -0.85),
                "ngo": (0.50, -0.10, 0.35, 0.30),
                "scientist": (0.25, 0.05, 0.15, 0.15),
                "administration": (0.10, 0.25, -0.05, 0.10),
                "processor": (-0.35, 0.20, -0.40, -0.30),
                "consumer": (0.05, 0.10, -0.10, -0.05),
                "municipality": (-0.15, 0.15, -0.25, -0.20),
            },
        ),
        _scenario(
            "privatisierung",
            r"privati[sz]|\bitqs?\b",
            {
                "small_scale": (-0.85, 0.55, -0.90, -0.90),
                "industrial": (0.40, 0.35, 0.55, 0.10),
                "angler": (-0.45, 0.30, -0.30, -0.50),
                "ngo": (-0.55, 0.40, -0.25, -0.65),
                "scientist": (-0.25, 0.30, -0.05, -0.40),
                "administration": (-0.05, 0.10, -0.10, -0.15),
                "processor": (0.30, 0.30, 0.35, 0.05),
                "consumer": (-0.20, 0.15, -0.10, -0.35),
                "municipality": (-0.60, 0.35, -0.60, -0.65),
            },
        ),
    ),
    other_range=0.6,
    person_sd=0.25,
)


def recognise(scenario_id: str, label: str) -> str | None:
    """Key of the planted scenario that an id or name speaks of; None for a scenario that nobody planted."""
    text = f"{scenario_id} {label}".replace("_", " ")
    return next((planted.key for planted in TRUTH.scenarios if planted.words.search(text)), None)
