"""SVG by our own code: what is written stays on the page and is escaped, marks stand where the numbers say, links and tooltips
are there, and what cannot be drawn is refused."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from enquete.reports.figures.canvas import Canvas, Figure, answers, counted, note, rows, titled, told
from enquete.reports.figures.palette import COLOURS, INK, on_scale, readable_on
from enquete.reports.figures.svg import svg
from enquete.reports.figures.text import lines, width, wrapped
from enquete.state.asking import Language
from tests.support.pictures import NAMESPACE, placed_texts

BARS: dict[str, Any] = {"type": "bar", "orientation": "h", "x": [2, 4], "y": [0, 1], "width": [0.5, 0.5]}


def figure(*data: dict[str, Any], language: Language = "en", **layout: Any) -> Figure:
    axes = {"xaxis": {"range": [0, 10]}, "yaxis": rows(["first", "second"])}
    return Canvas("Title", "note", language, 100, list(data), {**axes, **layout}).figure("f", "two bars")


def drawn(one: Figure, **how: Any) -> ElementTree.Element:
    return ElementTree.fromstring(svg(one.spec, one.alt, **how))


def found(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return root.findall(f".//{NAMESPACE}{tag}")


def test_bars_are_as_long_as_their_values() -> None:
    """The second is twice as long as the first; a row of 50 px gives 25 px to a bar of half its width."""
    one, two = found(drawn(figure(BARS)), "rect")
    assert float(two.get("width", 0)) == pytest.approx(2 * float(one.get("width", 0)), abs=0.2)
    assert float(one.get("height", 0)) == pytest.approx(25)
    assert one.get("x") == two.get("x")


def test_a_bar_begins_at_its_base() -> None:
    one, two = found(drawn(figure({**BARS, "base": [0, 2]})), "rect")
    assert float(two.get("x", 0)) == pytest.approx(float(one.get("x", 0)) + float(one.get("width", 0)), abs=0.2)


def test_missing_points_break_a_line_and_have_no_mark() -> None:
    line = {"type": "scatter", "mode": "lines+markers", "x": [1, 2, None, 3], "y": [0, 1, 0, 1]}
    root = drawn(figure(line))
    assert len(found(root, "circle")) == 3
    paths = [path.get("d", "") for path in found(root, "path")]
    assert any(path.count("M") == 2 and path.count("L") == 1 for path in paths)


def test_error_bars_reach_from_low_to_high() -> None:
    """2 − 1 to 2 + 4 of a scale of 10: half of the plot's width."""
    reach = {"array": [4], "arrayminus": [1]}
    root = drawn(
        figure({"type": "scatter", "x": [2], "y": [0], "error_x": reach}, xaxis={"range": [0, 10], "showgrid": False})
    )
    (bar,) = [path.get("d", "") for path in found(root, "path") if "H" in path.get("d", "")]
    start, _, end = bar.removeprefix("M").partition(",")
    frame = figure(BARS).spec["layout"]["margin"]
    assert float(end.partition("H")[2]) - float(start) == pytest.approx((760 - frame["l"] - frame["r"]) / 2, abs=0.2)


def test_a_heat_map_leaves_missing_cells_open_and_its_text_readable() -> None:
    cells = {"type": "heatmap", "x": [0, 1], "y": [0, 1], "z": [[1, None], [0, -1]], "zmin": -1, "zmax": 1,
             "colorscale": [[0, "#000000"], [0.5, "#ffffff"], [1, "#0000ff"]], "text": [["1", ""], ["0", "−1"]]}  # fmt: skip
    root = drawn(figure(cells, xaxis={"range": [-0.5, 1.5], "visible": False}))
    assert [cell.get("fill") for cell in found(root, "rect")] == ["#0000ff", "#ffffff", "#000000"]
    assert [text.get("fill") for text in found(root, "text") if "".join(text.itertext()) in ("1", "0", "−1")] == [
        "#fefefe", "#111111", "#fefefe",
    ]  # fmt: skip


