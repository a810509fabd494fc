"""MCP tools that ask nobody anything: estimates, results, report, lists, exports."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools.

import asyncio
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp.types import CallToolResult
from pydantic import Field, JsonValue

import enquete
from enquete.interfaces.mcp.leading import CALLER, digest, labels, lines, rounded
from enquete.interfaces.mcp.running import ABOUT_A_RUN, SimId
from enquete.interfaces.mcp.server_state import Ctx, ServerState, told
from enquete.interfaces.mcp.shapes import (
    AskedState,
    Entry,
    Episode,
    EpisodesState,
    EstimateState,
    ExportedFile,
    ExportState,
    InstrumentsState,
    InstrumentState,
    OwnInstrumentState,
    ReportState,
    ResultsState,
    SectionOf,
    SimulationsState,
    SimulationState,
    answer,
)
from enquete.interfaces.mcp.states import SYNTHETIC, cut, estimate_state, estimate_text, uri
from enquete.interfaces.service.declared import taking
from enquete.interfaces.service.left_behind import findings_of, report_of
from enquete.interfaces.service.status import status_of
from enquete.nodes.estimate import Estimate
from enquete.simulations.locate import Known
from enquete.state.asking import Spoken
from enquete.state.data_formats import FileFormat
from enquete.state.errors import EnqueteError, InputError, SettingsError
from enquete.state.visible_text import warning
from enquete.study.listing import Asked, own_instruments, shipped_instruments
from enquete.study.remembered import search_memory as memory_search
from enquete.study.sandbox import OutsideRoot
from enquete.study.simulation_list import simulation_facts
from enquete.study.threads import run_in_thread

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
            if more or fits(name, inner):
                yield Entry(path=shown(path), value=dict(part))
            else:
                yield from entries(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for slice_ in gathered(list(enumerate(value))):
            (first, inner), *others = slice_
            if others or fits(first, inner):
                yield Entry(path=shown(f"{path}[{first}:{first + len(slice_)}]"), value=[each for _, each in slice_])
            else:
                yield from entries(inner, f"{path}[{first}]")
    else:
        text = str(value)
        short = f"{text[:CUT_CHARS]}… ({len(text)} characters; whole in the resource)"
        yield Entry(path=shown(path), value=short)


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


def fits(name: str | int, inner: JsonValue) -> bool:
    return size_of(name, inner) <= ENTRY_CHARS


def shown(path: str) -> str:
    return path if len(path) <= PATH_CHARS else f"…{path[1 - PATH_CHARS :]}"


def pages_of(found: Sequence[Entry]) -> list[list[Entry]]:
    """Entries in their order, as many a page as PAGE_CHARS allow. At least one page."""
    pages: list[list[Entry]] = [[]]
    room = PAGE_CHARS
    for entry in found:
        size = len(as_json(entry.value)) + len(entry.path) + FRAME_CHARS
        if pages[-1] and size > room:
            pages.append([])
            room = PAGE_CHARS
        pages[-1].append(entry)
        room -= size
    return pages


def in_sections(found: JsonValue) -> dict[str, JsonValue]:
    """A methodology's results: what is one value each together as `facts`, then every table that has rows."""
    found = found if isinstance(found, dict) else {}
    tables = {
        name: value for name, value in found.items() if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    return {FACTS: {name: value for name, value in found.items() if name not in tables}, **tables}


def sections_of(results: Mapping[str, JsonValue]) -> list[SectionOf]:
    return [
        SectionOf(name=name, chars=len(as_json(value)), pages=len(pages_of(list(entries(value)))))
        for name, value in results.items()
    ]


def report_sections(markdown: str) -> dict[str, str]:
    """By heading of the second level, in order; what stands before the first is the beginning."""
    found: dict[str, str] = {}
    name = BEGINNING
    for line in markdown.splitlines(keepends=True):
        if line.startswith("## "):
            name = line[3:].strip()
        found[name] = found.get(name, "") + line
    return found


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


A_PAGE = 25
MOST_SECTIONS = 60
LONGEST_EPISODE = 250
MOST_TYPES, TOPIC_CHARS = 8, 200
"""Of a simulation in the list."""

RunIdArgument: TypeAlias = Annotated[
    str | None, Field(description="run_id or resume token; else the canonical run, else the latest")
]
FormatsArgument: TypeAlias = Annotated[
    list[FileFormat],
    Field(description="also write the data so: sav (SPSS) and xlsx for people, parquet and csv for programs"),
]
Page: TypeAlias = Annotated[int, Field(ge=1, description="counted from 1")]


@taking(ABOUT_A_RUN)
async def estimate_interviews(ctx: Ctx, sim_id: SimId, **asked: Any) -> Annotated[CallToolResult, EstimateState]:
    """What conduct_interviews with these arguments would cost: calls, tokens, money, time. Asks nobody anything."""
    with told(ctx) as desk:
        state = estimate_state(await run_in_thread(lambda: _estimated(desk, sim_id, asked)))
        return answer(state, estimate_text(state))


def _estimated(desk: ServerState, sim_id: str, asked: dict[str, Any]) -> Estimate:
    """In a loop of its own: it reads the whole simulation."""
    desk.sandbox.simulation(sim_id)
    return asyncio.run(enquete.aestimate(sim_id, **desk.sandbox.given, **asked))


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
) -> Annotated[CallToolResult, ResultsState]:
    """Findings of one methodology. Call it without a section first: it says them in ten sentences and lists the sections."""
    with told(ctx) as desk:
        run, found = findings_of(desk.sandbox, sim_id, methodology, run_id)
        parts = in_sections(rounded(found))
        sections = sections_of(parts)
        pages: list[list[Entry]] = [[]]
        if section is not None:
            section = require_section(section, list(parts))
            pages = pages_of(list(entries(parts[section])))
        chosen = pages[require_page(page, len(pages)) - 1]
        state = ResultsState(
            run_id=run.run_id,
            methodology=methodology,
            section=section,
            page=page,
            pages=len(pages),
            findings=lines(run, methodology, found, language) if section is None else [],
            digest=digest(run, methodology, found, language) if section is None else {},
            sections=sections if section is None else [],
            entries=chosen,
            labels=labels(run, chosen, language),
            resource_uri=uri(sim_id, run.run_id, "results", methodology),
        )
        return answer(state, results_text(state, synthetic=run.record.main.respondent == "synthetic"))


