"""What clients may send and what they get. Nothing here can name a file, a folder or a model server."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.interfaces.service.status import Budget, Stage, StatusWord
from enquete.state.asking import Language
from enquete.state.settings import ProbeKind

RUN_ID = r"^run_[0-9A-Za-z_]{1,64}$"
TOKEN = r"^run_[0-9A-Za-z_]{1,64}(\.[0-9A-Za-z]{1,128})?$"

RunId = Annotated[str, Field(pattern=RUN_ID, examples=["run_20261121T203000_a1b2c3"])]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Tokens = Annotated[int, Field(gt=0, le=10**12, description="cap on tokens for the whole run")]
Dollars = Annotated[float, Field(gt=0, le=10**9, allow_inf_nan=False, description="cap on money, by known prices")]
Confirm = Annotated[bool, Field(description="start although the estimate exceeds the budget")]
Assume = Annotated[bool, Field(description="treat a simulation that still says running as completed")]


class Said(BaseModel):
    """What is not sent is for the environment and the defaults to decide."""

    model_config = ConfigDict(extra="forbid")

    def request(self) -> dict[str, Any]:
        """The façade's arguments: only what was sent."""
        said = self.model_dump(exclude_unset=True)
        return {name: value for name, value in said.items() if value is not None}


class AskBody(Said):
    """How agents are asked."""

    language: Annotated[Language | None, Field(description="of the interviews")] = None
    respondent: Annotated[
        Literal["llm", "synthetic"] | None, Field(description="a model, or the built-in respondent that needs none")
    ] = None
    model: Annotated[str | None, Field(max_length=200, description="model, as the server calls it")] = None
    temperature: Annotated[
        float | None, Field(ge=0, le=2, allow_inf_nan=False, description="of the model that answers")
    ] = None
    seed: Annotated[int | None, Field(ge=0, lt=2**31, description="of every draw, and sent to the model")] = None
    asking: Annotated[
        Literal["block", "item"] | None, Field(description="all items of a part at once, or one by one")
    ] = None
    randomise: Annotated[
        Literal["none", "items", "options", "both"] | None,
        Field(description="what is shown in an order of each agent's own"),
    ] = None
    elicitation: Annotated[
        Literal["point", "distribution"] | None,
        Field(description="one answer, or the probability of every answer option"),
    ] = None
    settings: Annotated[
        dict[Name, dict[Name, JsonValue]] | None, Field(description="methodology → its own settings", max_length=20)
    ] = None
    budget_tokens: Tokens | None = None
    budget_usd: Dollars | None = None
    confirm: Confirm = False


class PreBody(AskBody):
    """How T0 is asked."""

    new: Annotated[bool, Field(description="start another run even where one matches")] = False


class PostBody(PreBody):
    """How everything after the simulation is asked."""

    methods: Annotated[list[Name] | None, Field(description="methodologies, in the order they get budget")] = None
    baseline: Annotated[
        str | None,
        Field(
            pattern=r"^(auto|reconstructed|run_[0-9A-Za-z_]{1,64})$",
            description="run_id of an earlier T0, or as it says",
        ),
    ] = None
    digest_chars: Annotated[int | None, Field(ge=0, le=100_000, description="length of a memory digest")] = None
    probes: Annotated[
        list[ProbeKind] | None, Field(max_length=20, description="robustness probes beside the interviews")
    ] = None
    probe_sample: Annotated[int | None, Field(ge=1, le=1_000_000, description="agents asked in each probe")] = None
    replicates: Annotated[int | None, Field(ge=1, le=50, description="how often all is asked, with another seed")] = (
        None
    )
    replicate_models: Annotated[
        list[Name] | None, Field(max_length=20, description="other models that are asked the whole study")
    ] = None
    placebo: Annotated[bool, Field(description="ask T1 once more with a neutral memory")] = False
    assume_completed: Assume = False


class RerunBody(AskBody):
    """Which methodology is asked anew; the others are taken over from the finished run."""

    methodology: Annotated[Name, Field(description="the one that is asked anew")]


class ResumeBody(Said):
    """Which run goes on. A cap that was named holds until another one is."""

    resume_token: Annotated[str, Field(pattern=TOKEN, description="as a status or an error gave it; a run_id will do")]
    budget_tokens: Tokens | None = None
    budget_usd: Dollars | None = None
    assume_completed: Assume = False
    retry_failed: Annotated[bool, Field(description="ask once more for what failed, and only for that")] = False


class Started(BaseModel):
    """A task is its run: `task_id` is the run's id. `shown`: it was finished already, and nothing is asked."""

    task_id: str
    run_id: str
    sim_id: str
    status: str
    shown: bool
    resume_token: str | None
    status_url: str


class StatusData(BaseModel):
    """How far a run is, from its ledger."""

    task_id: str
    run_id: str
    sim_id: str
    status: StatusWord
    note: Annotated[str, Field(description="why it stopped")]
    resume_token: str | None
    started_by: Annotated[str, Field(description="pre, post, rerun, resume or watch; empty: not by this server")]
    created_at: str
    methods: list[str]
    language: Language
    respondent: str
    model: str
    stages: list[Stage]
    budget: Budget
    sufficient_tokens: Annotated[
        int | None, Field(description="after a spent budget: a budget_tokens that is likely to be enough")
    ] = None
    failures: Annotated[list[str], Field(description="bugs of Enquete that left units without answers")]


class ResultData(BaseModel):
    """A methodology's findings. `partial`: the run has not come to its end."""

    run_id: str
    sim_id: str
    status: str
    partial: bool
    methodology: str
    result: dict[str, JsonValue]


class ReportData(BaseModel):
    """The report as Markdown, and what a reader must know before using the data."""

    run_id: str
    sim_id: str
    status: str
    partial: bool
    report: str
    flags: list[str]
