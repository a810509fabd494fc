"""MCP tools that ask nobody anything: estimates, results, report, lists, exports."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools and resolvers.

import asyncio
import csv
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp.types import CallToolResult
from pydantic import Field, JsonValue

import enquete
from enquete.interfaces.mcp import shapes
from enquete.interfaces.mcp.shapes import CALLER, Entry, SectionOf, answer
from enquete.interfaces.mcp.tools import ABOUT_A_RUN, SYNTHETIC, Ctx, ServerState, SimId, cut, explain_errors, uri

from enquete.interfaces.mcp.tools import estimate_state, estimate_text  # isort: skip
from enquete.interfaces.parameters import COUNTING_RUN, sent, taken, with_parameters
from enquete.interfaces.views import Episode, findings_of, instrument_rows, report_of, search_episodes, simulation_row
from enquete.simulations.locate import KnownSimulation
from enquete.state.asking import Spoken
from enquete.state.data_formats import FileFormat
from enquete.state.errors import InputError
from enquete.state.request import MemorySearch
from enquete.study.background import run_in_thread

# --- Findings and reports in pieces that fit a context window --------------------------------------------------------

PAGE_CHARS = 6000
ENTRY_CHARS = 2000
"""A longer value is taken apart into its members."""
PATH_CHARS = 300
CUT_CHARS = 500
FRAME_CHARS = 24  # {"path":"","value":},

BEGINNING = "beginning"
FACTS = "facts"

K = TypeVar("K", str, int)


def as_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entries(value: JsonValue, path: str = "") -> Iterator[Entry]:
    """The value, taken apart as far as no entry is longer than ENTRY_CHARS.

    Members that are short stay together: part of a mapping under the mapping's own path, part of a list under
    `path[first:end]`. Texts that are longer are cut, and say so.
    """
    if len(as_json(value)) <= ENTRY_CHARS:
        yield Entry(path=shown(path), value=value)
    elif isinstance(value, dict):
        for part in gathered(list(value.items())):
            (name, inner), *more = part
            if more or size_of(name, inner) <= ENTRY_CHARS:
                yield Entry(path=shown(path), value=dict(part))
            else:
                yield from entries(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for slice_ in gathered(list(enumerate(value))):
            (first, inner), *others = slice_
            if others or size_of(first, inner) <= ENTRY_CHARS:
                yield Entry(path=shown(f"{path}[{first}:{first + len(slice_)}]"), value=[each for _, each in slice_])
            else:
                yield from entries(inner, f"{path}[{first}]")
    else:
        text = str(value)
        yield Entry(path=shown(path), value=f"{text[:CUT_CHARS]}… ({len(text)} characters; whole in the resource)")


def gathered(members: Sequence[tuple[K, JsonValue]]) -> Iterator[list[tuple[K, JsonValue]]]:
    """Neighbours that together are no longer than ENTRY_CHARS; a longer one stands alone."""
    part: list[tuple[K, JsonValue]] = []
    room = ENTRY_CHARS
    for name, inner in members:
        size = size_of(name, inner)
        if part and size > room:
            yield part
            part, room = [], ENTRY_CHARS
        part.append((name, inner))
        room -= size
    if part:
        yield part


def size_of(name: str | int, inner: JsonValue) -> int:
    return len(as_json({str(name): inner}))


def shown(path: str) -> str:
    return path if len(path) <= PATH_CHARS else f"…{path[1 - PATH_CHARS :]}"


def pages_of(values: Sequence[Entry]) -> list[list[Entry]]:
    """Entries in their order, as many a page as PAGE_CHARS allow. At least one page."""
    pages: list[list[Entry]] = [[]]
    room = PAGE_CHARS
    for entry in values:
        size = len(as_json(entry.value)) + len(entry.path) + FRAME_CHARS
        if pages[-1] and size > room:
            pages.append([])
            room = PAGE_CHARS
        pages[-1].append(entry)
        room -= size
    return pages


def in_sections(result: JsonValue) -> dict[str, JsonValue]:
    """A methodology's results: what is one value each together as `facts`, then every table that has rows."""
    result = result if isinstance(result, dict) else {}
    lists = {name: value for name, value in result.items() if isinstance(value, list) and value}
    tables: dict[str, JsonValue] = {name: rows for name, rows in lists.items() if isinstance(rows[0], dict)}
    return {FACTS: {name: value for name, value in result.items() if name not in tables}, **tables}


