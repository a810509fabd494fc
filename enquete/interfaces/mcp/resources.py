"""What the tools give in pieces, whole: reports, findings, data files, questions, options; and the prompt that leads
through a study.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import Field

import enquete
from enquete.instruments.load import shipped_file
from enquete.interfaces.mcp.server_context import Ctx, ServerState, error_words, server_state
from enquete.interfaces.mcp.tool_arguments import describe_options
from enquete.interfaces.views import findings_of, instrument_rows, report_of, retry_read
from enquete.methods.registry import methodologies
from enquete.runs.own_files import file_in
from enquete.state.errors import EnqueteError
from enquete.study.background import run_in_thread
from enquete.study.run import Run

T = TypeVar("T")

MAX_RESOURCE_BYTES = 50_000_000
TEXT_ENDINGS = (".csv", ".json", ".jsonl", ".md")
RUN_URI = "enquete://runs/{sim_id}/{run_id}"


async def report(sim_id: str, run_id: str, ctx: Ctx) -> str:
    """The whole report of a run."""
    return await _read_run(ctx, sim_id, run_id, lambda server, run: report_of(server.sandbox, run))


async def results(sim_id: str, run_id: str, methodology: str, ctx: Ctx) -> str:
    """All findings of one methodology, unrounded."""

    def read(server: ServerState, run: Run) -> str:
        _, found = findings_of(server.sandbox, sim_id, methodology, run.run_id)
        return json.dumps(found, ensure_ascii=False)

    return await _read_run(ctx, sim_id, run_id, read)


async def exports(sim_id: str, run_id: str, ctx: Ctx) -> str:
    """The data files of a run, written anew from its ledger, with their sizes; each is a resource below this one."""

    def read(server: ServerState, run: Run) -> str:
        server.sandbox.require_inside(run.path)
        folder = enquete.export(sim_id, run.run_id, root=str(server.sandbox.root)) / "exports"
        sizes = {name: file.stat().st_size for name, file in exported_files(folder).items()}
        return json.dumps(sizes, ensure_ascii=False)

    return await _read_run(ctx, sim_id, run_id, read)


async def export(sim_id: str, run_id: str, name: str, ctx: Ctx) -> str | bytes:
    """A data file of a run."""

    def read(server: ServerState, run: Run) -> str | bytes:
        known = exported_files(run.path / "exports")
        if name not in known:
            there = ", ".join(known) or "none"
            raise ResourceNotFoundError(f"no file {name[:100]!r} of run {run.run_id}; there are: {there}")
        content = _read_bytes(server, known[name])
        return content.decode("utf-8-sig") if known[name].suffix in TEXT_ENDINGS else content

    return await _read_run(ctx, sim_id, run_id, read)


async def saved_questions(name: str, ctx: Ctx) -> str:
    """Questions that were saved on this server, as YAML."""
    return await _read_questions(ctx, name)


async def drafted_questions(folder: str, name: str, ctx: Ctx) -> str:
    """Questions that were drafted on this server, as YAML; above every item stands where it is from."""
    return await _read_questions(ctx, f"{folder}/{name}")


def _methodologies_reader(server: ServerState) -> Callable[[], Awaitable[str]]:
    async def list_methodologies() -> str:
        """What can be asked: each methodology, what it finds out, and the questions that are on this server."""
        own_folder = Path(server.sandbox.given["own_folder"])

        def read() -> str:
            rows = instrument_rows(own_folder, server.mask)
            said = [row.model_dump(mode="json", exclude_defaults=True) for row in rows]
            return json.dumps(said, ensure_ascii=False, indent=1)

        return await _explained(server, read)

    return list_methodologies


async def options() -> str:
    """What `options` of conduct_interviews may hold."""
    return describe_options()


async def _read_questions(ctx: Ctx, name: str) -> str:
    server = server_state(ctx)
    folder = server.sandbox.given["own_folder"]
    return await _explained(server, lambda: file_in(folder, name).read_text("utf-8-sig"))


async def _read_run(ctx: Ctx, sim_id: str, run_id: str, read: Callable[[ServerState, Run], T]) -> T:
    server = server_state(ctx)
    return await _explained(server, lambda: read(server, server.sandbox.finished(sim_id, run_id)))


async def _explained(server: ServerState, read: Callable[[], T]) -> T:
    """Read in a thread; what is raised on purpose becomes ResourceNotFoundError with the same words."""
    try:
        return await run_in_thread(lambda: retry_read(read))
    except EnqueteError as error:
        raise ResourceNotFoundError(error_words(error, server.mask)) from error


def _read_bytes(server: ServerState, path: Path) -> bytes:
    server.sandbox.require_inside(path)
    size = path.stat().st_size
    if size > MAX_RESOURCE_BYTES:
        raise ResourceError(f"{path.name} has {size:,} bytes, more than {MAX_RESOURCE_BYTES:,}: read it on the server")
    return path.read_bytes()


def exported_files(folder: Path) -> dict[str, Path]:
    """Return the files of a run's exports, by their path below the folder."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix(): file for file in sorted(files)}


