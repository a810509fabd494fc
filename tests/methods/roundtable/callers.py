"""Roundtable operations as their callers make them: from Python, over HTTP and over MCP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from mcp import Client
from starlette.testclient import TestClient

from enquete.interfaces.mcp.server import make_server, make_server_state
from enquete.interfaces.server_state import ServerSettings
from enquete.interfaces.web.application import make_app
from enquete.study.method_operations import operate

QUESTION = "Should the bakery close on Mondays?"
TABLE = {"roundtable_id": "monday"}
SEATS = [{"name": "Ada", "persona": "Bakes"}, {"name": "Ben", "persona": "Sells"}]


def python(root: Path, name: str, **given: Any) -> Any:
    return asyncio.run(operate(name, given, root, str(root / "own_folder")))


def http(root: Path, name: str, **given: Any) -> Any:
    with TestClient(make_app(ServerSettings(root=root)), base_url="http://127.0.0.1") as client:
        answered = client.post(f"/api/operations/{name}", json=given).json()
    return answered["data"] if answered["success"] else f"{answered['error']} {answered['details']['remedy']}"


def mcp(root: Path, name: str, **given: Any) -> Any:
    async def call() -> Any:
        async with Client(make_server(make_server_state(root, ["roundtable"]))) as client:
            return await client.call_tool(name, given)

    result = asyncio.run(call())
    return result.content[0].text if result.is_error else result.structured_content["answer"]
