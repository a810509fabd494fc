"""What discovery's tables say follows from the interviews: counted again from the records of a run."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.methods.discovery.record_files import record_table
from enquete.reports.declarations import records
from enquete.respondents.roles import normal
from tests.support.bare_runs import results_alone
from tests.support.studies import personas


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> enquete.Run:
    folder = tmp_path_factory.mktemp("discovery")
    with results_alone(report=True):
        return enquete.conduct_interviews(
            personas(folder, 6), out=str(folder / "out"), methods=["discovery"], language="en"
        )


@pytest.fixture(scope="module")
def results(run: enquete.Run) -> dict[str, Any]:
    return dict(run.results["discovery"])


def test_what_is_known_and_named_is_counted_in_the_records_question_by_question(results: dict[str, Any]) -> None:
    read_records = [record["record"] for record in results["records"]]
    for field in results["fields"]:
        assert (field["n"], field["n_total"]) == (sum(bool(record.get(field["path"])) for record in read_records), 6)
    goals = Counter(goal for record in read_records for goal in {normal(goal) for goal in record["goals"]})
    named = {value["value"]: value for value in results["named"] if value["path"] == "goals"}
    assert sorted(value["agents"] for value in named.values()) == sorted(goals.values())
    most = max(goals.values())
    assert {value["agents"] for value in named.values() if value["first"]} == {most}
    assert all(
        value["low"] <= value["share"] == value["agents"] / value["n"] <= value["high"] for value in named.values()
    )
    curve = results["curve"]
    assert [point["question"] for point in curve] == list(range(1, len(curve) + 1))
    assert [point["known"] for point in curve] == sorted(point["known"] for point in curve)
    assert curve[-1]["complete"] == results["complete"] == sum(record["complete"] for record in results["records"])
    assert results["questions"] == pytest.approx(sum(record["questions"] for record in results["records"]) / 6)


def test_findings_and_files_of_a_run_that_a_rule_read(run: enquete.Run, results: dict[str, Any]) -> None:
    assert (results["read_by_rule"], results["content"]) == (results["answers_read"], False)
    findings = [finding for methodology in run.page_one["methodologies"] for finding in methodology["findings"]]
    assert {finding["id"].partition(".")[0] for finding in findings} == {"complete", "by_rule"}
    folder = next(Path(run.path).parents[1].glob("T1/discovery/*"))
    with (folder / "records.csv").open(encoding="utf-8", newline="") as file:
        (first, *others) = csv.DictReader(file)
    assert len(others) == 5
    assert {"participant", "name", "role", "goals", "worries"} <= first.keys()
    turn = json.loads((folder / "transcript.jsonl").read_text("utf-8").splitlines()[0])
    assert turn["name"]


def test_entries_of_a_list_stand_after_their_keys() -> None:
    record = {"stages": [{"stage-id": "mix", "hours": 2.0}, {"stage-id": "pack", "hours": None}], "ready": True}
    held = {
        "participant": "p", "stakeholder_type": "x", "complete": True, "questions": 1, "missing": ["a", "b"],
        "record": record,
    }  # fmt: skip
    (row,) = records(record_table([held], {"p": "Ada"}, ["stages", "stages.hours", "ready"]))
    assert [row[name] for name in ("name", "missing", "stages", "stages.hours", "ready")] == [
        "Ada", "a; b", "mix; pack", "mix: 2", "true",
    ]  # fmt: skip
