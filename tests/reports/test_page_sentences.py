"""Sentences and labels of page one, the report and the files that were not so: each with what is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enquete.analysis.diagnostics import Diagnostic
from enquete.demo import demo_population
from enquete.interfaces.cli import app as cli
from enquete.memory.recall import LocalMemory, MemoryRecord
from enquete.methods.delphi.evaluation import PRESENTATION as DELPHI
from enquete.methods.delphi.results import camps_at_ends
from enquete.reports.accounts import _compared_with_people
from enquete.reports.analyses import _spread
from enquete.reports.declarations import Presentation, Table, number, reference, shaped, text
from enquete.reports.exports import overall
from enquete.reports.health import Health
from enquete.reports.health_checks import HealthCheck
from enquete.reports.responses import AskedItem
from enquete.reports.views import FEWEST_WORDS
from enquete.respondents.rule_coder import TITLE_CHARS, _title
from enquete.runs.result_folders import claim_folder
from tests.reports.conftest import Made, made
from tests.support.tables import findings, results

POLL = """
instrument_id: harbour
title: Harbour
version: 1.0.0
topic: The harbour
language_default: en
instruction: Answer as yourself.
questions:
  - {question_id: fair, wording: The quota is fair., kind: likert}
  - {question_id: boats, wording: "How many boats?", kind: number, minimum: 0, maximum: 10}
"""


@pytest.fixture(scope="module")
def by_region(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A poll of twelve personas of two regions, compared by region: too few questions for health to judge it."""
    folder = tmp_path_factory.mktemp("region")
    lines = [
        f"P{n},A person who fishes at the coast since {n} years.,fisher,{('north', 'south')[n % 2]}" for n in range(12)
    ]
    (folder / "people.csv").write_text("\n".join(["name,persona,type,region", *lines]) + "\n", "utf-8")
    (folder / "poll.yaml").write_text(POLL, "utf-8")
    return made(
        folder / "people.csv", out=str(folder / "out"), methods=["poll"], language="en", by="region",
        available={"poll": "enquete.methods.poll:METHODOLOGY"}, instruments={"poll": str(folder / "poll.yaml")},
    )  # fmt: skip


def test_what_groups_are_compared_by_is_named(by_region: Made) -> None:
    assert "Groups are compared by “region”." in (by_region.synthesis / "page_one.md").read_text("utf-8")


def test_findings_of_data_that_cannot_be_judged_stand_under_a_reservation(by_region: Made) -> None:
    page = json.loads((by_region.synthesis / "page_one.json").read_text("utf-8"))
    assert [usable["standing"] for usable in page["usable"]] == ["cannot be judged"]
    assert "Poll: these findings cannot be judged." in page["notices"]
    report = (by_region.synthesis / "report.md").read_text("utf-8")
    assert 0 < report.index("Poll: these findings cannot be judged.") < report.index("## What was found")


def test_the_hash_of_each_instrument_stands_among_the_limits(by_region: Made) -> None:
    limits = (by_region.synthesis / "report.md").read_text("utf-8").partition("## Limits")[2].partition("## ")[0]
    assert "for the wording of these instruments alone, by hash (SHA-256): poll " in limits


def test_a_camp_at_an_end_of_the_scale_is_not_said_to_go_beyond_it() -> None:
    """“15 agents 5 or more” on 1–5."""
    assert [camps_at_ends(*ends, 1, 5) for ends in ((1, 5), (1, 4), (2, 5), (2, 4))] == [
        "both_ends", "low_end", "high_end", "inner",
    ]  # fmt: skip
    row = {
        "theme": "t", "dimension": "importance", "item": "t/importance", "kind": "camps", "label": "disagreement",
        "n": 30, "n_total": 30, "iqr": 4.0, "agreement": -0.9, "median_shown": 3.0, "distance": 2.0, "n_paired": 30,
        "n_holding_out": 0, "n_below": 15, "n_above": 15, "n_between": 0, "n_stayed": 30, "low_at": 1, "high_at": 5,
        "ends": "both_ends", "p": 0.001, "above_share": 0.5, "above_low": 0.3, "above_high": 0.7, "mean_gap": 2.0,
    }  # fmt: skip
    analysis = shaped(DELPHI, {"dissent": [row]}, {"main_dimension": "importance"})
    told = findings(DELPHI, analysis)["camps"].text
    assert "15 agents rate its importance 1, 15 agents 5 (50%" in told


def test_kendalls_w_says_of_which_dimension() -> None:
    rounds = [{"round": 2, "n_responded": 1, "n_planned": 1, "n": 5, "n_total": 5, "n_consensus": 1, "n_open": 0,
               "n_disputed": 0, "w": 0.5}]  # fmt: skip
    columns = {column.name for column in DELPHI.tables["rounds"].stored}
    rows = [{name: row.get(name) for name in columns} for row in rounds]
    analysis = shaped(DELPHI, {"rounds": rows}, {"main_dimension": "importance", "n_themes": 1})
    told = results(DELPHI, analysis).at("section")
    assert "Kendall's W (importance)" in told


def check(name: str, verdict: str) -> HealthCheck:
    found = Diagnostic.__new__(Diagnostic)
    object.__setattr__(found, "name", name)
    object.__setattr__(found, "verdict", verdict)
    return HealthCheck("poll", "T1", found)


