"""A LangGraph agent whose model is scripted: goes from a simulation to quoted findings; interviews one before it runs;
or runs a project of three discovery schemas, one of them refined. Run by an interpreter of its own.

Usage: agent_client.py URL SIM_ID | agent_client.py URL quote:SIM_ID | agent_client.py URL project; prints one JSON
object.
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
        says("discover_record", **place, ds_id="warm-up-with-challenges", respondent=ann),
        says("discover_record", **place, ds_id="scheduling-problem-type"),
        says("discover_record", **place, ds_id="flow-shop", budget=3),
        says("refine_interview", **place, ds_id="flow-shop"),
        says("project_progress", project_id="bakery"),
        AIMessage(content="Done."),
    ]


QUESTIONS = [
    {"wording": "The changes to the cashback programme are fair to customers."},
    {"wording": "What should the bank do next?"},
]


def quote(sim_id: str) -> list[AIMessage]:
    """From a simulation to three findings with the words of agents: what a model would call, in nine calls."""
    own = {"sim_id": sim_id, "questions": QUESTIONS}
    return [
        says("list_simulations"),
        says("conduct_interviews", sim_id=sim_id, dry_run=True),
        says("draft_questions", sim_id=sim_id),
        says("conduct_interviews", **own, dry_run=True),
        says("conduct_interviews", **own, wait_seconds=120),
        says("read_results", sim_id=sim_id),
        says("read_answers", sim_id=sim_id, item="q1", limit=3),
        says("read_answers", sim_id=sim_id, item="q2", limit=3),
        says("read_report", sim_id=sim_id, section="Limits"),
        AIMessage(content="Done."),
    ]


async def main(url: str, sim_id: str) -> dict[str, Any]:
    progress: list[float] = []

    async def heard(done: float, total: float | None, message: str | None, context: CallbackContext) -> None:
        progress.append(done)

    servers: Any = {"enquete": {"transport": "streamable_http", "url": url}}
    client = MultiServerMCPClient(servers, callbacks=Callbacks(on_progress=heard))
    interview = says(
        "conduct_interviews", sim_id=sim_id, methods=["longitudinal"], phase="T0", language="en",
        options={"new": True}, wait_seconds=90,
    )  # fmt: skip
    script = [says("list_simulations"), interview, AIMessage(content="Done.")]
    if sim_id == "project":
        script = project()
    if sim_id.startswith("quote:"):
        script = quote(sim_id.removeprefix("quote:"))
    model = Scripted(messages=iter(script))
    agent = create_agent(model, await client.get_tools())
    ended = await agent.ainvoke({"messages": [("user", f"Interview {sim_id} before its simulation.")]})
    results = [message for message in ended["messages"] if isinstance(message, ToolMessage)]
    return {
        "tools": [message.name for message in results], "texts": [message.text for message in results],
        "state": results[-1].artifact["structured_content"] if results[-1].artifact else None, "progress": progress,
        "answer": ended["messages"][-1].text,
        "states": [message.artifact["structured_content"] for message in results if message.artifact],
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
