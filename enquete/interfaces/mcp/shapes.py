"""What the tools return: small enough for a context window, the rest by resource URI (see MOST_CHARS); and what a run
found in sentences of the caller's language.

Counts are of agents or answers, money is US dollars, None is unknown.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Annotated

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field, JsonValue

from enquete.analysis.diagnostics import NOT_USABLE
from enquete.interfaces.views import Episode, InstrumentRow, ListedSimulation, RunProgress, StatusWord
from enquete.locale import N_, tell
from enquete.reports.analyses import read_results
from enquete.reports.context import TYPE_NAMES
from enquete.reports.evaluation import Evaluation, evaluations
from enquete.reports.findings import stated_of, tested
from enquete.reports.run_reading import read_result
from enquete.reports.views import Names
from enquete.runs.estimate import Range
from enquete.state.asking import Language, Spoken
from enquete.study.run import Run

MOST_CHARS = 10_000
"""No answer of a tool is longer, neither its text nor its structured content as JSON: about 2,500 tokens."""


class RunState(RunProgress):
    """How far a run is and what to call next."""

    status: StatusWord
    shown: Annotated[bool, Field(description="it had been completed before; nobody was asked by this call")] = False
    calls: int
    tokens: int
    expected_tokens: Annotated[int | None, Field(description="likely in the end; None where nothing was estimated")]
    findings: Annotated[list[str], Field(description="page one of the report; empty before the first stop")]
    flags: Annotated[list[str], Field(description="what must be known before the data are used; the first few")]
    flags_total: int
    report_uri: Annotated[str | None, Field(description="resource; None before there is a report")]
    next: str


class EstimatePart(BaseModel):
    """Tokens of one claim on the budget."""

    claim: str
    tokens: Range


class EstimateState(BaseModel):
    """What conduct_interviews with the same arguments would cost. Ranges: least, likely, most."""

    sim_id: str
    agents: int
    respondent: str
    calls: Range
    tokens: Range
    usd: Annotated[Range | None, Field(description="None where a price is unknown")]
    unpriced: Annotated[list[str], Field(description="models whose price is unknown")]
    seconds: Annotated[Range | None, Field(description="None where a local model answers: nobody knows how fast it is")]
    cap_tokens: int
    cap_usd: float | None
    exceeds: Annotated[str, Field(description="tokens or usd where the upper end is above that cap, else empty")]
    parts: list[EstimatePart]
    notes: list[str]


class Entry(BaseModel):
    """A value of the findings. `path`: where it stands below the section, empty for the section itself."""

    path: str
    value: JsonValue


class SectionOf(BaseModel):
    """A section that can be asked for."""

    name: str
    chars: Annotated[int, Field(description="length as JSON or Markdown")]
    pages: int


class ResultsState(BaseModel):
    """Without a section: ten sentences of findings, a digest of its tables, and the sections. With one: a page of it,
    numbers with two decimals."""

    run_id: str
    methodology: str
    section: str | None
    page: int
    pages: int
    findings: Annotated[list[str], Field(description="the methodology's findings as sentences; without a section")]
    digest: Annotated[
        dict[str, JsonValue], Field(description="facts and the leading rows of its tables; without a section")
    ] = {}
    sections: list[SectionOf]
    entries: list[Entry]
    labels: Annotated[dict[str, str], Field(description="what ids of agents and items in the entries stand for")] = {}
    resource_uri: Annotated[str, Field(description="all findings of the methodology as JSON, unrounded")]


class ReportState(BaseModel):
    """Without a section: page one, and the contents. With one: a page of it, as Markdown."""

    run_id: str
    section: str | None
    page: int
    pages: int
    sections: list[SectionOf]
    markdown: str
    resource_uri: Annotated[str, Field(description="the whole report as Markdown")]


class SimulationState(ListedSimulation):
    """A simulation with the latest of its runs."""

    runs: int
    latest_run_id: str | None = None
    latest_status: Annotated[str | None, Field(description="damaged or newer where its ledger cannot be read")] = None


class SimulationsState(BaseModel):
    """A page of the simulations under the root, by id."""

    simulations: list[SimulationState]
    total: int
    page: int
    pages: int


class InstrumentState(InstrumentRow):
    """What conduct_interviews asks of itself, or with instruments={methodology: file}."""

    resource_uri: Annotated[str, Field(description="the instrument as YAML; empty for a file of this server's own")]


class InstrumentsState(BaseModel):
    """Those that ship, then the files of this server's operator."""

    instruments: list[InstrumentState]


class ExportedFile(BaseModel):
    name: str
    bytes: int
    resource_uri: str


class ExportState(BaseModel):
    """The files were written anew from the run's ledger; nobody was asked."""

    run_id: str
    rows: Annotated[int, Field(description="of all_responses.csv, without its head")]
    columns: list[str]
    files: list[ExportedFile]
    missing: Annotated[list[str], Field(description="of a methodology whose code failed; all else was written")] = []


