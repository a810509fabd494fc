"""What a front end needs beside a run's own course: lists, estimates, pause, events, results by what counts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from enquete.interfaces.views import GOING_ON
from enquete.study.runs import load_run
from tests.http.conftest import serving, settled, simulation
from tests.support.bare_runs import results_alone
from tests.support.model_server import ModelServer

API = "/api/interview"


@pytest.fixture(scope="module")
def two(shared: httpx.Client, shared_root: Path) -> dict[str, Any]:
    """A simulation with a run of one methodology, and a later one of another; what was told while it went on."""
    simulation(shared_root, "two", "completed", agents=2)
    asked = {"methods": ["scenario"], "language": "en"}
    estimate = shared.post(f"{API}/two/estimate", json=asked).json()["data"]
    begun = (shared_root / "simulations" / "two" / "interviews").exists()
    with results_alone():
        first = shared.post(f"{API}/two/post", json=asked).json()["data"]["run_id"]
        with shared.stream("GET", f"{API}/two/runs/{first}/events") as answer:
            told = list(events(answer))
        second = shared.post(f"{API}/two/post", json={"methods": ["poll"]}).json()["data"]["run_id"]
        settled(shared, "two", second)
    return {"estimate": estimate, "begun": begun, "first": first, "second": second, "told": told}


def events(answer: httpx.Response) -> Iterator[tuple[str, Any]]:
    """(kind, data) of every event."""
    kind = ""
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def test_an_estimate_begins_no_run_and_a_run_is_followed_to_its_end(two: dict[str, Any]) -> None:
    tokens = two["estimate"]["estimate"]["tokens"]
    assert 0 < tokens["low"] <= tokens["likely"] <= tokens["high"]
    assert (two["estimate"]["estimate"]["agents"], two["begun"]) == (2, False)
    *statuses, last = two["told"]
    assert last == ("end", {})
    words = [data["data"]["run_status"] for kind, data in statuses if kind == "status"]
    assert words[-1] == "completed"
    assert set(words[:-1]) <= set(GOING_ON)
    assert statuses[-1][1]["data"]["stages"][0]["rounds"] == [{"round": 0, "n_responded": 2}]


def test_what_there_is_is_listed(two: dict[str, Any], shared: httpx.Client) -> None:
    listed = shared.get("/api/simulations").json()["data"]["simulations"]
    summary = next(entry for entry in listed if entry["sim_id"] == "two")
    assert (summary["agents"], summary["completed"], [run["run_id"] for run in summary["runs"]]) == (
        2, True, [two["second"], two["first"]],
    )  # fmt: skip
    runs = shared.get(f"{API}/two/runs").json()["data"]["runs"]
    assert [run["methods"] for run in runs] == [["poll"], ["scenario"]]
    asked = shared.get("/api/instruments", params={"language": "de"}).json()["data"]["instruments"]
    assert {entry["methodology"] for entry in asked} >= {"scenario", "delphi"}


def test_results_are_those_of_the_run_that_counts_for_a_methodology(two: dict[str, Any], shared: httpx.Client) -> None:
    """The later run did not ask it, and hides nothing."""
    assert shared.get(f"{API}/two/results/scenario").json()["data"]["run_id"] == two["first"]
    assert shared.get(f"{API}/two/results/poll").json()["data"]["run_id"] == two["second"]
    refused = shared.get(f"{API}/two/results/scenario", params={"run_id": two["second"]})
    assert (refused.status_code, two["first"] in refused.json()["error"]) == (404, True)


def test_findings_of_what_is_done_are_there_before_the_end(two: dict[str, Any], shared_root: Path) -> None:
    run = load_run("two", two["first"], root=str(shared_root))
    early, final = run.early_results("scenario"), run.results["scenario"]
    assert {**early, "flags": final["flags"]} == final  # health flags come with the stop
    assert run.early_results("poll") == {}


@pytest.mark.usefixtures("unreported")
def test_a_run_is_paused_and_gone_on_with_at_once(tmp_path: Path, slow_model: ModelServer) -> None:
    """The resume waits for the pause that was asked for just before it."""
    simulation(tmp_path, "slow", "completed", agents=8)
    with serving(tmp_path) as client:
        run = client.post(f"{API}/slow/post", json={"methods": ["poll"]}).json()["data"]["run_id"]
        while not client.get(f"{API}/slow/status").json()["data"]["budget"]["tokens"]:
            time.sleep(0.1)
        paused = client.post(f"{API}/slow/runs/{run}/pause").json()["data"]
        assert paused["run_status"] != "running"
        resumed = client.post(f"{API}/slow/resume", json={"resume_token": run})
        assert resumed.status_code == 202
        assert settled(client, "slow", run).json()["data"]["status"] == "completed"
