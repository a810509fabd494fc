"""Every figure of every methodology, of whole runs: drawn, on the page, legible, in the run's language, true to the findings."""

from __future__ import annotations

import json
import re

import pytest

from enquete.graphs.registry import dotted_paths
from enquete.reports.evaluation import evaluations
from enquete.reports.figures import as_plotly, chosen, drawn
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.spoken import spoken
from enquete.reports.figures.svg import svg
from enquete.state.asking import Language
from enquete.state.errors import InputError
from tests.reports.conftest import Made
from tests.support.pictures import overlapping, placed_texts

ALL = dotted_paths()
EVERY = [
    *(f"longitudinal/{name}" for name in ("drift", "slopes", "answers")),
    *(f"diversity/{name}" for name in ("pca", "statements", "factors", "scree", "tree")),
    *(f"delphi/{name}" for name in ("convergence", "dissent", "ranking")),
    *(f"scenario/{name}" for name in ("quadrants", "groups")),
    *(f"discovery/{name}" for name in ("completeness", "coverage")),
    *(f"roundtable/{name}" for name in ("agreement", "positions")),
    *(f"poll/{name}" for name in ("means", "shares")),
    "health/glance",
]  # twelve agents of nine types: no group is large enough for changes by group; nobody moves toward anybody
WORDS: dict[Language, tuple[str, str]] = {
    "de": ("simulierte Befragte", r"\d von \d+|\d Teilnehmende in \d Gruppen"),
    "en": ("simulated respondents", r"\d of \d+|\d participants in \d groups"),
}


def figures(made: Made, language: Language) -> list[Figure]:
    health = json.loads((made.synthesis / "health.json").read_text("utf-8"))
    return drawn(ALL, made.results(), language, health=health)


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
    assert [each.name for each in german] == EVERY


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


def test_every_mark_that_says_something_leads_to_answers(every: list[Figure]) -> None:
    assert [(each.name, one.told) for each in every for one in spoken(each.spec) if not one.link] == []


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


def test_findings_name_figures_that_there_are(german: list[Figure], full: Made) -> None:
    for name, own in evaluations(ALL).items():
        named = {f"{name}/{one.figure}" for one in own.findings(full.results()[name], "de") if one.figure}
        assert named <= {each.name for each in german}


def test_figures_are_files_beside_the_report(full: Made, german: list[Figure]) -> None:
    names = {file.stem for file in (full.synthesis / "figures").glob("*.svg")}
    assert names >= {each.name.replace("/", "-") for each in german}


def test_figures_by_name(german: list[Figure]) -> None:
    assert chosen("delphi", german).name == "delphi/convergence"
    assert chosen("delphi/ranking", german).name == "delphi/ranking"
    with pytest.raises(InputError, match=r"there are .*delphi/convergence"):
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
