"""Respondent B: asked everything after A, judged pair by pair, noted in the memory, and in no result of A."""

from __future__ import annotations

import asyncio
import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.checkpoints.folders import LEDGER
from enquete.checkpoints.ledger import Ledger
from enquete.memory.local import LocalMemory
from enquete.nodes.critic.record import PairRecord
from enquete.nodes.rounds import rounds_graph
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise
from enquete.state.asking import Arm
from enquete.state.errors import SettingsError
from enquete.state.methodology import Steps
from enquete.state.request import CriticSettings
from enquete.state.settings import Machine
from enquete.study.driver import Driver
from enquete.study.run import Run
from tests.support.begun import record
from tests.support.model_server import ModelServer
from tests.support.populations import participants
from tests.support.studies import personas, rows, stored_answers

SAID = {"model-a": "At 100 degrees Celsius.", "model-b": "When it bubbles."}
STORY = build(
    "story", {"story": ("tests.support.story:METHODOLOGY", ("T1",), rounds_graph("story", Steps()))}, synthesise
)


def script(body: dict[str, Any]) -> str | None:
    """Answers by model; the critic's requests have no schema and are the server's own to answer."""
    return json.dumps({"q1": {"text": SAID[body["model"]]}}) if "response_format" in body else None


def begun(folder: Path, *, agents: int = 1) -> Path:
    arms = [
        Arm(respondent="llm", model="model-a", temperature=0),
        Arm(id="b", role="b", respondent="llm", model="model-b", temperature=0.7),
    ]
    made = record(folder.name, arms, "story").model_copy(update={"critic": CriticSettings(model="model-c")})

    async def write() -> None:
        folder.mkdir(parents=True)
        ledger = Ledger(folder / LEDGER, made.run_id, create=True)
        await ledger.store_population(participants(agents))
        await ledger.freeze("", "", "", "record", made.model_dump(mode="json"))
        await ledger.close()

    asyncio.run(write())
    return folder


def drive(folder: Path, server: ModelServer, **more: Any) -> str:
    machine = Machine(base_url=server.base_url, **more)
    return asyncio.run(Driver(folder, machine, graph=STORY).drive())


def pairs(folder: Path) -> list[PairRecord]:
    found = rows(folder, "SELECT value FROM frozen WHERE methodology='critic' AND name LIKE 'pair/%' ORDER BY name")
    return [PairRecord.model_validate_json(value) for (value,) in found]


def preference(folder: Path) -> dict[str, Any]:
    text = (folder.parent.parent / "synthesis" / folder.name / "preference.json").read_text("utf-8")
    return dict(json.loads(text))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ModelServer]:
    """The story of one agent, told to its end."""
    folder = begun(tmp_path_factory.mktemp("story") / "runs" / "run_story")
    with ModelServer(script=script) as server:
        assert drive(folder, server) == "completed"
    return folder, server


def test_a_question_has_two_answers_and_one_result(told: tuple[Path, ModelServer]) -> None:
    folder, server = told
    (pair,) = pairs(folder)
    assert "100" in stored_answers(folder)[0][7]
    assert stored_answers(folder, "b")[0][7] == SAID["model-b"]
    assert pair.question_id in pair.answer_id_a
    assert pair.question_id in pair.answer_id_b
    assert pair.answer_id_a != pair.answer_id_b
    assert pair.winner in ("A", "B")  # the server's critic prefers the same response wherever it stands
    assert {pair.forward, pair.backward, pair.again} == {pair.winner}
    assert pair.score_a in range(1, 6)
    assert pair.score_b in range(1, 6)
    assert pair.reason == "closer to the person."
    asked = {request.body["model"]: request.body["temperature"] for request in server.requests}
    assert (asked["model-a"], asked["model-b"], asked["model-c"]) == (0, 0.7, 0)


def test_both_records_are_annotated_and_keep_what_they_held(told: tuple[Path, ModelServer]) -> None:
    folder, _ = told
    (pair,) = pairs(folder)
    with LocalMemory.opened(folder.parent.parent, read_only=True) as memory:
        both = [memory.record(answer) for answer in (pair.answer_id_a, pair.answer_id_b)]
        (kept,) = memory.preferences()
    assert [one.text.splitlines()[-1] for one in both if one] == list(SAID.values())
    noted = [one.model_extra for one in both if one]
    assert noted == [
        {"respondent_id": "main", "critic_score": pair.score_a, "pairwise_winner": pair.winner == "A"},
        {"respondent_id": "b", "critic_score": pair.score_b, "pairwise_winner": pair.winner == "B"},
    ]
    assert (kept.a, kept.b, kept.winner) == ("model-a, temperature 0", "model-b, temperature 0.7", pair.winner.lower())


