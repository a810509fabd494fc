"""What the tools return: small enough for a context window, the rest by resource URI. See MOST_CHARS.

Counts are of agents or answers, money is US dollars, None is unknown.
"""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field, JsonValue

from enquete.interfaces.service.status import Stage, StatusWord
from enquete.nodes.estimate import Range

MOST_CHARS = 10_000
"""No answer of a tool is longer, neither its text nor its structured content as JSON: about 2,500 tokens."""


class RunState(BaseModel):
    """How far a run is and what to call next."""

    run_id: str
    sim_id: str
    status: StatusWord
    note: Annotated[str, Field(description="why it stopped, or why nothing moves")]
    shown: Annotated[bool, Field(description="it had been completed before; nobody was asked by this call")] = False
    resume_token: Annotated[str | None, Field(description="for resume_interviews; None once completed")]
    respondent: str
    model: str
    language: str
    calls: int
    tokens: int
    expected_tokens: Annotated[int | None, Field(description="likely in the end; None where nothing was estimated")]
    stages: list[Stage]
    findings: Annotated[list[str], Field(description="page one of the report; empty before the first stop")] = []
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
    batches: Annotated[int, Field(description="about so many, one after another, each of up to 24 hours; 0: none")]
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
    """Without a section: ten sentences of findings, a digest of its tables, and the sections. With one: a page of it, numbers
    with two decimals."""

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


class SimulationState(BaseModel):
    sim_id: str
    topic: Annotated[str, Field(description="what it is about; empty where nothing says it")] = ""
    agents: int = 0
    types: Annotated[dict[str, int], Field(description="agents by stakeholder type, the most frequent first")] = {}
    completed: bool = False
    status: Annotated[str, Field(description="as the simulation says itself")] = ""
    runs: int
    latest_run_id: str | None = None
    latest_status: StatusWord | None = None
    blocked: Annotated[str, Field(description="why it cannot be used; empty where it can")] = ""


class SimulationsState(BaseModel):
    """A page of the simulations under the root, by id."""

    simulations: list[SimulationState]
    total: int
    page: int
    pages: int


class AskedState(BaseModel):
    topic: str
    languages: list[str]
    items: Annotated[int, Field(description="questions or statements; 0 where an interview has no fixed ones")]
    answers: Annotated[str, Field(description="what its methodology finds out")]
    needs_t0: Annotated[bool, Field(description="whether it is asked before the simulation, too, to measure change")]


class InstrumentState(AskedState):
    """A methodology, and what it asks where neither a pack nor a file is named."""

    name: Annotated[str, Field(description="methodology")]
    title_en: str
    title_de: str
    packs: Annotated[list[str], Field(description="values of the argument `pack` that ask it")]
    resource_uri: Annotated[str, Field(description="the instrument as YAML")]


class OwnInstrumentState(AskedState):
    """A file of this server's operator, for conduct_interviews with instruments={methodology: file}."""

    file: str
    methodology: str
    problem: Annotated[str, Field(description="why it cannot be asked; empty where it can")] = ""


class InstrumentsState(BaseModel):
    instruments: list[InstrumentState]
    own: list[OwnInstrumentState]


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


class Episode(BaseModel):
    id: str
    text: str
    agent: Annotated[str, Field(description="empty: of all agents")]
    methodology: str
    phase: str
    run_id: str
    respondent: str
    model: str


class EpisodesState(BaseModel):
    """What was said in interviews, best first."""

    warning: Annotated[str | None, Field(description="where no model and no person said some of it")]
    episodes: list[Episode]


def answer(state: BaseModel, text: str) -> CallToolResult:
    """Structured content for programs, a short text for the calling model."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=state.model_dump(mode="json")
    )
