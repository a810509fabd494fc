"""Delphi's figures: where each theme stood in each round, how the split themes are split, and how firm the ranking is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, beside, counted, dots, note, of, rows, titled, told
from enquete.reports.figures.palette import COLOURS, GRID, MUTED, PALE, stages
from enquete.reports.figures.text import bold, height, wrapped
from enquete.reports.markdown import number
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language

ROW, LABEL = 30, 230  # px: a theme, its label
APART = 0.26  # of a row, between two rounds
BESIDE, PANEL, FOOT = 3, 96, 34  # histograms beside one another; px of one, and below one
MOST_SPLIT = 12  # histograms; the most divided

WORDS = {
    "convergence": N_("Delphi: median and quartiles of every theme, by round"),
    "convergence_alt": N_(
        "Medians and quartiles of {themes} themes over {rounds} rounds; in the last round the quartiles lie at most "
        "{iqr} apart on {close} of {n} ratings."
    ),
    "round": N_("round {round}"),
    "split": N_("round {round}, split: quartiles without a median"),
    "hover": N_("{theme}, {dimension}, round {round}: median {median}, quartiles {q1} to {q3} ({n})"),
    "dissent": N_("Delphi: how ratings are spread on the themes that stay disputed"),
    "dissent_alt": N_(
        "Distributions of the {n} disputed ratings of round {round}; most divided: {theme} ({dimension}): {counts}."
    ),
    "dissent_some": N_("the {shown} most divided of {n}"),
    "point": N_("{n} of {total} agents rate {value}"),
    "panel": N_("{dimension}, A = {a}"),
    "ranking": N_("Delphi: ranking of themes by consensus, with 95% intervals"),
    "ranking_alt": N_("Ranks of {n} themes by agreement on {dimension}; first: {first}."),
    "rank": N_("rank (small interquartile range first, then high median)"),
    "tied": N_("tied: shared ranks"),
    "consensus": N_("consensus"),
    "open": N_("open"),
    "disagreement": N_("disputed"),
    "hover_rank": N_("{theme}: rank {rank}, 95% interval {low} to {high}"),
}


def figures(found: Found, language: Language) -> Iterator[Figure]:
    ratings = [one for one in listed(found, "ratings") if figure(one, "median") is not None]
    if ratings:
        drawing = Drawing(found, language, ratings)
        yield drawing.convergence()
        yield from drawing.dissent()
        yield from drawing.ranking()


class Drawing:
    """What the three share: names of themes, words, the rounds that were rated."""

    def __init__(self, found: Found, language: Language, ratings: Sequence[Mapping[str, Any]]) -> None:
        self.found, self.language, self.ratings = found, language, ratings
        self.words = in_language(WORDS, language)
        self.labels = {str(one.get("id")): str(one.get("label")) for one in listed(found, "themes")}
        self.dimensions = list(dict.fromkeys(str(one["dimension"]) for one in ratings))
        self.rounds = sorted({int(one["round"]) for one in ratings})

    @property
    def last(self) -> int:
        return self.rounds[-1]

    def name(self, theme: object) -> str:
        return self.labels.get(str(theme), str(theme))

    def asked(self, *rounds: int) -> str:
        said = (
            counted(at(self.found, "rounds", str(n)), self.language, self.words["round"].format(round=n))
            for n in rounds
        )
        return " · ".join(said)

    def scale(self, dimension: str) -> tuple[int, int]:
        known = next((one for one in listed(self.found, "dimensions") if one.get("dimension") == dimension), {})
        return int(known.get("scale_min", 1)), int(known.get("scale_max", 5))

    # --- convergence -------------------------------------------------------------------------------------------------

    def convergence(self) -> Figure:
        """A row a theme, the most important of the last round on top; a column a dimension."""
        themes = self.by_importance()
        canvas = Canvas(
            self.words["convergence"],
            note(self.language, self.asked(*self.rounds)),
            self.language,
            plot=ROW * len(themes),
        )
        canvas.layout["yaxis"] = rows([wrapped(self.name(theme), LABEL) for theme in themes])
        for place, (dimension, domain) in enumerate(zip(self.dimensions, beside(len(self.dimensions)), strict=True), 1):
            low, high = self.scale(dimension)
            axis = "" if place == 1 else str(place)
            canvas.layout[f"xaxis{axis}"] = titled(
                dimension_name(dimension, self.language), domain=domain, range=[low - 0.3, high + 0.3], dtick=1
            )
            for n in self.rounds:
                shown = [one for one in self.ratings if (one["dimension"], one["round"]) == (dimension, n)]
                canvas.data.extend(self._round(shown, themes, n, f"x{axis}", is_first=place == 1))
        last = [one for one in self.ratings if one["round"] == self.last]
        limit = float(at(self.found, "thresholds", "consensus_iqr") or 1)
        close = sum(one["iqr"] is not None and one["iqr"] <= limit for one in last)
        alt = self.words["convergence_alt"].format(
            themes=len(themes), rounds=len(self.rounds), iqr=number(limit, self.language, 0), close=close, n=len(last)
        )
        return canvas.figure("convergence", alt)

    def by_importance(self) -> list[str]:
        """Themes by the last round's mean: a split theme's median is nowhere."""
        rank = {
            str(one["theme"]): -float(at(one, "mean") or 0)
            for one in self.ratings
            if (one["dimension"], one["round"]) == (self.dimensions[0], self.last)
        }
        return sorted({str(one["theme"]) for one in self.ratings}, key=lambda theme: (rank.get(theme, 0.0), theme))

    def _round(
        self, shown: Sequence[Mapping[str, Any]], themes: list[str], n: int, axis: str, *, is_first: bool
    ) -> Iterator[dict[str, Any]]:
        offset = (self.rounds.index(n) - (len(self.rounds) - 1) / 2) * APART
        colour = COLOURS[0] if n == self.last else MUTED
        named: dict[str, Any] = {"showlegend": is_first, "xaxis": axis, "yaxis": "y"}
        split = [one for one in shown if one.get("label") == "disagreement"]
        if split:
            yield {
                "type": "bar", "orientation": "h", "base": [one["q1"] for one in split],
                    "x": [one["q3"] - one["q1"] for one in split],
                "y": [themes.index(str(one["theme"])) + offset for one in split], "width": [0.2] * len(split),
                "marker": {"color": PALE[colour]}, "hoverinfo": "text", "name": self.words["split"].format(round=n),
                **named, **self._behind(split),
            }  # fmt: skip
        own = [one for one in shown if one.get("label") != "disagreement"]
        if own:
            yield dots(
                [one["median"] for one in own], [themes.index(str(one["theme"])) + offset for one in own],
                    [one["q1"] for one in own],
                [one["q3"] for one in own], colour=colour, symbol="circle" if n == self.last else "diamond",
                name=self.words["round"].format(round=n), **named, **self._behind(own),
            )  # fmt: skip

    def _behind(self, own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What each rating says, and where its answers are."""
        links = [answers("delphi", item_id=one["item"], round=one["round"]) for one in own]
        return {"hovertext": [self._told(one) for one in own], "meta": {"links": links}}

    def _told(self, one: Mapping[str, Any]) -> str:
        values = {key: number(one[key], self.language, 1) for key in ("median", "q1", "q3")}
        return self.words["hover"].format(
            theme=wrapped(self.name(one["theme"]), 400), dimension=dimension_name(one["dimension"], self.language),
            round=one["round"], n=of(one, self.language), **values,
        )  # fmt: skip

    # --- dissent -----------------------------------------------------------------------------------------------------

    def dissent(self) -> Iterator[Figure]:
        """A histogram for each disputed rating, the most divided first."""
        every = sorted(
            listed(self.found, "disagreements"), key=lambda one: (at(one, "agreement") or 0.0, str(one["item"]))
        )
        split = [one for one in every if one.get("distribution")][:MOST_SPLIT]
        if not split:
            return
        some = self.words["dissent_some"].format(shown=len(split), n=len(every)) if len(every) > len(split) else ""
        heads = [self._head(one) for one in split]
        tall = [max(height(head, 11) for head in heads[k : k + BESIDE]) + 8 for k in range(0, len(heads), BESIDE)]
        plot = sum(tall) + len(tall) * (PANEL + FOOT) - FOOT
        canvas = Canvas(
            self.words["dissent"], note(self.language, self.asked(int(split[0]["round"])), some), self.language, plot
        )
        most = max(max(one["distribution"].values()) for one in split)
        for place, one in enumerate(split):
            line, column = divmod(place, BESIDE)
            bottom = sum(tall[: line + 1]) + line * FOOT + (line + 1) * PANEL
            upright = (1 - bottom / plot, 1 - (bottom - PANEL) / plot)
            self._histogram(canvas, one, place, (beside(BESIDE, 0.06)[column], upright), most)
            canvas.layout.setdefault("annotations", []).append(_above(heads[place], place))
        first = split[0]
        alt = self.words["dissent_alt"].format(
            n=len(every), round=first["round"], theme=self.name(first["theme"]),
            dimension=dimension_name(first["dimension"], self.language),
            counts=", ".join(f"{value}: {n}" for value, n in first["distribution"].items()),
        )  # fmt: skip
        yield canvas.figure("dissent", alt, lead=len(split) <= BESIDE)

    def _head(self, one: Mapping[str, Any]) -> str:
        """Above a histogram: the theme, then what was rated and how much raters agree."""
        dimension = dimension_name(one["dimension"], self.language)
        told_of = self.words["panel"].format(dimension=dimension, a=number(one.get("agreement"), self.language))
        return f"{bold(wrapped(self.name(one['theme']), 205))}<br>{told_of}"

    def _histogram(
        self,
        canvas: Canvas,
        one: Mapping[str, Any],
        place: int,
        domain: tuple[tuple[float, float], tuple[float, float]],
        most: int,
    ) -> None:
        axis = _axis(place)
        points, counts = [int(point) for point in one["distribution"]], list(one["distribution"].values())
        canvas.layout[f"xaxis{axis}"] = {"domain": domain[0], "anchor": f"y{axis}",
            "range": [points[0] - 0.6, points[-1] + 0.6],
                                         "dtick": 1, "showgrid": False}  # fmt: skip
        canvas.layout[f"yaxis{axis}"] = {"domain": domain[1], "anchor": f"x{axis}", "range": [0, most * 1.2],
                                         "showticklabels": False, "showgrid": False, "zeroline": True}  # fmt: skip
        told_of = self.words["point"]
        canvas.data.append({
            "type": "bar", "x": points, "y": counts, "width": [0.86] * len(points), "xaxis": f"x{axis}",
                "yaxis": f"y{axis}",
            "marker": {"color": stages(len(points)), "line": {"color": MUTED, "width": 0.7}}, "showlegend": False,
                "hoverinfo": "text",
            "hovertext": [told_of.format(n=n, total=one["n_total"], value=point) for point,
                n in zip(points, counts, strict=True)],
            "meta": {"links": [answers("delphi", item_id=one["item"], round=one["round"],
                value=point) for point in points]},
        })  # fmt: skip
        over = {"xref": f"x{axis}", "yref": f"y{axis}", "yanchor": "bottom", "font": {"size": 10}}
        canvas.layout.setdefault("annotations", []).extend(
            told(str(n), point, n, **over) for point, n in zip(points, counts, strict=True) if n
        )

    # --- ranking -----------------------------------------------------------------------------------------------------

    def ranking(self) -> Iterator[Figure]:
        """Themes by consensus, each with the interval of its rank; tied ones share a rank."""
        every = [one for one in listed(self.found, "ranking") if one.get("by") == "consensus"]
        chosen = next((one for one in every if one.get("dimension") == self.main()), None)
        ranked = sorted(
            (one for one in listed(chosen, "themes") if figure(one, "rank") is not None), key=lambda one: one["rank"]
        )
        if not chosen or not ranked:
            return
        dimension = str(chosen["dimension"])
        labels = {
            str(one["theme"]): str(one.get("label"))
            for one in self.ratings
            if (one["dimension"], one["round"]) == (dimension, chosen["round"])
        }
        canvas = Canvas(
            f"{self.words['ranking']}: {dimension_name(dimension, self.language)}",
            note(self.language, self.asked(int(chosen["round"]))), self.language, plot=24 * len(ranked),
        )  # fmt: skip
        shared = _shared([float(one["rank"]) for one in ranked])
        named = [
            f"{wrapped(self.name(one['theme']), LABEL + 60, 1)}  <b>{first if first == last else f'{first}–{last}'}</b>"
            for (first, last), one in zip(shared, ranked, strict=True)
        ]
        step = 1 if len(ranked) <= 20 else 5
        canvas.layout.update(
            yaxis=rows(named), xaxis=titled(self.words["rank"], range=[0.5, len(ranked) + 0.5], dtick=step)
        )
        tied = [(row, first, last) for row, (first, last) in enumerate(shared) if first != last]
        if tied:
            canvas.data.append({
                "type": "bar", "orientation": "h", "name": self.words["tied"], "hoverinfo": "skip",
                "y": [row for row, _, _ in tied], "base": [first for _, first, _ in tied],
                "x": [last - first for _, first, last in tied], "width": [0.5] * len(tied), "marker": {"color": GRID},
            })  # fmt: skip
        looks = {
            "consensus": (COLOURS[0], "circle"),
            "open": (MUTED, "diamond"),
            "disagreement": (COLOURS[1], "square"),
        }
        for label, (colour, symbol) in looks.items():
            own = [(row, one) for row, one in enumerate(ranked) if labels.get(str(one["theme"])) == label]
            if own:
                canvas.data.append(self._ranks(own, label, colour, symbol, dimension, int(chosen["round"])))
        first = ", ".join(self.name(one["theme"]) for one in ranked if one["rank"] == ranked[0]["rank"])
        alt = self.words["ranking_alt"].format(
            n=len(ranked), dimension=dimension_name(dimension, self.language), first=first
        )
        yield canvas.figure("ranking", alt)

    def main(self) -> str:
        return "importance" if "importance" in self.dimensions else self.dimensions[0]

    def _ranks(
        self,
        own: list[tuple[int, Mapping[str, Any]]],
        label: str,
        colour: str,
        symbol: str,
        dimension: str,
        round_: int,
    ) -> dict[str, Any]:
        said = [
            self.words["hover_rank"].format(
                theme=wrapped(self.name(one["theme"]), 400),
                **{key: number(one[key], self.language, 1) for key in ("rank", "low", "high")},
            )
            for _, one in own
        ]
        ends = ([one[key] for _, one in own] for key in ("low", "high"))
        links = [answers("delphi", item_id=f"theme:{one['theme']}/{dimension}", round=round_) for _, one in own]
        return dots(
            [one["rank"] for _, one in own], [row for row, _ in own], *ends, colour=colour, symbol=symbol, size=10,
                name=self.words[label],
            hovertext=said, meta={"links": links},
        )  # fmt: skip


def _axis(place: int) -> str:
    return str(place + 1) if place else ""


def _above(head: str, place: int) -> dict[str, Any]:
    refs = {"xref": f"x{_axis(place)} domain", "yref": f"y{_axis(place)} domain"}
    return told(head, 0, 1, **refs, xanchor="left", yanchor="bottom", yshift=2, align="left", font={"size": 11})


def _shared(ranks: Sequence[float]) -> list[tuple[int, int]]:
    """Mid-ranks in order as places that tied themes share: 1.5, 1.5, 3 → (1, 2), (1, 2), (3, 3)."""
    first = [ranks.index(rank) + 1 for rank in ranks]
    return [(start, start + ranks.count(rank) - 1) for start, rank in zip(first, ranks, strict=True)]
