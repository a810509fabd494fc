"""A LangGraph agent whose model is scripted: lists simulations, interviews one, ends; or runs a project of three
discovery schemas, one of them refined. Run by an interpreter of its own.

Usage: agent_client.py URL SIM_ID | agent_client.py URL project; prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_mcp_adapters.callbacks import CallbackContext, Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient


class Scripted(GenericFakeChatModel):
    """Says its messages one after the other, whatever tools it is given."""

    def bind_tools(self, tools: Any, **_: Any) -> Scripted:
        return self


def says(tool: str, **arguments: Any) -> AIMessage:
    return AIMessage(content="", tool_calls=[{"name": tool, "args": arguments, "id": tool}])


def project() -> list[AIMessage]:
    place = {"project_id": "bakery", "conversation_id": "ann", "synthetic": True}
    ann = {"kind": "persona", "name": "Ann", "persona": "A baker with four people and one oven"}
    return [
        says("start_project", project_id="bakery", title="A bakery"),
        says("conduct_interview", **place, ds_id="warm-up-with-challenges", respondent=ann),
        says("conduct_interview", **place, ds_id="scheduling-problem-type"),
        says("conduct_interview", **place, ds_id="flow-shop", budget=3),
        says("refine_interview", **place, ds_id="flow-shop"),
        says("project_progress", project_id="bakery"),
        AIMessage(content="Done."),
    ]


async def main(url: str, sim_id: str) -> dict[str, Any]:
    progress: list[float] = []

    async def heard(done: float, total: float | None, message: str | None, context: CallbackContext) -> None:
        progress.append(done)

    servers: Any = {"enquete": {"transport": "streamable_http", "url": url}}
    client = MultiServerMCPClient(servers, callbacks=Callbacks(on_progress=heard))
    interview = says(
        "conduct_interviews", sim_id=sim_id, methods=["longitudinal"], phase="T0", language="en", new=True,
        wait_seconds=90,
    )  # fmt: skip
    script = project() if sim_id == "project" else [says("list_simulations"), interview, AIMessage(content="Done.")]
    model = Scripted(messages=iter(script))
    agent = create_agent(model, await client.get_tools())
    ended = await agent.ainvoke({"messages": [("user", f"Interview {sim_id} before its simulation.")]})
    results = [message for message in ended["messages"] if isinstance(message, ToolMessage)]
    return {
        "tools": [message.name for message in results], "texts": [message.text for message in results],
        "state": results[-1].artifact["structured_content"] if results[-1].artifact else None, "progress": progress,
        "answer": ended["messages"][-1].text,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
