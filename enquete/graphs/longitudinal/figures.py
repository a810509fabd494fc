"""The longitudinal figures: how much each statement changed, beside what changes without memory; means before and after; all
answers of both waves; change by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.longitudinal.likert import likert
from enquete.graphs.longitudinal.slopes import slopes
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, rows, signed, titled
from enquete.reports.figures.heat import LABEL, ROW, Cell, by_group, kept
from enquete.reports.figures.palette import COLOURS, DIVERGING, MUTED, PAPER
from enquete.reports.figures.text import wrapped
from enquete.reports.markdown import readable
from enquete.state.asking import Language

WORDING = 300  # px
CERTAIN = 0.05
LEAST_REACH = 1.0  # scale points to each side of 0

WORDS = {
    "drift": N_("Longitudinal: change of every statement from T0 to T1, as worded"),
    "experience": N_("Longitudinal: with memory and without, by statement (experience effect, no drift)"),
    "incomparable": N_("the waves cannot be compared: differences are not tested"),
    "change": N_("mean change in scale points, with 95% interval"),
    "certain": N_("change at p < .05 (Holm)"),
    "uncertain": N_("no change at p < .05 (Holm)"),
    "untested": N_("not tested"),
    "placebo": N_("placebo: asked again with a neutral memory"),
    "paired": N_("{n} of {total} agents in both waves"),
    "hover": N_("{item}: {change} ({low} to {high}), n = {n}"),
    "hover_placebo": N_("{item}: {change} with a neutral memory, n = {n}"),
    "drift_alt": N_("{n} statements; {changed} changed at p < .05 (Holm). Largest change: {item}, {change}."),
    "untested_alt": N_("{n} statements, not tested. Largest difference: {item}, {change}."),
    "groups": N_("Longitudinal: mean change by statement and group, in scale points"),
    "groups_experience": N_("Longitudinal: mean difference with memory by statement and group, in scale points"),
    "groups_alt": N_("Mean change of {n} statements in {groups} groups; largest: {item} in {group}, {change}."),
    "small": N_("groups below 5 agents left open"),
    "everybody": N_("all"),
}


def figures(found: Found, language: Language) -> Iterator[Figure]:
    change = next((key for key in ("drift", "experience_effect") if listed(found, key, "items")), None)
    if change:
        changes = Changes(found, change, language)
        yield from changes.by_item()
        yield from slopes(found, changes.items, language)
    yield from likert(found, language)
    if change:
        yield from changes.by_group()


class Changes:
    """Changes of statements between the waves, and what they are called here. Values as worded, not rekeyed."""

    def __init__(self, found: Found, change: str, language: Language) -> None:
        self.found, self.language, self.words = found, language, in_language(WORDS, language)
        self.is_drift = change == "drift"
        self.is_tested = self.is_drift and at(found, "drift", "interpretable") is not False
        self.wordings = {str(one["item"]): str(one.get("wording") or one["item"]) for one in listed(found, "items")}
        self.keys = {str(one["item"]): bool(one.get("reverse_keyed")) for one in listed(found, "items")}
        self.items = [one for one in listed(found, change, "items") if figure(one, "mean_change") is not None]

    def note(self, *more: str) -> str:
        pairing = at(self.found, "pairing") or {}
        paired = self.words["paired"].format(n=pairing.get("agents_paired", 0), total=pairing.get("agents_total", 0))
        waves = (counted(at(self.found, "waves", wave), self.language, wave) for wave in ("T0", "T1"))
        odd = self.words["incomparable"] if self.is_drift and not self.is_tested else ""
        return note(self.language, paired, *waves, odd, *more)

    # --- by statement ------------------------------------------------------------------------------------------------

    def by_item(self) -> Iterator[Figure]:
        """Changes from the greatest rise to the greatest fall, with intervals; beside each what the placebo changed."""
        ordered = sorted(self.items, key=lambda one: -float(one["mean_change"]))
        if not ordered:
            return
        title = self.words["drift" if self.is_drift else "experience"]
        canvas = Canvas(title, self.note(), self.language, plot=ROW * len(ordered))
        canvas.data.extend(self._changes(ordered))
        canvas.data.extend(self._placebo(ordered))
        reach = max(
            [LEAST_REACH, *(abs(value) * 1.1 for one in ordered for value in self._interval(one) if value is not None)]
        )
        canvas.layout.update(
            yaxis=rows([wrapped(self.wordings[str(one["item"])], WORDING) for one in ordered]),
            xaxis=titled(self.words["change"], range=[-reach, reach], zeroline=True),
        )
        yield canvas.figure("drift", self._alt(ordered), lead=True)

    def _interval(self, one: Mapping[str, Any]) -> tuple[float, float | None, float | None]:
        interval = at(one, "effects", "mean_change") or {}
        return float(one["mean_change"]), figure(interval, "low"), figure(interval, "high")

    def _kind(self, one: Mapping[str, Any]) -> str:
        if not self.is_tested:
            return "untested"
        p = figure(one, "p_holm")
        return "certain" if p is not None and p < CERTAIN else "uncertain"

    def _changes(self, ordered: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        looks = {"certain": (COLOURS[0], "circle"), "uncertain": (MUTED, "circle-open"), "untested": (MUTED, "circle")}
        for kind, (colour, symbol) in looks.items():
            own = [(row, one) for row, one in enumerate(ordered) if self._kind(one) == kind]
            if own:
                reach = [self._interval(one) for _, one in own]
                yield {
                    "type": "scatter", "mode": "markers", "name": self.words[kind],
                    "x": [change for change, _, _ in reach], "y": [row for row, _ in own],
                    "marker": {"color": colour, "symbol": symbol, "size": 9},
                    "error_x": {
                        "type": "data", "symmetric": False, "thickness": 2, "width": 0, "color": colour,
                        "array": [max(0.0, (high or change) - change) for change, _, high in reach],
                        "arrayminus": [max(0.0, change - (low or change)) for change, low, _ in reach],
                    },
                    "hoverinfo": "text", "hovertext": [self._told(one) for _, one in own],
                    "meta": {"links": [answers("longitudinal", item_id=one["item"]) for _, one in own]},
                }  # fmt: skip

    def _told(self, one: Mapping[str, Any]) -> str:
        change, low, high = (signed(value, self.language) for value in self._interval(one))
        return self.words["hover"].format(
            item=wrapped(self.wordings[str(one["item"])], 400, 3), change=change, low=low, high=high, n=one["n"]
        )

    def _placebo(self, ordered: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Its values are rekeyed; here they are turned back to what was worded."""
        known = {str(one["item"]): one for one in listed(self.found, "drift", "minus_placebo", "items")}
        own = [
            (row + 0.22, item, -float(value) if self.keys[item] else float(value), known[item]["n"])
            for row, item in enumerate(str(one["item"]) for one in ordered)
            if item in known and (value := figure(known[item], "placebo")) is not None
        ]
        if own:
            yield {
                "type": "scatter", "mode": "markers", "name": self.words["placebo"], "x": [value for _, _, value, _ in own],
                "y": [row for row, *_ in own],
                "marker": {"color": COLOURS[1], "symbol": "diamond", "size": 8, "line": {"color": PAPER, "width": 1}},
                "hoverinfo": "text",
                "hovertext": [
                    self.words["hover_placebo"].format(item=wrapped(self.wordings[item], 400, 3), change=signed(value, self.language), n=n)
                    for _, item, value, n in own
                ],
            }  # fmt: skip

    def _alt(self, ordered: Sequence[Mapping[str, Any]]) -> str:
        largest = max(ordered, key=lambda one: abs(float(one["mean_change"])))
        changed = sum(self._kind(one) == "certain" for one in ordered)
        return self.words["drift_alt" if self.is_tested else "untested_alt"].format(
            n=len(ordered), changed=changed, item=self.wordings[str(largest["item"])].rstrip("."),
            change=signed(largest["mean_change"], self.language),
        )  # fmt: skip

    # --- by group ----------------------------------------------------------------------------------------------------

    def by_group(self) -> Iterator[Figure]:
        """Statements × groups; all agents first. Drawn where at least two groups are large enough."""
        sizes: dict[str, int] = {}
        for one in self.items:
            for group in listed(one, "by_type"):
                name = str(group["stakeholder_type"])
                sizes[name] = max(sizes.get(name, 0), int(group["n"]))
        shown = kept(list(sizes.items()))
        cells = [[self._cell(one, ""), *(self._cell(one, name) for name, _ in shown)] for one in self.items]
        columns = [(self.words["everybody"], max((int(one["n"]) for one in self.items), default=0)), *shown]
        seen = [
            (cell, one, name)
            for row, one in zip(cells, self.items, strict=True)
            for cell, (name, _) in zip(row[1:], shown, strict=True)
            if cell.n >= 5 and cell.value is not None
        ]
        if len({name for _, _, name in seen}) < 2:
            return
        reach = max(abs(cell.value or 0.0) for cell, _, _ in seen) or 1.0
        labels = [wrapped(self.wordings[str(one["item"])], LABEL) for one in self.items]
        trace, layout = by_group(labels, columns, cells, DIVERGING, (-reach, reach))
        title = self.words["groups" if self.is_drift else "groups_experience"]
        small = self.words["small"] if any(n < 5 for _, n in shown) else ""
        canvas = Canvas(title, self.note(small), self.language, plot=ROW * len(cells), data=[trace], layout=layout)
        largest, of_item, of_group = max(seen, key=lambda each: abs(each[0].value or 0.0))
        alt = self.words["groups_alt"].format(
            n=len(cells), groups=len({name for _, _, name in seen}), group=readable(of_group),
            item=self.wordings[str(of_item["item"])].rstrip("."),
            change=largest.text,
        )  # fmt: skip
        yield canvas.figure("heatmap", alt)

    def _cell(self, one: Mapping[str, Any], group: str) -> Cell:
        own = (
            next((each for each in listed(one, "by_type") if each["stakeholder_type"] == group), None) if group else one
        )
        value = figure(own, "mean_change")
        if own is None or value is None:
            return Cell(None)
        item = str(one["item"])
        text, n = signed(value, self.language, 1), int(own["n"])
        who = readable(group) or self.words["everybody"]
        told = f"{who}, {wrapped(self.wordings[item], 400, 3)}: {signed(value, self.language)}, n = {n}"
        link = answers("longitudinal", item_id=item, **({"stakeholder_type": group} if group else {}))
        return Cell(value, text, told, link, n)
