"""Charts over declared tables: what they show, that it can be read, where marks lead, and what happens where something
is missing."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest

from enquete.locale import percent
from enquete.methods.delphi.evaluation import PRESENTATION as DELPHI
from enquete.reports.charts import (
    DIVERGING,
    ENDS,
    LEVELS,
    WIDTH,
    ChartData,
    Picture,
    chosen,
    drawn,
    fitting,
    heat,
    intervals,
    on_scale,
    readable_on,
    stacked,
    whole,
    written,
)
from enquete.reports.declarations import Chart, Presentation, Table, View, code, integer, share, text
from enquete.reports.views import Results
from enquete.state.asking import Language
from enquete.state.errors import InputError
from tests.support.charts import NAMESPACE, illegible, results, texts
from tests.support.panels import panel

FOOTER = "48/50 agents · simulated respondents"


def pictures(of: Results) -> dict[str, Picture]:
    return {picture.name.partition("/")[2]: picture for picture in drawn(of, footer=FOOTER)}


def texts_of(svg: str) -> list[str]:
    return [word.text for word in texts(svg)]


def marks(svg: str, told: str) -> list[str]:
    """Which elements say a text when they are pointed at."""
    _, *every = ElementTree.fromstring(svg).iter()
    return [mark.tag.removeprefix(NAMESPACE) for mark in every if told in (mark.findtext(f"{NAMESPACE}title") or "")]


# --- Delphi's three ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size",
    [
        {"agents": 7, "themes": 5, "language": "de"},
        {"agents": 50, "language": "en"},
        {"agents": 1000, "themes": 60, "language": "de"},
        {"themes": 9, "rounds": (2, 3, 4), "dimensions": ("importance", "plausibility", "fairness",
            "a_dimension_with_a_long_name")},
    ],
    ids=["7 agents", "50 agents", "1,000 agents", "4 dimensions"],
)  # fmt: skip
def test_nothing_that_is_written_is_off_the_page_or_over_something_else(size: dict[str, Any]) -> None:
    for name, picture in pictures(panel(**size)).items():
        assert illegible(picture.svg()) == [], name
        across, down = picture.size
        assert across <= WIDTH, name
        assert down <= 1400, name


def test_convergence_has_a_row_a_theme_and_no_median_where_a_rating_is_disputed() -> None:
    of = panel(themes=5, dimensions=("importance",))
    picture = pictures(of)["convergence"]
    rated = of.analysis.tables["ratings"]
    last = rated[rated["round"].eq(3)].sort_values("mean", ascending=False)
    layer = picture.spec["spec"]["layer"][0]
    assert layer["encoding"]["y"]["scale"]["domain"] == list(last["theme"])
    assert (layer["encoding"]["x"]["field"], layer["encoding"]["x2"]["field"]) == ("q1", "q3")
    layers = picture.spec["spec"]["layer"][1]["layer"]
    assert [part["mark"]["type"] for part in layers] == ["rule", "point"]
    assert layers[1]["encoding"]["x"]["field"] == "median"
    svg = picture.svg()
    assert marks(svg, "disputed") == ["line"] * int(rated["label"].eq("disagreement").sum())
    assert marks(svg, "consensus").count("path") == int(rated["label"].eq("consensus").sum())
    assert texts_of(svg).count("The same name twice") == 2  # two themes, not one


def test_dissent_has_a_histogram_a_disputed_rating_and_says_how_many_are_left_out() -> None:
    of = panel(themes=60, dimensions=("importance",))
    picture = pictures(of)["dissent"]
    dissent, counts = of.analysis.tables["dissent"], of.analysis.tables["distribution"]
    disputed = dissent[dissent["label"].eq("disagreement")].sort_values("agreement", kind="stable")
    shown = disputed["item"].head(12)
    assert len(disputed) > 12
    assert picture.spec["title"]["subtitle"][0].startswith(f"{FOOTER} · 12 of {len(disputed)} shown · round 3; A:")
    rows = next(iter(picture.spec["datasets"].values()))
    drawn_counts = {(row["item"], row["value"]): row["n"] for row in rows}
    counted = counts[counts["item"].isin(shown) & counts["round"].eq(3)]
    assert drawn_counts == dict(zip(zip(counted["item"], counted["value"], strict=True), counted["n"], strict=True))
    assert picture.spec["facet"]["sort"] == list(shown)


def test_titles_alternative_texts_and_footers_are_in_the_language() -> None:
    english, german = pictures(panel()), pictures(panel(language="de"))
    of = panel().analysis
    assert english["convergence"].alt == (
        f"Medians and quartiles of 13 themes by round; in round 3 {of.facts['n_consensus']} of 26 themes are in "
        f"consensus."
    )
    for name in english:
        assert german[name].title != english[name].title
        assert german[name].alt != english[name].alt
        shown = " ".join(texts_of(german[name].svg()))
        assert "48/50 agents · simulated respondents" in shown
        assert not re.search(r"\b(theme|rank|quartile|shared|of)\b", shown.replace(FOOTER, "")), name


def test_a_missing_quartile_draws_no_line_and_leaves_its_point() -> None:
    rated = [
        {"theme": "a", "dimension": "importance", "round": 2, "n": 7, "median": 3.0, "q1": 2.0, "q3": 4.0, "mean": 3.0,
            "label": "open"},
        {"theme": "b", "dimension": "importance", "round": 2, "n": 7, "median": 2.0, "q1": None, "q3": 4.0,
            "mean": 2.0, "label": "open"},
        {"theme": "c", "dimension": "importance", "round": 2, "n": 7, "median": None, "q1": 1.0, "q3": 2.0,
            "mean": 1.0, "label": "open"},
    ]  # fmt: skip
    themes = [{"theme": rating["theme"], "label": f"Name {rating['theme']}"} for rating in rated]
    facts = {
        "last_round": 2, "main_dimension": "importance", "dimensions": ["importance"], "scale_min": 1, "scale_max": 5,
    }  # fmt: skip
    svg = pictures(results(DELPHI, {"themes": themes, "ratings": rated}, facts))["convergence"].svg()
    assert [marks(svg, f"Name {name}") for name in "abc"] == [["line", "path"], ["path"], ["line"]]


def test_of_tables_without_rows_nothing_is_drawn() -> None:
    assert pictures(results(DELPHI, {}, {})) == {}
    of = panel(themes=3)  # every fourth is disputed
    assert set(of.analysis.tables["dissent"]["label"]) <= {"consensus", "open"}
    assert list(pictures(of)) == ["convergence"]


def test_marks_lead_to_the_answers_behind_them() -> None:
    picture = pictures(panel(themes=4, dimensions=("importance",)))["convergence"]
    assert {mark.link for mark in picture.marks()} == {
        f"delphi?item_id=theme%3At{n}%2Fimportance&round={round_}" for n in range(4) for round_ in (2, 3)
    }
    page = picture.svg(lambda reference: None if "t0" in reference else f"/answers?{reference.partition('?')[2]}")
    links = re.findall(r'<a href="([^"]*)"', page)
    assert "/answers?item_id=theme%3At1%2Fimportance&amp;round=3" in links
    assert not any("t0" in href for href in links)
    assert "<a" not in picture.svg()
    for svg in (picture.svg(), page):
        assert "://" not in svg.replace("http://www.w3.org/", "")
        ElementTree.fromstring(svg)


def test_in_a_page_colours_are_the_pages_and_a_file_stands_on_white() -> None:
    picture = pictures(panel())["convergence"]
    assert 'fill="#ffffff"' in picture.svg()
    page = picture.svg(lambda reference: None)
    assert 'fill="var(--ink, #1c2329)"' in page
    assert re.search(r'fill="var\(--series-1, #0072b2\)"', page, re.IGNORECASE)
    assert "#ffffff" not in page


# --- any methodology's ------------------------------------------------------------------------------------------------

LEVEL = {"first": "first level", "second": "second level", "third": "third level"}


def bars(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("name", "part"))
    at = alt.X("part:Q", title=data.label("parts", "part"), axis=alt.Axis(format=".1%"))
    colour, _ = data.levels(rows, "parts", "level")
    base: alt.Chart = data.chart(rows).encode(y=data.names(rows, "name"), x=at, color=colour)
    return base.mark_bar()


def broken_chart(data: ChartData) -> alt.TopLevelMixin:
    raise ZeroDivisionError(data.facts["n"])


def presentation(*charts: Chart) -> Presentation:
    parts = Table(
        name="parts", title="Parts", key=("id",),
        columns=(text("id", "id"), text("name", "Name"), share("part", "share of {n}", digits=1),
            code("level", "Level", levels=LEVEL),
                 text("reason", "Reason"), text("participant", "agent")),
    )  # fmt: skip
    return Presentation(tables=(parts,), facts=(integer("n", "n"),), charts=charts)


def chart(name: str = "bars", draw: Any = bars, **more: Any) -> Chart:
    return Chart(
        name=name, title="Parts: {name}", alt="The first is {name}, {part} of {n}.", needs=("parts",), draw=draw, **more
    )


ROWS = [
    {"id": "1", "name": "one", "part": 0.25, "level": "third", "reason": "said in confidence", "participant": "a1"},
    {"id": "2", "name": "two", "part": 0.5, "level": "first", "reason": "also", "participant": None},
]


def parts(*charts: Chart, rows: list[dict[str, Any]] = ROWS, language: Language = "en") -> Results:
    return results(presentation(*charts), {"parts": rows}, {"n": 8}, language, "poll")


def test_title_and_alternative_text_are_told_of_the_first_row_in_the_charts_order() -> None:
    of = parts(chart(over=View(at="appendix", order=("-part",), top=1), at="appendix"))
    [picture] = drawn(of, footer=FOOTER)
    assert (picture.name, picture.stem, picture.at) == ("poll/bars", "poll-bars", "appendix")
    assert (picture.title, picture.alt) == ("Parts: two", "The first is two, 50.0% of 8.")
    assert picture.spec["title"]["subtitle"] == [f"{FOOTER} · 1 of 2 shown"]
    root = ElementTree.fromstring(picture.svg())
    assert (root.findtext(f"{NAMESPACE}title"), root.findtext(f"{NAMESPACE}desc")) == (picture.title, picture.alt)
    assert "share of 8" in texts_of(picture.svg())


def test_numbers_on_axes_are_the_languages() -> None:
    german, english = (drawn(parts(chart(), language=language), footer="")[0].svg() for language in ("de", "en"))
    assert percent("20,0", "de") in texts_of(german)
    assert "20.0%" in texts_of(english)


def test_a_picture_carries_no_column_that_nothing_reads() -> None:
    [picture] = drawn(parts(chart()), footer=FOOTER)
    [rows] = picture.spec["datasets"].values()
    assert rows[0].keys() == {"name", "part", "level", "told", "link"}
    assert [row["link"] for row in rows] == ["#poll?participant=a1", None]


def test_what_agents_wrote_is_only_text() -> None:
    evil = """"]})[datum.value]; alert(1) // </text><script>alert(1)</script> \\u0022 ${1} 'x' \u202e"""
    svg = drawn(parts(chart(), rows=[{**ROWS[0], "name": evil}]), footer=evil)[0].svg()
    root = ElementTree.fromstring(svg)
    assert not list(root.iter(f"{NAMESPACE}script"))
    assert any(line.startswith('"]})[datum.value]; alert(1) //') for line in texts_of(svg))
    assert "\u202e" not in "".join(texts_of(svg))