def results_text(state: ResultsState, *, synthetic: bool) -> str:
    where = f", section {state.section}" if state.section else ""
    said = [f"{state.methodology} of {state.run_id}{where}, page {state.page} of {state.pages}."]
    said += [SYNTHETIC] if synthetic else []
    said += [f"Found: {finding}" for finding in state.findings]
    said += [f"{entry.path}: {as_json(entry.value)}" if entry.path else as_json(entry.value) for entry in state.entries]
    said += [f"{id_}: {label}" for id_, label in state.labels.items()]
    return "\n".join([*said, *sections_text(state.sections), f"Everything: {state.resource_uri}"])


def sections_text(sections: list[SectionOf]) -> list[str]:
    if not sections:
        return []
    return ["Sections (pages): " + "; ".join(f"{one.name} ({one.pages})" for one in sections)]


def get_interview_report(
    ctx: Ctx,
    sim_id: SimId,
    section: Annotated[str | None, Field(description="one of the report's headings; without it, their list")] = None,
    page: Page = 1,
    run_id: RunIdArgument = None,
) -> Annotated[CallToolResult, ReportState]:
    """The report, in Markdown and in the run's language. Call it without a section first: it gives page one and the contents."""
    with told(ctx) as desk:
        run = desk.sandbox.finished(sim_id, run_id)
        parts = report_sections(report_of(desk.sandbox, run))
        sections = [SectionOf(name=name, chars=len(text), pages=len(text_pages(text))) for name, text in parts.items()]
        wanted = require_section(section, list(parts)) if section else None
        pages = text_pages(parts[wanted] if wanted else run.brief)
        markdown = pages[require_page(page, len(pages)) - 1]
        state = ReportState(
            run_id=run.run_id,
            section=wanted,
            page=page,
            pages=len(pages),
            sections=sections[:MOST_SECTIONS] if section is None else [],
            markdown=markdown,
            resource_uri=uri(sim_id, run.run_id, "report"),
        )
        return answer(state, "\n".join([markdown, *sections_text(state.sections), f"Everything: {state.resource_uri}"]))


