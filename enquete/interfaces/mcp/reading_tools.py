"""The tools that read what a run found: its report, its findings, its answers. They ask nobody."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools.

import difflib
import io
from collections.abc import Sequence
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field, JsonValue

from enquete.interfaces.mcp import finding_rows as findings
from enquete.interfaces.mcp.finding_rows import CALLER
from enquete.interfaces.mcp.paging import (
    entries,
    in_sections,
    pages_of,
    report_sections,
    require_page,
    require_section,
    text_pages,
)
from enquete.interfaces.mcp.results import (
    AnswerRow,
    AnswersPage,
    MethodologyFindings,
    ReportPage,
    ResultsPage,
    SectionRow,
)
from enquete.interfaces.mcp.run_states import find_run, run_facts
from enquete.interfaces.mcp.server_context import Ctx, ServerState, explain_errors, resource_uri
from enquete.interfaces.mcp.tool_arguments import CallerLanguage, Page, RunId, SimId
from enquete.interfaces.views import NothingYet, findings_of, report_of, retry_read
from enquete.interfaces.web.answers import AnswerTable, ItemWording, Key, Where
from enquete.reports.run_reading import read_result
from enquete.state.errors import InputError
from enquete.study.background import run_in_thread
from enquete.study.run import Run

MAX_SECTIONS = 60
MAX_PAGE_CHARS = 6000
"""Of answers on a page; a single longer one is shown in full."""
ROW_CHARS = 200
"""About what stands around an answer's own words."""
MAX_KNOWN_SHOWN = 20


async def read_report(
    ctx: Ctx,
    sim_id: SimId,
    run_id: RunId = "",
    section: Annotated[str, Field(description="a heading; without it page one and the contents")] = "",
    page: Page = 1,
) -> CallToolResult:
    """Read a run's report, in Markdown and in the run's language. Example: {"sim_id": "sim_683e8059ab27"}"""
    with explain_errors(ctx) as server:
        return await run_in_thread(
            lambda: retry_read(lambda: _report_page(server, sim_id, run_id, section, page)).as_call_result()
        )


def _report_page(server: ServerState, sim_id: str, run_id: str, section: str, page: int) -> ReportPage:
    run = find_run(server, sim_id, run_id)
    parts = report_sections(report_of(server.sandbox, run))
    wanted = require_section(section, list(parts)) if section else None
    pages = text_pages(parts[wanted] if wanted else run.brief)
    contents = [SectionRow(name=name, pages=len(text_pages(text))) for name, text in parts.items()]
    return ReportPage(
        **run_facts(run, sim_id), section=wanted, page=page, pages=len(pages),
        sections=[] if section else contents[:MAX_SECTIONS], markdown=pages[require_page(page, len(pages)) - 1],
        resource_uri=resource_uri(sim_id, run.run_id, "report"),
    )  # fmt: skip


async def read_results(
    ctx: Ctx,
    sim_id: SimId,
    run_id: RunId = "",
    methodology: Annotated[str, Field(description="one of the run's; all unless named")] = "",
    section: Annotated[str, Field(description="one of the methodology's sections")] = "",
    page: Page = 1,
    language: CallerLanguage = CALLER,
) -> CallToolResult:
    """Read what a run found: sentences of all methodologies; with one, its sections; with a section, a page of it.

    Example: {"sim_id": "sim_683e8059ab27", "methodology": "delphi"}
    """
    with explain_errors(ctx) as server:

        def read() -> ResultsPage:
            run = find_run(server, sim_id, run_id)
            if not methodology:
                if section:
                    raise InputError("section: say of which methodology")
                return _all_findings(server, run, sim_id, language)
            return _findings_page(server, run, sim_id, methodology, section, page, language)

        return await run_in_thread(lambda: retry_read(read).as_call_result())


def _all_findings(server: ServerState, run: Run, sim_id: str, language: str) -> ResultsPage:
    found = []
    for name in run.record.methods:
        try:
            _, result = findings_of(server.sandbox, sim_id, name, run.run_id)
        except NothingYet:
            continue
        lines = findings.finding_lines(run, name, result, language)
        found.append(MethodologyFindings(methodology=name, findings=lines))
    if not found:
        raise NothingYet(f"run {run.run_id} has no results yet")
    return ResultsPage(**run_facts(run, sim_id), methodologies=found)


def _findings_page(
    server: ServerState, run: Run, sim_id: str, methodology: str, section: str, page: int, language: str
) -> ResultsPage:
    _, result = findings_of(server.sandbox, sim_id, methodology, run.run_id)
    parts = in_sections(findings.rounded(result))
    facts = run_facts(run, sim_id)
    uri = resource_uri(sim_id, run.run_id, "results", methodology)
    if not section:
        require_page(page, 1)
        found = MethodologyFindings(
            methodology=methodology, findings=findings.finding_lines(run, methodology, result, language),
            digest=findings.digest(run, methodology, result, language), sections=_contents(parts),
        )  # fmt: skip
        return ResultsPage(**facts, methodologies=[found], resource_uri=uri)

    wanted = require_section(section, list(parts))
    pages = pages_of(list(entries(parts[wanted])))
    chosen = pages[require_page(page, len(pages)) - 1]
    named = MethodologyFindings(methodology=methodology, findings=[])
    return ResultsPage(
        **facts, methodologies=[named], section=wanted, page=page, pages=len(pages), entries=chosen,
        labels=findings.labels(run, chosen, language), resource_uri=uri,
    )  # fmt: skip


