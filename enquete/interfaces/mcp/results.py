"""What the tools return: pydantic models, small enough for a context window; the rest stands in resources.

A result's text is its structured part as YAML, so that a model that reads the text and a program that reads the
structure have the same numbers. Counts are of agents or answers, money is in US dollars, null is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field, JsonValue

MAX_RESULT_CHARS = 10_000
"""No result is longer, neither its text nor its structured content as JSON: about 2,500 tokens."""


class _ReadableDumper(yaml.SafeDumper):
    """YAML with the lines of a longer text as lines."""


def _write_text(dumper: _ReadableDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ReadableDumper.add_representer(str, _write_text)


def drop_titles(schema: dict[str, Any]) -> None:
    """Leave out the titles that pydantic makes of the fields' names, which every client would pay for."""
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


class Part(BaseModel):
    """Part of a result."""

    model_config = ConfigDict(json_schema_extra=drop_titles)


class Result(Part):
    """What a tool returns."""

    def as_call_result(self) -> CallToolResult:
        """Return the structured content for programs, and the same as text for the calling model."""
        structured = self.model_dump(mode="json")
        said = _without_empty(structured)
        text = yaml.dump(said, Dumper=_ReadableDumper, allow_unicode=True, sort_keys=False, width=10**6)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def _without_empty(value: Any) -> Any:
    """Return the value without what says nothing: null, empty texts, empty lists."""
    if isinstance(value, Mapping):
        kept = {name: _without_empty(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner is not None and inner not in ("", [], {})}
    if isinstance(value, list):
        return [_without_empty(inner) for inner in value]
    return value


class RunResult(Result):
    """A result that is of one run, and says of which: when it was begun, and which methodologies it asked."""

    sim_id: str
    run_id: str
    begun: str
    asked: list[str]
    answered_by: str
    language: str


class SimulationRow(Part):
    """A simulation, and the latest of its runs."""

    sim_id: str
    topic: str
    agents: int
    types: Annotated[dict[str, int], Field(description="agents by stakeholder type")]
    status: str
    completed: bool
    runs_total: int
    runs: Annotated[dict[str, str], Field(description="run_id → methodologies and status, the latest first")]
    problem: Annotated[str, Field(description="why it cannot be interviewed")] = ""


class SimulationList(Result):
    """A page of the simulations, by id."""

    simulations: list[SimulationRow]
    total: int
    page: int
    pages: int


class QuestionFile(Part):
    """Questions in a file of this server."""

    name: Annotated[str, Field(description="for `instruments` of conduct_interviews")]
    methodology: str
    topic: str = ""
    resource_uri: str
    questions: Annotated[list[str], Field(description="the first ones, as they would be asked")] = []
    findings: Annotated[list[str], Field(description="what the rules for good questions object to")] = []


class Drafts(Result):
    """Questions drafted for a simulation, or the shipped ones as templates."""

    sim_id: str
    status: Literal["drafted", "drafting", "templates"]
    topic: str = ""
    themes: list[str] = []
    drafted_by: Annotated[str, Field(description="the model; empty for templates, which are about something else")] = ""
    files: list[QuestionFile] = []
    next: str


class SavedQuestions(Result):
    """A file of questions that was checked and written."""

    name: str
    methodology: str
    topic: str
    languages: list[str]
    items: int
    findings: Annotated[list[str], Field(description="what the rules for good questions object to")]
    notes: list[str]
    next: str


class StageRow(Part):
    """How far one methodology is in one phase. answers: by status (ok, repaired, refused, invalid, failed)."""

    methodology: str
    phase: str
    outcome: str
    agents_answered: int
    agents: int
    answers: dict[str, int]


Range: TypeAlias = dict[str, float]
"""low, likely and high."""


class EstimateRow(Part):
    """What a run would cost, as low, likely and high. refused: why a run with these arguments would not begin."""

    agents: int
    calls: Range
    tokens: Range
    usd: Range | None
    seconds: Range | None
    cap_tokens: int
    likely_tokens_by_part: dict[str, float]
    refused: list[str]
    notes: list[str]


class InterviewsState(Result):
    """How far interviews are and what they found. note: why they stopped, or why nothing moves; warnings: what must be
    known before the data are used."""

    status: Annotated[
        str, Field(description="running, pausing, writing_up, completed, awaiting_simulation, waiting, paused, failed")
    ]
    sim_id: str
    run_id: str = ""
    begun: str = ""
    asked: list[str] = []
    answered_by: str = ""
    language: str = ""
    note: str = ""
    stages: list[StageRow] = []
    calls: int | None = None
    tokens: int | None = None
    expected_tokens: int | None = None
    cap_tokens: int | None = None
    findings: list[str] = []
    warnings: list[str] = []
    warnings_total: int | None = None
    next: str


class BeginState(InterviewsState):
    """What conduct_interviews returns: a run's state; or an estimate, or why the shipped questions do not fit, with
    drafts that would."""

    estimate: EstimateRow | None = None
    drafts: list[QuestionFile] = []


class SectionRow(Part):
    """A section that can be asked for."""

    name: str
    pages: int


class ReportPage(RunResult):
    """A page of the report, as Markdown: page one and the contents, or a section."""

    section: str | None
    page: int
    pages: int
    sections: list[SectionRow]
    markdown: str
    resource_uri: str


class Entry(Part):
    """A value of the findings. `path`: where it stands below the section."""

    path: str
    value: JsonValue


class MethodologyFindings(Part):
    """What one methodology found."""

    methodology: str
    findings: list[str]
    digest: Annotated[dict[str, JsonValue], Field(description="facts and the leading rows of its tables")] = {}
    sections: list[SectionRow] = []


class ResultsPage(RunResult):
    """Findings as sentences; or a page of one section, numbers with two decimals."""

    methodologies: list[MethodologyFindings]
    section: str | None = None
    page: int = 1
    pages: int = 1
    entries: list[Entry] = []
    labels: Annotated[dict[str, str], Field(description="what ids of agents and items stand for")] = {}
    resource_uri: str = ""


class AnswerRow(Part):
    """What one agent answered to one item. choice: the option that was chosen; words: in full, as they were given."""

    answer_id: str
    agent: str
    group: str
    item: str
    phase: str
    value: float | None = None
    choice: str = ""
    words: str = ""
    status: str


class AnswersPage(RunResult):
    """Answers of the run's main arm. matching: on all pages; cursor: of the next page; questions: wordings by item."""

    matching: int
    answers: list[AnswerRow]
    questions: dict[str, str]
    cursor: str | None