def report_sections(markdown: str) -> dict[str, str]:
    """By heading of the second level, in order; what stands before the first is the beginning."""
    sections: dict[str, str] = {}
    name = BEGINNING
    for line in markdown.splitlines(keepends=True):
        if line.startswith("## "):
            name = line[3:].strip()
        sections[name] = sections.get(name, "") + line
    return sections


def text_pages(text: str) -> list[str]:
    """At line ends where there are any. At least one page."""
    pages = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), PAGE_CHARS):
            piece = line[start : start + PAGE_CHARS]
            if pages[-1] and len(pages[-1]) + len(piece) > PAGE_CHARS:
                pages.append("")
            pages[-1] += piece
    return pages


class NoSuchPart(InputError):
    """A section or page that there is none of; the message lists those there are."""


def require_section(section: str, known: Sequence[str]) -> str:
    """By name, upper or lower case. Raises NoSuchPart listing the sections."""
    for name in known:
        if name.casefold() == section.strip().casefold():
            return name
    raise NoSuchPart(f"section: {section[:100]!r} is none of {', '.join(known)}.")


def require_page(page: int, pages: int) -> int:
    """Counted from 1. Raises NoSuchPart."""
    if not 1 <= page <= pages:
        shown = "there is only page 1" if pages == 1 else f"there are pages 1 to {pages}"
        raise NoSuchPart(f"page: {page} is none; {shown}.")
    return page


# --- The tools -------------------------------------------------------------------------------------------------------

A_PAGE = 25
MOST_SECTIONS = 60
LONGEST_EPISODE = 250
MOST_TYPES, TOPIC_CHARS = 8, 200
"""Of a simulation in the list."""

RunIdArgument: TypeAlias = Annotated[str | None, Field(description=f"run_id or resume token; {COUNTING_RUN}")]
FormatsArgument: TypeAlias = Annotated[
    list[FileFormat],
    Field(description="also write the data so: sav (SPSS) and xlsx for people, parquet and csv for programs"),
]
Page: TypeAlias = Annotated[int, Field(ge=1, description="counted from 1")]


@with_parameters(ABOUT_A_RUN)
async def estimate_interviews(ctx: Ctx, sim_id: SimId, **asked: Any) -> Annotated[CallToolResult, shapes.EstimateState]:
    """What conduct_interviews with these arguments would cost: calls, tokens, money, time. Asks nobody anything."""
    with explain_errors(ctx) as server:

        def estimated() -> shapes.EstimateState:
            """In a loop of its own: it reads the whole simulation."""
            server.sandbox.simulation(sim_id)
            return estimate_state(asyncio.run(enquete.aestimate(sim_id, **server.sandbox.given, **asked)))

        state = await run_in_thread(estimated)
        return answer(state, estimate_text(state))


def get_interview_results(
    ctx: Ctx,
    sim_id: SimId,
    methodology: Annotated[str, Field(description="as in the run's stages: longitudinal, delphi, …")],
    section: Annotated[str | None, Field(description="one of the sections; without it, their list")] = None,
    page: Page = 1,
    run_id: RunIdArgument = None,
    language: Annotated[
        Spoken, Field(description="of the sentences and labels; what was said stays as it was")
    ] = CALLER,
) -> Annotated[CallToolResult, shapes.ResultsState]:
    """Findings of one methodology. Call it without a section first: it says them in ten sentences and lists the
    sections."""
    with explain_errors(ctx) as server:
        run, findings = findings_of(server.sandbox, sim_id, methodology, run_id)
        parts = in_sections(shapes.rounded(findings))
        pages: list[list[Entry]] = [[]]
        if section is not None:
            section = require_section(section, list(parts))
            pages = pages_of(list(entries(parts[section])))
        chosen = pages[require_page(page, len(pages)) - 1]
        state = shapes.ResultsState(
            run_id=run.run_id, methodology=methodology, section=section, page=page, pages=len(pages), findings=[],
            sections=[], entries=chosen, labels=shapes.labels(run, chosen, language),
            resource_uri=uri(sim_id, run.run_id, "results", methodology),
        )  # fmt: skip
        if section is None:
            state.findings = shapes.finding_lines(run, methodology, findings, language)
            state.digest = shapes.digest(run, methodology, findings, language)
            state.sections = [
                SectionOf(name=name, chars=len(as_json(value)), pages=len(pages_of(list(entries(value)))))
                for name, value in parts.items()
            ]
        return answer(state, results_text(state, synthetic=run.record.main.respondent == "synthetic"))


