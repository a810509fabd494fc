"""make bench: what a call costs in CPU, and what the checkpoints weigh. One run, one table; quote the ratios.

bare loop          AsyncOpenAI, 32 in flight, the same prompts, replies only counted; as it comes and on aiohttp
whole run          the same number of agents interviewed through the façade on the same server
graph and ledger   the same run with the model and its prompts taken out: what the graph, the desk and SQLite cost
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import yaml
from rich.console import Console
from rich.table import Table

import enquete
from enquete.checkpoints.folders import CHECKPOINTS
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.instruments.load import load_shipped
from enquete.nodes import workplace
from enquete.reports import synthesis
from enquete.respondents.llm import call_key
from enquete.respondents.prompts import compose
from enquete.state.asking import Answer, Block, BlockKey, Participant, Reply
from enquete.state.desk import Metered, Prompt
from tests.support.processes import ServerProcess, server_process
from tests.support.studies import personas, rows

AGENTS = 1500
CONCURRENCY = 32


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of this process (all threads), and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def prompts(agents: int) -> list[Prompt]:
    instrument = load_shipped(LongitudinalInstrument, "longitudinal")
    items = instrument.block_items("de")
    found = []
    for number in range(agents):
        who = Participant(
            id=str(number), name=f"Person {number}", stakeholder_type="x", persona="Lebt an der Ostsee. " * 10
        )
        key = BlockKey("", "main", "longitudinal", "T1", "", 0, 0, who.id, "items")
        block = Block(key=key, instruction=instrument.instruction.in_("de"), items=items)
        found.append(compose(who, block, items, "de", "", 0))
    return found


async def bare_loop(base_url: str, requests: list[Prompt], *, aiohttp: bool) -> int:
    """What one would write by hand: a semaphore around the official client."""
    transport = openai.DefaultAioHttpClient() if aiohttp else None
    client = openai.AsyncOpenAI(base_url=base_url, api_key="none", http_client=transport, max_retries=0)
    slots = asyncio.Semaphore(CONCURRENCY)

    async def one(prompt: Prompt) -> int:
        async with slots:
            reply = await client.chat.completions.create(
                model="bench",
                messages=[{"role": "system", "content": prompt.system}, *prompt.messages],  # type: ignore[list-item]
                extra_body={
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {"name": "reply", "schema": prompt.schema},
                    }
                },
            )
            return len(reply.choices[0].message.content or "")

    async with client:
        return len(await asyncio.gather(*(one(prompt) for prompt in requests)))


class Canned:
    """A respondent without prompt and reader: reserves, settles and answers, nothing else."""

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        prompt = Prompt("", ({"role": "user", "content": ""},), {}, 16)
        await model.request(call_key(block, 0), lambda: prompt, lambda: "{}")
        return Reply("done", tuple(Answer(item.id, "ok", value=3.0) for item in block.items))


def interview(folder: Path, name: str, agents: int, **more: Any) -> enquete.Run:
    return enquete.conduct_interviews(
        personas(folder, agents), out=str(folder / name), methods=["longitudinal"], concurrency=CONCURRENCY,
        budget_tokens=10**9, **more,
    )  # fmt: skip


def graph_and_ledger(folder: Path, name: str, agents: int, **more: Any) -> enquete.Run:
    made, wrote = workplace.make_respondent, synthesis.write_synthesis
    workplace.make_respondent = lambda *_: Canned()  # type: ignore[assignment]
    synthesis.write_synthesis = lambda *_, **__: synthesis.Written("completed")  # type: ignore[assignment]
    try:
        return interview(folder, name, agents, respondent="synthetic", **more)
    finally:
        workplace.make_respondent, synthesis.write_synthesis = made, wrote


def checkpoint_bytes(run: enquete.Run) -> int:
    """Size after folding the write-ahead log back."""
    import sqlite3

    connection = sqlite3.connect(run.folder / CHECKPOINTS)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found = connection.execute(
        "SELECT (SELECT sum(length(checkpoint)) FROM checkpoints), (SELECT sum(length(value)) FROM writes)"
    )
    size = sum(found.fetchone())
    connection.close()
    return int(size)


def doubled(folder: Path) -> str:
    """The shipped instrument with every item twice."""
    content = load_shipped(LongitudinalInstrument, "longitudinal").model_dump(mode="json", exclude_none=True)
    twins = [{**item, "item_id": f"{item['item_id']}_2"} for item in content["items"]]
    path = folder / "doubled.yaml"
    path.write_text(yaml.safe_dump({**content, "items": [*content["items"], *twins]}, allow_unicode=True), "utf-8")
    return str(path)


def measure(folder: Path, server: ServerProcess, agents: int) -> dict[str, float]:
    asked = prompts(agents)
    interview(folder, "warm", 20, model="bench", base_url=server.base_url)
    graph_and_ledger(folder, "warm2", 20)
    asyncio.run(bare_loop(server.base_url, asked[:20], aiohttp=True))
    loop, _ = cpu(lambda: asyncio.run(bare_loop(server.base_url, asked, aiohttp=False)))
    faster, _ = cpu(lambda: asyncio.run(bare_loop(server.base_url, asked, aiohttp=True)))
    whole, run = cpu(lambda: interview(folder, "whole", agents, model="bench", base_url=server.base_url))
    calls = rows(run.folder, "SELECT count(*) FROM calls WHERE status='settled'")[0][0]
    alone, one = cpu(lambda: graph_and_ledger(folder, "single", agents))
    two = graph_and_ledger(folder, "double", agents, instruments={"longitudinal": doubled(folder)})
    return {
        "bare loop, ms a call": loop * 1000 / agents,
        "bare loop on aiohttp, ms a call": faster * 1000 / agents,
        "whole run, ms a call": whole * 1000 / calls,
        "whole run / bare loop": (whole / calls) / (loop / agents),
        "whole run / bare loop on aiohttp": (whole / calls) / (faster / agents),
        "graph and ledger, ms a call": alone * 1000 / agents,
        "graph and ledger / bare loop": alone / loop,
        "graph and ledger / bare loop on aiohttp": alone / faster,
        "checkpoint bytes, 15 items": checkpoint_bytes(one),
        "checkpoint bytes, 29 items": checkpoint_bytes(two),
        "ledger bytes a call, 15 items": (one.folder / "ledger.sqlite").stat().st_size / agents,
    }


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else AGENTS
    with tempfile.TemporaryDirectory() as name, server_process(Path(name)) as running:
        found = measure(Path(name), running, count)
    table = Table(title=f"{count} agents, {CONCURRENCY} in flight")
    table.add_column("what")
    table.add_column("value", justify="right")
    for what, value in found.items():
        table.add_row(what, f"{value:,.0f}" if value > 100 else f"{value:.3f}")
    Console().print(table)
    print(json.dumps(found))
