"""What clients may send and what they get. Nothing here can name a file, a folder or a model server."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model, field_validator

from enquete.graphs.registry import dotted_paths
from enquete.interfaces.service.declared import FileName, meaning, sent
from enquete.interfaces.service.mirofish import METHODOLOGY, Aggregate, TaskStatus
from enquete.interfaces.service.status import Budget, Stage, StatusWord
from enquete.state.asking import Spoken
from enquete.state.local_weights import LOCAL
from enquete.state.request import Name, RunRequest, offered

RUN_ID = r"^run_[0-9A-Za-z_]{1,64}$"
TOKEN = r"^run_[0-9A-Za-z_]{1,64}(\.[0-9A-Za-z]{1,128})?$"

RunId = Annotated[str, Field(pattern=RUN_ID, examples=["run_20261121T203000_a1b2c3"])]


_PATH = re.compile(r"^[/~.\\]|\\|(^|/)\.\.(/|$)|^[A-Za-z]:/|^file:|\.(ya?ml|json|csv)$", re.IGNORECASE)


def _texts(value: Any) -> Iterator[str]:
    """Every text in it."""
    if isinstance(value, str):
        yield value
    for part in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)


class Said(BaseModel):
    """What is not sent is for the environment and the defaults to decide."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("settings", check_fields=False)
    @classmethod
    def _name_no_file(cls, settings: dict[str, dict[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
        """Said early and plainly; that no file is opened rests on the `shelf` of every request (PathSandbox.given)."""
        for method, own in (settings or {}).items():
            for name, value in own.items():
                if any(map(_PATH.search, _texts(value))):
                    raise ValueError(f"{method}.{name}: a client can name no file")
        return settings

    @field_validator("model", "model_b", "critic_model", "replicate_models", check_fields=False)
    @classmethod
    def _name_no_weights(cls, said: str | list[str] | None) -> str | list[str] | None:
        if any(name.strip().startswith(f"{LOCAL}:") for name in ([said] if isinstance(said, str) else said or ())):
            raise ValueError("a client can name no file; `local` is the model that comes with Enquete")
        return said

    def request(self) -> dict[str, Any]:
        """The façade's arguments: only what was sent."""
        said = self.model_dump(exclude_unset=True)
        return {name: value for name, value in said.items() if value is not None}


KNOWN: dict[str, Any] = {"enum": list(dotted_paths())}
"""Methodologies, for readers of the schema. What another name is, the façade says better than a schema does."""
METHODS: Any = (
    Annotated[
        list[Annotated[Name, Field(json_schema_extra=KNOWN)]] | None,
        Field(description=meaning("methods", RunRequest.model_fields["methods"])),
    ],
    None,
)
B = TypeVar("B", bound=Said)


def said_of(names: Collection[str]) -> Callable[[type[B]], type[B]]:
    """The body with these fields of RunRequest beside its own."""
    fields: dict[str, Any] = {name: METHODS if name == "methods" else sent(name) for name in names}
    return lambda body: create_model(
        body.__name__, __base__=body, __module__=body.__module__, __doc__=body.__doc__, **fields
    )


STARTING = offered("study", "driving", "start", at="http")
AFTERWARDS = {"methods", "baseline", "digest_chars", "probes", "probe_sample", "placebo", "replicates", "replicate_models",
              "assume_completed"}  # fmt: skip
"""What nothing before the simulation is asked with, and no methodology anew."""


@said_of([name for name in STARTING if name not in AFTERWARDS])
class PreBody(Said):
    """How T0 is asked."""


@said_of(STARTING)
class PostBody(Said):
    """How everything after the simulation is asked."""


@said_of([name for name in STARTING if name not in {*AFTERWARDS, "new"}])
class RerunBody(Said):
    """Which methodology is asked anew; the others are taken over from the finished run."""

    methodology: Annotated[
        Name,
        Field(
            validation_alias=METHODOLOGY,
            description="the one that is asked anew; `subagent` is read as well",
            json_schema_extra=KNOWN,
        ),
    ]


@said_of([name for name in STARTING if name not in {"new", "confirm"}])
class EstimateBody(Said):
    """A run that would be begun: of everything that is left to ask, or of one methodology anew."""

    methodology: Annotated[
        Name | None, Field(description="the one that is asked anew, as by /rerun", json_schema_extra=KNOWN)
    ] = None


@said_of(offered("driving", "resume", at="http"))
class ResumeBody(Said):
    """Which run goes on. A cap that was named holds until another one is."""

    resume_token: Annotated[str, Field(pattern=TOKEN, description="as a status or an error gave it; a run_id will do")]


class DraftBody(Said):
    """Where the drafts go."""

    into: Annotated[FileName | None, Field(description="folder for the drafts; drafts-SIM_ID unless named")] = None


Polled = Annotated[
    TaskStatus,
    Field(description="running, or how it ended; failed: it stopped before its end, and `run_status` says where"),
]


class Started(BaseModel):
    """A task is its run: `task_id` is the run's id. `shown`: it was finished already, and nothing is asked."""

    task_id: str
    run_id: str
    sim_id: str
    status: Polled
    run_status: StatusWord
    shown: bool
    resume_token: str | None
    status_url: str


class StatusData(BaseModel):
    """How far a run is, from its ledger."""

    task_id: str
    run_id: str
    sim_id: str
    status: Polled
    run_status: StatusWord
    note: Annotated[str, Field(description="why it stopped")]
    resume_token: str | None
    started_by: Annotated[str, Field(description="pre, post, rerun, resume or watch; empty: not by this server")]
    created_at: str
    methods: list[str]
    language: Spoken
    respondent: str
    model: str
    stages: list[Stage]
    budget: Budget
    sufficient_tokens: Annotated[
        int | None, Field(description="after a spent budget: a budget_tokens that is likely to be enough")
    ] = None
    failures: Annotated[list[str], Field(description="bugs of Enquete that left units without answers")]


class OfRun(BaseModel):
    """`partial`: the run has not come to its end."""

    run_id: str
    sim_id: str
    status: str
    partial: bool


class ResultData(OfRun):
    """A methodology's findings: all of them, and those that a figure is drawn from."""

    methodology: str
    result: dict[str, JsonValue]
    aggregate: Aggregate


class EpisodeData(BaseModel):
    """What an agent, or all of them, said in a methodology and phase; or what it was gathered into."""

    id: str
    kind: str
    text: str
    run_id: str
    participant: str | None
    agent_name: str
    methodology: str
    phase: str
    respondent: str
    model: str
    answer_ids: list[str]


class MemoryData(BaseModel):
    """Episodes, best first. `warning`: where no model and no person said some of it; null otherwise."""

    sim_id: str
    warning: str | None
    episodes: list[EpisodeData]


class ReportData(OfRun):
    """Page one as data, the report as Markdown, and what a reader must know before using the data."""

    page_one: dict[str, JsonValue]
    report_markdown: str
    flags: list[str]
