"""A study through the API, from before the simulation to the table; what is refused, and what a restart leaves."""

from __future__ import annotations

import csv
import io
import json
import shutil
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest

import enquete
from enquete.ledger.folders import LEDGER
from tests.http.conftest import AGENTS, serving, settled, simulation
from tests.support.bare_runs import results_alone, without_reports
from tests.support.model_server import ModelServer
from tests.support.populations import set_status
from tests.support.postgres import Server
from tests.support.studies import call_keys, run_folder

API = "/api/interview"
DATA = Path(__file__).parents[1] / "data"


@pytest.mark.usefixtures("no_pictures")
def test_t0_then_everything_else_then_the_data(shared: httpx.Client, shared_root: Path) -> None:
    folder = simulation(shared_root, "whole")
    with results_alone():  # what is read is of the run that follows
        begun = shared.post(f"{API}/whole/pre", json={"language": "en"})
        assert begun.status_code == 202
        assert begun.json()["success"]
        before = settled(shared, "whole", begun.json()["data"]["task_id"]).json()["data"]
    assert before["status"] == "completed"
    assert [(s["methodology"], s["phase"], s["outcome"], s["n_responded"]) for s in before["stages"]] == [
        ("longitudinal", "T0", "done", AGENTS)
    ]

    early = shared.post(f"{API}/whole/post")
    assert early.status_code == 409
    assert early.json()["details"]["type"] == "NotCompleted"

    set_status(folder, "completed")
    asked = shared.post(f"{API}/whole/post", json={"methods": ["longitudinal", "poll"]})
    assert asked.status_code == 202
    after = settled(shared, "whole", asked.json()["data"]["task_id"]).json()["data"]
    assert after["status"] == "completed"
    assert after["language"] == "en"  # T0's, though nobody said so again
    record = json.loads((folder / "interviews" / "runs" / after["run_id"] / "instruments_used.json").read_text("utf-8"))
    assert record["baseline_run_id"] == before["run_id"]

    data = shared.get(f"{API}/whole/results/poll").json()["data"]
    assert data["run_id"] == after["run_id"]
    assert data["result"]
    report = shared.get(f"{API}/whole/results/synthesis").json()["data"]
    assert report["report_markdown"].startswith("#")
    table = shared.get(f"{API}/whole/export.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert {row["sim_id"] for row in rows} == {"whole"}
    assert {row["methodology"] for row in rows} == {"longitudinal", "poll"}

    packed = shared.get(f"{API}/whole/export/csv?layout=wide&bom=true")
    assert (packed.headers["content-type"], packed.headers["x-run-id"]) == ("application/zip", after["run_id"])
    with zipfile.ZipFile(io.BytesIO(packed.content)) as files:
        book = json.loads(files.read("csv/datapackage.json"))
        assert {f"csv/{resource['path']}" for resource in book["resources"]} | {"csv/datapackage.json"} == set(
            files.namelist()
        )
        assert files.read("csv/poll/wide_T1.csv").startswith(b"\xef\xbb\xbf")
        assert "csv/all_responses.csv" not in files.namelist()
    workbook = openpyxl.load_workbook(io.BytesIO(shared.get(f"{API}/whole/export/xlsx?layout=long").content))
    assert workbook["all_responses"].max_row == len(rows) + 1
    assert shared.get(f"{API}/whole/export/spss").status_code == 422
    assert not (folder / "interviews" / "synthesis" / after["run_id"] / "exports" / "csv").exists()

    again = shared.post(f"{API}/whole/post", json={"methods": ["longitudinal", "poll"]})
    assert (again.status_code, again.json()["data"]["shown"]) == (200, True)


def test_instruments_of_the_servers_folder_are_asked_by_name(shared: httpx.Client, shared_root: Path) -> None:
    ward, own_folder = DATA / "sim_5ad1e6c0b742", shared_root / "instruments"
    shutil.copytree(ward, shared_root / "simulations" / ward.name)
    drafts = shared.post(f"{API}/{ward.name}/draft").json()["data"]
    names = {file["methodology"]: file["name"] for file in drafts["files"]}
    assert names["roundtable"] == f"drafts-{ward.name}/roundtable"
    assert all(file["text"] == (own_folder / f"{file['name']}.yaml").read_text("utf-8") for file in drafts["files"])
    again = shared.post(f"{API}/{ward.name}/draft")
    assert (again.status_code, str(shared_root) in again.text) == (400, False)
    for wrong in ("../x", "a/b", "/etc"):
        assert shared.post(f"{API}/{ward.name}/draft", json={"into": wrong}).status_code == 422
    request = {"into": "own", "topic": "the ward", "themes": ["Dienstplan = the roster", "Pausen = breaks"]}
    assert shared.post(f"{API}/{ward.name}/draft", json=request).json()["data"]["themes"] == ["Dienstplan", "Pausen"]
    body = {
        "methods": ["roundtable", "discovery"], "instruments": {"roundtable": names["roundtable"]}, "budget_tokens": 1,
        "settings": {"discovery": {"ds": f"{drafts['folder']}/schema"}}, "language": "de", "fit": "checked",
    }  # fmt: skip
    read = shared.post(f"{API}/{ward.name}/post", json=body)  # asked and reported: tests/interfaces/test_cli_draft.py
    assert (read.status_code, read.json()["details"]["type"]) == (400, "OverBudget"), read.text
    unknown = shared.post(
        f"{API}/{ward.name}/post", json={**body, "instruments": {"roundtable": "nobody"}, "new": True}
    )
    assert (unknown.status_code, "is no file of this server" in unknown.text) == (400, True)


@pytest.mark.usefixtures("unreported")
def test_post_goes_on_with_the_run_that_waits_after_t0(shared: httpx.Client, shared_root: Path) -> None:
    folder = simulation(shared_root, "waiting", agents=2)
    run = enquete.conduct_interviews("waiting", root=str(shared_root), methods=["longitudinal"])
    assert run.status == "awaiting_simulation"
    set_status(folder, "completed")
    data = shared.post(f"{API}/waiting/post").json()["data"]
    assert data["run_id"] == run.run_id
    assert settled(shared, "waiting", run.run_id).json()["data"]["status"] == "completed"


@pytest.mark.usefixtures("unreported")
def test_over_budget_is_refused_with_the_estimate_then_pauses_and_goes_on(
    shared: httpx.Client, shared_root: Path
) -> None:
    simulation(shared_root, "dear", "completed", agents=2)
    body: dict[str, Any] = {"methods": ["poll"], "budget_tokens": 500}
    refused = shared.post(f"{API}/dear/post", json=body)
    assert refused.status_code == 400
    assert refused.json()["details"]["type"] == "OverBudget"
    estimate = refused.json()["data"]["estimate"]
    assert estimate["tokens"]["high"] > 500
    assert not (shared_root / "simulations" / "dear" / "interviews" / "runs").exists()
    assert "--" not in refused.text
    assert f"send budget_tokens={estimate['sufficient_tokens']}, or confirm=true" in refused.json()["details"]["remedy"]

    begun = shared.post(f"{API}/dear/post", json={**body, "confirm": True}).json()["data"]
    paused = settled(shared, "dear", begun["task_id"])
    assert paused.status_code == 503
    assert int(paused.headers["retry-after"]) > 0
    envelope = paused.json()
    assert (envelope["success"], envelope["details"]["type"]) == (False, "BudgetSpent")
    token, enough = envelope["data"]["resume_token"], envelope["data"]["sufficient_tokens"]
    resumed = shared.post(f"{API}/dear/resume", json={"resume_token": token, "budget_tokens": enough})
    assert resumed.status_code in (200, 202)
    assert settled(shared, "dear", begun["task_id"]).json()["data"]["status"] == "completed"


@pytest.mark.usefixtures("unreported")
def test_a_new_budget_for_a_run_that_goes_on_is_refused_and_not_ignored(
    shared: httpx.Client, shared_root: Path, slow_model: ModelServer
) -> None:
    """By a resume and by the request that began it; the same budget once more is answered as ever."""
    simulation(shared_root, "raised", "completed", agents=20)
    body: dict[str, Any] = {"methods": ["poll"], "budget_tokens": 200_000, "confirm": True}
    begun = shared.post(f"{API}/raised/post", json=body)
    assert begun.status_code == 202, begun.text
    token = begun.json()["data"]["resume_token"]
    slow_model.wait_for(1, 60)
    larger = {"budget_tokens": 400_000}
    for path, more in (("resume", {"resume_token": token, **larger}), ("post", {**body, **larger})):
        refused = shared.post(f"{API}/raised/{path}", json=more)
        assert (refused.status_code, refused.json()["details"]["type"]) == (409, "StillDriven"), refused.text
        assert "goes on under budget_tokens 200,000, so 400,000 is not taken now" in refused.json()["error"]
    same = shared.post(f"{API}/raised/resume", json={"resume_token": token, "budget_tokens": 200_000})
    assert same.status_code == 202, same.text
    shared.post(f"{API}/raised/runs/{begun.json()['data']['run_id']}/pause")
    settled(shared, "raised", begun.json()["data"]["task_id"])


def test_reading_creates_nothing(shared: httpx.Client, shared_root: Path) -> None:
    folder = simulation(shared_root, "untouched", "completed")
    before = sorted(folder.rglob("*"))
    for path in ("status", "results/delphi", "results/synthesis", "export.csv"):
        answer = shared.get(f"{API}/untouched/{path}")
        assert answer.status_code == 404, answer.text
        assert answer.json()["details"]["type"] == "NobodyInterviewed"
        assert "POST …/pre begins a run" in answer.json()["details"]["remedy"]
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "kind"),
    [
        ("GET", "nobody/status", None, 404, "SimulationNotFound"),
        ("POST", "nobody/pre", {}, 404, "SimulationNotFound"),
        ("POST", "sound/pre", {"modell": "x"}, 422, "MalformedRequest"),
        ("POST", "sound/pre", {"base_url": "http://elsewhere"}, 422, "MalformedRequest"),
        ("POST", "sound/post", {"settings": {"laddering": {"concept": "/etc/x.yaml"}}}, 422, "MalformedRequest"),
        ("POST", "sound/pre", {"model": "gpt", "respondent": "synthetic"}, 400, "SettingsError"),
        ("POST", "sound/post", {"methods": ["astrology"]}, 409, "NotCompleted"),
        ("POST", "done/pre", {}, 409, "AlreadyCompleted"),
        ("POST", "sound/rerun", {"methodology": "delphi"}, 404, "RunNotFound"),
        ("POST", "sound/resume", {"resume_token": "run_20260101T000000_abcdef"}, 404, "RunNotFound"),
        ("GET", "sound/status?task_id=run_20260101T000000_abcdef", None, 404, "RunNotFound"),
        ("GET", "sound/status?task_id=..%2F..%2Fetc", None, 404, "RunNotFound"),
        ("GET", "sound/status?task_id=", None, 404, "RunNotFound"),
        ("GET", "sound/status?task_id=not-a-task", None, 404, "RunNotFound"),
        ("GET", "sound/export.csv?run_id=..%2F..%2Fetc", None, 404, "RunNotFound"),
        ("POST", "sound/runs/not-a-run/pause", None, 404, "RunNotFound"),
        ("DELETE", "sound/runs/not-a-run", None, 404, "RunNotFound"),
        ("DELETE", "sound/status", None, 405, "HTTPError"),
        ("GET", "sound/nothing", None, 404, "HTTPError"),
        ("GET", "sound/status?foo=1", None, 422, "MalformedRequest"),
        ("GET", "done/results/delphi?task_id=run_1", None, 422, "MalformedRequest"),
        ("POST", "done/post?confirm=true", {}, 422, "MalformedRequest"),
    ],
)
def test_what_is_wrong_is_said_in_the_envelope(
    shared: httpx.Client, shared_root: Path, method: str, path: str, body: object, code: int, kind: str
) -> None:
    simulation(shared_root, "sound")
    simulation(shared_root, "done", "completed")
    answer = shared.request(method, f"{API}/{path}", json=body)
    assert (answer.status_code, answer.json()["details"]["type"]) == (code, kind), answer.text
    assert answer.json()["success"] is False
    for word in ("--", "enquete ", "interviews; start"):
        assert word not in answer.text
    assert str(shared_root) not in answer.text