def test_what_others_said_is_text_and_nothing_else() -> None:
    said = '<script>alert("1")</script> & <b>bold'
    bars = {**BARS, "hovertext": [said, said], "name": said, "showlegend": True}
    one = figure(bars, yaxis=rows([wrapped(said, 300), said]), showlegend=True, annotations=[told(said, 1, 1)])
    root = drawn(one)
    assert not found(root, "script")
    assert "alert" in "".join(root.itertext())


def test_links_and_tooltips() -> None:
    links = [answers("delphi", item_id="theme:1/x", round=3), ""]
    one = figure({**BARS, "hovertext": ["two", "four"], "meta": {"links": links}})
    root = drawn(one, href=lambda reference: f"#{reference}")
    (link,) = found(root, "a")
    assert link.get("href") == "#delphi?item_id=theme%3A1%2Fx&round=3"
    assert [title.text for title in found(root, "title")] == ["Title", "two", "four"]
    assert not found(drawn(one), "a")  # nowhere to lead to


def test_a_page_sets_the_colours_and_a_file_has_its_own() -> None:
    one = figure({**BARS, "marker": {"color": COLOURS[0]}})
    assert f"var(--series-1, {COLOURS[0]})" in svg(one.spec, one.alt)
    assert f"var(--ink, {INK})" in svg(one.spec, one.alt)
    assert "var(" not in svg(one.spec, one.alt, plain=True)


def test_readers_who_hear_a_figure_get_its_title_and_its_sentence() -> None:
    root = drawn(figure(BARS))
    assert root.get("role") == "img"
    assert [found(root, tag)[0].text for tag in ("title", "desc")] == ["Title", "two bars"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"data": [{"type": "pie"}]},
        {"data": [{"type": "scatter", "x": [1], "y": [1], "marker": {"symbol": "star"}}]},
        {"data": [BARS], "annotations": [{"x": 1, "y": 1, "text": "arrow"}]},
        {"data": [BARS], "shapes": [{"type": "circle", "x0": 0, "x1": 1, "y0": 0, "y1": 1}]},
    ],
)
def test_what_is_not_drawn_is_refused(wrong: dict[str, Any]) -> None:
    one = figure(*wrong.pop("data"), **wrong)
    with pytest.raises(ValueError, match="not drawn"):
        svg(one.spec, one.alt)


@pytest.mark.parametrize(("language", "expected"), [("de", ["0", "500", "1.000"]), ("en", ["0", "500", "1,000"])])
def test_ticks_are_round_and_written_as_the_language_writes_them(language: Language, expected: list[str]) -> None:
    root = drawn(figure(BARS, language=language, xaxis={"range": [0, 1000], "dtick": 500}, yaxis={"visible": False}))
    assert ["".join(text.itertext()) for text in found(root, "text")][:3] == expected


def test_fractions_and_minus_signs_of_ticks() -> None:
    root = drawn(figure(BARS, language="de", xaxis={"range": [-0.5, 0.5]}, yaxis={"visible": False}))
    assert ["".join(text.itertext()) for text in found(root, "text")][:5] == ["−0,4", "−0,2", "0,0", "0,2", "0,4"]


def test_margins_are_as_wide_as_the_longest_label() -> None:
    label = wrapped("a label of an item that goes on and on over two lines of a figure", 240)
    one = figure(BARS, yaxis=rows([label, "short"]), xaxis=titled("points", range=[0, 10]))
    assert len(lines(label)) == 2
    assert one.spec["layout"]["margin"]["l"] > width(label, 11)
    assert all(box.inside for box in placed_texts(svg(one.spec, one.alt)))


def test_scales_of_colour() -> None:
    assert on_scale([(0.0, "#000000"), (1.0, "#ffffff")], 0.5) == "#808080"
    assert (readable_on("#ffffff"), readable_on("#08519c")) == ("#111111", "#fefefe")


def test_who_answered() -> None:
    everything = {"agents_responded": 50, "agents_total": 50, "n_responded": 1500, "n_total": 1500}
    assert counted(everything, "de") == "50 von 50 Agenten"
    assert counted({**everything, "n_responded": 1490}, "de") == "50 von 50 Agenten, 1.490 von 1.500 Antworten"
    assert (
        note("en", counted({"n_responded": 3, "n_total": 4}, "en", "T0"), "")
        == "simulated respondents · T0: 3 of 4 answers"
    )
