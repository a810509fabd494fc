"""Defects seen in other systems (facts on rivals), each as a test that it is not ours. More of them by their own names:
tests/reports (synthesis without T0, rows twice, old report after a re-run, NaN, reverse keys), tests/kill (paid again
after kill -9), tests/faults (a cap that calls in flight overrun), tests/instruments (misspelt keys, duplicates).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import enquete
from enquete.ledger.folders import RECORD
from enquete.state.errors import InstrumentError
from tests.support.bare_runs import interview
from tests.support.model_server import ModelServer
from tests.support.studies import personas, stored_answers

OWN = """
instrument_id: own
version: "1"
title: {{de: Eigenes, en: Own}}
topic: {{de: Hafen, en: Harbour}}
language_default: de
instruction: {{de: Bitte bewerten., en: Please rate.}}
families: {{port: {{label: {{de: Hafen, en: Harbour}}}}}}
items:
  - {{item_id: one, family: port, scale: {scale}, de: "{text}", en: "{text}"}}
  - {{item_id: two, family: port, scale: {scale}, de: Der Hafen wird gebraucht., en: The harbour is needed.}}
"""


def own_instrument(folder: Path, name: str, *, scale: int = 5, text: str = "Der Hafen ist schön.") -> dict[str, str]:
    path = folder / name
    path.write_text(OWN.format(scale=scale, text=text), "utf-8")
    return {"longitudinal": str(path)}


def test_the_instruments_of_an_earlier_run_are_not_overwritten(tmp_path: Path) -> None:
    common = {"out": str(tmp_path / "out"), "methods": ["longitudinal"]}
    first = interview(personas(tmp_path, 2), instruments=own_instrument(tmp_path, "own.yaml"), **common)
    kept = (first.folder / RECORD).read_text("utf-8")
    edited = own_instrument(tmp_path, "own.yaml", text="Der Hafen ist laut.")
    second = interview(personas(tmp_path, 2), instruments=edited, **common)
    assert second.run_id != first.run_id
    assert (first.folder / RECORD).read_text("utf-8") == kept
    hashes = [
        json.loads((run.folder / RECORD).read_text("utf-8"))["instruments"]["longitudinal"]["hash"]
        for run in (first, second)
    ]
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("points", [3, 7])
def test_three_and_seven_point_scales_are_asked_as_they_are(tmp_path: Path, points: int) -> None:
    with ModelServer() as server:
        run = interview(
            personas(tmp_path, 12), out=str(tmp_path / "out"), methods=["longitudinal"], model="test",
            base_url=server.base_url, instruments=own_instrument(tmp_path, "own.yaml", scale=points),
        )  # fmt: skip
        body = server.requests[0].body
    form = body["response_format"]["json_schema"]["schema"]  # items of one scale share its form
    assert form["properties"]["q1"]["$ref"].startswith("#/$defs/")
    (shared,) = form["$defs"].values()
    assert shared["properties"]["value"]["enum"] == list(range(1, points + 1))
    assert f"{points} = " in body["messages"][-1]["content"]
    assert {row[6] for row in stored_answers(run.folder)} <= set(range(1, points + 1))
    assert set(run.responses["scale_max"]) == {points}


def test_one_bad_item_does_not_fail_the_agent_and_is_no_success(tmp_path: Path) -> None:
    """The model always answers the second item outside its scale: the first one counts, the second is `invalid`."""

    def reply(body: dict[str, object]) -> str:
        return json.dumps({"one": {"value": 4, "confidence": 0.5}, "two": {"value": 9, "confidence": 0.5}})

    with ModelServer(script=reply) as server:
        run = interview(
            personas(tmp_path, 3), out=str(tmp_path / "out"), methods=["longitudinal"], model="test",
            base_url=server.base_url, instruments=own_instrument(tmp_path, "own.yaml"),
        )  # fmt: skip
    assert {(row[4], row[5], row[6]) for row in stored_answers(run.folder)} == {
        ("one", "ok", 4.0),
        ("two", "invalid", None),
    }
    assert run.stages[0].counts["answers_invalid"] == 3


def test_a_misspelt_instrument_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN.format(scale=5, text="x").replace("family: port", "famly: port"), "utf-8")
    with ModelServer() as server:
        with pytest.raises(InstrumentError, match="did you mean 'family'"):
            enquete.conduct_interviews(
                personas(tmp_path, 3), out=str(tmp_path / "out"), methods=["longitudinal"], model="test",
                base_url=server.base_url, instruments={"longitudinal": str(path)},
            )  # fmt: skip
        assert server.requests == []
    assert not (tmp_path / "out").exists()
