"""All answers of one or two waves: bars that part at the middle of the scale, disagreement to the left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, at, listed
from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, rows, told
from enquete.reports.figures.palette import MUTED, stages
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.markdown import share
from enquete.state.asking import Language

LABEL = 240  # px
BAR = 17  # px: a wave's bar
ROOM = {1: 23, 2: 12}  # px between two statements, by the number of waves: three lines of text have room
LEAST_WRITTEN = 0.06  # of all answers, for a number in the bar

WORDS = {
    "title": N_("Longitudinal: answers to every statement, by wave"),
    "title_one": N_("Longitudinal: answers to every statement"),
    "hover": N_("{wave}: {share} say {point} (n = {n} of {total})"),
    "alt": N_(
        "Distributions of {n} statements; most agreed with: {high} ({high_share}), least: {low} ({low_share}), in {wave}."
    ),
}

Item = Mapping[str, Any]


def likert(found: Found, language: Language) -> Iterator[Figure]:
    """A row a statement in the instrument's order; with two waves T0 above T1."""
    items = [one for one in listed(found, "items") if _waves(one)]
    waves = [wave for wave in ("T0", "T1") if any(wave in _waves(one) for one in items)]
    if not items:
        return
    words = in_language(WORDS, language)
    asked = [counted(at(found, "waves", wave), language, wave if len(waves) > 1 else "") for wave in waves]
    height = (BAR * len(waves) + ROOM[len(waves)]) * len(items)
    canvas = Canvas(words["title" if len(waves) > 1 else "title_one"], note(language, *asked), language, plot=height)
    bars = [
        (place, wave, one, _row(place, waves.index(wave), len(waves)))
        for place, one in enumerate(items)
        for wave in waves
        if wave in _waves(one)
    ]
    reach = 0.0
    for low, high in dict.fromkeys((one["scale_min"], one["scale_max"]) for one in items):
        own = [(wave, one, y) for _, wave, one, y in bars if (one["scale_min"], one["scale_max"]) == (low, high)]
        traces = list(_traces(own, low, high, len(waves), words, language))
        canvas.data.extend(traces)
        ends = [
            abs(start + width * k)
            for trace in traces
            for start, width in zip(trace["base"], trace["x"], strict=True)
            for k in (0, 1)
        ]
        reach = max(reach, *ends)
    _axes(canvas, items, bars, reach, len(waves), language)
    yield canvas.figure("answers", _alt(items, waves[-1], words, language), lead=len(waves) == 1 and len(items) <= 8)


def _waves(one: Item) -> list[str]:
    return [wave for wave in ("T0", "T1") if at(one, "waves", wave, "n_responded")]


def _row(place: int, wave: int, waves: int) -> float:
    """Where a bar lies: waves side by side about the middle of the row."""
    return place + (wave - (waves - 1) / 2) * BAR / (BAR * waves + ROOM[waves])


def _traces(
    bars: Sequence[tuple[str, Item, float]],
    low: int,
    high: int,
    waves: int,
    words: Mapping[str, str],
    language: Language,
) -> Iterator[dict[str, Any]]:
    """One a point of the scale, each bar beginning where the one before ends; the middle point lies half on either side."""
    points = list(range(low, high + 1))
    middle = (low + high) / 2
    labels = next((one.get("scale_labels") for _, one, _ in bars), None) or {}
    thick = (BAR - 2) / (BAR * waves + ROOM[waves])
    for point, colour in zip(points, stages(len(points)), strict=True):
        starts, widths, said = [], [], []
        for wave, one, _ in bars:
            counts = at(one, "waves", wave, "distribution")
            total = sum(counts.values()) or 1
            shares = {each: counts.get(str(each), 0) / total for each in points}
            starts.append(sum(shares[each] for each in points if each < point) - sum(
                shares[each] * (1.0 if each < middle else 0.5) for each in points if each <= middle
            ))  # fmt: skip
            widths.append(shares[point])
            given = {"n": counts.get(str(point), 0), "total": total, "share": share(shares[point], language)}
            said.append(words["hover"].format(wave=wave, point=point, **given))
        yield {
            "type": "bar", "orientation": "h", "base": starts, "x": widths, "y": [y for _, _, y in bars], "width": [thick] * len(bars),
            "marker": {"color": colour, "line": {"color": MUTED, "width": 0.4}}, "name": escaped(f"{point} {labels.get(str(point), '')}"),
            "text": [share(width, language).rstrip(" %") if width >= LEAST_WRITTEN else "" for width in widths],
            "textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "textfont": {"size": 9},
            "hoverinfo": "text", "hovertext": said,
            "meta": {"links": [answers("longitudinal", item_id=one["item"], phase=wave, value=point) for wave, one, _ in bars]},
        }  # fmt: skip


def _axes(
    canvas: Canvas,
    items: Sequence[Item],
    bars: Sequence[tuple[int, str, Item, float]],
    reach: float,
    waves: int,
    language: Language,
) -> None:
    end = min(1.0, -(-reach // 0.25) * 0.25)
    ticks = [step * 0.25 for step in range(-4, 5) if abs(step * 0.25) <= end]
    gutter = 0.1 * end if waves > 1 else 0.0
    canvas.layout.update(
        yaxis=rows([wrapped(one.get("wording") or one["item"], LABEL, 3) for one in items]),
        xaxis={
            "range": [-end - gutter, end], "zeroline": True, "tickvals": ticks,
            "ticktext": [share(abs(tick), language) for tick in ticks],
        },
    )  # fmt: skip
    if waves > 1:
        canvas.layout["annotations"] = [
            told(wave, -end - gutter, y, xanchor="left", font={"size": 9, "color": MUTED}) for _, wave, _, y in bars
        ]


def _alt(items: Sequence[Item], wave: str, words: Mapping[str, str], language: Language) -> str:
    """Shares above the middle of the scale."""
    agreed = {}
    for one in items:
        counts = at(one, "waves", wave, "distribution") or {}
        above = sum(n for point, n in counts.items() if int(point) > (one["scale_min"] + one["scale_max"]) / 2)
        if sum(counts.values()):
            agreed[str(one.get("wording") or one["item"]).rstrip(".")] = above / sum(counts.values())
    high, low = max(agreed, key=lambda name: agreed[name]), min(agreed, key=lambda name: agreed[name])
    return words["alt"].format(
        n=len(items),
        wave=wave,
        high=high,
        low=low,
        high_share=share(agreed[high], language),
        low_share=share(agreed[low], language),
    )
