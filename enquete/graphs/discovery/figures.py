"""The discovery figures: which fields are known in which group, and how records fill question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.locale import N_, in_language, whole
from enquete.reports.context import Found, at, listed, type_name
from enquete.reports.figures.canvas import Canvas, Figure, answers, note, titled
from enquete.reports.figures.heat import ROW, Cell, by_group, kept
from enquete.reports.figures.palette import COLOURS, GRID
from enquete.reports.figures.text import escaped, wrapped
from enquete.reports.markdown import share
from enquete.state.asking import Language

CURVE, LABEL = 220, 255  # px
SHARES = ((0.0, "#f7f7f7"), (1.0, "#2166ac"))

WORDS = {
    "coverage": N_("Discovery: what is known, by field and group"),
    "everybody": N_("all"),
    "hover": N_("{label}, {group}: known of {n} of {total} agents"),
    "coverage_alt": N_("Share of agents of whom a field is known: {shares}."),
    "small": N_("without groups below 5 agents"),
    "completeness": N_("Discovery: records after each question"),
    "questions": N_("questions asked"),
    "complete": N_("complete records"),
    "known": N_("fields known, on average"),
    "curve_hover": N_("after {question} questions: {complete} of {n} complete, {known} of the fields known"),
    "curve_alt": N_(
        "{complete} of {n} records are complete after {question} questions; {known} of the fields are known."
    ),
    "interviewed": N_("{n} of {total} agents interviewed"),
}


def figures(found: Found, language: Language) -> Iterator[Figure]:
    words = in_language(WORDS, language)
    yield from completeness(found, words, language)
    yield from coverage(found, words, language)


def asked(found: Found, words: Mapping[str, str], language: Language, *more: str) -> str:
    held = at(found, "interviews") or {}
    return note(language, words["interviewed"].format(n=held.get("begun", 0), total=held.get("total", 0)), *more)


def coverage(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Fields × stakeholder types: the share of agents of whom something is known."""
    fields = [one for one in listed(found, "fields") if one["type"] != "object"]
    if not fields or not at(found, "interviews", "begun"):
        return
    sizes = [(str(one["stakeholder_type"]), int(one["n_total"])) for one in listed(fields[0], "by_type")]
    groups = kept(sizes)
    everybody = (words["everybody"], int(fields[0]["n_total"]))
    shown = [everybody, *groups] if len(groups) > 1 else [everybody]
    labels = [wrapped(str(one["label"]), LABEL, 2) for one in fields]
    named = [everybody, *((type_name(found, name), n) for name, n in shown[1:])]
    cells = [
        [_cell(one, group, name, words, language) for group, (name, _) in zip(shown, named, strict=True)]
        for one in fields
    ]
    small = words["small"] if 1 < len(shown) < len(sizes) + 1 else ""
    canvas = Canvas(words["coverage"], asked(found, words, language, small), language, ROW * len(fields))
    trace, layout = by_group(labels, named, cells, SHARES, (0.0, 1.0))
    canvas.data.append(trace)
    canvas.layout.update(layout)
    told = "; ".join(f"{escaped(one['label'])} {share(one['n_known'] / one['n_total'], language)}" for one in fields)
    yield canvas.figure("coverage", words["coverage_alt"].format(shares=told))


def _cell(
    one: Mapping[str, Any], group: tuple[str, int], name: str, words: Mapping[str, str], language: Language
) -> Cell:
    by_type = {str(each["stakeholder_type"]): each for each in listed(one, "by_type")}
    own, total = by_type.get(group[0], one), group[1]
    value = int(own["n_known"]) / total if total else None
    told = words["hover"].format(
        label=escaped(one["label"]),
        group=escaped(name),
        n=whole(int(own["n_known"]), language),
        total=whole(total, language),
    )
    link = answers("discovery", **({"stakeholder_type": group[0]} if group[0] in by_type else {}))
    return Cell(value, share(value, language), told, link, total)


def completeness(found: Found, words: Mapping[str, str], language: Language) -> Iterator[Figure]:
    """Shares of complete records and of known fields, after each question."""
    curve = listed(found, "curve")
    if not curve:
        return
    n = int(curve[0]["n_total"])
    told = [
        words["curve_hover"].format(
            question=one["question"], complete=one["complete"], n=n, known=share(one["known"], language)
        )
        for one in curve
    ]
    canvas = Canvas(words["completeness"], asked(found, words, language), language, CURVE)
    order = [int(one["question"]) for one in curve]
    links = [answers("discovery", turn=turn) for turn in order]
    for name, shares, colour, dash in (
        (words["complete"], [int(one["complete"]) / n for one in curve], COLOURS[0], "solid"),
        (words["known"], [float(one["known"]) for one in curve], COLOURS[1], "dash"),
    ):
        canvas.data.append({
            "type": "scatter", "mode": "lines+markers", "x": order, "y": shares, "name": name, "hoverinfo": "text",
            "hovertext": told, "meta": {"links": links},
            "line": {"color": colour, "width": 2, "dash": dash}, "marker": {"color": colour, "size": 6},
        })  # fmt: skip
    ticks = [0, 0.25, 0.5, 0.75, 1]
    canvas.layout.update(
        xaxis=titled(
            words["questions"], range=[0.5, order[-1] + 0.5], dtick=1 if len(order) <= 20 else 5, showgrid=False
        ),
        yaxis={
            "range": [0, 1.05],
            "tickvals": ticks,
            "ticktext": [share(tick, language) for tick in ticks],
            "gridcolor": GRID,
        },
    )
    last = curve[-1]
    alt = words["curve_alt"].format(
        complete=last["complete"], n=n, question=last["question"], known=share(last["known"], language)
    )
    yield canvas.figure("completeness", alt, lead=True)
