"""schemathesis: whatever the OpenAPI document allows, and much that it does not, gets an answer that it describes.

Its jsonschema-rs and the one of LangGraph's server exclude one another, so it has an environment of its own:
`make test` makes it; or any `schemathesis` that ENQUETE_SCHEMATHESIS names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import BaseModel

from enquete.interfaces.web.models import EstimateBody, PostBody, PreBody, RerunBody, ResumeBody
from enquete.study.method_operations import operations
from tests.http.conftest import serving, settled, simulation
from tests.support.bare_runs import results_alone

HOOKS = Path(__file__).with_name("hooks_schemathesis.py")
OWN = Path(sys.prefix) / "schemathesis" / "bin" / "schemathesis"
PROGRAM = os.environ.get("ENQUETE_SCHEMATHESIS") or (str(OWN) if OWN.exists() else shutil.which("schemathesis"))
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method"
)
COVERING = ("coverage", "positive", r"^/api/interview/[^/]+/(post|resume|draft|status|results|memory|runs|export)")
"""Every value that a field of these may have at its limits, null among them; /pre, /rerun and /estimate take the fields
of /post."""
FUZZING = ("fuzzing", "all", "^/")
EXAMPLES = 2
SECONDS = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A simulation that runs and one that has completed and was asked, of two agents each."""
    root = tmp_path_factory.mktemp("fuzzed")
    simulation(root, "running", agents=2)
    simulation(root, "over", "completed", agents=2)
    with serving(root, most_runs=1) as client:
        with results_alone(exports=True):
            client.post("/api/interview/over/post", json={"methods": ["poll"]})
            settled(client, "over")
        yield client


def test_the_document_lists_the_paths_of_the_issue(server: httpx.Client) -> None:
    document = server.get("/openapi.json").json()
    paths, body = document["paths"], document["components"]["schemas"]["PostBody"]
    methods = next(part for part in body["properties"]["methods"]["anyOf"] if part["type"] == "array")
    assert "scenario" in methods["items"]["enum"]
    assert {(method, path.removeprefix("/api/interview/{sim_id}/")) for path, of in paths.items() for method in of} == {
        ("post", "pre"), ("post", "post"), ("post", "rerun"), ("post", "resume"), ("get", "status"),
        ("get", "results/synthesis"), ("get", "results/{methodology}"), ("get", "export.csv"), ("get", "memory"),
            ("get", "export/{format}"),
            ("get", "runs"), ("post", "estimate"), ("post", "draft"), ("post", "runs/{run_id}/pause"),
            ("get", "runs/{run_id}/events"),
            ("delete", "runs/{run_id}"),
            ("get", "/api/simulations"), ("get", "/api/instruments"),
        *(("post", f"/api/operations/{name}") for name in operations()),
    }  # fmt: skip


@pytest.mark.usefixtures("results_only")
def test_what_interviews_found_is_read_by_path(server: httpx.Client) -> None:
    server.post("/api/interview/over/post", json={"methods": ["laddering"], "settings": {"laddering": {"turns": 3}}})
    settled(server, "over")
    codes, chains, shown = (
        server.post("/api/operations/laddering_results", json={"sim_id": "over", "part": part}).json()["data"]
        for part in ("codes", "chains", "map")
    )
    assert codes["run_id"] == chains["run_id"] == shown["run_id"]
    assert (codes["interviews"], codes["coded_by"]) == (2, "rule")
    assert {"label", "agents", "wordings", "prestige"} <= codes["codes"][0].keys()
    assert {"levels", "boxes", "links", "cut_off", "map_share"} <= shown.keys()
    asked = {"sim_id": "over", "part": "transcript", "agent": "Agent 0"}
    told = server.post("/api/operations/laddering_results", json=asked).json()["data"]
    assert [turn["turn"] for turn in told["turns"]] == [1, 2, 3]
    assert all(turn["question"] and turn["answer"] for turn in told["turns"])
    nobody = server.post("/api/operations/laddering_results", json={**asked, "agent": "x"})
    assert (nobody.status_code, nobody.json()["details"]["type"]) == (400, "InputError")