def test_a_alone_is_in_the_results(told: tuple[Path, ModelServer]) -> None:
    folder, _ = told
    run = Run(folder)
    assert list(run.responses["arm"]) == ["main"]
    assert run.results["story"]["said"] == [SAID["model-a"]]
    exported = folder.parent.parent / "synthesis" / folder.name
    for name in ("exports/all_responses.csv", "exports/episodes.jsonl", "results.json", "page_one.json"):
        assert SAID["model-b"] not in (exported / name).read_text("utf-8"), name
    assert SAID["model-b"] in (folder.parent.parent / "T1" / "story" / folder.name / "audit.jsonl").read_text("utf-8")
    with (folder / "pairs.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row)[:7] == ["question_id", "answer_id_a", "answer_id_b", "winner", "score_a", "score_b", "reason"]


def test_neither_a_refusal_nor_a_mute_critic_costs_more_than_the_comparison(tmp_path: Path) -> None:
    folder = begun(tmp_path / "runs" / "run_mute", agents=2)
    refused = participants(2)[0].persona

    def answer(body: dict[str, Any]) -> str | None:
        if body["model"] == "model-b" and refused in body["messages"][0]["content"]:
            return "I'm sorry, I can't assist with that."
        return script(body) or "I select Response B."

    with ModelServer(script=answer) as server:
        assert drive(folder, server) == "completed"
    (pair,) = pairs(folder)  # the other's answer is missing: no comparison
    assert pair.participant == participants(2)[1].id
    assert (pair.winner, pair.score_a, pair.score_b) == ("", None, None)
    with LocalMemory.opened(tmp_path, read_only=True) as memory:
        assert memory.preferences() == []
    assert (preference(folder)["unread"], preference(folder)["position_bias"]["verdict"]) == (1, "not judged")


def test_short_of_budget_the_critic_waits_and_goes_on(tmp_path: Path) -> None:
    folder = begun(tmp_path / "runs" / "run_short", agents=3)
    with ModelServer(script=script) as server:
        whole = begun(tmp_path / "whole" / "runs" / "run_short", agents=3)
        assert drive(whole, server) == "completed"
        tokens = sum(rows(whole, "SELECT input_tokens + output_tokens FROM calls WHERE methodology<>'critic'")[0])
        asked = server.count()
        assert drive(folder, server, cap_tokens=12 * tokens) == "paused"
        assert len(stored_answers(folder)) == 3  # A is complete
        assert 0 <= len(pairs(folder)) < 3
        assert drive(folder, server, cap_tokens=10**6) == "completed"
        assert pairs(folder) == pairs(whole)
        assert server.count() == 2 * asked  # nothing was paid twice


# --- planted: without a model ---------------------------------------------------------------------------------------


def planted(folder: Path, agents: int, **asked: Any) -> Run:
    return enquete.conduct_interviews(
        str(personas(folder, agents)), out=str(folder / "out"), methods=["scenario"], respondent="synthetic", language="en",
        respondent_b=True, **asked,
    )  # fmt: skip


def test_a_plainly_worse_second_model_loses(tmp_path: Path) -> None:
    run = planted(tmp_path, 10, model_b="synthetic:worse")
    found = preference(run.folder)
    whole = found["win_rates"][0]["found"]
    assert found["usable"]
    assert whole["high"] < 0.5
    assert found["stand_in"]
    assert "stand-in without a model" in run.report
    assert "Respondent A is preferred." in run.report
    assert "preference/win-rates" in run.figures
    # One answer in eight of a synthetic arm that is asked again is another one (docs/probes.md): the rest is not judged.
    assert Counter(one.alike for one in pairs(run.folder))[True] > 0.7 * len(pairs(run.folder))
    assert found["agreement"][0]["kappa"] > 0.8


def test_an_equal_one_ties_within_the_interval(tmp_path: Path) -> None:
    whole = preference(planted(tmp_path, 8).folder)["win_rates"][0]["found"]
    assert whole["low"] < 0.5 < whole["high"]


def test_a_critic_that_always_prefers_the_first_place_is_caught(tmp_path: Path) -> None:
    run = planted(tmp_path, 4, critic_model="synthetic:first", model_b="synthetic:worse")
    found = preference(run.folder)
    assert (found["position_bias"]["rate"], found["position_bias"]["verdict"], found["usable"]) == (
        1.0,
        "unusable",
        False,
    )
    assert "it prefers whichever answer stands first" in run.report
    assert "preference/win-rates" not in run.figures


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"model_b": "synthetic:worse"}, "say respondent_b too"),
        ({"critic_rubric": "style"}, "add respondent_b"),
        ({"respondent_b": True, "model_b": "gpt-5"}, "no model answers in this run"),
        ({"respondent_b": True, "critic_model": "gpt-5"}, "no model answers in this run"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, said: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        enquete.conduct_interviews(
            str(personas(tmp_path, 2)), out=str(tmp_path / "out"), methods=["scenario"], respondent="synthetic", **said
        )
