"""Charts of the interviews: the value map, concepts and elements by agents, and saturation.

A map has a box a concept, on the level of its kind from left to right, and a line a link that enough agents gave, with
their number on it. No line runs behind a box: one over several levels has a lane of its own between the boxes of each.
Measured by: no point of a line lies within a box (tests/methods/laddering/test_laddering_charts.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import hypot
from typing import Any

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.methods.laddering.network import untangled
from enquete.reports.charts import (
    COLOURS,
    INK,
    LEVELS,
    MUTED,
    PALE,
    PAPER,
    WIDTH,
    ChartData,
    answers,
    broken,
    intervals,
    worded,
)

WIDE = 0.72  # of a level's column that its boxes take
LINE, LANE, GAP = 14, 9, 12  # px: of text, of a link that passes boxes, between boxes
SMALL = 11  # px, of text in a box
HEAD, RISE = 96, 44  # px: of the names of levels that lie one above the other, and between these
ROOMIER, WIDEST = 1.25, 130.0  # by how much boxes must be wider so; px of a box at most
PARTS = (0.5, 0.3, 0.7)  # of a line, where its number may stand
APART = 20.0  # px that numbers should be apart
MAX_CONCEPTS = 20  # in the picture of who names them
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """px, along the levels and across: the middle of every box, the corners of every link's line, where its number
    stands; across, the middle is 0. size: of a box; span: of all levels, and of the largest."""

    boxes: Mapping[str, Point]
    lines: list[list[Point]]
    numbers: list[Point]
    size: Point
    span: Point


def lanes_of(levels: list[list[str]], links: list[tuple[str, str]]) -> list[list[tuple[float, int]]]:
    """By level: where between its boxes, from 0 to 1, which links pass that lead over it."""
    at = {box: (level, (place + 0.5) / len(row)) for level, row in enumerate(levels) for place, box in enumerate(row)}
    lanes: list[list[tuple[float, int]]] = [[] for _ in levels]
    for number, ends in enumerate(links):
        (a, first), (b, last) = sorted(at[end] for end in ends)
        for level in range(a + 1, b):
            lanes[level].append((first + (last - first) * (level - a) / (b - a), number))
    return lanes


def layout(levels: list[list[str]], links: list[tuple[str, str]], size: Point, step: float) -> Layout:
    """levels: boxes of each, in their order; step: from one level to the next."""
    half, across = size[0] / 2, dict[tuple[int, str], float]()
    spans = []
    for level, (row, lanes) in enumerate(zip(levels, lanes_of(levels, links), strict=True)):
        boxes = [((place + 0.5) / len(row), box, size[1] + GAP) for place, box in enumerate(row)]
        every = sorted([*boxes, *((where, f"lane {number}", LANE) for where, number in lanes)])
        spans.append(sum(room for *_, room in every))
        so_far = -spans[-1] / 2
        for _, name, room in every:
            across[level, name] = so_far + room / 2
            so_far += room
    home = {box: level for level, row in enumerate(levels) for box in row}
    middle = {box: ((level + 0.5) * step, across[level, box]) for box, level in home.items()}
    lines, beside = [], dict.fromkeys(range(len(levels)), 0)
    for number, ends in enumerate(links):
        first, last = sorted(ends, key=middle.__getitem__)
        (u1, v1), (u2, v2) = middle[first], middle[last]
        if u1 == u2:  # around its level
            beside[home[first]] += 1
            out = u1 + half + 4 + 3 * (beside[home[first]] % 5)
            lines.append([(u1 + half, v1), (out, v1), (out, v2), (u1 + half, v2)])
            continue
        over = range(home[first] + 1, home[last])
        passed = [
            ((level + 0.5) * step + side * half, across[level, f"lane {number}"]) for level in over for side in (-1, 1)
        ]
        lines.append([(u1 + half, v1), *passed, (u2 - half, v2)])
    return Layout(middle, lines, list(_spots(lines)), size, (step * len(levels), max(spans)))


def _spots(lines: list[list[Point]]) -> Iterator[Point]:
    """For each line a place between two levels, as far from the others as may be."""
    taken: list[Point] = []
    for line in lines:
        within = len(line) == 4 and line[0][0] == line[3][0]
        pairs = [(line[1], line[2])] if within else list(pairwise(line))[::2]
        spots = [(x1 + part * (x2 - x1), y1 + part * (y2 - y1)) for (x1, y1), (x2, y2) in pairs for part in PARTS]
        room = {spot: min((hypot(spot[0] - x, spot[1] - y) for x, y in taken), default=APART) for spot in spots}
        taken.append(max(spots, key=room.__getitem__))
        yield taken[-1]


def network(data: ChartData, boxes: pd.DataFrame, links: pd.DataFrame, kinds: list[str]) -> alt.TopLevelMixin:
    """boxes: id, text, level, place, link, told; links: source, target, relation, relation_id, number, told, link.
    kinds: names of the levels, from left to right; from below to the top where boxes have more room so."""
    levels = [boxes.loc[boxes["level"].eq(level)].sort_values("place")["id"].tolist() for level in range(len(kinds))]
    ends = list(zip(links["source"], links["target"], strict=True))
    wide = WIDTH / len(kinds) * WIDE
    rows = zip(levels, lanes_of(levels, ends), strict=True)
    stacked = min((WIDTH - HEAD - LANE * len(lanes)) / len(row) - GAP for row, lanes in rows)
    up, wide = stacked > ROOMIER * wide, min(stacked, WIDEST) if stacked > ROOMIER * wide else wide
    texts = {box: broken(text, wide - 8, 4, SMALL) for box, text in zip(boxes["id"], boxes["text"], strict=True)}
    tall = LINE * max(map(len, texts.values())) + 8
    size, step = ((tall, wide), tall + RISE) if up else ((wide, tall), WIDTH / len(kinds))
    drawn = layout(levels, ends, size, step)
    along, across = drawn.span

    def at(point: Point) -> Point:
        if up:
            return HEAD + (WIDTH - HEAD) / 2 + point[1], along - point[0]
        return point[0], across / 2 + 2 * LINE + point[1]

    height = along if up else across + 2 * LINE
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, WIDTH], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    relations = [name for name in data.results.labels("relations") if name in set(links["relation_id"])]
    words = dict(zip(links["relation_id"], links["relation"], strict=True))
    letter = {name: LETTERS[place % len(LETTERS)] if len(relations) > 1 else "" for place, name in enumerate(relations)}
    corners = pd.DataFrame([
        {"x": x, "y": y, "at": place, "line": number, "relation_id": link.relation_id, "width": link.width}
        for number, (link, points) in enumerate(zip(links.itertuples(), drawn.lines, strict=True))
        for place, (x, y) in enumerate(map(at, points))
    ])  # fmt: skip
    backwards = [drawn.boxes[a][0] > drawn.boxes[b][0] for a, b in ends]
    spots = pd.DataFrame(list(map(at, drawn.numbers)), columns=["x", "y"]).assign(
        told=links["told"].tolist(), link=links["link"].tolist(),
        text=[("↓" if up else "←") * back + str(link.number) + letter[link.relation_id]
              for back, link in zip(backwards, links.itertuples(), strict=True)],
    )  # fmt: skip
    middles = [at(drawn.boxes[box]) for box in boxes["id"]]
    places = boxes.assign(x=[x for x, _ in middles], y=[y for _, y in middles],
                          text=["\n".join(texts[box]) for box in boxes["id"]])  # fmt: skip
    first = [at(((level + 0.5) * along / len(kinds), 0)) for level in range(len(kinds))]
    heads = pd.DataFrame([
        {"x": HEAD / 2 - 8 if up else a, "y": b if up else LINE,
            "text": "\n".join(broken(name, HEAD - 16 if up else wide, 2, SMALL))}
        for name, (a, b) in zip(kinds, first, strict=True)
    ])  # fmt: skip
    legend = alt.Legend(
        labelExpr=worded({id: [f"{letter[id]}: {words[id]}"] for id in relations}), symbolType="stroke", columns=3
    )
    colour = alt.Color("relation_id:N", legend=legend if len(relations) > 1 else None, scale=alt.Scale(
        domain=relations, range=list(LEVELS[: len(relations)]) if len(relations) > 1 else [PALE[MUTED]]))  # fmt: skip
    stroke = alt.StrokeWidth("width:Q", legend=None, scale=None)
    lines = (
        data.chart(corners)
        .mark_line(opacity=0.7)
        .encode(x=x, y=y, detail=alt.Detail("line:N"), order=alt.Order("at:Q"), color=colour, strokeWidth=stroke)
    )
    numbers, rect = data.chart(spots).encode(x=x, y=y), data.chart(places).encode(x=x, y=y)
    text: dict[str, Any] = {"lineBreak": "\n", "lineHeight": LINE - 1, "fontSize": SMALL}
    shape = f"M{-wide / 2},{-tall / 2}h{wide}v{tall}h{-wide}Z"
    return alt.layer(
        lines, numbers.transform_filter("datum.text != ''").mark_point(size=230, color=PAPER, opacity=1),
        numbers.mark_text(color=MUTED, fontSize=9).encode(text=alt.Text("text:N")),
        rect.mark_point(shape=shape, size=4, fill=PAPER, stroke=COLOURS[0], strokeWidth=1),
        *_lined(rect, places, text, INK),
        *_lined(data.chart(heads).encode(x=x, y=y), heads, {**text, "fontWeight": "bold"}, INK),
    ).properties(width=WIDTH, height=height)  # fmt: skip


def _lined(base: alt.Chart, frame: pd.DataFrame, text: Mapping[str, Any], colour: str) -> Iterator[alt.Chart]:
    """Text of several lines about the middle of its place: by the number of lines, for Vega puts the first one
    there."""
    for n in sorted(frame["text"].str.count("\n").unique().tolist()):
        some = base.transform_filter(f"length(split(datum.text, '\\n')) == {n + 1}")
        some = some.mark_text(color=colour, baseline="middle", dy=-n * (LINE - 1) / 2, **text)
        yield some.encode(text=alt.Text("text:N"))


def value_map(data: ChartData) -> alt.TopLevelMixin:
    """Levels from left to right; a line is wider by agents, and has a letter for what it says where links say different
    things."""
    links = data.rows(told=("source", "relation", "target", "direct"))
    links = links[links["direct"] > 0]
    concepts = data.tables["concepts"]
    boxes = data.in_words("concepts", concepts[concepts["level"].notna()], told="label agents")
    named = data.tables["nodes"].groupby("concept", sort=False)["participant"].agg(set)
    people = {code: named.get(code, set()) for code in boxes["concept"]}
    both = [people[a] & people[b] for a, b in zip(links["source_id"], links["target_id"], strict=True)]
    width = 1 + 4 * links["direct"] / links["direct"].max()
    links = links.assign(source=links["source_id"], target=links["target_id"], number=links["direct"].astype(str),
                         width=width, link=[_of(data, some) for some in both])  # fmt: skip
    boxes = boxes.assign(id=boxes["concept"], text=boxes["label"] + " (" + boxes["agents"].astype(str) + ")",
                         link=[_of(data, people[code]) for code in boxes["concept"]])  # fmt: skip
    kinds = boxes.sort_values("level").drop_duplicates("level")["type"].tolist()
    data.note(data.tell(N_("links that at least {n} agents gave"), n=data.facts["cut_off"]))
    return network(data, boxes, links, kinds)


def own_graph(data: ChartData) -> alt.TopLevelMixin:
    """One agent's concepts in columns by their kind, and how they are linked; each leads to the answer that it was
    named in."""
    nodes = data.in_words("nodes", data.tables["nodes"], told="text quote")
    edges = data.in_words("edges", data.tables["edges"], told="relation")
    kinds = [kind for kind in data.results.labels("types") if kind in set(nodes["type_id"])]
    rows = [nodes.loc[nodes["type_id"].eq(kind), "node"].tolist() for kind in kinds]
    ends = [{"source": edge.source, "target": edge.target} for edge in edges.itertuples()]
    at = {node: (level, place) for level, row in enumerate(untangled(rows, ends)) for place, node in enumerate(row)}
    boxes = nodes.assign(
        id=nodes["node"], level=[at[node][0] for node in nodes["node"]], place=[at[node][1] for node in nodes["node"]],
        link=[
            f"#{answers(data.results.methodology, participant=node.participant_id, turn=node.turn)}"
            for node in nodes.itertuples()
        ],
    )  # fmt: skip
    data.note(data.tell(N_("a line leads to the right or up, ← to the left, ↓ down")))
    labels = data.results.labels("types")
    return network(data, boxes, edges.assign(number="", width=1.5, link=None), [labels[kind] for kind in kinds])


def _of(data: ChartData, people: set[str]) -> Any:
    """To the interviews of these agents."""
    return f"#{answers(data.results.methodology, participant=','.join(sorted(people)))}" if people else None


# --- counts ----------------------------------------------------------------------------------------------------------


def concepts(data: ChartData) -> alt.TopLevelMixin:
    """Concepts by the share of agents who name them, with the interval that holds for one singled out."""
    rows = data.rows(told=("label", "type", "agents", "share", "low_to_high"))
    rows = data.top(rows.assign(label_id=rows["concept"]), "concept", MAX_CONCEPTS)
    base, title = data.chart(rows).encode(y=data.names(rows, "label")), data.label("concepts", "share")
    at = alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    return intervals(base, at, "low", "high").properties(height=alt.Step(30))


def coverage(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("label", "agents_of_n", "concepts"))
    rows = rows.assign(label_id=rows["element"])
    base = data.chart(rows).encode(y=data.names(rows, "label"))
    scale = alt.Scale(domain=[0, max(int(rows["n"].max()), 1) * 1.05], nice=False)
    axis = alt.Axis(format="d", tickMinStep=1)
    bars = base.encode(x=alt.X("agents:Q", title=data.label("coverage", "agents"), axis=axis, scale=scale))
    numbers = bars.mark_text(dx=12, color=MUTED).encode(text=alt.Text("agents:Q"))
    return alt.layer(bars.mark_bar(size=16), numbers).properties(height=alt.Step(30))


def saturation(data: ChartData) -> alt.TopLevelMixin:
    """The number of distinct concepts as it grows, over what each interview added."""
    rows = data.in_words("saturation", data.tables["saturation"], told="interviews concepts new")
    scale, axis = alt.Scale(domain=[0, len(rows) + 1], nice=False), alt.Axis(format="d", tickMinStep=1, grid=False)
    x = alt.X("interviews:Q", title=data.label("saturation", "interviews"), scale=scale, axis=axis)
    title = data.label("saturation", "concepts")
    base = data.chart(rows).encode(x=x)
    bars = base.mark_bar(color=PALE[COLOURS[1]], width=max(1.0, WIDTH / len(rows) * 0.6))
    bars = bars.encode(y=alt.Y("new:Q", title=title))
    data.note(data.tell(N_("line: so far; bars: new in this interview")))
    line = base.mark_line(strokeWidth=2, point={"size": 28} if len(rows) <= 80 else False)
    return alt.layer(bars, line.encode(y=alt.Y("concepts:Q", title=title))).properties(height=220)
