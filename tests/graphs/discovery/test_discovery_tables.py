"""What discovery's tables say follows from the interviews: counted again from the records of a run."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.graphs.discovery.results import record_table
from enquete.reports.declarations import records
from enquete.respondents.roles import normal
from tests.support.studies import personas
from tests.support.unwritten import results_alone


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> enquete.Run:
    folder = tmp_path_factory.mktemp("discovery")
    with results_alone(report=True):
        return enquete.conduct_interviews(
            personas(folder, 6), out=str(folder / "out"), methods=["discovery"], language="en"
        )


@pytest.fixture(scope="module")
def found(run: enquete.Run) -> dict[str, Any]:
    return dict(run.results["discovery"])


def test_what_is_known_and_named_is_counted_in_the_records_question_by_question(found: dict[str, Any]) -> None:
    own = [one["record"] for one in found["records"]]
    for field in found["fields"]:
        assert (field["n"], field["n_total"]) == (sum(bool(one.get(field["path"])) for one in own), 6)
    goals = Counter(goal for one in own for goal in {normal(goal) for goal in one["goals"]})
    named = {one["value"]: one for one in found["named"] if one["path"] == "goals"}
    assert sorted(one["agents"] for one in named.values()) == sorted(goals.values())
    most = max(goals.values())
    assert {one["agents"] for one in named.values() if one["first"]} == {most}
    assert all(one["low"] <= one["share"] == one["agents"] / one["n"] <= one["high"] for one in named.values())
    curve = found["curve"]
    assert [one["question"] for one in curve] == list(range(1, len(curve) + 1))
    assert [one["known"] for one in curve] == sorted(one["known"] for one in curve)
    assert curve[-1]["complete"] == found["complete"] == sum(one["complete"] for one in found["records"])
    assert found["questions"] == pytest.approx(sum(one["questions"] for one in found["records"]) / 6)


def test_findings_and_files_of_a_run_that_a_rule_read(run: enquete.Run, found: dict[str, Any]) -> None:
    assert (found["read_by_rule"], found["content"]) == (found["answers_read"], False)
    said = [one for methodology in run.page_one["methodologies"] for one in methodology["findings"]]
    assert {one["id"].partition(".")[0] for one in said} == {"complete", "by_rule"}
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
