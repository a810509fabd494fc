"""Respondent B: asked everything after A, judged pair by pair, noted in the memory, and in no result of A."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.memory.recall import LocalMemory
from enquete.runs.answer_pairs import PairRecord
from enquete.state.errors import SettingsError
from enquete.study.run import Run
from tests.support.bare_runs import interview
from tests.support.model_server import ModelServer
from tests.support.studies import call_keys, personas, rows, stored_answers

pytestmark = pytest.mark.usefixtures("no_figures")

QUESTION = "What is the boiling point of water at sea level?"
SAID = {"model-a": "At 100 degrees Celsius.", "model-b": "When it bubbles."}


def script(body: dict[str, Any]) -> str | None:
    """Answers by model; the critic's requests have no schema and are the server's own to answer."""
    return json.dumps({"q1": {"text": SAID[body["model"]]}}) if body["model"] in SAID else None


def told(folder: Path, server: ModelServer, agents: int = 1, **more: Any) -> Run:
    """The story: one question to a model and to another at temperature 0.7, judged by a third."""
    return enquete.ask(
        str(personas(folder, agents)), enquete.Open(QUESTION), out=str(folder / "out"), base_url=server.base_url,
        language="en",
        model="model-a", temperature=0, respondent_b=True, model_b="model-b", temperature_b=0.7,
        critic_model="model-c", **more,
    )  # fmt: skip


def pairs(folder: Path) -> list[PairRecord]:
    values = rows(folder, "SELECT value FROM frozen WHERE methodology='critic' AND name LIKE 'pair/%' ORDER BY name")
    return [PairRecord.model_validate_json(value) for (value,) in values]


def preference(run: Run) -> dict[str, Any]:
    return dict(json.loads((run.path / "preference.json").read_text("utf-8")))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, ModelServer]:
    with ModelServer(script=script) as server:
        return told(tmp_path_factory.mktemp("story"), server), server


def test_a_question_has_two_answers_and_one_result(story: tuple[Run, ModelServer]) -> None:
    run, server = story
    assert run.status == "completed"
    (pair,) = pairs(run.folder)
    assert "100" in stored_answers(run.folder)[0][7]
    assert stored_answers(run.folder, "b")[0][7] == SAID["model-b"]
    assert pair.answer_id_a == f"{run.run_id}/main/{pair.question_id}"
    assert pair.answer_id_b == f"{run.run_id}/b/{pair.question_id}"
    assert pair.winner in ("A", "B")  # the server's critic prefers the same response wherever it stands
    assert {pair.forward, pair.backward, pair.again} == {pair.winner}
    assert pair.score_a in range(1, 6)
    assert pair.score_b in range(1, 6)
    assert pair.reason == "closer to the person."
    asked = {request.body["model"]: request.body["temperature"] for request in server.requests}
    assert [asked[f"model-{name}"] for name in "abc"] == [0, 0.7, 0]


def test_both_records_are_annotated_and_keep_what_they_held(story: tuple[Run, ModelServer]) -> None:
    run, _ = story
    (pair,) = pairs(run.folder)
    with LocalMemory.opened(run.folder.parent.parent, read_only=True) as memory:
        both = [memory.record(answer) for answer in (pair.answer_id_a, pair.answer_id_b)]
        (kept,) = memory.preferences()
    assert [request.text.splitlines() for request in both if request] == [
        [QUESTION, answer] for answer in SAID.values()
    ]
    noted = [request.model_extra for request in both if request]
    assert noted == [
        {"respondent_id": "main", "critic_score": pair.score_a, "pairwise_winner": pair.winner == "A"},
        {"respondent_id": "b", "critic_score": pair.score_b, "pairwise_winner": pair.winner == "B"},
    ]
    assert (kept.a, kept.b, kept.winner) == ("model-a, temperature 0", "model-b, temperature 0.7", pair.winner.lower())


def test_a_alone_is_in_the_results_and_both_are_in_the_data(story: tuple[Run, ModelServer]) -> None:
    run, _ = story
    assert list(run.responses["arm"]) == ["main"]
    answered = {("main", "main", SAID["model-a"], "model-a"), ("b", "b", SAID["model-b"], "model-b")}
    columns = ["arm", "arm_role", "text", "model"]
    assert set(run.all_responses[columns].itertuples(index=False, name=None)) == answered
    with (run.path / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        assert {tuple(row[name] for name in columns) for row in csv.DictReader(file)} == answered
    (jsonl,) = run.folder.parent.parent.glob("T1/*/*/responses.jsonl")
    assert {json.loads(line)["arm"] for line in jsonl.read_text("utf-8").splitlines()} == {"main", "b"}
    book = json.loads((run.path / "exports" / "codebook.json").read_text("utf-8"))
    (fields,) = (table["schema"]["fields"] for table in book["resources"] if table["name"] == "all_responses")
    means = {field["name"]: field["description"] for field in fields}
    assert (means["arm"], means["arm_role"]) == (
        "condition of answering", "role of the arm; choose `main` before any analysis",
    )  # fmt: skip
    for name in ("exports/episodes.jsonl", "results.json", "page_one.json"):
        assert SAID["model-b"] not in (run.path / name).read_text("utf-8"), name
    (audit,) = run.folder.parent.parent.glob("T1/*/*/audit.jsonl")
    assert SAID["model-b"] in audit.read_text("utf-8")
    with (run.folder / "pairs.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row)[:7] == ["question_id", "answer_id_a", "answer_id_b", "winner", "score_a", "score_b", "reason"]


@pytest.mark.usefixtures("report_only")
def test_neither_a_refusal_nor_a_mute_critic_costs_more_than_the_comparison(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> str | None:
        if body["model"] == "model-b" and "Nr. 0" in body["messages"][0]["content"]:
            return "I'm sorry, I can't assist with that."
        return script(body) or "I select Response B."

    with ModelServer(script=answer) as server:
        run = told(tmp_path, server, 2)
    assert run.status == "completed"
    (pair,) = pairs(run.folder)  # the other's answer is missing: no comparison
    assert "person-1" in pair.participant
    assert (pair.winner, pair.score_a, pair.score_b) == ("", None, None)
    with LocalMemory.opened(tmp_path / "out", read_only=True) as memory:
        assert memory.preferences() == []
    assert (preference(run)["unread"], preference(run)["verdict"]) == (1, "not judged")


@pytest.mark.usefixtures("unreported")
def test_short_of_budget_the_critic_waits_and_goes_on(tmp_path: Path) -> None:
    with ModelServer(script=script) as server:
        short = told(tmp_path, server, 3, budget_tokens=6_000, confirm=True)
        assert short.status == "paused"
        assert "critic short" in short.note
        assert len(stored_answers(short.folder)) == 3  # A is complete
        assert len(pairs(short.folder)) < 3
        done = enquete.resume(
            short.resume_token, out=str(tmp_path / "out"), base_url=server.base_url, budget_tokens=10**6
        )
        assert done.status == "completed"
        assert len(pairs(done.folder)) == 3
        assert server.count() == len(call_keys(done.folder))  # nothing was paid twice


# --- planted: without a model ---------------------------------------------------------------------------------------


def planted(folder: Path, agents: int, by: Callable[..., Run] = enquete.conduct_interviews, **asked: Any) -> Run:
    common = {"out": str(folder / "out"), "methods": ["scenario"], "respondent": "synthetic", "language": "en"}
    return by(str(personas(folder, agents)), **{**common, "respondent_b": True, **asked})


def test_a_plainly_worse_second_model_loses(tmp_path: Path) -> None:
    run = planted(tmp_path, 10, model_b="synthetic:worse")
    compared = preference(run)
    whole = compared["rates"][0]
    assert compared["conclusion"] == "A"
    assert whole["high"] < 0.5
    assert compared["stand_in"]
    assert "stand-in without a model" in run.report
    assert "Respondent A is preferred." in run.report
    assert "preference/win-rates" in run.figures
    # One answer in eight of a synthetic arm that is asked again is another one (docs/synthetic-respondent.md): the rest
    # is not judged.
    assert Counter(pair.alike for pair in pairs(run.folder))[True] > 0.7 * len(pairs(run.folder))
    assert compared["agreement"][0]["kappa"] > 0.8


def test_a_critic_that_always_prefers_the_first_place_is_caught(tmp_path: Path) -> None:
    run = planted(tmp_path, 4, critic_model="synthetic:first", model_b="synthetic:worse")
    compared = preference(run)
    assert (compared["split_rate"], compared["verdict"], compared["rates"]) == (1.0, "unusable", [])
    assert "it prefers whichever answer stands first" in run.report
    assert "preference/win-rates" not in run.figures
    with LocalMemory.opened(run.folder.parent.parent, read_only=True) as memory:
        assert memory.preferences() == []  # its word is no preference


@pytest.mark.usefixtures("report_only")
def test_an_equal_one_ties_within_the_interval_and_changes_nothing_of_a(tmp_path: Path) -> None:
    """A's calls, prompts and answers are the same bytes with B and without; a run without B says nothing of one."""
    both = planted(tmp_path, 8)
    whole = preference(both)["rates"][0]
    assert whole["low"] < 0.5 < whole["high"]
    alone = planted(tmp_path, 8, by=interview, respondent_b=False, new=True)
    asked = (
        "SELECT methodology, purpose, subject, attempt, messages_hash, response FROM calls WHERE arm='main' ORDER BY "
        "subject"
    )
    assert rows(alone.folder, asked) == rows(both.folder, asked)
    assert stored_answers(alone.folder) == stored_answers(both.folder)
    assert "critic" not in json.loads(rows(alone.folder, "SELECT value FROM frozen WHERE name='record'")[0][0])
    assert not rows(alone.folder, "SELECT 1 FROM stages WHERE phase='critic'")
    written = planted(tmp_path, 2, methods=["poll"], respondent_b=False, new=True)
    assert not (written.path / "preference.json").exists()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"model_b": "synthetic:worse"}, "say respondent_b too"),
        ({"critic_rubric": "style"}, "add respondent_b"),
        ({"respondent_b": True, "model_b": "gpt-5"}, "no model answers in this run"),
        ({"respondent_b": True, "critic_model": "gpt-5"}, "no model answers in this run"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, given: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        enquete.conduct_interviews(
            str(personas(tmp_path, 2)), out=str(tmp_path / "out"), methods=["scenario"], respondent="synthetic", **given
        )
