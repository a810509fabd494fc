"""What is planted in the synthetic respondents of the longitudinal study (docs/synthetic-respondent.md explains it).

Positions run from −1 (rejects the family's positively keyed items) to 1 (agrees: expects recovery, supports the rules,
sees the market reward sustainable fishing, expects adaptation to succeed); on a scale of k points one unit is
(k − 1)/2 points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FAMILIES = ("stock", "governance", "market", "climate")


@dataclass(frozen=True, slots=True)
class LongitudinalTruth:
    """Positions and shifts by type and family (in the order of `families`), and the spread around them."""

    families: tuple[str, ...]
    position: Mapping[str, tuple[float, ...]]
    shift: Mapping[str, tuple[float, ...]]  # added at T1 for agents with a memory, never for others
    other_shift: tuple[float, ...]  # the same for types that the tables do not name
    other_range: float  # such types lie within ± this, drawn by their name
    person_sd: float  # an agent's own deviation per family, the same at both waves
    item_sd: float  # an agent's own deviation per item, the same at both waves
    noise: float  # drawn anew on each occasion: at each wave, and whenever a wave is asked once more
    loading: tuple[float, float]  # items load between these
    intercept: float  # items lie within ± this
    drifting: tuple[str, ...]
    stable: tuple[str, ...]

    def position_shift(self, kind: str, family: str) -> float:
        """Planted change of position from T0 to T1 of an agent with memory; 0 for a family that is not planted."""
        if family not in self.families:
            return 0.0
        return self.shift.get(kind, self.other_shift)[self.families.index(family)]


TRUTH = LongitudinalTruth(
    families=FAMILIES,
    position={
        "small_scale": (-0.30, -0.55, -0.35, -0.25),
        "industrial": (0.35, -0.20, 0.45, 0.15),
        "angler": (-0.05, -0.35, -0.10, -0.05),
        "ngo": (-0.60, -0.10, -0.20, 0.10),
        "scientist": (-0.45, 0.20, 0.00, 0.25),
        "administration": (0.00, 0.55, 0.25, 0.45),
        "processor": (0.20, 0.10, 0.55, 0.10),
        "consumer": (-0.10, 0.10, 0.30, 0.25),
        "municipality": (-0.20, -0.05, 0.10, 0.30),
    },
    shift={
        "small_scale": (0.0, -0.30, 0.0, 0.30),
        "industrial": (0.0, -0.35, 0.0, 0.30),
        "angler": (0.0, -0.30, 0.0, 0.25),
        "ngo": (0.0, -0.25, 0.0, 0.15),
        "scientist": (0.0, -0.20, 0.0, 0.20),
        "administration": (0.0, -0.25, 0.0, 0.20),
        "processor": (0.0, -0.30, 0.0, 0.30),
        "consumer": (0.0, -0.25, 0.0, 0.30),
        "municipality": (0.0, -0.30, 0.0, 0.35),
    },
    other_shift=(0.0, -0.30, 0.0, 0.30),
    other_range=0.6,
    person_sd=0.22,
    item_sd=0.15,
    noise=0.15,
    loading=(0.75, 1.0),
    intercept=0.12,
    drifting=("governance", "climate"),
    stable=("stock", "market"),
)
