"""Whatever a run was begun with holds in every node, in every interface and after a resume in another environment.

Each setting is sent through each interface that can say it, and read off what the model servers saw. HTTP and MCP name
no server and no number of requests: what their environment said when the run began is what it was begun with.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import Client

import enquete
from enquete.graphs.interviews import interviews_graph
from enquete.interfaces.cli import app as cli
from enquete.runs.run_settings import recorded_settings
from enquete.simulations.locate import locate
from enquete.study.simulations import list_runs
from tests.http.conftest import serving as serving_http
from tests.http.conftest import settled
from tests.mcp.mcp_served import serving as serving_mcp
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import rows

pytestmark = pytest.mark.usefixtures("no_reports")

SIM = "sim_r"
AGENTS = 12
ENOUGH = 10_000_000
AT_ONCE = 2
"""Requests, as the run is begun; elsewhere 9 are said, and 8 of the model."""
METHOD = "poll"
BEGUN = {"methods": [METHOD], "language": "en", "respondent": "llm", "model": "test", "confirm": True}


@dataclass(frozen=True)
class Interface:
    """How one interface begins a run and goes on with it. settings: as Python names them."""

    name: str
    begin: Callable[[Path, Mapping[str, Any], int], None]
    resume: Callable[[Path, Mapping[str, Any]], None]
    names_settings: bool = True


def token(root: Path) -> str:
    (run,) = list_runs(SIM, root=str(root))
    return str(run.run_id)


def begin_in_python(root: Path, settings: Mapping[str, Any], cap: int) -> None:
    enquete.conduct_interviews(SIM, root=str(root), budget_tokens=cap, **BEGUN, **settings)


def resume_in_python(root: Path, settings: Mapping[str, Any]) -> None:
    enquete.resume(token(root), root=str(root), budget_tokens=ENOUGH, **settings)


def begin_at_terminal(root: Path, settings: Mapping[str, Any], cap: int) -> None:
    words = ["run", SIM, "--root", root, "--methods", METHOD, "--language", "en", "--model", "test", "--yes"]
    run_command(*words, "--budget-tokens", cap, *options_for(settings))


def resume_at_terminal(root: Path, settings: Mapping[str, Any]) -> None:
    run_command("resume", token(root), "--root", root, "--budget-tokens", ENOUGH, *options_for(settings))


def run_command(*words: object) -> None:
    assert cli.run([str(word) for word in words]) in (0, 3)


def options_for(settings: Mapping[str, Any]) -> Iterator[object]:
    named = {"patience_s": "--patience", "timeout_s": "--timeout"}
    for name, value in settings.items():
        if name == "limits":
            for model, limits in value.items():
                yield from (word for key, most in limits.items() for word in ("--limit", f"{model}.{key}={most}"))
        elif value is True:
            yield f"--{name.replace('_', '-')}"
        else:
            yield from (named.get(name, f"--{name.replace('_', '-')}"), value)


def begin_over_http(root: Path, settings: Mapping[str, Any], cap: int) -> None:
    with serving_http(root) as client:
        asked = {"methods": [METHOD], "language": "en", "budget_tokens": cap, "confirm": True, **settings}
        answer = client.post(f"/api/interview/{SIM}/post", json=asked)
        assert answer.status_code == 202, answer.text
        settled(client, SIM)


def resume_over_http(root: Path, settings: Mapping[str, Any]) -> None:
    with serving_http(root) as client:
        asked = {"resume_token": token(root), "budget_tokens": ENOUGH, **settings}
        answer = client.post(f"/api/interview/{SIM}/resume", json=asked)
        assert answer.status_code in (200, 202), answer.text
        settled(client, SIM)


def begin_over_mcp(root: Path, settings: Mapping[str, Any], cap: int) -> None:
    asked = {"sim_id": SIM, "methods": [METHOD], "language": "en", "budget_tokens": cap, "options": {"confirm": True}}
    call_tool(root, "conduct_interviews", {**asked, **settings, "wait_seconds": 50})


def resume_over_mcp(root: Path, settings: Mapping[str, Any]) -> None:
    asked = {"sim_id": SIM, "run_id": token(root), "budget_tokens": ENOUGH, **settings, "wait_seconds": 50}
    call_tool(root, "control_interviews", {"action": "resume", **asked})


def call_tool(root: Path, tool: str, arguments: Mapping[str, Any]) -> None:
    async def call(url: str) -> None:
        async with Client(url) as client:
            result = await client.call_tool(tool, dict(arguments))
            assert not result.is_error, result

    with serving_mcp(root) as url:
        asyncio.run(call(url))


def begin_in_studio(root: Path, settings: Mapping[str, Any], cap: int) -> None:
    walk(root, {"sim": SIM}, {**BEGUN, "root": str(root), "budget_tokens": cap, **settings})


def resume_in_studio(root: Path, settings: Mapping[str, Any]) -> None:
    """A thread that goes on with a run of whatever interface: it stops at the gate, where a larger cap is named."""
    folder = str(locate(SIM, root) / "interviews" / "runs" / token(root))
    walk(root, {"run": folder}, settings, Command(resume={"budget_tokens": ENOUGH}))


def walk(root: Path, given: Any, context: Mapping[str, Any], *commands: Command[Any]) -> None:
    """As the agent server does it: every node opens the run for itself, since nothing holds it open around them."""
    graph = interviews_graph("interviews", [METHOD])
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}

    async def run() -> None:
        for asked in (given, *commands):
            await graph.ainvoke(asked, config, context=dict(context))

    asyncio.run(run())


PYTHON = Interface("Python", begin_in_python, resume_in_python)
TERMINAL = Interface("CLI", begin_at_terminal, resume_at_terminal)
STUDIO = Interface("Studio", begin_in_studio, resume_in_studio)
HTTP = Interface("HTTP", begin_over_http, resume_over_http, names_settings=False)
MCP = Interface("MCP", begin_over_mcp, resume_over_mcp, names_settings=False)
INTERFACES = (PYTHON, TERMINAL, STUDIO, HTTP, MCP)
OTHER = {PYTHON: HTTP, HTTP: TERMINAL, TERMINAL: MCP, MCP: STUDIO, STUDIO: PYTHON}
"""Each is gone on with by itself and by another one."""
AS_BEGUN_AND_ELSEWHERE = [(one, other) for one in INTERFACES for other in (one, OTHER[one])]
VARIABLES = {"base_url": "LLM_BASE_URL", "concurrency": "ENQUETE_CONCURRENCY", "limits": "ENQUETE_LIMITS"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    mirofish_folder(tmp_path / "simulations" / SIM, AGENTS)
    return tmp_path


def begin(interface: Interface, root: Path, settings: Mapping[str, Any], cap: int, patch: pytest.MonkeyPatch) -> None:
    """With these settings, in the words of the interface or by its environment."""
    patch.setenv("LLM_MODEL_NAME", "test")
    if interface.names_settings:
        interface.begin(root, settings, cap)
        return
    for name, value in settings.items():
        patch.setenv(VARIABLES[name], value if isinstance(value, str) else json.dumps(value))
    interface.begin(root, {}, cap)


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory, _away_from_the_machine: None) -> int:
    """A cap on tokens at which a run of this population stops halfway."""
    root = tmp_path_factory.mktemp("whole")
    mirofish_folder(root / "simulations" / SIM, AGENTS)
    with ModelServer() as server:
        run = enquete.conduct_interviews(SIM, root=str(root), base_url=server.base_url, **BEGUN)
        (reserved,) = rows(run.folder, "SELECT max(reserved) FROM calls")[0]
    return server.tokens // 2 + int(reserved)


@pytest.mark.parametrize(
    ("one", "other"), AS_BEGUN_AND_ELSEWHERE, ids=[f"{one.name}-{other.name}" for one, other in AS_BEGUN_AND_ELSEWHERE]
)
@pytest.mark.parametrize(
    "settings",
    [{"concurrency": AT_ONCE}, {"limits": {"test": {"concurrency": AT_ONCE}}}],
    ids=["concurrency", "limits"],
)
def test_server_and_requests_at_once_hold_after_a_resume_in_another_environment(
    one: Interface, other: Interface, settings: dict[str, Any], root: Path, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(latency=0.05) as server, ModelServer() as elsewhere:
        monkeypatch.setenv("LLM_BASE_URL", elsewhere.base_url)
        begin(one, root, {"base_url": server.base_url, **settings}, half, monkeypatch)
        asked = len(server.requests)
        assert 0 < asked < AGENTS
        assert server.max_in_flight == AT_ONCE

        monkeypatch.setenv("LLM_BASE_URL", elsewhere.base_url)
        monkeypatch.setenv("ENQUETE_CONCURRENCY", "9")
        monkeypatch.setenv("ENQUETE_LIMITS", '{"test": {"concurrency": 8}}')
        other.resume(root, {})
        assert elsewhere.requests == []
        assert len(server.requests) >= AGENTS
        assert server.max_in_flight == AT_ONCE
    (run,) = list_runs(SIM, root=str(root))
    assert run.status == "completed"


NAMING = [interface for interface in INTERFACES if interface.names_settings]
named_by = pytest.mark.parametrize("interface", NAMING, ids=[interface.name for interface in NAMING])


@named_by
def test_a_time_out_holds_in_every_node_and_after_a_resume(
    interface: Interface, root: Path, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a server that hangs now and then: at 120 s, the default, one such request would take longer than all this."""
    with ModelServer(faults={"timeout": 0.3}) as server:
        begin(interface, root, {"base_url": server.base_url, "timeout_s": 0.5}, half, monkeypatch)
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        interface.resume(root, {})
        assert server.count("timeout") > 0
    assert [run.status for run in list_runs(SIM, root=str(root))] == ["completed"]


