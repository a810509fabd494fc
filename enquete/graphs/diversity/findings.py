"""What the sorts found, in sentences: how many views the agents share, what the largest holds, what divides and what is common.

A shared view is a Q factor, a type a cluster of agents over sort and axes. Every figure can be had from all_responses.csv with
pandas, numpy and scipy, over the main arm's complete sorts on the grid (agents × statements):

- views, share: eigenvalues of the correlation matrix between agents; `views` of them exceed those of sorts dealt at random
  (parallel analysis, p ≤ .01); share: their sum over n. (Centroid extraction: Σ of squared loadings over n.)
- holders, opposed, top, bottom, top_place, bottom_place: loadings of the first `views` eigenvectors × √eigenvalue, rotated by
  varimax (rows scaled to length 1); an agent defines a view if |l| > 1.96/√statements and l² exceeds its other l² together;
  holders: of the largest view on its larger side, opposed: on the other. Places: the grid in the order of the statements'
  mean, weighted by l/(1 − l²), over those who define it.
- above, below, sd, mean, low, high: of `value`; above and below 0; sd with n − 1; mean ± t(.975, n − 1)·s/√n.
- types: k-means clusters over both parts, each divided by its first singular value; n: agents with both parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.analysis.means import mean_interval
from enquete.locale import N_, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import signed
from enquete.reports.key_findings import FEWEST, MOST_WORDS, KeyFinding, Kind, p_told, sentence, shortened
from enquete.reports.markdown import number, share
from enquete.state.asking import Language

QUOTED = 8  # words of a statement
DIVIDING, COMMON = 2, 1  # statements that divide most, and that all share most

ROUNDING = 1e-4  # of p, which findings keep to six decimals

WORDS: Mapping[str, str] = {
    "views": N_(
        "The sorts share {views} views, which explain {shown_share} of their variance; random sorts share none "
        "({p}, parallel analysis; n = {n}/{total})."
    ),
    "one_view": N_(
        "The sorts share a single view, which explains {shown_share} of their variance; random sorts share none "
        "({p}, parallel analysis; n = {n}/{total})."
    ),
    "asked": N_(
        "{views} shared views, a number set by hand, explain {shown_share} of the variance of the sorts (n = {n}/{total})."
    ),
    "no_views": N_(
        "The agents share no view: their sorts have no more in common than random ones (parallel analysis; n = {n}/{total})."
    ),
    "only": N_(
        "The shared view, held by {holders} of {n} agents, puts “{top}” on top ({top_place}) and “{bottom}” at the bottom "
        "({bottom_place})."
    ),
    "largest": N_(
        "The largest shared view, held by {holders} of {n} agents, puts “{top}” on top ({top_place}) and “{bottom}” "
        "at the bottom ({bottom_place})."
    ),
    "largest_opposed": N_(
        "The largest shared view, held by {holders} of {n} agents and reversed by {opposed}, puts “{top}” on top "
        "({top_place}) and “{bottom}” at the bottom ({bottom_place})."
    ),
    "divides": N_(
        "“{item}” divides the agents: {above} place it above the middle, {below} below it (mean {mean}, SD {sd} on "
        "{scale}; n = {n}/{total})."
    ),
    "common": N_(
        "Common ground is “{item}”: mean place {mean} on {scale} (95% interval {low} to {high}, SD {sd}; n = {n}/{total})."
    ),
    "types": N_(
        "The agents fall into {types} types, set apart more clearly than a continuum of views would have it ({p}; "
        "n = {n}/{total})."
    ),
    "continuum": N_(
        "There are no types: views differ by degree, a continuum; no division of the agents stands out from one "
        "({p}; n = {n}/{total})."
    ),
    "unstable": N_(
        "There are no types: the best division of the agents does not come back when they are resampled (n = {n}/{total})."
    ),
    "chance": N_(
        "There are no types: the best division of the agents is no clearer than in random data ({p}; n = {n}/{total})."
    ),
}


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """The largest shared view, how many there are, what divides and what is common, types; or that there are none."""
    if at(found, "participation"):
        stated = Stated(found, language)
        yield from stated.largest()
        yield from stated.views()
        yield from stated.dividing()
        yield from stated.common()
        yield from stated.types()


class Stated:
    """The findings of one run."""

    def __init__(self, found: Found, language: Language) -> None:
        self.q: Mapping[str, Any] = at(found, "q")
        self.found, self.language = found, language
        self.short = {str(one["item"]): str(one["short"]) for one in listed(found, "statements")}
        columns = [int(column) for column in at(found, "grid", "distribution")]
        self.low, self.high = columns[0], columns[-1]
        self.statements = [one for one in listed(found, "statements") if int(one["n_responded"]) >= FEWEST]

    # --- shared views ------------------------------------------------------------------------------------------------

    def views(self) -> Iterator[KeyFinding]:
        n, total, told = int(self.q["n_analysed"]), int(self.q["n_total"]), self.q["number"]
        factors = self.q["factors"]
        if n < FEWEST:
            return
        if factors:
            explained = sum(one["explained"] for one in factors)
            asked = told["asked"] == told["used"]
            p = None if asked else max(one["p"] for one in told["eigenvalues"][: told["used"]])
            numbers = {"views": len(factors), "share": explained, "n": n}
            yield self._finding(
                "asked" if asked else "views" if len(factors) > 1 else "one_view", "position" if asked else "difference",
                explained, (n, total), "scree", numbers, p, name="views", shown_share=share(explained, self.language),
            )  # fmt: skip
        elif self.q["reason"] == "chance":
            p = min(one["p"] for one in told["eigenvalues"])
            yield self._finding("no_views", "null", 0.0, (n, total), "scree", {"n": n}, p, name="views")

    def largest(self) -> Iterator[KeyFinding]:
        """Of the view with the most holders on one side; what it puts where, seen from that side."""
        sides = [(view["n"], one, view) for one in self.q["factors"] for view in one["views"]]
        if not sides:
            return
        holders, one, view = max(sides, key=lambda side: side[0])
        if holders < FEWEST:
            return
        ordered = sorted(one["z"], key=lambda item: (-one["z"][item], item))
        sign = -1 if view["view"].endswith("-") else 1
        top, bottom = (ordered[0], ordered[-1]) if sign > 0 else (ordered[-1], ordered[0])
        opposed = sum(side["n"] for side in one["views"]) - holders
        numbers = {
            "holders": holders, "opposed": opposed, "n": self.q["n_analysed"],
            "top_place": sign * one["array"][top], "bottom_place": sign * one["array"][bottom],
        }  # fmt: skip
        shown = {place: signed(numbers[place], self.language) for place in ("top_place", "bottom_place")}
        word = "largest_opposed" if opposed else "largest" if len(self.q["factors"]) > 1 else "only"
        room = (MOST_WORDS - len(tell(WORDS[word], self.language).format(**numbers, top="", bottom="").split())) // 2
        quoted = {
            end: shortened(self.short[item], min(QUOTED, room)) for end, item in (("top", top), ("bottom", bottom))
        }
        yield self._finding(
            word, "position", holders / self.q["n_analysed"], (self.q["n_analysed"], self.q["n_total"]), "statements", numbers,
            None, (top, bottom), name="largest", **quoted, **shown,
        )  # fmt: skip

    # --- statements --------------------------------------------------------------------------------------------------

    def dividing(self) -> Iterator[KeyFinding]:
        """The statements whose places differ most."""
        apart = sorted((one for one in self.statements if one["sd"]), key=lambda one: -float(one["sd"]))
        for one in apart[:DIVIDING]:
            counts = {int(place): int(n) for place, n in one["distribution"].items()}
            above, below = (sum(n for place, n in counts.items() if sign * place > 0) for sign in (1, -1))
            if min(above, below) >= FEWEST:
                half = (self.high - self.low) / 2
                yield self._statement("divides", one, one["sd"] / half, {"above": above, "below": below})

    def common(self) -> Iterator[KeyFinding]:
        """The statement that stands on one side of the middle most surely: the largest |mean|/SD, of those that no two
        views place differently where there are several."""
        alike = {one["item"] for one in self.q["consensus"]} if len(self.q["factors"]) > 1 else set(self.short)
        own = [one for one in self.statements if one["item"] in alike and one["sd"]]
        surest = sorted(own, key=lambda one: -abs(one["mean"]) / one["sd"])
        for one in surest[:COMMON]:
            found = mean_interval(one["n_responded"], one["mean"], one["sd"], (self.low, self.high))
            if found.low is not None and found.high is not None and not found.low <= 0 <= found.high:
                yield self._statement(
                    "common", one, abs(one["mean"]) / self.high, {"low": found.low, "high": found.high}
                )

    def _statement(self, word: str, one: Mapping[str, Any], size: float, more: Mapping[str, float]) -> KeyFinding:
        n, total = one["n_responded"], one["n_total"]
        numbers = {"mean": one["mean"], "sd": one["sd"], **more, "n": n}
        item = str(one["item"])
        scale = f"{signed(self.low, self.language)}…{signed(self.high, self.language)}"
        return self._finding(
            word, "position", size, (n, total), "statements", numbers, None, (item,), name=f"{word}.{item}",
            item=shortened(self.short[item], QUOTED), scale=scale,
        )  # fmt: skip

    # --- types -------------------------------------------------------------------------------------------------------

    def types(self) -> Iterator[KeyFinding]:
        """How many, or that views are a continuum. Nothing where too few agents were there to look for any."""
        told = at(self.found, "typology")
        n, total = (
            int(at(self.found, "participation", "agents_analysed")),
            int(str(at(self.found, "participation", "agents_total"))),
        )
        if told["reason"] in ("few", "alike") or n < FEWEST:
            return
        last = told["continuum"] or told
        p, floor = last["p"], 1 / (last["draws"] + 1)
        if told["reason"] == "typology":
            numbers = {"types": told["k"], "n": n}
            told_p = f"p ≤ {number(p, self.language)}" if p <= floor * (1 + ROUNDING) else ""
            size = max(one["n"] for one in listed(self.found, "archetypes")) / n
            yield self._finding(
                "types", "difference", 1 - size, (n, total), "pca", numbers, p, name="types", told_p=told_p
            )
        else:
            yield self._finding(told["reason"], "null", 0.0, (n, total), "pca", {"n": n}, p, name="types")

    def _finding(
        self, word: str, kind: Kind, size: float, n: tuple[int, int], drawn: str, numbers: Mapping[str, float],
        p: float | None, items: tuple[str, ...] = (), *, name: str, told_p: str = "", **facts: Any,
    ) -> KeyFinding:  # fmt: skip
        told = {"p": told_p or p_told(p, self.language)} if p is not None else {}
        shown = {key: number(value, self.language) for key, value in numbers.items()}
        text = sentence(WORDS[word], self.language, **{**shown, **told, "total": n[1], **facts})
        known = {**numbers, **({"p": p} if p is not None else {})}
        return KeyFinding(name, text, kind, min(1.0, size), *n, p, items, drawn, known)
