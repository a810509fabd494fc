"""What the ratings of scenarios found, in sentences: which is wished for most and least, which is expected, who differs.

Every figure can be had from all_responses.csv with pandas and scipy, over answers (`value` is there) of the main arm:

- mean, low, high (and those of the other end): of `value`, ± t(.975, n − 1)·s/√n, cut at the ends of the scale.
- change: mean of the differences by agent, over those that rated both scenarios; p: Wilcoxon's signed-rank test of these,
  zeros left out, exact given the mid-ranks, by Holm over all pairs of scenarios on that dimension.
- groups: Kruskal–Wallis over the stakeholder types with FEWEST ratings or more; effect: ε² = H/(n − 1); p: by permutation
  up to 200 agents, by Holm over all scenarios and dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.analysis.change.paired import smallest_p
from enquete.graphs.scenario.rated import Rated
from enquete.locale import N_, in_language
from enquete.reports.context import Found, figure, listed, type_name
from enquete.reports.key_findings import FEWEST, LEVEL, PER_METHODOLOGY, KeyFinding, Kind, p_told, sentence
from enquete.reports.markdown import number
from enquete.state.asking import Language

GROUPS = 3  # of the ratings that groups differ on, those they differ on most

WORDS: Mapping[str, str] = {
    "extremes": N_(
        "{dimension} is highest for “{best}” ({mean}; scale {scale}, 95% interval {low} to {high}) and lowest for "
        "“{worst}” ({mean_lowest}; {low_lowest} to {high_lowest}): {change} apart, adjusted {p}, n = {n}/{total}."
    ),
    "alike": N_(
        "{dimension}: no scenario differs from another more than chance; {tested} pairs tested, the largest "
        "difference {change}, “{best}” over “{worst}” (scale {scale}; adjusted {p}; n = {n}/{total})."
    ),
    "too_few": N_(
        "{dimension}: {n} agents are too few to tell scenarios apart; had all agreed, p adjusted for {tested} pairs "
        "would still be {p}."
    ),
    "place": N_(
        "“{scenario}” is {quadrant}: {wished} {mean} (scale {scale}; 95% interval {low} to {high}), {expected} "
        "{mean_expected} (scale {scale_expected}; {low_expected} to {high_expected}); n = {n}/{total}."
    ),
    "wished_expected": N_("wished for and expected"),
    "wished_unexpected": N_("wished for, not expected"),
    "feared_expected": N_("feared and expected"),
    "feared_unexpected": N_("feared, not expected"),
    "groups": N_(
        "{dimension} of “{scenario}” differs between {groups} groups: {mean_lowest} ({lowest}) to {mean} ({highest}; scale {scale});"
        " share of variance {effect}, adjusted {p}, n = {n}/{total}."
    ),
    "no_groups": N_(
        "Groups of {fewest} agents or more rate no scenario differently: {tested} ratings tested, smallest adjusted "
        "{p} (n = {n}/{total})."
    ),
}

Row = Mapping[str, Any]


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """The most and the least desirable, wish beside expectation, groups, the other dimensions; a null only after those."""
    stated = list(Stated(found, language)) if listed(found, "dimensions") else []
    yield from sorted(stated, key=lambda one: one.kind == "null")[:PER_METHODOLOGY]


class Stated(Rated):
    """The findings of one run, in the order in which they answer the question."""

    def __init__(self, found: Found, language: Language) -> None:
        super().__init__(found)
        self.language = language

    def __iter__(self) -> Iterator[KeyFinding]:
        yield from self.extremes(self.main)
        yield from self.places()
        yield from self.groups()
        for dimension in [name for name in self.dimensions if name != self.main]:
            yield from (one for one in self.extremes(dimension) if one.kind == "difference")

    # --- scenarios ---------------------------------------------------------------------------------------------------

    def extremes(self, dimension: str) -> Iterator[KeyFinding]:
        """The scenarios rated highest and lowest, where they differ; or that no two do, or that nobody could tell."""
        pairs = [
            one for one in listed(self.found, "pairwise") if one["dimension"] == dimension and one["p"] is not None
        ]
        n = max((int(one["n"]) for one in pairs), default=0)
        if n and smallest_p(n) * len(pairs) >= LEVEL:
            yield self._too_few(dimension, n, len(pairs))
        elif n:
            means = {name: self.mean(name, dimension).mean for name in self.labels}
            rated = sorted((mean, name) for name, mean in means.items() if mean is not None)
            ends = {rated[0][1], rated[-1][1]}
            for one in pairs:
                if {one["first"], one["second"]} == ends and one["p_holm"] < LEVEL:
                    yield self._pair("extremes", dimension, one, {})
            if not any(one["p_holm"] < LEVEL for one in pairs):
                apart = max(pairs, key=lambda one: abs(float(one["mean_change"])))
                yield self._pair("alike", dimension, apart, {"tested": len(pairs)})

    def _pair(self, word: str, dimension: str, pair: Row, counts: Mapping[str, int]) -> KeyFinding:
        best, worst = pair["second"], pair["first"]
        if pair["mean_change"] < 0:
            best, worst = worst, best
        change, p = abs(pair["mean_change"]), pair["p_holm"]
        own = {} if counts else {**self._mean(best, dimension), **self._mean(worst, dimension, "_lowest")}
        return self._finding(
            f"{dimension}.highest", word, "null" if counts else "difference", change / self.range(dimension),
            (pair["n"], pair["n_total"]), p, (f"{best}/{dimension}", f"{worst}/{dimension}"), "groups",
            {**own, "change": change}, dimension=dimension, best=self.labels[best], worst=self.labels[worst], **counts,
        )  # fmt: skip

    def _too_few(self, dimension: str, n: int, tested: int) -> KeyFinding:
        p = min(1.0, smallest_p(n) * tested)
        text = sentence(
            WORDS["too_few"], self.language, dimension=self.label(dimension), n=n, tested=tested,
            p=number(p, self.language),
        )  # fmt: skip
        numbers = {"n": n, "tested": tested, "p": p}
        return KeyFinding(f"{dimension}.highest", text, "null", 0.0, n, n, p, (), "groups", numbers)

    def places(self) -> Iterator[KeyFinding]:
        """Scenarios whose wish and expectation both lie clear of the midpoint, the clearest first."""
        placed = (self._place(scenario, where) for scenario in self.labels if (where := self.quadrant(scenario)))
        yield from sorted(placed, key=lambda one: -one.size)

    def _place(self, scenario: str, quadrant: str) -> KeyFinding:
        """Its size is that of the less clear of the two."""
        sides = {dimension: self.side(scenario, dimension) for dimension in (self.wished, self.expected)}
        rated = min((self.ratings[scenario, name] for name in sides), key=lambda one: int(one["n_responded"]))
        return self._finding(
            f"place.{scenario}", "place", "position", min(map(abs, sides.values())),
            (rated["n_responded"], rated["n_total"]), None, tuple(f"{scenario}/{name}" for name in sides), "quadrants",
            {**self._mean(scenario, self.wished), **self._mean(scenario, self.expected, "_expected")},
            dimension=self.wished, scenario=self.labels[scenario], quadrant=in_language(WORDS, self.language)[quadrant],
            wished=self.label(self.wished), expected=self.label(self.expected),
            scale_expected=self.scale(self.expected),
        )  # fmt: skip

    # --- groups ------------------------------------------------------------------------------------------------------

    def groups(self) -> Iterator[KeyFinding]:
        """Ratings that groups differ on, the most different first; or that they differ on none."""
        tested = [one for one in listed(self.found, "group_tests") if figure(one, "p_holm") is not None]
        differing = [one for one in tested if one["p_holm"] < LEVEL]
        for one in sorted(differing, key=lambda one: -one["epsilon_squared"])[:GROUPS]:
            yield self._differ(one)
        if tested and not differing:
            closest = min(tested, key=lambda one: float(one["p_holm"]))
            yield self._finding(
                "groups.none", "no_groups", "null", 0.0, (closest["n"], closest["n_total"]), closest["p_holm"],
                (closest["item"],), "groups", {}, dimension=closest["dimension"], tested=len(tested), fewest=FEWEST,
            )  # fmt: skip

    def _differ(self, test: Row) -> KeyFinding:
        scenario, dimension = test["scenario"], test["dimension"]
        means = [
            one
            for one in listed(self.ratings[scenario, dimension], "by_type")
            if one["stakeholder_type"] in test["groups"]
        ]
        lowest, highest = (pick(means, key=lambda one: float(one["mean"])) for pick in (min, max))
        numbers = {"mean": highest["mean"], "mean_lowest": lowest["mean"], "effect": test["epsilon_squared"]}
        return self._finding(
            f"groups.{test['item']}", "groups", "difference", (highest["mean"] - lowest["mean"]) / self.range(dimension),
            (test["n"], test["n_total"]), test["p_holm"], (test["item"],), "groups", numbers, dimension=dimension,
            scenario=self.labels[scenario], groups=len(test["groups"]), highest=type_name(self.found, highest["stakeholder_type"]),
            lowest=type_name(self.found, lowest["stakeholder_type"]),
        )  # fmt: skip

    # --- numbers and words -------------------------------------------------------------------------------------------

    def _finding(
        self, name: str, word: str, kind: Kind, size: float, n: tuple[int, int], p: float | None, items: tuple[str, ...],
        figure_name: str, numbers: Mapping[str, float], *, dimension: str, **facts: Any,
    ) -> KeyFinding:  # fmt: skip
        """Filled in: the sentence `word` with facts, the numbers as the language writes them, and n, p, scale, dimension."""
        shown = {key: number(value, self.language) for key, value in numbers.items()}
        counts = {key: value for key, value in facts.items() if isinstance(value, int)}
        told = {} if p is None else {"p": p_told(p, self.language)}
        text = sentence(
            WORDS[word], self.language, **{"dimension": self.label(dimension), "scale": self.scale(dimension), "n": n[0],
            "total": n[1], **shown, **told, **facts},
        )  # fmt: skip
        known = {**numbers, **counts, "n": n[0], **({} if p is None else {"p": p})}
        return KeyFinding(name, text, kind, min(1.0, size), *n, p, items, figure_name, known)

    def _mean(self, scenario: str, dimension: str, suffix: str = "") -> dict[str, float]:
        found = self.mean(scenario, dimension)
        ends = {"mean": found.mean, "low": found.low, "high": found.high}
        return {f"{name}{suffix}": value for name, value in ends.items() if value is not None}