@named_by
def test_patience_holds_after_a_resume(
    interface: Interface, root: Path, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is away at the resume: it is waited for as long as was said at the start, and then the run pauses.
    Without that patience the resume would be refused, or wait for three minutes."""
    with ModelServer() as server:
        begin(interface, root, {"base_url": server.base_url, "patience_s": 0.3}, half, monkeypatch)
        server.vanish()
        interface.resume(root, {})
        (run,) = list_runs(SIM, root=str(root))
        assert run.status == "paused"
        server.come_back()
        interface.resume(root, {})
    assert [run.status for run in list_runs(SIM, root=str(root))] == ["completed"]


@named_by
def test_a_simulation_that_is_taken_to_be_completed_stays_so(
    interface: Interface, tmp_path: Path, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirofish_folder(tmp_path / "simulations" / SIM, AGENTS, status="running")
    with ModelServer() as server:
        begin(interface, tmp_path, {"base_url": server.base_url, "assume_completed": True}, half, monkeypatch)
        assert server.requests
        interface.resume(tmp_path, {})
    assert [run.status for run in list_runs(SIM, root=str(tmp_path))] == ["completed"]


@pytest.mark.parametrize("other", [HTTP, MCP], ids=["HTTP", "MCP"])
def test_over_http_too_a_simulation_is_taken_to_be_completed_and_stays_so(
    other: Interface, tmp_path: Path, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MCP takes no such word, but goes on with a run that was begun with it; without it HTTP answers 409."""
    mirofish_folder(tmp_path / "simulations" / SIM, AGENTS, status="running")
    with ModelServer() as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "test")
        with serving_http(tmp_path) as client:
            refused = client.post(f"/api/interview/{SIM}/post", json={"methods": [METHOD], "language": "en"})
        assert (refused.status_code, refused.json()["details"]["type"]) == (409, "NotCompleted")
        assert not server.requests
        HTTP.begin(tmp_path, {"assume_completed": True}, half)
        assert 0 < len(server.requests) < AGENTS
        other.resume(tmp_path, {})
    assert [run.status for run in list_runs(SIM, root=str(tmp_path))] == ["completed"]


