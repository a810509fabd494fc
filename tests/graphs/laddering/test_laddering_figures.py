"""The laddering figures: the map from level to level with its numbers, and saturation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from enquete.graphs.laddering.figures import figures
from enquete.reports.figures import chosen, named
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.svg import svg
from tests.support.pictures import overlapping

EVIL = '<script>alert(1)</script> "a" --> b; %% ] end'
FOUND: dict[str, Any] = {
    "answers": {"n_responded": 28, "n_total": 30},
    "interviews": {"begun": 4, "total": 5},
    "saturation": [{"interviews": n, "new": new, "concepts": all_} for n, new, all_ in ((1, 3, 3), (2, 2, 5), (3, 0, 5), (4, 1, 6))],
    "value_map": {
        "cut_off": 3, "levels": ["attribute", "value"],
        "boxes": [{"id": "c1", "label": "short trips", "agents": 4, "level": 0, "place": 0},
                  {"id": "c2", "label": "time at home", "agents": 3, "level": 1, "place": 0},
                  {"id": "c3", "label": EVIL, "agents": 3, "level": 1, "place": 1}],
        "links": [{"source": "c1", "target": "c2", "direct": 3, "indirect": 0, "relation": "leads_to"},
                  {"source": "c2", "target": "c3", "direct": 4, "indirect": 0, "relation": "leads_to"},
                  {"source": "c1", "target": "gone", "direct": 9, "indirect": 0, "relation": "leads_to"}],
    },
    "relations": {"leads_to": "leads to"}, "ladder": ["attribute", "value"],
}  # fmt: skip


def drawn(name: str) -> Figure:
    return chosen(f"laddering/{name}", named("laddering", figures(FOUND, "en")))


def test_links_run_from_level_to_level_with_their_number_on_them() -> None:
    """The two values stand at −0.5 and 0.5; boxes are .72 of a level's column wide, so that a link starts at .36."""
    one = drawn("value_map")
    first, within, numbers = one.spec["data"]  # none to a concept off the map
    assert (first["x"], first["y"]) == ([0.36, 0.64], [0.0, -0.5])
    assert len(within["x"]) == 4  # around the right side of both
    assert numbers["text"] == ["3", "4"]
    assert within["line"]["width"] > first["line"]["width"]
    assert "4 of 5 agents interviewed · 28 of 30 answers · links that at least 3 agents gave" in one.note


def crossed(spec: dict[str, Any]) -> list[tuple[float, float]]:
    """Points of lines, at every hundredth, that lie within a box."""
    boxes = [(one["x0"], one["x1"], one["y0"], one["y1"]) for one in spec["layout"]["shapes"]]
    lines = [list(zip(one["x"], one["y"], strict=True)) for one in spec["data"] if one["mode"] == "lines"]
    points = [
        (a + (c - a) * k / 100, b + (d - b) * k / 100)
        for line in lines for (a, b), (c, d) in pairwise(line) for k in range(101)
    ]  # fmt: skip
    edge = 1e-9
    return [
        (x, y)
        for x, y in points
        if any(left + edge < x < right - edge and top + edge < y < foot - edge for left, right, top, foot in boxes)
    ]


def test_no_line_runs_behind_a_box_and_what_lines_say_is_told() -> None:
    """Four kinds of concepts, 3, 2, 3 and 1 of them, and every link, to the right and to the left, that skips a kind."""
    sizes = (3, 2, 3, 1)
    boxes = [{"id": f"{level}{place}", "label": f"thought {level}{place}", "agents": 4, "level": level, "place": place}
             for level, size in enumerate(sizes) for place in range(size)]  # fmt: skip
    links = [
        {"source": a["id"], "target": b["id"], "direct": 2, "indirect": 0, "relation": "causes" if a["place"] else "evokes"}
        for a in boxes for b in boxes if abs(int(str(a["level"])) - int(str(b["level"]))) > 1
    ]  # fmt: skip
    relations = {"causes": "causes", "evokes": "evokes", "unused": "?"}
    own = {**FOUND, "relations": relations, "ladder": [],
           "value_map": {"cut_off": 1, "levels": list("abcd"), "boxes": boxes, "links": links}}  # fmt: skip
    one = chosen("laddering/value_map", named("laddering", figures(own, "en")))
    assert crossed(one.spec) == []
    assert crossed({**one.spec, "data": [{"mode": "lines", "x": [0, 3], "y": [0, 0.5]}]})  # a straight line does
    told = [trace["name"] for trace in one.spec["data"] if trace["mode"] == "lines" and trace["showlegend"]]
    assert told == ["a: causes", "b: evokes"]
    numbers = one.spec["data"][-1]
    assert numbers["text"][0] == "2b"
    assert numbers["text"][-1].startswith("←")  # it leads to the left
    assert "“thought 00” evokes “thought 20”: 2 agents" in numbers["hovertext"]


def test_what_was_said_stays_text() -> None:
    picture = svg(drawn("value_map").spec, drawn("value_map").alt)
    assert "<script>" not in picture
    assert "alert(1)" in picture
    assert overlapping(picture) == []


def test_saturation_says_what_the_last_quarter_brought() -> None:
    one = drawn("saturation")
    assert [each["y"] for each in one.spec["data"]] == [[3, 5, 5, 6], [3, 2, 0, 1]]
    assert one.alt == "6 distinct concepts after 4 interviews; the last quarter of them brought 1."