def list_simulations(ctx: Ctx, page: Page = 1) -> Annotated[CallToolResult, SimulationsState]:
    """The simulations that can be interviewed, and the latest run of each."""
    with told(ctx) as desk:
        known = desk.sandbox.simulations()
        pages = [known[start : start + A_PAGE] for start in range(0, len(known), A_PAGE)] or [[]]
        shown = [simulation_state(desk, each) for each in pages[require_page(page, len(pages)) - 1]]
        state = SimulationsState(simulations=shown, total=len(known), page=page, pages=len(pages))
        lines = [f"{len(known)} simulations, page {page} of {len(pages)}."]
        lines += [f"- {one.sim_id}: {simulation_text(one)}; {one.runs} runs{latest_text(one)}" for one in shown]
        return answer(state, "\n".join(lines))


def about_simulation(known: Known) -> dict[str, Any]:
    """Empty where its files cannot be read: estimate_interviews says why."""
    try:
        facts = simulation_facts(known.path)
    except EnqueteError:
        return {}
    most = dict(list(facts.types.items())[:MOST_TYPES])
    return {**vars(facts), "topic": cut(facts.topic, TOPIC_CHARS), "types": most}


def simulation_text(one: SimulationState) -> str:
    types = ", ".join(f"{kind} {n}" for kind, n in one.types.items())
    end = "completed" if one.completed else f"not completed ({one.status})"
    return f"{one.topic or 'no topic stated'}; {one.agents} agents ({types}); {end}"


WORDS = {"damaged": "damaged", "newer": "of a newer version"}


def simulation_state(desk: ServerState, known: Known) -> SimulationState:
    try:
        runs = desk.sandbox.runs(known.sim_id)
    except OutsideRoot as error:
        return SimulationState(sim_id=known.sim_id, runs=0, blocked=error.fact)
    found = SimulationState(sim_id=known.sim_id, runs=len(runs), **about_simulation(known))
    if runs:
        found.latest_run_id = runs[-1].run_id
        if runs[-1].status in WORDS:
            found.blocked = f"run {runs[-1].run_id} cannot be read: its ledger is {WORDS[runs[-1].status]}"
        else:
            run = enquete.load_run(known.sim_id, runs[-1].run_id, root=str(desk.sandbox.root))
            found.latest_status = status_of(run, desk.task_of(run))
    return found


def latest_text(one: SimulationState) -> str:
    if one.blocked:
        return f", cannot be used: {one.blocked}"
    return f", latest {one.latest_run_id} ({one.latest_status})" if one.latest_run_id else ""


def list_instruments(ctx: Ctx) -> Annotated[CallToolResult, InstrumentsState]:
    """The methodologies that can be named in conduct_interviews: topic, languages, items, what each answers, whether it needs a T0;
    and the instruments of this server's own folder."""
    with told(ctx) as desk:
        titles = enquete.list_instruments()
        state = InstrumentsState(
            instruments=[
                InstrumentState(
                    name=one.methodology,
                    title_en=titles[one.methodology].get("en", one.methodology),
                    title_de=titles[one.methodology].get("de", one.methodology),
                    packs=list(one.packs),
                    resource_uri=f"enquete://instruments/{one.methodology}",
                    **asked_of(one),
                )
                for one in shipped_instruments()
            ],
            own=[
                OwnInstrumentState(
                    file=one.file, methodology=one.methodology, problem=desk.mask(one.problem), **asked_of(one)
                )
                for one in own_instruments(Path(desk.sandbox.given["shelf"]))
            ],
        )
        lines = [f"- {one.name}: {instrument_text(one)} ({one.resource_uri})" for one in state.instruments]
        lines += [
            f"- file {one.file} for {one.methodology}: {one.problem or instrument_text(one)}" for one in state.own
        ]
        return answer(state, "\n".join(lines))