@pytest.mark.usefixtures("unreported")
def test_a_further_run_than_the_server_drives_is_told_to_wait(tmp_path: Path, slow_model: ModelServer) -> None:
    """Whichever of two at once comes first; the other is told which run it is, though that is only being begun."""
    paths = [f"{API}/{simulation(tmp_path, name, agents=20).name}/pre" for name in ("long", "other")]
    with serving(tmp_path, most_runs=1) as client, ThreadPoolExecutor(2) as pool:
        answers = dict(zip(paths, pool.map(client.post, paths), strict=True))
        first, then = sorted(paths, key=lambda path: answers[path].status_code)
        begun, refused = answers[first].json()["data"], answers[then]
        assert client.post(first).json()["data"]["run_id"] == begun["run_id"]  # one run, not two
        assert (refused.status_code, refused.json()["details"]["type"]) == (429, "TooManyRuns")
        assert begun["run_id"] in refused.json()["error"]
        assert int(refused.headers["retry-after"]) > 0


@pytest.mark.usefixtures("unreported")
def test_operations_count_among_the_runs_and_an_equal_one_is_joined(tmp_path: Path, slow_model: ModelServer) -> None:
    """The first interview's question is in flight when the others are asked for."""
    (tmp_path / "simulations").mkdir()
    given = {
        "project_id": "p", "ds_id": "orm", "budget": 1,
        "respondent": {"kind": "persona", "name": "Ann", "persona": "Bakes"},
    }  # fmt: skip
    with serving(tmp_path, most_runs=1) as client, ThreadPoolExecutor(2) as pool:
        client.post("/api/operations/start_project", json={"project_id": "p"})

        def conducted(conversation: str) -> httpx.Response:
            return client.post("/api/operations/conduct_interview", json={**given, "conversation_id": conversation})

        first = pool.submit(conducted, "ann")
        while not slow_model.requests and not first.done():
            time.sleep(0.01)
        equal = pool.submit(conducted, "ann")
        refused = conducted("bea")
        assert (refused.status_code, refused.json()["details"]["type"]) == (429, "TooManyRuns")
        assert int(refused.headers["retry-after"]) > 0
        answers = [response.result().json()["data"] for response in (first, equal)]
    assert answers[0] == answers[1]
    assert (answers[0]["status"], answers[0]["respondent"], answers[0]["warning"]) == ("budget_spent", "llm", None)
    assert len(slow_model.requests) == len(call_keys(run_folder(tmp_path / "projects" / "p" / "ann")))
    assert not (tmp_path / "projects" / "p" / "bea" / "runs").exists()


