"""The charts of the interviews: the map from level to level with its numbers, and no text over another."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from enquete.methods.laddering.charts import Point, layout
from enquete.methods.laddering.evaluation import PRESENTATION
from enquete.reports.charts import Picture, drawn
from tests.support.charts import illegible, results

EVIL = '<script>alert(1)</script> "a" --> b; %% ] end'
LINK = {"relation": "leads_to", "indirect": 0, "shown": True}
TABLES: dict[str, list[dict[str, Any]]] = {
    "types": [{"type": "a", "label": "attribute"}, {"type": "v", "label": "value"}],
    "relations": [{"relation": "leads_to", "label": "leads to"}, {"relation": "causes", "label": "causes"}],
    "concepts": [
        {"concept": "c1", "label": "short trips", "type": "a", "agents": 4, "level": 0, "place": 0, "share": 0.8,
            "low": 0.4, "high": 1.0},
        {"concept": "c2", "label": "time at home", "type": "v", "agents": 3, "level": 1, "place": 0, "share": 0.6,
            "low": 0.2, "high": 0.9},
        {"concept": "c3", "label": EVIL, "type": "v", "agents": 3, "level": 1, "place": 1, "share": 0.6, "low": 0.2,
            "high": 0.9},
    ],
    "implications": [{"source": "c2", "target": "c3", "direct": 4, **LINK},
        {"source": "c2", "target": "c1", "direct": 3, **LINK}],
    "nodes": [{"participant": who, "node": "n1", "concept": c} for who in ("p1", "p2") for c in ("c1", "c2", "c3")],
    "saturation": [{"interviews": n, "new": new, "concepts": all_} for n, new,
        all_ in ((1, 3, 3), (2, 2, 5), (3, 0, 5), (4, 1, 6))],
    "coverage": [{"element": "e", "label": "prices", "agents": 3, "n": 4, "concepts": 2}],
}  # fmt: skip
FACTS = {"n": 4, "n_total": 5, "n_shown": 3, "n_links": 2, "cut_off": 3, "n_late_new": 1}


def pictures(tables: dict[str, Any] = TABLES) -> dict[str, Picture]:
    made = drawn(results(PRESENTATION, tables, FACTS, methodology="laddering"), footer="simulated")
    return {picture.name.partition("/")[2]: picture for picture in made}


def test_every_picture_can_be_read_and_what_was_said_stays_text() -> None:
    every = pictures()
    assert list(every) == ["value_map", "concepts", "coverage", "saturation"]
    for picture in every.values():
        assert illegible(picture.svg()) == []
        assert "<script>" not in picture.svg()
    assert every["saturation"].alt == "6 distinct concepts after 4 interviews; the last quarter of them brought 1."


def test_links_have_their_number_and_a_letter_where_they_say_different_things() -> None:
    picture = pictures()["value_map"]
    (numbers,) = [rows for rows in picture.spec["datasets"].values() if any(row.get("text") == "4" for row in rows)]
    assert [row["text"] for row in numbers] == ["4", "←3"]  # the second leads to the left
    assert "time at home · leads to · short trips · direct 3" in picture.svg().replace("\u00a0", " ")
    assert {mark.link for mark in picture.marks() if mark.link} == {"laddering?participant=p1%2Cp2"}
    first, second = TABLES["implications"]
    picture = pictures({**TABLES, "implications": [first, {**second, "relation": "causes"}]})["value_map"]
    texts = [row["text"] for rows in picture.spec["datasets"].values() for row in rows if "text" in row]
    assert {"4a", "←3b"} <= set(texts)
    assert "b: causes" in picture.svg()


def crossed(lines: list[list[Point]], boxes: list[Point], wide: float, tall: float) -> list[Point]:
    """Points of lines, at every hundredth, that lie within a box."""
    points = [
        (a + (c - a) * k / 100, b + (d - b) * k / 100)
        for line in lines
        for (a, b), (c, d) in pairwise(line)
        for k in range(101)
    ]
    edge = 1e-9
    return [
        (x, y)
        for x, y in points
        if any(abs(x - a) < wide / 2 - edge and abs(y - b) < tall / 2 - edge for a, b in boxes)
    ]


def test_no_line_runs_behind_a_box() -> None:
    """Four kinds of concepts, 3, 2, 3 and 1 of them, and every link, to the right and to the left, that skips a
    kind."""
    levels = [[f"{level}{place}" for place in range(size)] for level, size in enumerate((3, 2, 3, 1))]
    every = [code for row in levels for code in row]
    links = [(a, b) for a in every for b in every if abs(int(a[0]) - int(b[0])) > 1]
    made = layout(levels, links, (120, 40), 180)
    boxes = list(made.boxes.values())
    assert crossed(made.lines, boxes, 120, 40) == []
    assert crossed([[made.boxes["00"], made.boxes["30"]]], boxes, 120, 40)  # a straight line does
    assert len(set(made.numbers)) == len(links)