@pytest.mark.parametrize("interface", INTERFACES, ids=[interface.name for interface in INTERFACES])
def test_what_is_named_at_a_resume_holds_from_then_on(
    interface: Interface, root: Path, half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be named, the run goes on where it was; else at the new server, also when it is opened by
    somebody who names nothing."""
    with ModelServer() as server, ModelServer() as elsewhere:
        begin(interface, root, {"base_url": server.base_url}, half, monkeypatch)
        monkeypatch.setenv("LLM_BASE_URL", elsewhere.base_url)
        asked = len(server.requests)
        interface.resume(root, {"base_url": elsewhere.base_url} if interface.names_settings else {})
        assert len(elsewhere.requests) >= AGENTS - asked if interface.names_settings else not elsewhere.requests
    recorded = recorded_settings(locate(SIM, root) / "interviews" / "runs" / token(root))
    assert recorded is not None
    assert recorded.base_url == (elsewhere if interface.names_settings else server).base_url


def test_whoever_s_environment_names_another_server_is_told(
    root: Path, half: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with ModelServer() as server:
        begin(PYTHON, root, {"base_url": server.base_url}, half, monkeypatch)
        monkeypatch.setenv("LLM_BASE_URL", "http://elsewhere.example/v1")
        PYTHON.resume(root, {})
    (said,) = [record.getMessage() for record in caplog.records if "goes on at" in record.getMessage()]
    assert server.base_url in said
    assert said.endswith("To go on there, name it: base_url=http://elsewhere.example/v1")