def results_text(state: shapes.ResultsState, *, synthetic: bool) -> str:
    where = f", section {state.section}" if state.section else ""
    lines = [f"{state.methodology} of {state.run_id}{where}, page {state.page} of {state.pages}."]
    lines += [SYNTHETIC] if synthetic else []
    lines += [f"Found: {finding}" for finding in state.findings]
    lines += [(f"{entry.path}: " if entry.path else "") + as_json(entry.value) for entry in state.entries]
    lines += [f"{id_}: {label}" for id_, label in state.labels.items()]
    return "\n".join([*lines, *sections_text(state.sections), f"Everything: {state.resource_uri}"])


def sections_text(sections: list[SectionOf]) -> list[str]:
    listed = "; ".join(f"{section.name} ({section.pages})" for section in sections)
    return [f"Sections (pages): {listed}"] if sections else []


def get_interview_report(
    ctx: Ctx,
    sim_id: SimId,
    section: Annotated[str | None, Field(description="one of the report's headings; without it, their list")] = None,
    page: Page = 1,
    run_id: RunIdArgument = None,
) -> Annotated[CallToolResult, shapes.ReportState]:
    """The report, in Markdown and in the run's language. Call it without a section first: it gives page one and the
    contents."""
    with explain_errors(ctx) as server:
        run = server.sandbox.finished(sim_id, run_id)
        parts = report_sections(report_of(server.sandbox, run))
        sections = [SectionOf(name=name, chars=len(text), pages=len(text_pages(text))) for name, text in parts.items()]
        wanted = require_section(section, list(parts)) if section else None
        pages = text_pages(parts[wanted] if wanted else run.brief)
        markdown = pages[require_page(page, len(pages)) - 1]
        state = shapes.ReportState(
            run_id=run.run_id, section=wanted, page=page, pages=len(pages),
            sections=sections[:MOST_SECTIONS] if section is None else [], markdown=markdown,
            resource_uri=uri(sim_id, run.run_id, "report"),
        )  # fmt: skip
        return answer(state, "\n".join([markdown, *sections_text(state.sections), f"Everything: {state.resource_uri}"]))


def list_simulations(ctx: Ctx, page: Page = 1) -> Annotated[CallToolResult, shapes.SimulationsState]:
    """The simulations that can be interviewed, and the latest run of each."""
    with explain_errors(ctx) as server:
        known = server.sandbox.simulations()
        pages = [known[start : start + A_PAGE] for start in range(0, len(known), A_PAGE)] or [[]]
        shown = [simulation_state(server, each) for each in pages[require_page(page, len(pages)) - 1]]
        state = shapes.SimulationsState(simulations=shown, total=len(known), page=page, pages=len(pages))
        lines = [f"{len(known)} simulations, page {page} of {len(pages)}.", *map(simulation_text, shown)]
        return answer(state, "\n".join(lines))


def simulation_state(server: ServerState, known: KnownSimulation) -> shapes.SimulationState:
    row = simulation_row(server.sandbox, known, server.task_of, server.mask)
    latest = {"latest_run_id": row.runs[0].run_id, "latest_status": row.runs[0].status} if row.runs else {}
    types = dict(list(row.types.items())[:MOST_TYPES])
    facts = {**vars(row), "topic": cut(row.topic, TOPIC_CHARS), "types": types, "runs": len(row.runs)}
    return shapes.SimulationState(**facts, **latest)