def asked_of(one: Asked) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ("topic", "items", "answers", "needs_t0")} | {
        "languages": list(one.languages)
    }


def instrument_text(one: AskedState) -> str:
    before = "; asked before the simulation, too (T0)" if one.needs_t0 else ""
    return f"{one.answers} Topic: {one.topic}; {one.items} items in {', '.join(one.languages)}{before}"


def search_memory(
    ctx: Ctx,
    sim_id: SimId,
    query: Annotated[
        str, Field(max_length=500, description="matched by their beginnings; the newest without any")
    ] = "",
    agent: Annotated[str, Field(max_length=200, description="only of this agent, by name or id")] = "",
) -> Annotated[CallToolResult, EpisodesState]:
    """What agents said in the interviews of a simulation, found by words: a summary for each agent, methodology and phase."""
    with told(ctx) as desk:
        desk.sandbox.simulation(sim_id)
        found = memory_search(sim_id, query, agent=agent, limit=A_PAGE, root=str(desk.sandbox.root))
        state = EpisodesState(
            warning=warning([one.respondent for one in found]),
            episodes=[
                Episode(
                    id=one.id, text=one.text[:LONGEST_EPISODE], agent=one.agent_name, methodology=one.methodology,
                    phase=one.phase, run_id=one.run_id, respondent=one.respondent, model=one.model,
                )
                for one in found
            ],
        )  # fmt: skip
        lines = [*filter(None, [state.warning]), *(f"- {one.text}" for one in state.episodes)]
        return answer(state, "\n".join(lines) or "Nothing that was said fits.")


def export_responses(
    ctx: Ctx,
    sim_id: SimId,
    run_id: RunIdArgument = None,
    formats: FormatsArgument = [],  # noqa: B006 - the SDK wants a list, which nobody changes
) -> Annotated[CallToolResult, ExportState]:
    """Write the run's data files and report again from its ledger, and say where they can be read. Asks nobody."""
    with told(ctx) as desk:
        run = desk.sandbox.finished(sim_id, run_id)
        desk.sandbox.require_inside(run.path)
        folder = enquete.export(sim_id, run.run_id, root=str(desk.sandbox.root)) / "exports"
        rows, columns = shape_of(folder / "all_responses.csv")
        if formats:
            run.export(*formats)
        files = [
            ExportedFile(name=name, bytes=f.stat().st_size, resource_uri=uri(sim_id, run.run_id, "exports", name))
            for name, f in exported(folder).items()
        ]
        state = ExportState(run_id=run.run_id, rows=rows, columns=columns, files=files)
        lines = [f"{rows:,} rows, one an answer. Files of {run.run_id}:"]
        lines += [f"- {file.name}, {file.bytes:,} bytes: {file.resource_uri}" for file in files]
        return answer(state, "\n".join([*lines, "Columns: " + ", ".join(columns)]))


def exported(folder: Path) -> dict[str, Path]:
    """Files of a run's exports, by their path below it."""
    files = (one for one in folder.rglob("*") if one.is_file() and not one.name.startswith("."))
    return {one.relative_to(folder).as_posix(): one for one in sorted(files)}


def shape_of(path: Path) -> tuple[int, list[str]]:
    """Rows without the head, and the columns."""
    if not path.is_file():
        raise SettingsError(f"{path.name} was not written")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        columns = next(rows, [])
        return sum(1 for _ in rows), columns
