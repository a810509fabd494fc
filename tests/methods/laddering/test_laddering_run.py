"""Whole runs through the façade: a model server with faults, a kill, models by role, replay, report and files."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.methods.laddering.evaluation import PRESENTATION
from enquete.reports.analyses import read_results
from enquete.reports.printing import Printer
from enquete.reports.run_reading import open_run
from enquete.state.errors import InputError
from tests.methods.laddering.scripted import script
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.processes import Driven, finish, kill_after
from tests.support.studies import call_keys, personas, rows, run_folder, stored_answers
from tests.support.texts import prose, require_even_tables

ATTEMPTS = 3
FAULTS = {"http_500": 0.04, "disconnect": 0.03, "bad_json": 0.04, "empty_body": 0.03}


def turns_of(folder: Path) -> Counter[tuple[str, str]]:
    return Counter((row[3], row[4]) for row in stored_answers(folder))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("agents", "turns", "kills"), [(10, 6, 1), pytest.param(50, 15, 2, marks=pytest.mark.soak)])
def test_interviews_with_faults_killed_have_every_turn_once(
    tmp_path: Path, agents: int, turns: int, kills: int
) -> None:
    with ModelServer(faults=FAULTS, seed=4, script=script, retry_after="0") as server:
        arguments = {
            "sim_id": str(personas(tmp_path, agents)), "out": str(tmp_path / "out"), "model": "test",
            "base_url": server.base_url, "concurrency": 32, "methods": ["laddering"],
            "settings": {"laddering": {"turns": turns}}, "budget_tokens": 10**9,
        }  # fmt: skip
        for _ in range(kills):
            assert kill_after(Driven(arguments), lambda: len(server.requests), agents * turns * 4 // (kills + 1))
        folder = run_folder(tmp_path / "out")
        settled = set(call_keys(folder))
        in_flight = len(call_keys(folder, "reserved"))
        before = len(server.requests)
        code, summary = finish(**arguments)
        sent_again = len(server.requests) - before
        assert all(server.count(fault) for fault in FAULTS)
        refusals = Counter(request.key for request in server.requests if request.faults)
    assert (code, summary["status"]) == (0, "completed")
    people = {row[3] for row in stored_answers(folder)}
    assert turns_of(folder) == Counter({(who, f"turn_{n:02d}"): 1 for who in people for n in range(1, turns + 1)})
    assert len(people) == agents
    assert len(rows(folder, "SELECT name FROM frozen WHERE name LIKE 'turn/%'")) == agents * turns
    made, failed = set(call_keys(folder)), call_keys(folder, "failed")
    assert settled < made
    assert len(failed) <= sum(
        refused >= ATTEMPTS for refused in refusals.values()
    )  # one in ten, of thousands: some each time
    subjects = Counter(purpose for _, _, _, purpose, _, attempt in (*made, *failed) if not attempt)
    assert subjects.pop("theme") >= 2  # the codes, and the second coding
    assert subjects.pop("narrative") <= 2  # one, and one that corrects it
    heard = sum(row[5] in ("ok", "repaired") for row in stored_answers(folder))  # of no answer nothing is read
    assert subjects == {"answer": agents * turns, "question": agents * turns, "extract": heard, "signal": heard}
    new = len(made - settled) + len(failed) + in_flight
    assert sent_again <= new * (1 + 3 * sum(FAULTS.values()))  # what was settled is not bought again


def interview(
    tmp_path: Path, agents: int = 2, *, out: str = "out", by: Any = enquete.conduct_interviews, **more: Any
) -> enquete.Run:
    settings = {"laddering": more.pop("laddering", {"turns": 4})}
    given = {"out": str(tmp_path / out), "methods": ["laddering"], "settings": settings, "budget_tokens": 10**8, **more}
    run: enquete.Run = by(personas(tmp_path, agents), **given)
    return run


def log(run: enquete.Run) -> list[dict[str, Any]]:
    (path,) = (run.folder.parent.parent / "T1" / "laddering").glob("*/turn_log.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def turns_kept(run: enquete.Run) -> list[tuple[Any, ...]]:
    """What every interview stands on: its graph is made of them."""
    return rows(run.folder, "SELECT name, value FROM frozen WHERE name LIKE 'turn/%' ORDER BY name")


@pytest.mark.usefixtures("results_only")
def test_roles_have_models_of_their_own_and_what_another_did_is_recorded_and_said(tmp_path: Path) -> None:
    """A fallback per turn; and codes that cannot be read are the rules'."""

    def no_codes(body: dict[str, Any]) -> str | None:
        asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
        return "no idea" if "themes" in asked else script(body)

    settings = {"turns": 3, "extraction_model": "bad", "extraction_fallback": "good", "questions_model": "asker",
                "signals_model": "bad"}  # fmt: skip
    with ModelServer(script=no_codes) as server:
        run = interview(tmp_path, 1, model="main", base_url=server.base_url, laddering=settings)
        assert {request.model for request in server.requests} == {"main", "bad", "good", "asker"}
    assert run.status == "completed"
    for turn in log(run):
        assert turn["fallback"] == ["extract"]
        assert (turn["by"]["extract"], turn["by"]["signal"], turn["by"]["question"]) == ("good", "rule", "asker")
    results: Any = run.results["laddering"]
    assert (results["coding"], results["failed_types"]) == ("failed", ["attribute"])
    assert results["concepts"]
    appendix = read_results("laddering", PRESENTATION, results, "en").at("appendix")
    assert "The model's codes could not be read (Eigenschaft)" in appendix