def simulation_text(state: shapes.SimulationState) -> str:
    types = ", ".join(f"{kind} {n}" for kind, n in state.types.items())
    end = "completed" if state.completed else f"not completed ({state.status})"
    latest = f", latest {state.latest_run_id} ({state.latest_status})" if state.latest_run_id else ""
    latest = f", cannot be used: {state.problem}" if state.problem else latest
    about = f"{state.topic or 'no topic stated'}; {state.agents} agents ({types}); {end}"
    return f"- {state.sim_id}: {about}; {state.runs} runs{latest}"


def list_instruments(ctx: Ctx) -> Annotated[CallToolResult, shapes.InstrumentsState]:
    """The methodologies that can be named in conduct_interviews: topic, languages, items, what each answers, whether it
    needs a T0; and the instruments of this server's own folder."""
    with explain_errors(ctx) as server:
        rows = instrument_rows(Path(server.sandbox.given["shelf"]), server.mask)
        state = shapes.InstrumentsState(
            instruments=[
                shapes.InstrumentState(
                    **vars(row), resource_uri="" if row.file else f"enquete://instruments/{row.methodology}"
                )
                for row in rows
            ]
        )
        return answer(state, "\n".join(map(instrument_text, state.instruments)))


def instrument_text(row: shapes.InstrumentState) -> str:
    before = "; asked before the simulation, too (T0)" if row.needs_t0 else ""
    about = f"{row.answers} Topic: {row.topic}; {row.items} items in {', '.join(row.languages)}{before}"
    if row.file:
        return f"- file {row.file} for {row.methodology}: {row.problem or about}"
    return f"- {row.methodology}: {about} ({row.resource_uri})"


@with_parameters({name: taken(MemorySearch)[name] for name in ("query", "agent")})
def search_memory(ctx: Ctx, sim_id: SimId, **asked: Any) -> Annotated[CallToolResult, shapes.EpisodesState]:
    """What agents said in the interviews of a simulation, found by words: a summary for each agent, methodology and
    phase."""
    with explain_errors(ctx) as server:
        wanted = MemorySearch(**sent(asked), limit=A_PAGE)
        records, warning = search_episodes(server.sandbox, sim_id, wanted)
        episodes = [Episode.of(record, LONGEST_EPISODE) for record in records]
        state = shapes.EpisodesState(warning=warning, episodes=episodes)
        lines = [*filter(None, [state.warning]), *(f"- {episode.text}" for episode in state.episodes)]
        return answer(state, "\n".join(lines) or "Nothing that was said fits.")


def export_responses(
    ctx: Ctx,
    sim_id: SimId,
    run_id: RunIdArgument = None,
    formats: FormatsArgument = [],  # noqa: B006 - the SDK wants a list, which nobody changes
) -> Annotated[CallToolResult, shapes.ExportState]:
    """Write the run's data files and report again from its ledger, and say where they can be read. Asks nobody."""
    with explain_errors(ctx) as server:
        run = server.sandbox.finished(sim_id, run_id)
        server.sandbox.require_inside(run.path)
        folder = enquete.export(sim_id, run.run_id, root=str(server.sandbox.root)) / "exports"
        with (folder / "all_responses.csv").open(encoding="utf-8-sig", newline="") as opened:
            reader = csv.reader(opened)
            columns, rows = next(reader, []), sum(1 for _ in reader)
        if formats:
            run.export(*formats)
        address = partial(uri, sim_id, run.run_id, "exports")
        files = [
            shapes.ExportedFile(name=name, bytes=file.stat().st_size, resource_uri=address(name))
            for name, file in exported(folder).items()
        ]
        state = shapes.ExportState(run_id=run.run_id, rows=rows, columns=columns, files=files)
        lines = [f"{rows:,} rows, one an answer. Files of {run.run_id}:"]
        lines += [f"- {file.name}, {file.bytes:,} bytes: {file.resource_uri}" for file in files]
        return answer(state, "\n".join([*lines, "Columns: " + ", ".join(columns)]))


def exported(folder: Path) -> dict[str, Path]:
    """Files of a run's exports, by their path below it."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix(): file for file in sorted(files)}
