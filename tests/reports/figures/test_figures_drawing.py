"""Every figure of every methodology, of whole runs: drawn, on the page, legible, in the run's language, true to the findings."""

from __future__ import annotations

import re
from typing import Any

import pytest

from enquete.graphs.registry import dotted_paths
from enquete.reports.figures import as_plotly, chosen, drawn
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.svg import svg
from enquete.state.asking import Language
from enquete.state.errors import InputError
from tests.reports.conftest import Made
from tests.support.pictures import overlapping, placed_texts

ALL = dotted_paths()
DELPHI = ["delphi/convergence", "delphi/dissent", "delphi/ranking"]
WORDS: dict[Language, tuple[str, str]] = {
    "de": ("simulierte Befragte", r"\d von \d+"),
    "en": ("simulated respondents", r"\d of \d+"),
}


def figures(made: Made, language: Language) -> list[Figure]:
    return drawn(ALL, made.results(), language)


@pytest.fixture(scope="session")
def german(full: Made) -> list[Figure]:
    return figures(full, "de")


@pytest.fixture(scope="session")
def english(whole: Made) -> list[Figure]:
    return figures(whole, "en")


@pytest.fixture(params=["de", "en"])
def every(request: pytest.FixtureRequest, german: list[Figure], english: list[Figure]) -> list[Figure]:
    return german if request.param == "de" else english


def test_there_is_a_figure_of_everything(german: list[Figure]) -> None:
    assert [each.name for each in german] == DELPHI


def test_every_figure_says_who_answered(german: list[Figure], english: list[Figure]) -> None:
    for language, some in (("de", german), ("en", english)):
        simulated, counts = WORDS[language]
        for each in some:
            assert simulated in each.note, each.name
            assert re.search(counts, each.note), each.name
            assert each.note.split(" ·")[0] in each.spec["layout"]["title"]["subtitle"]["text"]
            assert each.alt.endswith("."), each.name


def test_nothing_that_is_written_is_off_the_page_or_over_something_else(every: list[Figure]) -> None:
    for each in every:
        picture = svg(each.spec, each.alt)
        assert [text.text for text in placed_texts(picture) if not text.inside] == [], each.name
        assert overlapping(picture) == [], each.name


def test_every_figure_speaks_one_language(german: list[Figure], english: list[Figure]) -> None:
    shown = " ".join(text.text for each in german for text in placed_texts(svg(each.spec, each.alt)))
    assert not re.search(r"\b(of|and|the|agents|answers|with)\b|\d\.\d\d", shown)
    shown = " ".join(each.title + each.note for each in english)
    assert not re.search(r"\b(von|und|der|Agenten|Antworten)\b", shown)
    assert not re.search(r"\bNone\b|\bnan\b|\{[a-z_]+\}", shown)


def test_plotly_takes_every_figure(every: list[Figure]) -> None:
    pytest.importorskip("plotly", reason="the extra 'figures' is not installed")
    for each in every:
        assert as_plotly(each).to_plotly_json()["layout"]["title"]["text"]


def test_figures_are_files_beside_the_report(full: Made, german: list[Figure]) -> None:
    names = {file.stem for file in (full.synthesis / "figures").glob("*.svg")}
    assert names >= {each.name.replace("/", "-") for each in german}


def test_figures_by_name(german: list[Figure]) -> None:
    assert chosen("delphi", german).name == "delphi/convergence"
    assert chosen("delphi/ranking", german).name == "delphi/ranking"
    with pytest.raises(InputError, match="there are delphi/convergence"):
        chosen("delphy", german)
    with pytest.raises(InputError, match="none yet"):
        chosen("delphi", [])


@pytest.mark.parametrize("name", sorted(ALL))
def test_nothing_is_drawn_of_nothing(name: str) -> None:
    assert drawn(ALL, {name: {}}, "en") == []