def _contents(parts: dict[str, JsonValue]) -> list[SectionRow]:
    return [SectionRow(name=name, pages=len(pages_of(list(entries(value))))) for name, value in parts.items()]


async def read_answers(
    ctx: Ctx,
    sim_id: SimId,
    run_id: RunId = "",
    methodology: Annotated[str, Field(description="only of this one")] = "",
    item: Annotated[str, Field(description="only to this item, by id")] = "",
    agent: Annotated[str, Field(description="only of this agent, by name or id")] = "",
    group: Annotated[str, Field(description="only of this stakeholder type")] = "",
    words: Annotated[str, Field(max_length=500, description='all of them; "two words" as a whole')] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: Annotated[str, Field(description="of the page before")] = "",
) -> Annotated[CallToolResult, AnswersPage]:
    """Read answers of a run in full, to quote or count them: who said what to which item, each with its id.

    Example: {"sim_id": "sim_683e8059ab27", "item": "q2", "words": "fees", "limit": 3}
    """
    with explain_errors(ctx) as server:

        def read() -> AnswersPage:
            run = find_run(server, sim_id, run_id)
            table = _read_table(server, run)
            where = _where(table, methodology=methodology, item=item, agent=agent, group=group, words=words)
            return _answers_page(run, table, where, sim_id, limit, cursor)

        return await run_in_thread(lambda: retry_read(read).as_call_result())


def _read_table(server: ServerState, run: Run) -> AnswerTable:
    """Return the run's answers as they were written at its last stop; while it goes on, those that are there."""
    server.sandbox.require_inside(run.path)
    file = run.path / "exports" / "all_responses.csv"
    if file.is_file() and not run.is_driven:
        return AnswerTable.read(file)
    return AnswerTable.read(io.StringIO(run.all_responses.to_csv(index=False)))


def _where(
    table: AnswerTable,
    *,
    methodology: str,
    item: str,
    agent: str,
    group: str,
    words: str,
) -> Where:
    """Return which answers are meant. Raises InputError for a value that occurs nowhere, with those that do."""
    chosen: dict[str, tuple[str, ...]] = {}
    for argument, column, value in (
        ("methodology", "methodology", methodology), ("item", "item_id", item), ("group", "stakeholder_type", group),
    ):  # fmt: skip
        if value:
            chosen[column] = (_require_known(argument, value, table.kinds(column)),)
    if agent:
        chosen["participant"] = _participants(table, agent)
    return Where(chosen=chosen, words=words)


def _participants(table: AnswerTable, agent: str) -> tuple[str, ...]:
    if agent in table.kinds("participant"):
        return (agent,)
    name = _require_known("agent", agent, table.kinds("agent_name"))
    rows = table.frame[table.frame["agent_name"].eq(name)]
    return tuple(str(participant) for participant in rows["participant"].unique())


def _require_known(argument: str, value: str, known: Sequence[str]) -> str:
    """Return the value as the table writes it, whatever its capitals."""
    for each in known:
        if each.casefold() == value.strip().casefold():
            return each
    near = difflib.get_close_matches(value, known, n=MAX_KNOWN_SHOWN) or list(known)[:MAX_KNOWN_SHOWN]
    more = f" and {len(known) - len(near)} more" if len(known) > len(near) else ""
    raise InputError(f"{argument}: {value[:100]!r} is none of this run's: {', '.join(near)}{more}")


def _answers_page(run: Run, table: AnswerTable, where: Where, sim_id: str, limit: int, cursor: str) -> AnswersPage:
    places = [int(place) for place in table.places(where)]
    after = _place_of_cursor(table, cursor) if cursor else -1
    left = [place for place in places if place > after]

    rows: list[AnswerRow] = []
    questions: dict[str, str] = {}
    wordings = _wordings(run)
    room = MAX_PAGE_CHARS
    for row in table.rows(left[:limit]):
        key = Key.of(row)
        wording = wordings.get((key.methodology, key.item))
        answer = _answer_row(row, key, wording)
        question = wording.text if wording and key.item not in questions else ""
        room -= ROW_CHARS + len(answer.words) + len(answer.choice) + len(question)
        if rows and room < 0:
            break
        rows.append(answer)
        if question:
            questions[key.item] = question
    is_last = len(rows) == len(left)
    return AnswersPage(
        **run_facts(run, sim_id), matching=len(places), answers=rows, questions=questions,
        cursor=None if is_last or not rows else rows[-1].answer_id,
    )  # fmt: skip


def _place_of_cursor(table: AnswerTable, cursor: str) -> int:
    try:
        place = table.place_of(Key.parse(cursor))
    except ValueError:
        place = None
    if place is None:
        raise InputError(f"cursor: {cursor[:100]!r} is none of this run; leave it out for the first page")
    return place


def _answer_row(row: dict[str, object], key: Key, wording: ItemWording | None) -> AnswerRow:
    value = float(row["value"]) if isinstance(row["value"], int | float) else None
    choice = str(row["chosen"] or "")
    if not choice and value is not None and wording is not None:
        choice = wording.labels.get(f"{value:g}", "")
    return AnswerRow(
        answer_id=str(key), agent=str(row["agent_name"]), group=str(row["stakeholder_type"]), item=key.item,
        phase=key.phase, value=value, choice=choice, words=str(row["text"] or ""), status=str(row["status"]),
    )  # fmt: skip


def _wordings(run: Run) -> dict[tuple[str, str], ItemWording]:
    listed = read_result(run.path / "exports" / "codebook.json").get("items", [])
    wordings = (ItemWording.of(entry, run.record.language) for entry in listed)
    return {(wording.methodology, wording.item_id): wording for wording in wordings}
