"""Page one: short, in the run's language, and every figure on it as it follows from the table."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from enquete.analysis.diagnostics import Overall, Standing
from enquete.locale import catalogue
from enquete.reports.analyses import find, names_of, results_of, stated
from enquete.reports.evaluation import evaluations
from enquete.reports.health import Health
from enquete.reports.health import results as health_results
from enquete.reports.report import MOST_WORDS, TITLE_WORDS, PageOne, brief, page_one
from enquete.reports.responses import items, responses
from enquete.reports.run_reading import open_run
from tests.reports.conftest import Made
from tests.reports.recount import RECIPES, again

CHANCE = {("diversity", "views"): {"views"}, ("diversity", "types"): {"found", "largest"},
    ("discovery", "complete"): {"complete"},
          ("poll", "chosen"): {"low", "high"}, ("across", "together"): {"effect", "n", "n_total"}}  # fmt: skip
"""Figures that need the same random numbers, beside every p, which is corrected over the whole page: what the parallel
analysis and k-means count; or more than the table: the options, the schema, the columns of two methodologies."""


def page(made: Made) -> dict:
    return json.loads((made.synthesis / "page_one.json").read_text("utf-8"))


@pytest.fixture(params=["whole", "full", "crowd"])
def run(request: pytest.FixtureRequest) -> Made:
    return request.getfixturevalue(request.param)


def test_every_number_follows_from_the_table(run: Made) -> None:
    table = pd.read_csv(
        run.synthesis / "exports" / "all_responses.csv", keep_default_na=False, na_values={"value": [""]}
    )
    table = table[table["arm_role"].eq("main")]
    for column in ("value", "scale_min", "scale_max"):
        table[column] = pd.to_numeric(table[column])
    findings = page(run)["findings"]
    assert findings
    for finding in findings:
        counted = again(finding, table[table["methodology"].eq(finding["methodology"])])
        unknown = {"p", *CHANCE.get((finding["methodology"], finding["id"].partition(".")[0]), ())}
        for name, value in finding["numbers"].items():
            if name not in unknown and name in counted:
                assert counted[name] == pytest.approx(value, abs=1e-6), (finding["id"], name)
        left = set(finding["numbers"]) - set(counted) - unknown
        assert left <= {"tested", "n_on_scale", "n_ratings"}, (finding["id"], left)


def test_it_is_short_and_names_who_answered(run: Made) -> None:
    text = (run.synthesis / "page_one.md").read_text("utf-8")
    assert len(re.findall(r"\w[\w.,’'-]*", text)) <= MOST_WORDS
    assert len(page(run)["title"].replace("…", "").split()) <= TITLE_WORDS
    assert "ynthetic" in text or "ynthetisch" in text
    assert text.startswith("# ")


def test_it_is_the_beginning_of_the_report(run: Made) -> None:
    page_, report = ((run.synthesis / name).read_text("utf-8") for name in ("page_one.md", "report.md"))
    without = re.sub(r"\n *!\[.*?\]\(.*?\)\n", "\n", report)
    squeezed = re.sub(r"\s+", " ", without)
    assert squeezed.startswith(re.sub(r"\s+", " ", page_).strip())


def test_three_to_five_findings_of_a_run_large_enough(crowd: Made) -> None:
    findings = page(crowd)["findings"]
    assert 3 <= len(findings) <= 5
    assert {finding["methodology"] for finding in findings} >= {"longitudinal", "diversity", "delphi", "scenario"}
    assert {key[0] for key in RECIPES} >= {finding["methodology"] for finding in findings}


def test_of_data_that_are_not_usable_only_what_was_tested_is_found_and_that_stands_above(crowd: Made) -> None:
    """The same run, judged as all alike."""
    with open_run(crowd.folder) as reading:
        frame = responses(reading, plain=True)
        evaluated, names = evaluations(reading.record.methods), names_of(reading, items(reading, frame), {})
        findings = stated(results_of(evaluated, find(reading, frame).analyses, names, reading.language))

        def judged(verdict: Standing) -> PageOne:
            health = Health(verdicts=dict.fromkeys(findings, Overall(verdict, ("coherence:one_answer",))))
            checked = health_results(health, evaluated, names, reading.language)
            return page_one(reading, frame, evaluated, findings, health, checked)

        unusable, as_it_is = judged("not usable"), judged("usable")
    tested, every = (
        [finding for listed in page.by_methodology.values() for finding in listed] for page in (unusable, as_it_is)
    )
    assert {finding.id for finding in every} - {finding.id for finding in tested}
    assert None in {finding.p for finding in every}
    assert None not in {finding.p for finding in [*tested, *unusable.findings]}
    assert "Delphi: not usable. What was not tested is no finding: see the appendix." in unusable.notices
    text = brief(unusable, "en")
    assert text.index("not usable") < text.index("## What was found")


def test_nothing_is_called_untested_beside_its_test(crowd: Made) -> None:
    """What only describes groups says that it does not test here."""
    report, appendix = ((crowd.synthesis / name).read_text("utf-8") for name in ("report.md", "appendix.md"))
    phrases = re.findall(r"(?:\w+ )?not tested(?: here)?", report + appendix)
    assert set(phrases) <= {"reliability not tested", "not tested here"}


IDENTIFIER = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b|\b[A-Z][a-z]+[A-Z]\w+\b|\bmain\b|\bNone\b|\bnan\b")
ELSEWHERE = re.compile(
    r"`[^`]*`|\]\([^)]*\)|\b[\w/]+\.(csv|json|jsonl|md)\b|„[^“]*“|“[^”]*”"
)  # code, links, files, words of agents


@pytest.mark.parametrize(("name", "language"), [("full", "de"), ("whole", "en"), ("crowd", "en")])
def test_the_report_has_no_identifier_and_no_untranslated_word(
    name: str, language: str, request: pytest.FixtureRequest
) -> None:
    made = request.getfixturevalue(name)
    text = ELSEWHERE.sub(" ", (made.synthesis / "report.md").read_text("utf-8"))
    assert IDENTIFIER.findall(text) == []
    if language != "en":
        marked = [english for english, told in catalogue(language).items() if english != told and len(english) > 12]
        plain = [english for english in marked if "{" not in english and "\x04" not in english]
        assert [english for english in plain if re.search(rf"\b{re.escape(english)}\b", text)] == []
