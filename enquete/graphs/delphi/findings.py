"""What the panel found, in sentences: what divides groups and camps, what is most important, how far it agrees, what feedback did.

Every figure can be had from all_responses.csv with pandas, numpy and scipy, over answers (`value` is there) of the main arm in
the last round of rating, on the dimension that themes are ranked by (importance, where it is asked; else the first):

- mean, mean_lowest: of `value`, in the stakeholder types of FEWEST raters or more with the highest and lowest mean; effect:
  ε² = H/(n − 1) of Kruskal–Wallis over these types, n their raters; p: by permutation up to 200, by Holm over the themes.
- below, above: values ≤ low_at and ≥ high_at, the two points named; agreement: van der Eijk's A; share, low, high: of
  `above` among n, with Wilson's 95 % interval.
- median, q1, q3: numpy's percentiles (type 7); mean, low, high: mean ± t(.975, n − 1)·s/√n, cut at the ends of the scale;
  tied: themes with that median, of those that are not disputed (IQR > disagreement_iqr, A < polarised_below, or split:
  `dispersion.is_split`).
- agreed, disputed: themes with IQR ≤ consensus_iqr that are not disputed; disputed ones.
- before, after: mean over agents of their mean |value − M| in the first and the last round of rating, over the items they
  rated in both, all dimensions; M: the item's median in the first; closer: agents with less; p: Wilcoxon's, exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.analysis.change.paired import smallest_p
from enquete.analysis.means import mean_interval, share_interval
from enquete.graphs.delphi.ratings import main_dimension
from enquete.locale import N_
from enquete.reports.context import Found, at, listed, type_name
from enquete.reports.key_findings import FEWEST, LEVEL, KeyFinding, Kind, p_told, sentence, shortened
from enquete.reports.markdown import number, share
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language

GROUPS, CAMPS = 3, 2  # themes that divide groups and camps most
QUOTED = 14  # words of a theme, where the sentence has room for them

WORDS: Mapping[str, str] = {
    "groups": N_(
        "“{item}” divides the groups: {dimension} {mean} among {highest}, {mean_lowest} among {lowest}, on {scale} "
        "(share of variance {effect}, adjusted {p}, n = {n}/{total})."
    ),
    "camps": N_(
        "“{item}” splits the panel: {dimension} is {low_at} or less for {below} agents, {high_at} or more for {above} "
        "({shown_share}, 95% interval {low} to {high}; A = {agreement}; n = {n}/{total})."
    ),
    "highest": N_(
        "Undisputed and highest in {dimension}: “{item}”, median {median} on {scale}, middle half {q1} to {q3} "
        "(mean {mean}, 95% interval {low} to {high}; n = {n}/{total})."
    ),
    "tied": N_(
        "Highest in {dimension} are {tied} undisputed themes with median {median} on {scale}, by mean first “{item}” "
        "({mean}; 95% interval {low} to {high}; n = {n}/{total})."
    ),
    "agreed": N_(
        "The panel agrees on the {dimension} of {agreed} of {themes} themes (interquartile range at most {limit}); still "
        "disputed: {disputed} (n = {n}/{total})."
    ),
    "closer": N_(
        "Feedback drew the panel together: agents came closer to its medians, from {before} to {after} points on average "
        "({closer} agents closer, {p}; n = {n}/{total})."
    ),
    "apart": N_(
        "Feedback drove the panel apart: agents moved away from its medians, from {before} to {after} points on average "
        "({closer} agents closer, {p}; n = {n}/{total})."
    ),
    "unmoved": N_(
        "Feedback did not move the panel: agents stood {before} points from its medians before it and {after} after it "
        "({p}; n = {n}/{total})."
    ),
    "nobody_moved": N_("Nobody revised a rating after the feedback (n = {n}/{total})."),
    "too_few": N_("{n} agents are too few to tell whether feedback drew the panel together."),
}


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """What divides groups, what splits the panel, what is most important, how far it agrees, whether feedback moved it."""
    if at(found, "last_round") is not None:
        stated = Stated(found, language)
        yield from stated.groups()
        yield from stated.camps()
        yield from stated.highest()
        yield from stated.agreed()
        yield from stated.revision()


class Stated:
    """The findings of one run."""

    def __init__(self, found: Found, language: Language) -> None:
        self.found, self.language = found, language
        self.labels = {str(one["id"]): str(one["label"]) for one in listed(found, "themes")}
        known = {str(one["dimension"]): one for one in listed(found, "dimensions")}
        self.dimension = main_dimension(list(known))
        self.low, self.high = (int(known[self.dimension][end]) for end in ("scale_min", "scale_max"))
        self.ratings = [
            one
            for one in listed(found, "ratings")
            if one["round"] == found["last_round"] and one["dimension"] == self.dimension and one["n_responded"]
        ]

    def groups(self) -> Iterator[KeyFinding]:
        """Themes that groups rate differently, the most different first."""
        differing = [one for one in listed(self.found, "groups") if one["p_holm"] is not None and one["p_holm"] < LEVEL]
        for one in sorted(differing, key=lambda one: -one["effect"])[:GROUPS]:
            highest, lowest = one["groups"][0], one["groups"][-1]
            numbers = {"mean": highest["mean"], "mean_lowest": lowest["mean"], "effect": one["effect"]}
            yield self._finding(
                "groups", "difference", self._extent(highest["mean"] - lowest["mean"]), one, (one["n"], one["n_total"]),
                "convergence", numbers, one["p_holm"], highest=type_name(self.found, highest["stakeholder_type"]),
                lowest=type_name(self.found, lowest["stakeholder_type"]),
            )  # fmt: skip

    def camps(self) -> Iterator[KeyFinding]:
        """Themes on which the panel falls into two camps, the most divided first."""
        disputed = listed(self.found, "disagreements")
        split = [one for one in disputed if one["kind"] == "camps" and one["dimension"] == self.dimension]
        for one in sorted(split, key=lambda one: float(one["agreement"]))[:CAMPS]:
            n, below, above = one["n_responded"], one["below"]["n"], one["above"]["n"]
            if min(below, above) < FEWEST:
                continue
            numbers = {"agreement": one["agreement"]}
            counts = {"below": below, "above": above, "low_at": int(one["camps"][0]), "high_at": int(one["camps"][1])}
            shares = share_interval(above, n)
            told: dict[str, Any] = {key: share(value, self.language) for key, value in shares.items()}
            yield self._finding(
                "camps", "position", (1 - one["agreement"]) / 2, one, (n, one["n_total"]), "dissent", numbers,
                also={**counts, **shares}, shown_share=told.pop("share"), **told, **counts,
            )  # fmt: skip

    def highest(self) -> Iterator[KeyFinding]:
        """The theme with the highest median of those that are not disputed; of several the one with the highest mean."""
        settled = [
            one for one in self.ratings if one["label"] in ("consensus", "open") and one["n_responded"] >= FEWEST
        ]
        if not settled:
            return
        top = max(one["median"] for one in settled)
        tied = [one for one in settled if one["median"] == top]
        one = max(tied, key=lambda one: float(one["mean"]))
        n = int(one["n_responded"])
        mean = mean_interval(n, one["mean"], one["sd"], (self.low, self.high))
        known = {"median": top, "mean": mean.mean, "low": mean.low, "high": mean.high}
        quartiles = {} if len(tied) > 1 else {"q1": one["q1"], "q3": one["q3"]}
        numbers = {name: float(value) for name, value in {**known, **quartiles}.items() if value is not None}
        middle = (self.low + self.high) / 2
        yield self._finding(
            "tied" if len(tied) > 1 else "highest", "position", abs(top - middle) / (self.high - middle), one,
            (n, one["n_total"]), "ranking", numbers, counted=("median", "q1", "q3"),
            also={"tied": len(tied)} if len(tied) > 1 else {}, tied=len(tied),
        )  # fmt: skip

    def agreed(self) -> Iterator[KeyFinding]:
        """On how many themes the panel agrees."""
        judged = [one for one in self.ratings if one["label"] is not None and one["n_responded"] >= FEWEST]
        if not judged:
            return
        counts = {label: sum(one["label"] == label for one in judged) for label in ("consensus", "disagreement")}
        own = {"agreed": counts["consensus"], "disputed": counts["disagreement"], "themes": len(judged)}
        limit = number(float(str(at(self.found, "thresholds", "consensus_iqr"))), self.language, 1)
        n, total = min((int(one["n_responded"]), int(one["n_total"])) for one in judged)
        text = sentence(
            WORDS["agreed"], self.language, dimension=self._name(), limit=limit.removesuffix(",0").removesuffix(".0"),
            n=n, total=total, **own,
        )  # fmt: skip
        items = tuple(str(one["item"]) for one in judged)
        yield KeyFinding(
            f"agreed.{self.dimension}", text, "position", own["agreed"] / len(judged), n, total, None, items,
            "convergence", {**own, "n": n},
        )  # fmt: skip

    def revision(self) -> Iterator[KeyFinding]:
        """Whether the panel drew together after it had been told its medians."""
        moved = at(self.found, "drawn_together")
        if not moved or not moved["n"]:
            return
        n, total, p = moved["n"], moved["n_total"], moved["p"]
        if p is None:
            yield self._revised("nobody_moved", 0.0, n, total, None, {})
        elif smallest_p(n) >= LEVEL:
            yield self._revised("too_few", 0.0, n, total, p, {})
        else:
            change = moved["after"] - moved["before"]
            word = "unmoved" if p >= LEVEL else "closer" if change < 0 else "apart"
            numbers = {"before": moved["before"], "after": moved["after"], "closer": moved["n_closer"], "p": p}
            yield self._revised(word, min(1.0, abs(change) / moved["scale_points"]), n, total, p, numbers)

    def _revised(
        self, word: str, size: float, n: int, total: int, p: float | None, numbers: Mapping[str, float]
    ) -> KeyFinding:
        shown = {name: number(value, self.language) for name, value in numbers.items() if name != "p"}
        told = {"p": p_told(p, self.language)} if p is not None else {}
        text = sentence(WORDS[word], self.language, n=n, total=total, **shown, **told)
        kind: Kind = "difference" if word in ("closer", "apart") else "null"
        items = tuple(str(one["item"]) for one in listed(self.found, "convergence"))
        return KeyFinding("revision", text, kind, size, n, total, p, items, "convergence", {**numbers, "n": n})

    def _finding(
        self, word: str, kind: Kind, size: float, one: Mapping[str, Any], n: tuple[int, int], drawn: str,
        numbers: Mapping[str, float], p: float | None = None, *, counted: tuple[str, ...] = (),
        also: Mapping[str, float] = {}, **facts: Any,
    ) -> KeyFinding:  # fmt: skip
        """About one theme: the sentence with its numbers and facts. also: further numbers, which `facts` tell in words."""
        shown = {name: self._number(value, name in counted) for name, value in numbers.items()}
        told = {"p": p_told(p, self.language)} if p is not None else {}
        text = sentence(
            WORDS[word], self.language, item=shortened(self.labels[str(one["theme"])], QUOTED), dimension=self._name(),
            scale=f"{self.low}–{self.high}", n=n[0], total=n[1], **shown, **told, **facts,
        )  # fmt: skip
        known = {**numbers, **also, "n": n[0], **({} if p is None else {"p": p})}
        return KeyFinding(f"{word}.{one['item']}", text, kind, min(1.0, size), *n, p, (str(one["item"]),), drawn, known)

    def _number(self, value: float, is_point: bool) -> str:
        """A median or quartile as a point of the scale: 4, or 4.5."""
        return number(int(value) if is_point and float(value).is_integer() else value, self.language)

    def _name(self) -> str:
        return dimension_name(self.dimension, self.language)

    def _extent(self, difference: float) -> float:
        return difference / (self.high - self.low)