@pytest.mark.usefixtures("no_pictures")
def test_a_task_outlives_the_server(
    tmp_path: Path, slow_model: ModelServer, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is stopped pauses its runs; the next one tells how far they are and goes on with them, here from
    PostgreSQL (from files: the same over MCP)."""
    monkeypatch.setenv("ENQUETE_STORE", postgres.url)
    simulation(tmp_path, "lasting", agents=8)
    with without_reports(), serving(tmp_path) as client:
        task = client.post(f"{API}/lasting/pre").json()["data"]["task_id"]
    with serving(tmp_path) as client:
        status = client.get(f"{API}/lasting/status", params={"task_id": task}).json()["data"]
        assert (status["status"], status["run_status"], status["started_by"]) == ("failed", "paused", "pre")
        answer = client.post(f"{API}/lasting/resume", json={"resume_token": status["resume_token"]})
        assert answer.json()["data"]["task_id"] == task
        done = settled(client, "lasting", task).json()["data"]
        assert done["status"] == "completed"
        assert done["stages"][0]["n_responded"] == 8
        rows = list(csv.DictReader(io.StringIO(client.get(f"{API}/lasting/export.csv").text)))
        assert len({row["agent_id"] for row in rows}) == 8
    assert not list(tmp_path.rglob(LEDGER))
