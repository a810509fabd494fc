"""What is planted in the synthetic respondents of the diversity study: four archetypes, each with a sort and axes.

docs/synthetic-respondent.md explains it. Sorts are legal on the shipped grid 2-3-4-6-4-3-2; axes run from −1 (low pole)
to 1 (high pole).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from enquete.respondents.planted import normal, uniform

ARCHETYPES = ("stewards", "producers", "guardians", "regulators")

# One line a statement, one column an archetype, in the order of ARCHETYPES.
_SORTS: Mapping[str, tuple[int, int, int, int]] = {
    "rest_for_stocks": (-1, -2, 3, 0),
    "protected_areas": (-2, -3, 3, 0),
    "ban_bottom_trawls": (0, -3, 2, -1),
    "food_from_the_sea": (1, 2, -1, 1),
    "use_what_is_there": (0, 3, -3, 0),
    "control_predators": (2, 1, -3, -2),
    "small_boats_first": (3, -2, 1, -1),
    "tradable_quotas": (-3, 2, -2, -2),
    "larger_units": (-3, 3, -2, -1),
    "consumers_decide": (-1, 1, 0, 1),
    "aid_for_fleets": (1, 0, -1, 1),
    "direct_sales": (2, -1, 1, 0),
    "science_sets_limits": (-2, -1, 2, 0),
    "fishers_know": (2, 0, -2, -3),
    "monitoring": (-2, -2, 1, 2),
    "climate_first": (0, 0, 0, -2),
    "nutrients": (1, 1, 0, 0),
    "common_rules": (-1, 0, 1, 3),
    "regional_say": (3, 0, -1, -3),
    "round_table": (0, 0, 0, 2),
    "heritage": (1, -1, 0, -1),
    "young_fishers": (0, 1, -1, 2),
    "room_for_anglers": (0, -1, 0, 1),
    "planning_security": (-1, 2, 2, 3),
}
GRID = {-3: 2, -2: 3, -1: 4, 0: 6, 1: 4, 2: 3, 3: 2}


@dataclass(frozen=True, slots=True)
class DiversityTruth:
    """Positions by archetype, which types hold them, and the spread of a person around their archetype."""

    archetypes: tuple[str, ...]
    members: Mapping[str, str]  # stakeholder type → archetype
    sort: Mapping[str, Mapping[str, int]]  # archetype → statement → column
    axes: Mapping[str, Mapping[str, float]]  # archetype → axis → −1 … 1
    noise: float  # sd of an agent's own view of a statement, in columns, before it is ranked into the grid
    axis_noise: float  # sd of an agent's own place on an axis; one unit is half the axis
    unplanted: float  # sd, in columns, of an archetype's view of a statement that nobody planted

    def archetype_of(self, kind: str) -> str:
        """A type that no archetype names (see respondents/stakeholders.py) belongs to one by hash."""
        return (
            self.members.get(kind)
            or self.archetypes[int(uniform("diversity", "archetype", kind) * len(self.archetypes))]
        )

    def view(self, archetype: str, statement: str) -> float:
        """The archetype's view of a statement, in columns of the shipped grid."""
        known = self.sort[archetype].get(statement)
        drawn = self.unplanted * normal("diversity", "statement", archetype, statement)
        return drawn if known is None else float(known)

    def place(self, archetype: str, axis: str) -> float:
        """The archetype's place on an axis, −1 … 1."""
        known = self.axes[archetype].get(axis)
        return 1.6 * uniform("diversity", "axis", archetype, axis) - 0.8 if known is None else known


def _axes(*places: float) -> dict[str, float]:
    names = ("preservation_extraction", "local_eu", "science_tradition", "individual_collective", "short_long_term",
             "market_regulation")  # fmt: skip
    return dict(zip(names, places, strict=True))


TRUTH = DiversityTruth(
    archetypes=ARCHETYPES,
    members={
        "small_scale": "stewards",
        "angler": "stewards",
        "municipality": "stewards",
        "industrial": "producers",
        "processor": "producers",
        "ngo": "guardians",
        "scientist": "guardians",
        "administration": "regulators",
        "consumer": "regulators",
    },
    sort={
        name: {statement: columns[place] for statement, columns in _SORTS.items()}
        for place, name in enumerate(ARCHETYPES)
    },
    axes={
        "stewards": _axes(0.2, -0.8, 0.7, 0.4, 0.1, 0.0),
        "producers": _axes(0.8, 0.1, 0.1, -0.6, -0.3, -0.8),
        "guardians": _axes(-0.9, 0.1, -0.8, 0.2, 0.9, 0.4),
        "regulators": _axes(0.1, 0.9, -0.2, 0.7, 0.2, 0.8),
    },
    noise=0.8,
    axis_noise=0.25,
    unplanted=1.7,
)