@pytest.mark.usefixtures("results_only")
def test_operations_of_methodologies_are_paths_of_their_own(server: httpx.Client) -> None:
    begun = server.post("/api/operations/start_project", json={"project_id": "p", "title": "Bakery"})
    assert begun.json()["data"] == {"project_id": "p", "title": "Bakery", "interviews": 0}
    person = {"kind": "person", "name": "Bob"}
    place = {"project_id": "p", "conversation_id": "c", "ds_id": "areas-of-inquiry"}
    asked = server.post("/api/operations/conduct_interview", json={**place, "respondent": person}).json()["data"]
    assert (asked["status"], bool(asked["question"])) == ("waiting", True)
    told = server.post("/api/operations/answer_interview", json={**place, "answer": "The costs."}).json()["data"]
    assert told["ascr"] == {"areas": ["The costs"]}
    for body, code in (
        ({"project_id": "../x"}, 422),
        ({"project_id": "q"}, 400),
        ({"project_id": "p", "more": 1}, 422),
    ):
        assert server.post("/api/operations/project_progress", json=body).status_code == code


def test_the_page_says_type_default_and_meaning_of_every_field(server: httpx.Client) -> None:
    page = server.get("/docs").text
    assert "<td>body, one of de, en, may be left out. language of the interviews</td>" in page
    assert "<td>body, whole number (&gt; 0, ≤ 1,000,000,000,000), may be left out. cap on tokens" in page
    assert "<td>body, false unless sent. start although" not in page  # with its type
    assert "<td>body, true or false, false unless sent. start although" in page
    assert re.search(r"<td>body, one of [^<]*\bdelphi\b[^<]*, needed\. the one that is asked anew", page)
    assert ". </td>" not in page  # no field without words
    assert "budget is spent" in page


@pytest.mark.parametrize("body", [PreBody, PostBody, RerunBody, EstimateBody, ResumeBody])
def test_null_is_what_was_not_said_wherever_the_document_allows_it(body: type[BaseModel]) -> None:
    schema = body.model_json_schema()
    needed = {"methodology": "poll", "resume_token": "run_1"}
    given = {name: needed[name] for name in schema.get("required", ())}
    nullable = [name for name, field in schema["properties"].items() if {"type": "null"} in field.get("anyOf", ())]
    assert nullable
    for name in nullable:
        assert body.model_validate({**given, name: None}).request() == given, name


@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed: make test")
@pytest.mark.parametrize(
    ("phase", "mode", "paths"),
    [pytest.param(*COVERING, id="covering"), pytest.param(*FUZZING, id="fuzzing", marks=pytest.mark.soak)],
)
def test_no_answer_is_a_server_error_and_all_are_described(
    server: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, mode: str, paths: str
) -> None:
    assert PROGRAM is not None
    if phase == COVERING[0]:  # hundreds of studies are begun: what each would ask is no matter here
        monkeypatch.setenv("ENQUETE_MAX_TOKENS_PER_RUN", "100")
    run = server.get("/api/interview/over/runs").json()["data"]["runs"][0]["run_id"]
    done = subprocess.run(
        [
            PROGRAM, "run", str(server.base_url.join("/openapi.json")), "--checks", CHECKS, "--phases", phase,
            "--max-examples", str(EXAMPLES), "--mode", mode, "--include-path-regex", paths, "--seed", "0",
            "--generation-deterministic", "--suppress-health-check", "all", "--warnings", "off", "--request-timeout",
            "30", "--no-color",
        ],
        cwd=tmp_path, env={**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS), "FUZZED_RUN": run}, capture_output=True,
        text=True, timeout=SECONDS,
    )  # fmt: skip
    assert re.search(r"[1-9]\d* generated", done.stdout)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