def _instrument_reader(name: str) -> Callable[[], str]:
    def read_instrument() -> str:
        file = shipped_file(methodologies()[name].instrument, name)
        if file is None:
            raise ResourceNotFoundError(f"no instrument ships for {name}")
        return file.read_text("utf-8")

    return read_instrument


def run_a_study(
    topic: Annotated[str, Field(description="what is to be found out; asked for where it is left out")] = "",
    sim_id: Annotated[str, Field(description="a simulation, if it is chosen already")] = "",
    budget_tokens: Annotated[str, Field(description="what may be spent, if it is known")] = "",
) -> str:
    """Lead from a question to findings that can be quoted, by the tools of this server."""
    titles = "\n".join(f"   - {name}: {title.get('en', name)}" for name, title in enquete.list_instruments().items())
    chosen = f"The simulation is {sim_id}." if sim_id else "Choose a simulation with list_simulations, and say why."
    cap = f" The budget is {budget_tokens} tokens." if budget_tokens else ""
    on = f" on: {topic}" if topic else ". Ask me first what is to be found out."
    return f"""Run a study with simulated stakeholders{on}

1. {chosen}{cap}
2. Decide what to ask: the shipped questions where they are on this topic, draft_questions where they are not, or
   questions of our own (conduct_interviews questions=[…], or save_questions to keep them). The methodologies are
{titles}
   (resource enquete://methodologies says what each finds out). Show me the questions before they are asked.
3. Change between before (T0) and after (T1) can be told only if T0 is taken before the simulation runs. Say whether
   it was.
4. Call conduct_interviews with dry_run=true. Show me calls, tokens, money and time, and what would be refused, and
   wait for my approval.
5. Call conduct_interviews; while it is "running", poll interview_status. Where it stops, tell me why, and what
   control_interviews would have to be told.
6. Read read_results first; quote agents from read_answers with their answer ids, word for word; the report's section
   on limits by read_report. Give counts (answered / asked) beside every figure and every warning that is shown.
7. Say what such answers cannot show: they come from a model, or from the synthetic respondent, not from people."""


def add_resources(server: MCPServer[ServerState], state: ServerState) -> None:
    """Add the resources and the prompt."""
    server.resource(f"{RUN_URI}/report", title="Report", mime_type="text/markdown")(report)
    server.resource(f"{RUN_URI}/results/{{methodology}}", title="Findings", mime_type="application/json")(results)
    server.resource(f"{RUN_URI}/exports", title="Data files", mime_type="application/json")(exports)
    server.resource(f"{RUN_URI}/exports/{{name}}", title="Data file", mime_type="text/plain")(export)
    server.resource("enquete://questions/{name}", title="Saved questions", mime_type="application/yaml")(
        saved_questions
    )
    server.resource("enquete://questions/{folder}/{name}", title="Drafted questions", mime_type="application/yaml")(
        drafted_questions
    )
    server.resource("enquete://methodologies", title="Methodologies", mime_type="application/json")(
        _methodologies_reader(state)
    )
    server.resource("enquete://options", title="Run options", mime_type="text/markdown")(options)
    for name, titles in enquete.list_instruments().items():
        add = server.resource(
            f"enquete://instruments/{name}", name=name, title=titles.get("en", name), mime_type="application/yaml"
        )
        add(_instrument_reader(name))
    server.prompt(title="Run a study")(run_a_study)