@pytest.mark.usefixtures("results_only")
@pytest.mark.parametrize("fault", ["http_500", "http_404_model"])
def test_a_fallback_takes_over_from_a_model_that_fails_or_is_not_there(tmp_path: Path, fault: str) -> None:
    """Of every turn, and no run is stopped by it. The model that answers nobody is asked in the first turn alone."""
    settings = {"turns": 3, "extraction_model": "bad", "extraction_fallback": "good"}
    with ModelServer(script=script) as server:
        server.failing = {"bad": fault}
        run = interview(tmp_path, 1, model="main", base_url=server.base_url, laddering=settings, patience_s=0.5)
        keys = {request.key for request in server.requests if request.model == "bad"}
        assert len(keys) == 1 or fault == "http_500"  # which is looked after by small questions of its own
    assert run.status == "completed"
    for turn in log(run):
        assert turn["by"]["extract"] == "good"
        assert turn["fallback"] == ["extract"]  # the log says who took over


def test_without_a_fallback_a_model_that_is_not_there_stops_the_run(tmp_path: Path) -> None:
    with ModelServer(script=script) as server:
        server.failing = {"bad": "http_404_model"}
        settings = {"turns": 3, "extraction_model": "bad"}
        run = interview(tmp_path, 1, by=bare_runs.interview, model="main", base_url=server.base_url, laddering=settings)
    assert run.status == "failed"
    assert "bad" in run.note


def test_an_interview_with_a_scripted_model_is_replayed_without_a_network(tmp_path: Path) -> None:
    with ModelServer(script=script) as server:
        run = interview(tmp_path, 1, by=bare_runs.interview, model="test", base_url=server.base_url)
        assert run.status == "completed"
        sent = len(server.requests)
        again = bare_runs.interview(
            personas(tmp_path, 1), out=str(tmp_path / "out"), respondent="replay", replay_of=run.run_id, new=True
        )
        assert len(server.requests) == sent
    assert again.status == "completed"
    assert again.run_id != run.run_id
    assert stored_answers(again.folder) == stored_answers(run.folder)


def test_the_report_and_the_files_tell_the_interviews(tmp_path: Path) -> None:
    run = interview(tmp_path, 2, language="de", laddering={"turns": 4, "methodology": "means_end_chain"})
    results: Any = run.results["laddering"]
    in_german, in_english = (read_results("laddering", PRESENTATION, results, language) for language in ("de", "en"))
    assert in_german.at("section") in (run.path / "report.md").read_text("utf-8")
    printer = Printer(in_german)
    coverage = printer.titled("coverage", columns="label agents_of_n concepts depth")
    assert len(coverage.splitlines()) > len(results["coverage"])
    assert coverage in (run.path / "appendix.md").read_text("utf-8")
    for read in (in_german, in_english):
        section = read.at("section")
        for text in (section, read.at("appendix")):
            assert not re.search(r"\b(nan|None|Undefined)\b|\{\w*\}", text)
            require_even_tables(text)
        assert prose(section) < 150
        assert re.search(
            rf"(read|las) {results['n_by_rule']} (of|von) {results['n_read']} (answers|Antworten)", section
        )
    read_results("laddering", PRESENTATION, {**results, "concepts": [], "implications": []}, "de").at("appendix")
    assert [results[key] for key in ("n", "n_total", "n_over")] == [2, 2, 2]
    assert "saturation" not in results  # which grows with the agents
    turns = log(run)
    assert len(turns) == len(stored_answers(run.folder))
    answers = {(row[3], row[4]): row[7] for row in stored_answers(run.folder)}
    for turn in turns:
        assert turn["answer"] == answers[turn["participant"], f"turn_{turn['turn']:02d}"]
        for signal in turn["signals"]:
            assert signal["source_utterance_id"] == f"{turn['participant']}#{turn['turn']}"
            assert signal["source_quote"] in turn["answer"]