class EpisodesState(BaseModel):
    """What was said in interviews, best first."""

    warning: Annotated[str | None, Field(description="where no model and no person said some of it")]
    episodes: list[Episode]


def answer(state: BaseModel, text: str) -> CallToolResult:
    """Structured content for programs, a short text for the calling model."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=state.model_dump(mode="json")
    )


# --- What a run found, small enough to be read first: ten sentences a methodology in the caller's language, numbers
# with two decimals, names for ids. What agents said, and the report, stay in the run's language


CALLER: Spoken = "en"
LINES = 10
"""Of a methodology."""
LABELS, LABEL_CHARS = 24, 70
DECIMALS = 2


def leading_findings(run: Run, language: Language = CALLER) -> list[str]:
    """What must be known first; then page one's findings, one that joins methodologies as the report has it."""
    lines = cautions(run, language)
    for row in run.page_one.get("findings", ()):
        name = str(row["methodology"])
        stated = {} if language == run.record.language else _stated(run, name, run.results.get(name), language)
        lines.append(stated.get(str(row["id"]), str(row["text"])))
    return lines


_INTERIM = N_("Interim: the interviews are not finished.")
_NOT_USABLE = N_("Not usable: {methods}. What was not tested is no finding.")


def cautions(run: Run, language: Language) -> list[str]:
    """That it is not all, and which methodologies' data cannot be used."""
    page = run.page_one
    methods = ", ".join(str(row["methodology"]) for row in page.get("usable", ()) if row["standing"] == NOT_USABLE)
    lines = [tell(_INTERIM, language)] if page.get("interim") else []
    return lines + ([tell(_NOT_USABLE, language).format(methods=methods)] if methods else [])


def finding_lines(run: Run, methodology: str, result: JsonValue, language: Language = CALLER) -> list[str]:
    """What a methodology found, the most telling first."""
    return [*cautions(run, language), *_stated(run, methodology, result, language).values()][:LINES]


def _stated(run: Run, methodology: str, result: JsonValue, language: Language) -> dict[str, str]:
    """By id, from the findings as they were written."""
    evaluation = _own(run, methodology)
    if evaluation is None or not (isinstance(result, dict) and result):
        return {}
    stated = list(stated_of(read_results(methodology, evaluation.presentation, result, language)))
    not_usable = any(
        row["methodology"] == methodology and row["standing"] == NOT_USABLE for row in run.page_one.get("usable", ())
    )
    return {finding.id: finding.text for finding in (tested(stated) if not_usable else stated)}


def digest(run: Run, methodology: str, result: JsonValue, language: Language = CALLER) -> dict[str, JsonValue]:
    """The tables that the methodology declares for a program, in words where ids say nothing; {} for none."""
    evaluation = _own(run, methodology)
    if evaluation is None or not isinstance(result, dict):
        return {}
    types = result.get(TYPE_NAMES)
    groups = {str(kind): str(name) for kind, name in types.items()} if isinstance(types, dict) else {}
    names = Names(_agents(run), groups, _items(run, language))
    return read_results(methodology, evaluation.presentation, result, language, names).digest()


def _own(run: Run, methodology: str) -> Evaluation | None:
    dotted = {name: path for name, path in run.record.methods.items() if name == methodology}
    return evaluations(dotted)[methodology] if dotted else None


def rounded(value: JsonValue) -> JsonValue:
    """Two decimals; below 0.1 two digits that count, so that no p becomes 0."""
    if isinstance(value, float):
        return round(value, DECIMALS) if abs(value) >= 0.1 or value == 0 else float(f"{value:.{DECIMALS}g}")
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


def labels(run: Run, shown: Iterable[Entry], language: Language = CALLER) -> dict[str, str]:
    """What the ids of agents and items on a page stand for."""
    known = {**_items(run, language), **_agents(run)}
    named = dict.fromkeys(
        word for entry in shown for word in (*entry.path.split("."), *_words(entry.value)) if word in known
    )
    return {word: known[word][:LABEL_CHARS] for word in list(named)[:LABELS]}


def _words(value: JsonValue) -> Iterator[str]:
    """Every text and key; the wording of an item that stands beside its id needs no label."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, dict):
        yield from value
        for name, inner in value.items():
            if not (name == "item" and "wording" in value):
                yield from _words(inner)


def _items(run: Run, language: Language) -> dict[str, str]:
    items = read_result(run.path / "exports" / "codebook.json").get("items", [])
    wordings = {item["item_id"]: item["wording"] for item in items if item.get("wording")}
    return {item: str(words.get(language) or next(iter(words.values()))) for item, words in wordings.items()}


def _agents(run: Run) -> dict[str, str]:
    file = run.path / "exports" / "agents.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return {row["participant"]: row["agent_name"] for row in csv.DictReader(opened)}
