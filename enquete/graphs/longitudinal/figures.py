"""The longitudinal figures: how much each statement changed, beside what changes without memory; means before and after; all
answers of both waves; change by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.graphs.longitudinal.likert import likert
from enquete.graphs.longitudinal.slopes import slopes
from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, figure, listed, type_name
from enquete.reports.figures.canvas import Canvas, Figure, answers, beside, counted, dots, note, rows, signed, titled
from enquete.reports.figures.heat import LABEL, ROW, Cell, by_group, kept
from enquete.reports.figures.palette import COLOURS, DIVERGING, MUTED
from enquete.reports.figures.text import wrapped
from enquete.reports.key_findings import FEWEST
from enquete.state.asking import Language

WORDING = 300  # px
CERTAIN = 0.05
LEAST_REACH = 1.0  # scale points to each side of 0

WORDS = {
    "drift": N_("Longitudinal: change of every statement from T0 to T1, as worded"),
    "experience": N_("Longitudinal: with memory and without, by statement (experience effect, no drift)"),
    "incomparable": N_("the waves cannot be compared: differences are not tested"),
    "change": N_("mean change in scale points, with 95% interval"),
    "certain": N_("change at p < 0.05 (Holm)"),
    "uncertain": N_("no change at p < 0.05 (Holm)"),
    "untested": N_("not tested"),
    "placebo": N_("placebo: asked again with a neutral memory"),
    "paired": N_("{n} of {total} agents in both waves"),
    "minus": N_("change minus placebo, 95% interval"),
    "hover": N_("{item}: {change} ({low} to {high}), n = {n}"),
    "hover_placebo": N_("{item}: {change} with a neutral memory, n = {n}"),
    "drift_alt": N_("{n} statements; {changed} changed at p < 0.05 (Holm). Largest change: {item}, {change}."),
    "untested_alt": N_("{n} statements, not tested. Largest difference: {item}, {change}."),
    "groups": N_("Longitudinal: mean change by statement and group, in scale points"),
    "groups_experience": N_("Longitudinal: mean difference with memory by statement and group, in scale points"),
    "groups_alt": N_("Mean change of {n} statements in {groups} groups; largest: {item} in {group}, {change}."),
    "small": N_("without groups below 5 agents"),
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


Ends = tuple[float, float | None, float | None]
"""An estimate and the ends of its interval."""


class Changes:
    """Changes of statements between the waves, and what they are called here. Values as worded, not rekeyed."""

    def __init__(self, found: Found, change: str, language: Language) -> None:
        self.found, self.language, self.words = found, language, in_language(WORDS, language)
        self.is_drift = change == "drift"
        self.is_tested = self.is_drift and at(found, "drift", "interpretable") is not False
        self.wordings = {str(one["item"]): str(one.get("wording") or one["item"]) for one in listed(found, "items")}
        self.keys = {str(one["item"]): bool(one.get("reverse_keyed")) for one in listed(found, "items")}
        self.placebo = {str(one["item"]): one for one in listed(found, change, "minus_placebo", "items")}
        self.items = [one for one in listed(found, change, "items") if figure(one, "mean_change") is not None]

    def note(self, *more: str) -> str:
        pairing = at(self.found, "pairing") or {}
        paired = self.words["paired"].format(n=pairing.get("agents_paired", 0), total=pairing.get("agents_total", 0))
        waves = (counted(at(self.found, "waves", wave), self.language, wave) for wave in ("T0", "T1"))
        odd = self.words["incomparable"] if self.is_drift and not self.is_tested else ""
        return note(self.language, paired, *waves, odd, *more)

    # --- by statement ------------------------------------------------------------------------------------------------

    def by_item(self) -> Iterator[Figure]:
        """Changes from the greatest rise to the greatest fall, with intervals; where there is a placebo arm, what it changed,
        and the difference between the two with its interval."""
        ordered = sorted(self.items, key=lambda one: -float(one["mean_change"]))
        if not ordered:
            return
        beyond = [self.placebo.get(str(one["item"])) for one in ordered]
        has_placebo = any(beyond)
        title = self.words["drift" if self.is_drift else "experience"]
        canvas = Canvas(title, self.note(), self.language, plot=ROW * len(ordered))
        wide = WORDING if not has_placebo else WORDING - 60
        canvas.layout["yaxis"] = rows([wrapped(self.wordings[str(one["item"])], wide) for one in ordered])
        domains = beside(2, 0.06, (0.56, 0.44)) if has_placebo else [(0.0, 1.0)]
        changes = [(row, one, self._interval(one), self._kind(one, "p_holm")) for row, one in enumerate(ordered)]
        canvas.data.extend(self._dots(changes, "x"))
        canvas.layout["xaxis"] = self._axis(
            "change", domains[0], [value for _, _, ends, _ in changes for value in ends]
        )
        if has_placebo:
            canvas.data.append(self._neutral(list(enumerate(beyond))))
            apart = [(row, one, self._apart(one), self._kind(one, "p_holm")) for row, one in enumerate(beyond) if one]
            canvas.data.extend({**trace, "showlegend": False} for trace in self._dots(apart, "x2"))
            canvas.layout["xaxis2"] = self._axis(
                "minus", domains[1], [value for _, _, ends, _ in apart for value in ends]
            )
        yield canvas.figure("drift", self._alt(ordered), lead=True)

    def _axis(self, title: str, domain: tuple[float, float], values: Sequence[float | None]) -> dict[str, Any]:
        reach = max([LEAST_REACH, *(abs(value) * 1.1 for value in values if value is not None)])
        text = wrapped(self.words[title], 420 * (domain[1] - domain[0]), 2, 12)
        return titled(text, range=[-reach, reach], zeroline=True, domain=domain, dtick=0.5)

    def _interval(self, one: Mapping[str, Any]) -> Ends:
        interval = at(one, "effects", "mean_change") or {}
        return float(one["mean_change"]), figure(interval, "low"), figure(interval, "high")

    def _apart(self, one: Mapping[str, Any]) -> Ends:
        """Change minus the placebo's, as worded: findings have it rekeyed."""
        low, mid, high = (figure(one, "difference", key) for key in ("low", "estimate", "high"))
        ends = (mid or 0.0, low, high)
        return ends if not self.keys[str(one["item"])] else (-ends[0], _negative(high), _negative(low))

    def _kind(self, one: Mapping[str, Any], p: str) -> str:
        if not self.is_tested:
            return "untested"
        value = figure(one, p)
        return "certain" if value is not None and value < CERTAIN else "uncertain"

    def _dots(self, own: Sequence[tuple[int, Mapping[str, Any], Ends, str]], axis: str) -> Iterator[dict[str, Any]]:
        looks = {"certain": (COLOURS[0], "circle"), "uncertain": (MUTED, "circle-open"), "untested": (MUTED, "circle")}
        for kind, (colour, symbol) in looks.items():
            some = [(row, one, ends) for row, one, ends, its in own if its == kind]
            if some:
                yield dots(
                    [ends[0] for _, _, ends in some], [row for row, _, _ in some], [ends[1] for _, _, ends in some],
                    [ends[2] for _, _, ends in some], colour=colour, symbol=symbol, name=self.words[kind], xaxis=axis, yaxis="y",
                    hovertext=[self._told(one, ends) for _, one, ends in some],
                    meta={"links": [answers("longitudinal", item_id=one["item"]) for _, one, _ in some]},
                )  # fmt: skip

    def _told(self, one: Mapping[str, Any], ends: Ends) -> str:
        change, low, high = (signed(value, self.language) for value in ends)
        wording = wrapped(self.wordings[str(one["item"])], 400, 3)
        return self.words["hover"].format(item=wording, change=change, low=low, high=high, n=one["n"])

    def _neutral(self, own: Sequence[tuple[int, Mapping[str, Any] | None]]) -> dict[str, Any]:
        """What the placebo changed, as worded."""
        known = [(row, one, value) for row, one in own if one and (value := figure(one, "placebo")) is not None]
        values = [-value if self.keys[str(one["item"])] else value for _, one, value in known]
        nothing = [None] * len(known)
        said = [
            self.words["hover_placebo"].format(
                item=wrapped(self.wordings[str(one["item"])], 400, 3), change=signed(value, self.language), n=one["n"]
            )
            for (_, one, _), value in zip(known, values, strict=True)
        ]
        return dots(
            values, [row + 0.22 for row, _, _ in known], nothing, nothing, colour=COLOURS[1], symbol="diamond", size=8,
            name=self.words["placebo"], hovertext=said,
            meta={"links": [answers("longitudinal", item_id=one["item"], arm="placebo") for _, one, _ in known]},
        )  # fmt: skip

    def _alt(self, ordered: Sequence[Mapping[str, Any]]) -> str:
        largest = max(ordered, key=lambda one: abs(float(one["mean_change"])))
        changed = sum(self._kind(one, "p_holm") == "certain" for one in ordered)
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
        columns = [(self.words["everybody"], max((int(one["n"]) for one in self.items), default=0))]
        columns += [(type_name(self.found, name), n) for name, n in shown]
        seen = [
            (cell, one, name)
            for row, one in zip(cells, self.items, strict=True)
            for cell, (name, _) in zip(row[1:], shown, strict=True)
            if cell.n >= FEWEST and cell.value is not None
        ]
        if len({name for _, _, name in seen}) < 2:
            return
        reach = max(abs(cell.value or 0.0) for cell, _, _ in seen) or 1.0
        labels = [wrapped(self.wordings[str(one["item"])], LABEL) for one in self.items]
        trace, layout = by_group(labels, columns, cells, DIVERGING, (-reach, reach))
        title = self.words["groups" if self.is_drift else "groups_experience"]
        small = self.words["small"] if len(shown) < len(sizes) else ""
        canvas = Canvas(title, self.note(small), self.language, plot=ROW * len(cells), data=[trace], layout=layout)
        largest, of_item, of_group = max(seen, key=lambda each: abs(each[0].value or 0.0))
        alt = self.words["groups_alt"].format(
            n=len(cells), groups=len({name for _, _, name in seen}), group=type_name(self.found, of_group),
            item=self.wordings[str(of_item["item"])].rstrip("."),
            change=largest.text,
        )  # fmt: skip
        yield canvas.figure("groups", alt)

    def _cell(self, one: Mapping[str, Any], group: str) -> Cell:
        own = (
            next((each for each in listed(one, "by_type") if each["stakeholder_type"] == group), None) if group else one
        )
        value = figure(own, "mean_change")
        if own is None or value is None:
            return Cell(None)
        item = str(one["item"])
        text, n = signed(value, self.language, 1), int(own["n"])
        who = type_name(self.found, group) if group else self.words["everybody"]
        told = f"{who}, {wrapped(self.wordings[item], 400, 3)}: {signed(value, self.language)}, n = {n}"
        link = answers("longitudinal", item_id=item, **({"stakeholder_type": group} if group else {}))
        return Cell(value, text, told, link, n)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
