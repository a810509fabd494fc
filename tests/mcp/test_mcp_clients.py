"""The clients that people use: the official one over stdio, the Inspector, a LangGraph agent.

Inspector and agent live in environments of their own (`make mcp-clients`): langchain-mcp-adapters needs mcp < 2.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_served import METHOD, Served

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
                await client.call_tool("get_interview_report", {"sim_id": served.finished}),
            )

    shown, report = asyncio.run(work())
    assert (shown.structured_content["run_id"], shown.structured_content["shown"]) == (served.run_id, True)
    assert report.structured_content["markdown"].startswith("#")


@pytest.mark.skipif(not INSPECTOR.exists(), reason="the Inspector is not installed (make mcp-clients)")
def test_the_inspector(served: Served) -> None:
    call = ["--method", "tools/call", "--tool-name", "interview_status", "--tool-arg", f"sim_id={served.finished}"]
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


@pytest.mark.skipif(not AGENT.exists(), reason="langchain-mcp-adapters is not installed (make mcp-clients)")
def test_a_langgraph_agent_runs_a_project_of_three_schemas_one_refined(served: Served) -> None:
    heard = agent(served.url, "project")
    assert heard["tools"] == [
        "start_project", *["conduct_interview"] * 3, "refine_interview", "project_progress",
    ]  # fmt: skip
    told = [json.loads(text) for text in heard["texts"]]
    assert [interview["complete"] for interview in told[1:5]] == [True, True, False, True]
    assert [interview["ds_id"] for interview in heard["state"]["answer"]["interviews"] if interview["complete"]] == [
        "warm-up-with-challenges", "scheduling-problem-type", "flow-shop",
    ]  # fmt: skip
