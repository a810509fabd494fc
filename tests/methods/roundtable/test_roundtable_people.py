"""A roundtable of one person and two agents out of twelve, in a mode that assigns stances, on a question of its own:
what its report, table and progress say of who took part. Expected counts by hand from that sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import enquete
from enquete import Run
from tests.support import bare_runs
from tests.support.filling import answered
from tests.support.studies import personas

QUESTION = "Should the bakery close on Mondays?"
SETTINGS = {
    "question": QUESTION, "mode": "devils-advocate", "compose": "hand", "members": "Person 3, Person 5, Person 8",
    "people": "Person 5", "rounds": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """It waits for the person, who is asked alone first."""
    folder = tmp_path_factory.mktemp("seat")
    return bare_runs.interview(
        personas(folder, 12), methods=["roundtable"], settings={"roundtable": SETTINGS}, language="en",
        out=str(folder / "out"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def run(begun: Run) -> Run:
    sim, out = begun.folder.parents[2] / "personas_12.json", begun.folder.parents[1]
    assert answered(begun, sim=str(sim), out=str(out)).status == "completed"
    enquete.export(str(sim), out=str(out))
    return enquete.load_run(str(sim), out=str(out))


def test_progress_counts_seats_not_the_population(begun: Run) -> None:
    assert begun.status == "waiting"
    (stage,) = begun.stages
    assert (stage.responded, stage.total) == (2, 3)  # both agents have said where they stand


def test_a_person_is_named_as_one_wherever_the_run_is_told_of(run: Run) -> None:
    page = json.loads((Path(run.path) / "page_one.json").read_text("utf-8"))
    assert page["title"] == QUESTION
    assert "1 person answered for themselves" in page["banner"]
    assert page["asked"].startswith("2 simulated stakeholders and 1 person of 2 groups")  # by number modulo 5: 3, 0, 3
    report = run.report
    assert "people (1) who answered for themselves and are no sample" in report
    assert "All 2 agents share one model" in report
    assert "3 participants, 1 of them a person, discussed in 1 group" in report
    assert "No figure of this report describes people;" not in report
    assert "Whether things should be done" not in page["question"]


def test_rows_of_a_person_name_no_model_and_stances_are_said_to_be_assigned(run: Run) -> None:
    table = pd.read_csv(Path(run.path) / "exports/all_responses.csv", keep_default_na=False)
    person = table["agent_name"].eq("Person 5")
    assert set(table["agent_name"]) == {"Person 3", "Person 5", "Person 8"}
    assert table.loc[person, "respondent"].eq("human").all()
    assert table.loc[person, "model"].eq("").all()
    assert table.loc[person, "temperature"].eq("").all()
    assert table.loc[~person, "respondent"].eq("synthetic").all()
    book = json.loads((Path(run.path) / "exports/codebook.json").read_text("utf-8"))
    (answers,) = (resource for resource in book["resources"] if resource["name"] == "all_responses")
    meanings = {field["name"]: field["description"] for field in answers["schema"]["fields"]}
    assert "a person" in meanings["respondent"]
    assert "person" in meanings["model"]
    results = run.results["roundtable"]
    assert results["assigned"]
    assert [discussion["exit"] for discussion in results["discussions"]] == ["max_rounds"]
    assert [point["stage"] for point in results["curve"]] == ["before", "after"]
    assert "In this mode stances were assigned" in run.report
    decision = results["layers"]["group_01"]["decision"]
    after = {turn["participant"]: turn["stance"] for turn in results["turns"] if turn["private"] and turn["round"] > 0}
    assert decision["basis"] == "stances"
    assert all(after[who] == decision["stance"] for who in decision["held_by"])