@pytest.mark.parametrize(("verdict", "compared"), [("fine", True), ("not computed", False)])
def test_a_comparison_with_people_is_not_denied_above_one(verdict: str, compared: bool) -> None:
    assert _compared_with_people(Health(checks=(check("human_w1", verdict),))) is compared
    assert not _compared_with_people(Health(checks=(check("coherence", "fine"),)))


def test_pairs_that_were_compared_are_counted_though_no_preference_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """190 pairs, of which a critic that goes by the place of an answer judges nothing."""
    people = tmp_path / "people.csv"
    people.write_text("name,persona\nAda,A person who lives at the coast and fishes.\n", "utf-8")
    interviews = tmp_path / "out" / "people"
    interviews.mkdir(parents=True)
    claim_folder(tmp_path / "out", interviews, people)
    with LocalMemory.opened(interviews) as memory:
        for n in range(190):
            for arm in ("main", "b"):
                about = {"kind": "answer", "text": "t", "sim_id": "s", "run_id": "run_1", "participant": "p"}
                record = MemoryRecord(id=f"run_1/{arm}/{n}", **about)
                memory.remember([record])
                memory.annotate(record.id, {"respondent_id": arm, "critic_score": None, "pairwise_winner": None})
    assert cli.run(["memory", "preferences", str(people), "--out", str(interviews.parent)]) == 0
    assert "Pairs of answers that were compared: 190. No preference follows" in capsys.readouterr().out


NAMED = Table(
    name="named", title="Named", key=("theme",), columns=(text("theme", "theme"), reference("who", "who", to="group")),
)  # fmt: skip


def test_a_name_is_not_cut_in_the_middle() -> None:
    """“Companies can do this better if they …” said something else than the theme."""
    theme = "Companies can do this better if they are told early what will hold"
    assert len(theme.split()) < FEWEST_WORDS
    of = results(Presentation(tables=(NAMED,)), shaped(Presentation(tables=(NAMED,)), {}, {}))
    known = {column.name: column for column in NAMED.columns}
    told = of.fill("“{theme}” " + "word " * 60, {"theme": theme}, known, markdown=False, room=40)
    assert told.startswith(f"“{theme}”")


def test_a_themes_name_ends_with_a_clause() -> None:
    first = "The harbour needs a plan that holds for all who live from it"
    sentence = f"{first}, and whoever decides about it has to say so before the season and not in the middle of it"
    assert len(sentence) > TITLE_CHARS >= len(first)
    assert _title([sentence], (0,)) == f"{first} …"


@pytest.mark.parametrize(
    ("language", "begins"), [("en", "The EU sets the Baltic Sea catch limits"), ("de", "Die EU legt")]
)
def test_the_demo_asks_its_question_in_the_language_of_the_interviews(
    language: str, begins: str, tmp_path: Path
) -> None:
    folder = demo_population(tmp_path, completed=False, language=language)
    config = json.loads((folder / "simulation_config.json").read_text("utf-8"))
    assert config["simulation_requirement"].startswith(begins)


def test_columns_of_agents_csv_bear_the_names_that_the_report_uses() -> None:
    """They bore the ids of a German instrument, in an English run as well: desirability_festung_europa."""
    scenarios = Table(
        name="scenarios", title="S", key=("scenario",), label="label", columns=(text("scenario"), text("label"))
    )
    agents = Table(
        name="agents", title="A", key=("participant", "scenario"), one_agent=True,
        columns=(reference("participant", "agent", to="agent"), reference("scenario", "Scenario", to="scenarios"),
                 number("desirability", "desirability of “{scenario}”", agents=True)),
    )  # fmt: skip
    presentation = Presentation(tables=(scenarios, agents))
    analysis = shaped(presentation, {
        "scenarios": [{"scenario": "festung_europa", "label": "Fortress Europe"}],
        "agents": [{"participant": "p", "scenario": "festung_europa", "desirability": 1.0}],
    }, {})  # fmt: skip
    ((name, label, _),) = _spread(
        presentation, analysis, agents, agents.column("desirability"), "desirability of “{scenario}”"
    )
    assert (name, label) == ("desirability_fortress_europe", "desirability of “Fortress Europe”")


def test_what_is_remembered_of_a_run_ranks_no_scale_against_another() -> None:
    """9 of 0–10 lies lower on its scale than 5 of 1–5, and neither may be called the highest of both: of the two
    statements on 1–5 the one is highest, the other lowest."""
    import pandas as pd

    items = {
        name: AskedItem("poll", name, "scale", {"en": name}, scale_min=low, scale_max=high)
        for name, low, high in (("a", 1, 5), ("b", 1, 5), ("ten", 0, 10))
    }
    rows = pd.DataFrame([
        {"participant": "p", "item_id": name, "value": value, "scale_min": items[name].scale_min,
         "scale_max": items[name].scale_max, "run_id": "r", "arm": "main", "methodology": "poll", "phase": "T1",
         "session": "", "round": 0, "turn": 0}
        for name, value in (("a", 5.0), ("b", 2.0), ("ten", 10.0))
    ])  # fmt: skip
    told, _ = overall(rows, items, 1, "en")
    assert "rated highest: “a” (mean 5.00 on 1–5, n = 1); lowest: “b” (mean 2.00 on 1–5, n = 1)" in told
