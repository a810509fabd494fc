"""Scores of all objects with their intervals, as plain data that notebooks and reports draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.locale import N_, in_language
from enquete.reports.context import Found, figure, listed
from enquete.reports.figures.canvas import Canvas, Figure, counted, note, rows, titled
from enquete.reports.figures.palette import COLOURS
from enquete.reports.figures.text import wrapped
from enquete.reports.markdown import number
from enquete.state.asking import Language

WORDS = {"figure": N_("Best–worst: what matters how much"), "axis": N_("score with 95% interval")}


def ranked(found: Found) -> list[Mapping[str, Any]]:
    """Objects with a score, the highest first."""
    known = [one for one in listed(found, "objects") if figure(one, "score") is not None]
    return sorted(known, key=lambda one: (-float(one["score"]), str(one["object"])))


def figures(found: Found, language: Language) -> Iterator[Figure]:
    """One bar an object, the most important on top. Nothing where nobody has answered."""
    objects = ranked(found)
    if not objects:
        return
    words = in_language(WORDS, language)
    score = [float(one["score"]) for one in objects]
    canvas = Canvas(words["figure"], note(language, counted(found, language)), language, plot=30 * len(objects))
    canvas.data.append({
        "type": "bar", "orientation": "h", "x": score, "y": list(range(len(objects))), "marker": {"color": COLOURS[0]},
        "error_x": {
            "type": "data", "symmetric": False, "color": "#1c2329",
            "array": [float(one["high"] or value) - value for one, value in zip(objects, score, strict=True)],
            "arrayminus": [value - float(one["low"] or value) for one, value in zip(objects, score, strict=True)],
        },
        "hoverinfo": "text", "hovertext": [f"{one['label']}: {number(one['score'], language)}" for one in objects],
    })  # fmt: skip
    canvas.layout["yaxis"] = rows([wrapped(one["label"], 220) for one in objects])
    canvas.layout["xaxis"] = titled(words["axis"], range=[-1, 1], zeroline=True)
    alt = ", ".join(f"{one['label']} {number(one['score'], language)}" for one in objects)
    yield canvas.figure("scores", f"{words['figure']}: {alt}.", lead=True)