def test_a_bug_in_a_figure_leaves_the_others(full: Made) -> None:
    bugs: list[str] = []
    broken = {**full.results(), "delphi": {"ratings": [{"median": 1}]}}
    assert [
        each.name for each in drawn(ALL, broken, "en", lambda name, _: bugs.append(name)) if "delphi" in each.name
    ] == []
    assert bugs == ["delphi"]
    with pytest.raises(KeyError):
        drawn(ALL, broken, "en")


# --- what is drawn is what was found ---------------------------------------------------------------------------------

RATING: dict[str, Any] = {
    "dimension": "importance", "n_responded": 4, "n_total": 5, "mean": 3.0, "iqr": 0.0, "label": "consensus", "agreement": 1.0,
    "distribution": {"1": 0, "2": 0, "3": 4, "4": 0, "5": 0},
}  # fmt: skip


def rating(theme: str, round_: int, q1: float, median: float, q3: float, **more: Any) -> dict[str, Any]:
    item = f"theme:{theme}/importance"
    return {**RATING, "theme": theme, "item": item, "round": round_, "q1": q1, "median": median, "q3": q3, **more}


SPLIT = rating("t2", 3, 1.0, 3.0, 5.0, label="disagreement", iqr=4.0, mean=2.9, agreement=-1.0,
               distribution={"1": 2, "2": 0, "3": 0, "4": 0, "5": 2})  # fmt: skip
FOUND: dict[str, Any] = {
    "themes": [{"id": "t1", "label": "Quotas"}, {"id": "t2", "label": "Seals"}],
    "dimensions": [{"dimension": "importance", "scale_min": 1, "scale_max": 5}],
    "rounds": {"2": {"n_responded": 8, "n_total": 10}, "3": {"n_responded": 7, "n_total": 10}},
    "ratings": [rating("t1", 2, 2.0, 3.0, 5.0), rating("t2", 2, 4.0, 4.0, 4.0), rating("t1", 3, 3.0, 3.0, 3.0), SPLIT],
    "disagreements": [SPLIT],
    "ranking": [{"by": "consensus", "dimension": "importance", "round": 3, "themes": [
        {"theme": "t1", "rank": 1.5, "low": 1.0, "high": 1.5}, {"theme": "t2", "rank": 1.5, "low": 1.5, "high": 2.0}]}],
}  # fmt: skip


def delphi(name: str) -> Figure:
    return chosen(f"delphi/{name}", drawn(ALL, {"delphi": FOUND}, "en"))


def trace(one: Figure, name: str) -> dict[str, Any]:
    (found,) = [each for each in one.spec["data"] if each.get("name") == name]
    return found


def test_a_split_theme_has_quartiles_and_no_median() -> None:
    """Nobody stands at 3, the median of 1, 1, 5, 5."""
    split = trace(delphi("convergence"), "round 3, split: quartiles without a median")
    assert (split["type"], split["base"], split["x"]) == ("bar", [1.0], [4.0])
    assert trace(delphi("convergence"), "round 3")["x"] == [3.0]  # the other theme
    second = trace(delphi("convergence"), "round 2")
    assert second["error_x"]["array"] == [2.0, 0.0]
    assert second["error_x"]["arrayminus"] == [1.0, 0.0]


def test_themes_are_in_the_last_round_s_order_of_importance() -> None:
    assert delphi("convergence").spec["layout"]["yaxis"]["ticktext"] == ["Quotas", "Seals"]  # means 3.0 and 2.9


def test_dissent_is_shown_as_it_is_spread() -> None:
    one = delphi("dissent")
    assert one.spec["data"][0]["y"] == [2, 0, 0, 0, 2]
    assert one.spec["data"][0]["meta"]["links"][4] == "delphi?item_id=theme%3At2%2Fimportance&round=3&value=5"
    assert "1: 2, 2: 0, 3: 0, 4: 0, 5: 2" in one.alt


def test_tied_themes_share_a_rank() -> None:
    one = delphi("ranking")
    assert one.spec["layout"]["yaxis"]["ticktext"] == ["Quotas  <b>1–2</b>", "Seals  <b>1–2</b>"]
    band = trace(one, "tied: shared ranks")
    assert (band["base"], band["x"]) == ([1, 1], [1, 1])
