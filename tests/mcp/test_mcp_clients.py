"""The clients that people use: the official one over stdio, the Inspector, a LangGraph agent.

Inspector and agent live in environments of their own (`make mcp-clients`): langchain-mcp-adapters needs mcp < 2.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_served import METHOD, Served, serving

import enquete

CLIENTS = Path(__file__).parents[2] / ".mcp-clients"
INSPECTOR = CLIENTS / "inspector" / "node_modules" / ".bin" / "mcp-inspector"
AGENT = CLIENTS / "agent" / "bin" / "python"
COMMAND = ["-c", "from enquete.interfaces.cli.app import main; main()", "mcp", "--root"]


def surroundings(root: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(sys.path), "ENQUETE_RESPONDENT": "synthetic", "HOME": str(root)}


def test_the_official_client_over_stdio(served: Served) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, str(served.root)], env=surroundings(served.root), cwd=served.root
    )

    async def work() -> tuple[Any, Any]:
        async with Client(server) as client:
            arguments = {"sim_id": served.finished, "methods": [METHOD], "language": "en"}
            return (
                await client.call_tool("conduct_interviews", arguments),
                await client.call_tool("read_report", {"sim_id": served.finished, "run_id": served.run_id}),
            )

    shown, report = asyncio.run(work())
    assert shown.structured_content["run_id"] == served.run_id
    assert shown.structured_content["note"] == "it had been completed before; nobody was asked"
    assert report.structured_content["markdown"].startswith("#")


@pytest.mark.skipif(not INSPECTOR.exists(), reason="the Inspector is not installed (make mcp-clients)")
def test_the_inspector(served: Served) -> None:
    call = ["--method", "tools/call", "--tool-name", "interview_status"]
    call += ["--tool-arg", f"sim_id={served.finished}", f"run_id={served.run_id}"]
    done = subprocess.run(
        [str(INSPECTOR), "--cli", served.url, "--transport", "http", *call],
        capture_output=True, text=True, timeout=240,
        check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["structuredContent"]["run_id"] == served.run_id


def agent(url: str, what: str) -> dict[str, Any]:
    """What a LangGraph agent with a scripted model heard (agent_client.py)."""
    script = Path(__file__).with_name("agent_client.py")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(AGENT), str(script), url, what], capture_output=True, text=True, timeout=240, env=clean, check=False
    )
    assert done.returncode == 0, done.stderr
    heard: dict[str, Any] = json.loads(done.stdout)
    assert heard["answer"] == "Done."
    return heard


@pytest.mark.skipif(not AGENT.exists(), reason="langchain-mcp-adapters is not installed (make mcp-clients)")
def test_a_langgraph_agent(served: Served) -> None:
    heard = agent(served.url, served.started)
    assert heard["tools"] == ["list_simulations", "conduct_interviews"]
    assert served.started in heard["texts"][0]
    assert heard["state"]["status"] == "completed"
    assert "SYNTHETIC" in heard["texts"][1]
    assert heard["progress"]


MAX_CALLS, MAX_MESSAGE_BYTES = 10, 12_000
"""Of an agent on its way from a simulation to findings that it can quote."""


@pytest.mark.skipif(not AGENT.exists(), reason="langchain-mcp-adapters is not installed (make mcp-clients)")
def test_a_langgraph_agent_goes_from_a_simulation_to_three_quoted_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shipped questions do not fit a bank; the agent asks its own, and quotes what it read: a finding with its
    numbers, and two agents' own words, each word for word in the run's table under the id that it names."""
    monkeypatch.delenv("ENQUETE_FIT")
    bank = Path(__file__).parents[1] / "data" / "sim_683e8059ab27"
    shutil.copytree(bank, tmp_path / "simulations" / bank.name)
    with serving(tmp_path) as url:
        heard = agent(url, f"quote:{bank.name}")
    assert len(heard["tools"]) <= MAX_CALLS
    assert sum(len(text.encode()) for text in heard["texts"]) <= MAX_MESSAGE_BYTES
    assert not [text for text in heard["texts"] if text.startswith("Error")]

    unfit, templates, estimate, state, found, rated, said = (heard["states"][place] for place in range(1, 8))
    assert any("nothing of that occurs in the simulation" in why for why in unfit["estimate"]["refused"])
    assert templates["status"] == "templates"
    assert estimate["estimate"]["refused"] == []
    assert state["status"] == "completed"
    run = enquete.load_run(bank.name, state["run_id"], root=str(tmp_path))
    assert {other["run_id"] for other in (found, rated, said)} == {run.run_id}

    (poll,) = found["methodologies"]
    assert poll["findings"] == [finding["text"] for finding in run.page_one["findings"]]
    frame = run.responses
    quotes = [rated["answers"][0], said["answers"][0], said["answers"][1]]
    for quote in quotes:
        participant, item = quote["answer_id"].split("/", 7)[7].split("/", 1)
        row = frame[frame["participant"].eq(participant) & frame["item_id"].eq(item)].iloc[0]
        assert (quote["agent"], quote["group"]) == (row["agent_name"], row["stakeholder_type"])
        assert quote["words"] == (row["text"] if item == "q2" else "")
        assert quote["value"] == (None if item == "q2" else row["value"])


@pytest.fixture(scope="module")
def discovering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("discovering")
    (root / "simulations").mkdir()
    with serving(root, ["discovery"]) as url:
        yield url


@pytest.mark.skipif(not AGENT.exists(), reason="langchain-mcp-adapters is not installed (make mcp-clients)")
def test_a_langgraph_agent_runs_a_project_of_three_schemas_one_refined(discovering: str) -> None:
    heard = agent(discovering, "project")
    assert heard["tools"] == [
        "start_project", *["discover_record"] * 3, "refine_interview", "project_progress",
    ]  # fmt: skip
    told = [json.loads(text) for text in heard["texts"]]
    assert [interview["complete"] for interview in told[1:5]] == [True, True, False, True]
    assert [interview["ds_id"] for interview in heard["state"]["answer"]["interviews"] if interview["complete"]] == [
        "warm-up-with-challenges", "scheduling-problem-type", "flow-shop",
    ]  # fmt: skip


def test_a_server_that_cannot_start_says_so_to_its_client(tmp_path: Path) -> None:
    """The client's requests are answered with the reason, where most clients show stderr to nobody."""
    missing = tmp_path / "missing"
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    done = subprocess.run(
        [sys.executable, *COMMAND, str(missing)], input=json.dumps(initialize) + "\n", capture_output=True, text=True,
        env=surroundings(tmp_path), cwd=tmp_path, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    reply = json.loads(done.stdout)
    assert (reply["id"], reply["error"]["code"]) == (1, -32603)
    assert reply["error"]["message"].startswith(f"Enquete cannot start: {missing}: no such folder")

    async def connect() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=[*COMMAND, str(missing)], env=surroundings(tmp_path), cwd=tmp_path
        )
        async with Client(server) as client:
            await client.list_tools()

    with pytest.raises(BaseExceptionGroup) as refused:
        asyncio.run(connect())
    assert refused.group_contains(MCPError, match="Enquete cannot start: .*no such folder")
