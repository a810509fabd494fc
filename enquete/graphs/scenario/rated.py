"""How scenarios were rated: names, scales and means with their intervals, for sentences and tables."""

from __future__ import annotations

from enquete.analysis.means import Mean, mean_interval
from enquete.reports.context import Found, at, listed
from enquete.reports.key_findings import FEWEST


class Rated:
    """Findings of one run, read by scenario and dimension."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.labels = {str(one["scenario"]): str(one["label"]) for one in listed(found, "scenarios")}
        self.dimensions = {str(one["dimension"]): one for one in listed(found, "dimensions")}
        self.ratings = {(str(one["scenario"]), str(one["dimension"])): one for one in listed(found, "ratings")}
        self.wished, self.expected = (at(found, "polarity", role) for role in ("desirability", "plausibility"))

    @property
    def main(self) -> str:
        """The dimension that polarity reads as desirability, else the first."""
        return str(self.wished) if self.wished in self.dimensions else next(iter(self.dimensions))

    def mean(self, scenario: str, dimension: str) -> Mean:
        one = self.ratings[scenario, dimension]
        return mean_interval(int(one["n_responded"]), one["mean"], one["sd"], self.ends(dimension))

    def quadrant(self, scenario: str) -> str:
        """Where wish and expectation lie; "" where either is not clear of its midpoint, or not asked for."""
        if self.wished not in self.dimensions or self.expected not in self.dimensions:
            return ""
        wish, expectation = (self.side(scenario, dimension) for dimension in (self.wished, self.expected))
        if not wish or not expectation:
            return ""
        return f"{'wished' if wish > 0 else 'feared'}_{'expected' if expectation > 0 else 'unexpected'}"

    def side(self, scenario: str, dimension: str) -> float:
        """How far the mean lies from the midpoint, −1 to 1; 0 where its interval does not leave it, or few have rated."""
        found, (low, high) = self.mean(scenario, dimension), self.ends(dimension)
        middle = (low + high) / 2
        if found.mean is None or found.low is None or found.high is None or found.n < FEWEST:
            return 0.0
        return 0.0 if found.low <= middle <= found.high else (found.mean - middle) / (high - middle)

    def label(self, dimension: str) -> str:
        return str(self.dimensions[dimension]["label"])

    def ends(self, dimension: str) -> tuple[int, int]:
        return int(self.dimensions[dimension]["scale_min"]), int(self.dimensions[dimension]["scale_max"])

    def scale(self, dimension: str) -> str:
        return "–".join(map(str, self.ends(dimension)))

    def range(self, dimension: str) -> int:
        low, high = self.ends(dimension)
        return high - low