def test_a_level_has_its_colour_in_every_picture_and_stands_in_the_legend_where_it_occurs() -> None:
    [some] = drawn(parts(chart()), footer="")
    [alone] = drawn(parts(chart(), rows=ROWS[:1]), footer="")
    scales = [picture.spec["encoding"]["color"]["scale"] for picture in (some, alone)]
    assert [scale["domain"] for scale in scales] == [["first level", "third level"], ["third level"]]
    assert scales[0]["range"][1] == scales[1]["range"][0] == LEVELS[2]


def test_colours_of_levels_are_told_apart_in_grey() -> None:
    """By CIE lightness, of which 100 is white: bars beside one another at 12 apart are clearly two."""
    lightness = sorted(_lightness(colour) for colour in LEVELS[:5])
    assert min(b - a for a, b in pairwise(lightness)) > 12


def _lightness(colour: str) -> float:
    linear = [
        (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
        for c in (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    ]
    y = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return float(116 * y ** (1 / 3) - 16)


def test_a_bug_in_one_chart_leaves_the_others() -> None:
    of, bugs = parts(chart(), chart("wrong", broken_chart)), []
    kept = drawn(of, footer=FOOTER, file=lambda name, bug: bugs.append((name, type(bug))))
    assert [picture.name for picture in kept] == ["poll/bars"]
    assert bugs == [("poll/wrong", ZeroDivisionError)]
    wrong = drawn(of, footer=FOOTER)[1]  # not drawn before it is looked at
    with pytest.raises(ZeroDivisionError):
        wrong.svg()


def test_a_chart_that_vega_cannot_draw_is_a_bug_too() -> None:
    def unknown(data: ChartData) -> alt.TopLevelMixin:
        base: alt.Chart = data.chart(data.rows()).encode(x=alt.X("part:Q", axis=alt.Axis(labelExpr="nothing(")))
        return base.mark_bar()

    bugs: list[str] = []
    assert drawn(parts(chart(draw=unknown)), footer=FOOTER, file=lambda name, _: bugs.append(name)) == []
    assert bugs == ["poll/bars"]


def test_a_notebook_gets_the_chart_itself() -> None:
    [picture] = drawn(parts(chart()), footer=FOOTER)
    assert picture.chart().to_dict()["datasets"] == picture.spec["datasets"]


def test_pictures_by_name_and_as_files(tmp_path: Path) -> None:
    some = drawn(parts(chart(), chart("more")), footer=FOOTER)
    assert chosen("poll", some) is some[0]
    assert chosen("poll/more", some) is some[1]
    with pytest.raises(InputError, match=r"'pol'.*poll/bars, poll/more"):
        chosen("pol", some)
    written(tmp_path, some)
    assert [file.name for file in written(tmp_path, some[1:])] == ["poll-more.svg"]
    assert [file.name for file in (tmp_path / "figures").iterdir()] == ["poll-more.svg"]
    assert some[0].png().startswith(b"\x89PNG")
    assert some[0].save(tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"\.svg, \.png or \.pdf, not \.gif"):
        some[0].save(tmp_path / "one.gif")


# --- helpers ----------------------------------------------------------------------------------------------------------


def test_stacked_bars_have_the_middle_of_the_scale_at_zero() -> None:
    """By hand: .2 and .3 below, .4 in the middle (.2 on either side), .1 above: from −.7 to .3; even scales have no
    middle point."""
    odd = pd.DataFrame({"row": "a", "value": [4, 1, 3, 2, 5], "share": [0.1, 0.2, 0.4, 0.3, 0.0]})
    made = stacked(odd, "row", "value", "share")
    assert made["value"].tolist() == [1, 2, 3, 4, 5]
    assert made["left"].tolist() == pytest.approx([-0.7, -0.5, -0.2, 0.2, 0.3])
    assert made["right"].tolist() == pytest.approx([-0.5, -0.2, 0.2, 0.3, 0.3])
    even = pd.DataFrame({"row": ["a", "a", "b", "b"], "value": [1, 2, 1, 2], "share": [0.25, 0.75, 1.0, 0.0]})
    made = stacked(even, "row", "value", "share")
    assert made["row"].tolist() == ["a", "b", "a", "b"]  # rows of a chart stay in the frame's order
    assert made["left"].tolist() == pytest.approx([-0.25, -1.0, 0.0, 0.0])


def test_text_on_a_matrix_is_readable_and_a_missing_cell_is_empty() -> None:
    for part in (k / 100 for k in range(101)):
        pale = readable_on(on_scale(DIVERGING, part)) == readable_on(DIVERGING[0][1])
        assert pale == (part < ENDS[0] or part > ENDS[1]), part

    def matrix(data: ChartData) -> alt.TopLevelMixin:
        rows = data.rows(told=("name", "part")).assign(cell=["−1", "0", "–"], at="column")
        return heat(data.chart(rows).encode(x="at:N", y=data.names(rows, "name")), "part", -1, 1, "cell", "part")

    rows = [
        {**ROWS[0], "id": name, "name": name, "part": part}
        for name, part in (("low", -1.0), ("mid", 0.0), ("none", None))
    ]
    svg = drawn(parts(chart(draw=matrix), rows=rows), footer="")[0].svg()
    assert [marks(svg, name) for name in ("low", "mid", "none")] == [["path", "text"], ["path", "text"], []]
    every = [
        (element.find(f"{NAMESPACE}title"), element.get("fill"))
        for element in ElementTree.fromstring(svg).iter(f"{NAMESPACE}text")
    ]
    assert [(title.tail, ink) for title, ink in every if title is not None] == [
        ("−1", readable_on(DIVERGING[0][1])), ("0", readable_on(DIVERGING[2][1])),
    ]  # fmt: skip


def test_whole_numbers_have_a_tick_each_or_every_fifth() -> None:
    assert whole("n", 1, 5)["axis"]["values"] == [1, 2, 3, 4, 5]
    assert whole("n", 1, 32)["axis"]["values"] == [1, 5, 10, 15, 20, 25, 30]


def test_an_interval_is_of_the_axis_of_its_estimate() -> None:
    layers = intervals(alt.Chart(alt.NamedData("rows")), whole("rank", 1, 9, "rank"), "low", "high").to_dict()["layer"]
    line, point = (layer["encoding"] for layer in layers)
    assert (line["x"]["field"], line["x2"]["field"], point["x"]["field"]) == ("low", "high", "rank")
    assert line["x"]["scale"] == point["x"]["scale"]


def test_legends_have_as_many_columns_as_there_is_room() -> None:
    assert fitting(["yes", "no"]) == 2
    assert fitting(["a level of forty characters, told at length"] * 5) == 1
