"""The pictures of a run: whose they are, what they say below and beside them, what is kept of them, and page one's
small ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

import enquete
from enquete.analysis.diagnostics import Diagnostic, Overall
from enquete.analysis.probes import judge_claim
from enquete.methods.delphi.evaluation import PRESENTATION as DELPHI
from enquete.methods.registry import dotted_paths
from enquete.reports.charts import WIDTH as CHART_WIDTH
from enquete.reports.charts import Picture, drawn
from enquete.reports.evaluation import Headline, evaluations
from enquete.reports.findings import Dot, KeyFinding, Strip, corrected, stated_of
from enquete.reports.further_arms import ReplicatedFinding, Replicates, replicate_results
from enquete.reports.health import Health
from enquete.reports.health import results as health_results
from enquete.reports.health_checks import HealthCheck
from enquete.reports.pictures import FILE, footer, read
from enquete.reports.report import WIDTH, strips
from enquete.reports.views import Names
from enquete.state.asking import Language
from enquete.state.errors import LedgerError
from tests.reports.conftest import Made, people_file
from tests.support.charts import NAMESPACE, illegible, results, texts

ALL = dotted_paths()
TITLES = {"delphi": "Delphi", "scenario": "Scenarios"}


@pytest.fixture(params=["de", "en"])
def every(request: pytest.FixtureRequest, full: Made, whole: Made) -> list[Picture]:
    return read((full if request.param == "de" else whole).synthesis)


# --- of whole runs ----------------------------------------------------------------------------------------------------


def test_every_methodology_has_pictures_and_every_finding_those_that_it_names(full: Made) -> None:
    names = [picture.name for picture in read(full.synthesis)]
    assert {name.partition("/")[0] for name in names} == {*ALL, "health", "page-one"}
    assert "health/glance" in names
    page = json.loads((full.synthesis / "page_one.json").read_text("utf-8"))
    with_figure = [finding for each in page["methodologies"] for finding in each["findings"] if finding["figure"]]
    assert {f"{finding['methodology']}/{finding['figure']}" for finding in with_figure} <= set(names)
    files = {file.stem for file in (full.synthesis / "figures").glob("*.svg")}
    assert files == {name.replace("/", "-") for name in names}


def test_every_picture_says_who_answered_and_can_be_read(every: list[Picture]) -> None:
    for picture in every:
        if picture.at != "page_one":
            assert re.match(r"simulated respondents|simulierte Befragte", picture.footer), picture.name
            assert picture.alt.endswith("."), picture.name
        assert illegible(picture.svg()) == [], picture.name


def test_every_picture_speaks_one_language(full: Made) -> None:
    shown = " ".join(text.text for picture in read(full.synthesis) for text in texts(picture.svg()))
    assert not re.search(r"\b(of|and|the|agents|answers|with|interval)\b|\d\.\d\d|None|\bnan\b|\{[a-z_]+\}", shown)


def test_every_mark_that_says_something_leads_to_answers_or_to_its_checks(full: Made) -> None:
    some = [picture for picture in read(full.synthesis) if picture.name.startswith(("health/", "delphi/"))]
    assert [(picture.name, mark.told) for picture in some for mark in picture.marks() if not mark.link] == []


def test_what_was_drawn_is_kept_as_it_was(full: Made) -> None:
    for picture in read(full.synthesis):
        again = Picture.read(json.loads(json.dumps(picture.as_json())))
        assert (again.name, again.title, again.alt, again.at, again.svg()) == (
            picture.name, picture.title, picture.alt, picture.at, picture.svg(),
        )  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize("agents", [7, 50, 1_000])
def test_every_chart_is_legible_for_few_agents_and_for_many(tmp_path: Path, agents: int) -> None:
    asked = people_file(tmp_path, agents)
    run = enquete.conduct_interviews(
        asked["sim"], out=asked["out"], methods=list(ALL), respondent="synthetic", language="en", replicates=2,
        respondent_b=True, budget_tokens=2_000_000_000,
    )  # fmt: skip
    figures = read(run.path)
    assert {figure.name.partition("/")[0] for figure in figures} >= {*ALL, "health", "replicates", "preference"}
    for figure in figures:
        across, down = figure.size
        assert (illegible(figure.svg()), across <= CHART_WIDTH, down <= 1_400) == ([], True, True), figure.name


@pytest.mark.parametrize("wrong", [{"figures": [{"name": "a"}]}, {"figures": 3}, {"figures": ["a"]}])
def test_a_file_that_no_synthesis_wrote_is_named(tmp_path: Path, wrong: object) -> None:
    assert read(tmp_path) == []
    (tmp_path / FILE).write_text(json.dumps(wrong), "utf-8")
    with pytest.raises(LedgerError, match=r"figures\.json.*enquete export"):
        read(tmp_path)


# --- below them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("persons", "language", "expected"),
    [
        (0, "en", "simulated respondents · 2 of 3 agents, 3 of 6 answers"),
        (1, "en", "simulated respondents, and people (1) · 2 of 3 participants, 3 of 6 answers"),
        (3, "en", "people · 2 of 3 participants, 3 of 6 answers"),
        (0, "de", "simulierte Befragte · 2 von 3 Agenten, 3 von 6 Antworten"),
    ],
)
def test_people_are_no_simulated_respondents(persons: int, language: Language, expected: str) -> None:
    """Three participants with two items each; the first answers both, the second one, the third none; other arms do not
    count."""
    who = ["a", "a", "b", "b", "c", "c"]
    frame = pd.DataFrame({
        "methodology": "poll", "arm_role": "main", "participant": who,
        "respondent": ["human" if "abc".index(agent) < persons else "llm" for agent in who],
        "status": ["ok", "repaired", "ok", "refused", "failed", "failed"],
    })  # fmt: skip
    frame = pd.concat([frame, frame.assign(arm_role="probe", status="ok")])
    assert footer(frame, "poll", language) == expected


def test_where_nothing_is_missing_answers_are_not_counted() -> None:
    frame = pd.DataFrame(
        {"methodology": ["poll"], "arm_role": ["main"], "participant": ["a"], "respondent": ["llm"], "status": ["ok"]},
    )  # fmt: skip
    assert footer(frame, "poll", "en") == "simulated respondents · 1 of 1 agents"


# --- of what is nobody's own ------------------------------------------------------------------------------------------


def rows(picture: Picture) -> list[dict[str, Any]]:
    [dataset] = picture.spec["datasets"].values()
    return list(dataset)


def check(methodology: str, name: str, verdict: Any, *, probe: bool = False) -> HealthCheck:
    diagnostic = Diagnostic(
        name, 0.5, 9, None, (None, None), verdict, "" if verdict in ("fine", "information") else "too_few_answers"
    )
    return HealthCheck(methodology, "", diagnostic, probe)


def test_every_check_has_the_worst_verdict_of_its_occasions_what_was_found_on_top() -> None:
    checks = (
        check("delphi", "test_retest", "fine"), check("delphi", "test_retest", "information"),
        check("scenario", "test_retest", "not computed"), check("delphi", "refusal_rate", "caution"),
        check("scenario", "refusal_rate", "fine"), check("scenario", "test_retest", "fine", probe=True),
    )  # fmt: skip
    verdicts = {"delphi": Overall("usable with caution", ()), "scenario": Overall("usable", ())}
    names = Names(methodologies=TITLES)
    [picture] = drawn(health_results(Health(checks, verdicts, synthetic=True), {}, names, "en"), footer="who")
    again = "Agreement when asked again (weighted κ)"
    assert [(row["check"], row["methodology"], row["sign"]) for row in rows(picture)] == [
        ("Verdict", "Delphi", "!"), ("Verdict", "Scenarios", "+"), ("Refused answers", "Delphi", "!"),
        ("Refused answers", "Scenarios", "+"), (again, "Delphi", "+"), (again, "Scenarios", "–"),
        (f"{again} (probe)", "Scenarios", "+"),
    ]  # fmt: skip
    assert "5 of 6 checks computed · answers are synthetic" in picture.spec["title"]["subtitle"][0]
    assert picture.alt == "6 checks of 2 methodologies: 0 bad, 1 to be careful with, 5 computed."
    assert {mark.link for mark in picture.marks()} == {"health?"}
    assert illegible(picture.svg()) == []
    assert drawn(health_results(Health(), {}, names, "en"), footer="who") == []


def test_further_runs_stand_beside_the_main_arm_the_least_found_again_on_top() -> None:
    def judged(main: str, *further: str | None) -> ReplicatedFinding:
        agreeing = tuple(None if claim is None else claim == main for claim in further)
        return ReplicatedFinding(main, further, judge_claim(main, further), agreeing)

    def headline(theme: str) -> Headline:
        return Headline(f"ratings.label.{theme}", "ratings.label", "x", "x", (theme,), methodology="delphi")

    made = [(headline("A"), judged("open", "open", "open")), (headline("B"), judged("open", "consensus", None))]
    of = replicate_results(Replicates(("main", "r1", "r2"), made), evaluations(ALL), Names(methodologies=TITLES), "en")
    [one] = drawn(of, footer="who")
    assert [(row["finding_id"], row["run"], row["says"]) for row in rows(one)] == [
        ("delphi/ratings.label.B", 1, "something else"), ("delphi/ratings.label.B", 2, "not measured"),
        ("delphi/ratings.label.A", 1, "as in the main arm"), ("delphi/ratings.label.A", 2, "as in the main arm"),
    ]  # fmt: skip
    assert one.alt == "2 findings over 2 further runs; 1 of them are found again in all."
    assert one.at == "appendix"
    assert "Verdict: B" in [text.text for text in texts(one.svg())]
    assert illegible(one.svg()) == []


# --- page one's small ones --------------------------------------------------------------------------------------------

FACTS = {
    "last_round": 2, "main_dimension": "importance", "scale_min": 1, "scale_max": 5, "n_judged": 4, "n_consensus": 3,
    "n_disputed": 1, "consensus_iqr": 1.0, "n": 9, "n_total": 9,
}  # fmt: skip
RATED = {"theme": "a", "dimension": "importance", "round": 2, "n": 9, "n_total": 9, "median": 4, "label": "consensus",
         "tied": 1, "scale_min": 1, "scale_max": 5}  # fmt: skip


def findings_of(language: Language = "en", **rating: Any) -> dict[str, KeyFinding]:
    """Of Delphi, by the declared finding."""
    tables = {"themes": [{"theme": "a", "label": "A"}], "ratings": [{**RATED, **rating}]}
    of = results(DELPHI, tables, FACTS, language)
    corrected({"delphi": (DELPHI, of.analysis)})
    return {finding.id.partition(".")[0]: finding for finding in stated_of(of)}


def test_what_is_drawn_is_named_and_a_missing_interval_too() -> None:
    whole = findings_of(mean=4.25, mean_low=3.5, mean_high=4.75)["highest"].strip
    caption = "dot: mean 4.25; line: simultaneous 95% interval 3.50 to 4.75"
    assert whole == Strip(1, 5, (Dot(4.25, "4.25", 3.5, 4.75),), caption)
    german = findings_of("de", mean=4.25, mean_low=3.5, mean_high=4.75)["agreed"].strip
    assert german is not None
    assert german.caption.endswith("3; kein Intervall")
    agreed = findings_of()["agreed"].strip
    assert agreed == Strip(0, 4, (Dot(3.0, "3"),), "dot: themes in consensus 3; no interval")
    assert "highest" not in findings_of(mean=4.25)  # its sentence names an interval


def test_dots_and_line_stand_where_their_values_lie() -> None:
    """The scale is WIDTH px wide: of 1–5, 2 to 4 is half of it, and 3 its middle."""
    two = Strip(
        1, 5, (Dot(5.0, "5.00"), Dot(1.0, "1.00")),
        "dot: highest mean 5.00 (anglers); diamond: lowest mean 1.00 (fishers); no interval",
    )  # fmt: skip
    strip = Strip(1, 5, (Dot(3.0, "3.00", 2.0, 4.0),), "dot: mean a < b 3.00; line: 95% interval 2.00 to 4.00")
    some = [KeyFinding(str(n), "text", "position", 0.5, 9, 10, strip=each) for n, each in enumerate((strip, two, None))]
    [first, second] = strips(some, "en").values()
    assert (first.stem, first.at, first.alt) == ("page-one-1", "page_one", strip.caption)
    root = ElementTree.fromstring(first.svg())
    [line] = [each for each in root.iter(f"{NAMESPACE}line") if each.get("stroke-width") == "4"]
    assert abs(float(line.get("x2", 0))) == WIDTH / 2
    words = [text.text for text in texts(first.svg())]
    assert {"1", "5", "3.00"} <= set(words)
    assert strip.caption in " ".join(words)
    left, right = (next(each.left for each in texts(second.svg()) if each.text == value) for value in ("1.00", "5.00"))
    assert right - left == pytest.approx(WIDTH, abs=1)
    assert illegible(first.svg()) == illegible(second.svg()) == []
