"""MCP resources: the full data that the tools give in pieces; and the prompt that plans a study."""

# No `from __future__ import annotations` here: the SDK reads the annotations.

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import Field

import enquete
from enquete.instruments.load import shipped_file
from enquete.interfaces.mcp.queries import exported
from enquete.interfaces.mcp.server_state import Ctx, ServerState, explained, server_state
from enquete.interfaces.mcp.tools import unhurried
from enquete.interfaces.service.left_behind import findings_of, report_of
from enquete.interfaces.service.retrying import retry_read
from enquete.nodes.freezing import shelved
from enquete.state.errors import EnqueteError
from enquete.study.run import Run

T = TypeVar("T")

MOST_BYTES = 50_000_000
TEXTS = (".csv", ".json", ".jsonl", ".md")


def report(sim_id: str, run_id: str, ctx: Ctx) -> str:
    """The whole report of a run."""
    desk, run = _run(ctx, sim_id, run_id)
    return _told(desk, lambda: report_of(desk.sandbox, run))


def codebook(sim_id: str, run_id: str, ctx: Ctx) -> str:
    """What every column and item of all_responses.csv means."""
    desk, run = _run(ctx, sim_id, run_id)
    return _read(desk, run.path / "exports" / "codebook.md")


def results(sim_id: str, run_id: str, methodology: str, ctx: Ctx) -> str:
    """All findings of one methodology."""
    desk, run = _run(ctx, sim_id, run_id)
    _, found = _told(desk, lambda: findings_of(desk.sandbox, sim_id, methodology, run.run_id))
    return json.dumps(found, ensure_ascii=False)


def export(sim_id: str, run_id: str, name: str, ctx: Ctx) -> str | bytes:
    """A data file of a run, as export_responses lists them."""
    desk, run = _run(ctx, sim_id, run_id)
    known = exported(run.path / "exports")
    if name not in known:
        raise ResourceNotFoundError(
            f"no file {name[:100]!r} of run {run.run_id}; there are: {', '.join(known) or 'none'}"
        )
    return _read(desk, known[name]) if known[name].suffix in TEXTS else _bytes(desk, known[name])


def draft(folder: str, name: str, ctx: Ctx) -> str:
    """A draft, as draft_instruments lists them."""
    desk = server_state(ctx)
    return _told(desk, lambda: shelved(desk.sandbox.given["shelf"], f"{folder}/{name}").read_text("utf-8-sig"))


def _run(ctx: Ctx, sim_id: str, run_id: str) -> tuple[ServerState, Run]:
    desk = server_state(ctx)
    return desk, _told(desk, lambda: desk.sandbox.finished(sim_id, run_id))


def _told(desk: ServerState, work: Callable[[], T]) -> T:
    """Errors raised on purpose, in words. Raises ResourceNotFoundError."""
    try:
        return retry_read(work)
    except EnqueteError as error:
        raise ResourceNotFoundError(explained(error, desk.mask)) from error


def _read(desk: ServerState, path: Path) -> str:
    """Raises as `_bytes`."""
    return _bytes(desk, path).decode("utf-8-sig")


def _bytes(desk: ServerState, path: Path) -> bytes:
    """Raises ResourceNotFoundError, and ResourceError where it is too large for a message."""
    _told(desk, lambda: desk.sandbox.require_inside(path))
    if not path.is_file():
        raise ResourceNotFoundError(f"{path.name} has not been written yet; export_responses writes it")
    if path.stat().st_size > MOST_BYTES:
        raise ResourceError(
            f"{path.name} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}: read it on the server"
        )
    return path.read_bytes()


def instrument_reader(name: str) -> Callable[[], str]:
    def instrument() -> str:
        from enquete.graphs.registry import methodologies  # noqa: PLC0415 - the graphs need seconds to import

        file = shipped_file(methodologies()[name].instrument, name)
        if file is None:
            raise ResourceNotFoundError(f"no instrument ships for {name}")
        return file.read_text("utf-8")

    return instrument


def plan_a_stakeholder_study(
    topic: Annotated[str, Field(description="what is to be found out; asked for where it is left out")] = "",
    sim_id: Annotated[str, Field(description="a simulation, if it is chosen already")] = "",
    budget_tokens: Annotated[str, Field(description="what may be spent, if it is known")] = "",
) -> str:
    """Steps from a question to a report that can be defended, by the tools of this server."""
    methods = "\n".join(f"   - {name}: {titles.get('en', name)}" for name, titles in enquete.list_instruments().items())
    chosen = f"The simulation is {sim_id}." if sim_id else "Choose a simulation with list_simulations, and say why."
    cap = f" The budget is {budget_tokens} tokens." if budget_tokens else ""
    on = f" on: {topic}" if topic else ". Ask me first what is to be found out."
    return f"""Plan a study with simulated stakeholders{on}

1. {chosen}{cap}
2. Say which question each methodology would answer, and leave out those that answer none of ours (list_instruments; the
   questions themselves are resources enquete://instruments/NAME):
{methods}
3. Change between before (T0) and after (T1) can be told only if T0 is taken before the simulation runs. Say whether it was.
4. Call estimate_interviews. Show me calls, tokens, money and time, and wait for my approval. Never pass confirm=true by
   yourself.
5. Call conduct_interviews; while it is "running", poll interview_status. Where it stops, tell me why, and what resume_interviews
   would cost.
6. Read get_interview_report, its section on limits first, then get_interview_results where a figure matters. Give counts
   (answered / asked) beside every figure and every flag that is shown.
7. Say what such answers cannot show: they come from a model, or from the synthetic respondent, not from people."""


def add_resources(server: MCPServer[ServerState]) -> None:
    """Resources by address, and the prompt."""
    base = "enquete://runs/{sim_id}/{run_id}"
    server.resource(f"{base}/report", title="Report", mime_type="text/markdown")(unhurried(report))
    server.resource(f"{base}/codebook", title="Codebook", mime_type="text/markdown")(unhurried(codebook))
    server.resource(f"{base}/results/{{methodology}}", title="Findings", mime_type="application/json")(
        unhurried(results)
    )
    server.resource(f"{base}/exports/{{name}}", title="Data file", mime_type="text/plain")(unhurried(export))
    server.resource("enquete://drafts/{folder}/{name}", title="Draft", mime_type="application/yaml")(unhurried(draft))
    for name, titles in enquete.list_instruments().items():
        title = titles.get("en", name)
        add = server.resource(f"enquete://instruments/{name}", name=name, title=title, mime_type="application/yaml")
        add(unhurried(instrument_reader(name)))
    server.prompt(title="Plan a stakeholder study")(plan_a_stakeholder_study)