@pytest.mark.usefixtures("results_only")
def test_a_pause_in_the_middle_shows_what_there_is(tmp_path: Path) -> None:
    whole = interview(tmp_path, 3, out="whole", by=bare_runs.interview)
    spent = sum(row[0] for row in rows(whole.folder, "SELECT input_tokens + output_tokens FROM calls"))
    run = interview(tmp_path, 3, out="cut", concurrency=1, budget_tokens=spent // 2 + 9000, confirm=True)
    assert run.status == "paused"
    results = run.results["laddering"]
    assert results["partial"]
    assert 0 < len(log(run)) < len(turns_kept(whole))
    # Not the last turn of each: an answer that nobody has read yet is there, too.
    assert run.responses["status"].eq("ok").sum() < len(whole.responses)
    done = bare_runs.resume(run.resume_token, out=str(tmp_path / "cut"), budget_tokens=10**8)
    assert turns_kept(done) == turns_kept(whole)


def test_a_wrong_setting_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    for wrong in ({"turns": 0}, {"methodology": "laddring"}, {"concept": "nowhere.yaml"}, {"turn": 3}):
        with pytest.raises(InputError):
            interview(tmp_path, 1, laddering=wrong)
    assert not (tmp_path / "out").exists()


def coding_script(body: dict[str, Any]) -> str | None:
    """All concepts of a type are one code to the first coder, and to the second."""
    asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    if "themes" in asked:
        fields = asked["themes"]["items"]["properties"]
        name = "statement_ids" if "statement_ids" in fields else "members"
        theme = {"label": "Gedanken", "description": "Was gesagt wurde.", name: fields[name]["items"]["enum"]}
        return json.dumps({"themes": [theme]})
    if "assignments" in asked:
        fields = asked["assignments"]["items"]["properties"]
        return json.dumps(
            {"assignments": [{"statement": statement, "themes": ["t1"]} for statement in fields["statement"]["enum"]]}
        )
    return script(body)


@pytest.mark.usefixtures("results_only")
def test_a_model_makes_the_codes_within_estimate_and_plan_and_by_whom_is_said(tmp_path: Path) -> None:
    with ModelServer(script=coding_script) as server:
        model = {"model": "test", "base_url": server.base_url, "laddering": {"turns": 3}}
        expected: Any = interview(tmp_path, 2, by=enquete.estimate, **model)
        run = interview(tmp_path, 2, **model)
    results: Any = run.results["laddering"]
    assert run.status == "completed"
    used = rows(run.folder, "SELECT count(*), sum(input_tokens + output_tokens) FROM calls WHERE purpose='theme'")[0]
    (line,) = [estimate for estimate in expected.lines if estimate.purpose == "theme"]
    assert used[0] == 2  # one kind of concept: a batch, and the second coding
    assert line.calls.likely >= 2
    assert used[0] <= line.calls.high
    assert line.tokens.low <= used[1] <= line.tokens.high
    with open_run(run.folder) as reading:
        context = reading.interview_context("laddering", "T1", reading.record.main)
        assert used[0] <= reading.procedure("laddering").plan(context).calls["theme"][1]
    assert [(concept["label"], concept["agents"], concept["definition"]) for concept in results["concepts"]] == [
        ("Gedanken", 2, "Was gesagt wurde.")
    ]
    assert [results[key] for key in ("coding", "n_rest", "failed_types")] == ["model", 0, []]
    assert results["implications"] == []  # links within a code are none
