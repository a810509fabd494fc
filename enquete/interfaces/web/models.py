"""What clients of the API may send and what they get: the envelope of every answer, bodies, data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, create_model, field_validator
from starlette.responses import Response

from enquete.interfaces.cli.terminal import finite
from enquete.interfaces.parameters import client_parameter, meaning, sent
from enquete.interfaces.server_state import advice
from enquete.interfaces.views import Episode, InstrumentRow, RunBudget, RunProgress, RunRow, SimulationRow, StatusWord
from enquete.methods.registry import dotted_paths
from enquete.reports.context import Found
from enquete.state.errors import EnqueteError, OverBudget
from enquete.state.request import TOKEN, Name, RunRequest, fields_about
from enquete.state.settings import LOCAL_MODEL

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """What went wrong, before it is an answer."""

    type: str
    message: str
    remedy: str | None = None


class Details(BaseModel):
    """`type`: the name of the error in docs/errors.md. `remedy`: what a client of this API can do, where there is
    something."""

    type: str
    remedy: str | None


class Envelope(BaseModel, Generic[T]):
    """Every JSON answer. `error` is a sentence, null where there is none. `data` of a failure is what helps to go on:
    the estimate, the status with its resume token."""

    success: bool
    data: T | None
    error: str | None
    details: Details | None


class Estimated(BaseModel):
    """What the run would cost: calls, tokens, money and time, each as a range (docs/budget.md)."""

    estimate: dict[str, JsonValue]


def succeeded(data: BaseModel | Mapping[str, Any], code: int = 200) -> Response:
    return _response(code, data, None)


def failed(
    code: int, problem: Problem, data: BaseModel | Mapping[str, Any] | None = None, retry_after_s: int | None = None
) -> Response:
    response = _response(code, data, problem)
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(retry_after_s)
    return response


def problem_of(error: EnqueteError, mask: Callable[[str], str] = str) -> Problem:
    """The error in this API's words: what is wrong, and what a client can do about it."""
    return Problem(type=type(error).__name__, message=mask(error.fact), remedy=_remedy(error))


def _remedy(error: EnqueteError) -> str | None:
    if isinstance(error, OverBudget):
        if error.remedy:
            return error.remedy
        usd, enough = error.estimate["usd"], f"budget_tokens={error.estimate['sufficient_tokens']}"
        if error.estimate["exceeds"] == "usd" and isinstance(usd, dict):
            enough = f"budget_usd={usd['high']:.2f}"
        return f"send {enough}, or confirm=true: the run then pauses at the cap and can be resumed; or fewer methods"
    return advice(error, "http") or None


def _response(code: int, data: BaseModel | Mapping[str, Any] | None, problem: Problem | None) -> Response:
    plain = data.model_dump(mode="json") if isinstance(data, BaseModel) else data
    details = problem and {"type": problem.type, "remedy": problem.remedy}
    envelope = {
        "success": problem is None, "data": finite(plain), "error": problem and problem.message, "details": details,
    }  # fmt: skip
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in what a client sent becomes its JSON escape: no answer may fail for what it quotes.
    return Response(text.encode("utf-8", "backslashreplace"), code, media_type="application/json")


# --- What the interview pages in the history of MiroFish's front end read of this API (`Step4bInterviews.vue`,
# `interviews/*Panel.vue` and `api/interview.js` of github.com/666ghj/MiroFish, which speak HTTP): a panel's numbers
# (`data.aggregate`), the three words of a task that they poll, and what they call a methodology. They call the paths of
# this API, so nothing here is a path. Findings are known by what is in them, not by who found it


METHODOLOGY = AliasChoices("methodology", "subagent")
"""Their word for it in a re-run is the second."""

TaskStatus: TypeAlias = Literal["running", "completed", "failed"]
TASK_STATUS: Mapping[StatusWord, TaskStatus] = {
    "running": "running", "pausing": "running", "writing_up": "running", "completed": "completed",
    "awaiting_simulation": "completed", "waiting": "failed", "paused": "failed", "failed": "failed",
}  # fmt: skip
"""They poll until one of the last two: whatever goes on no more by itself is one of them. A run that awaits the
simulation has asked what can be asked by then."""


class ItemChange(BaseModel):
    """T1 − T0 of an item's answers as they were given (not rekeyed), in scale points; `n` agents answered twice."""

    mean_delta: float | None
    n: int


class Cluster(BaseModel):
    """Agents that think alike. `agent_ids`: as the simulation counts them, else their names here."""

    cluster_id: int
    label: Annotated[str, Field(description="empty where all agents are one group, because no types were found")]
    n: int
    agent_ids: list[int | str]


class ThemeLabel(BaseModel):
    """What a panel's open answers were gathered into."""

    theme_id: str
    label: str


class ScenarioPlace(BaseModel):
    """A scenario between what is wished and what is expected, in scale points. `n`: agents who rated it, in the
    dimension that fewer rated."""

    n: int
    mean_desirability: float | None
    mean_plausibility: float | None
    sd_desirability: float | None
    sd_plausibility: float | None


class Aggregate(BaseModel):
    """A panel's numbers; what this methodology has none of is empty. `n_r1`: agents who answered in the first round."""

    per_item: dict[str, ItemChange]
    clusters: list[Cluster]
    themes: list[ThemeLabel]
    n_r1: int
    n_r2: int
    n_r3: int
    polarity: dict[str, ScenarioPlace]


def aggregate_of(findings: Found, agent_ids: Mapping[str, int | None]) -> Aggregate:
    """Of a methodology's findings. `agent_ids`: the simulation's own index by participant."""
    rounds = {row["round"]: row["n"] for row in _rows(findings, "rounds", has="round n n_consensus")}
    answered = {f"n_r{n}": int(rounds.get(n) or 0) for n in (1, 2, 3)}
    return Aggregate(
        per_item=_changes(findings),
        clusters=_clusters(findings, agent_ids),
        themes=[
            ThemeLabel(theme_id=str(row["theme"]), label=str(row["label"]))
            for row in _rows(findings, "themes", has="theme label n_statements")
        ],
        polarity=_places(findings),
        **answered,
    )


def _changes(findings: Found) -> dict[str, ItemChange]:
    rows = _rows(findings, "changes", has="item n change")
    return {str(row["item"]): ItemChange(mean_delta=row["change"], n=row["n"]) for row in rows}


def _clusters(findings: Found, agent_ids: Mapping[str, int | None]) -> list[Cluster]:
    """The types, labelled by what they are for (+) and against (−); where there are none, all agents compared."""
    names = {str(row["item"]): str(row["label"]) for row in _rows(findings, "items", has="item label")}
    groups = [
        (" / ".join(f"{sign} {names.get(row[end], row[end])}" for sign,
            end in (("+", "pro"), ("−", "con")) if row[end]), row["members"])
        for row in _rows(findings, "types", has="type members pro con")
    ]  # fmt: skip
    if not groups and _rows(findings, "structure", has="what found outcome"):
        apart = {str(row["participant"]) for row in _rows(findings, "left_out", has="participant reason")}
        groups = [("", compared)] if (compared := [who for who in agent_ids if who not in apart]) else []
    return [
        Cluster(cluster_id=n, label=label, n=len(members), agent_ids=[_agent(who, agent_ids) for who in members])
        for n, (label, members) in enumerate(groups)
    ]


def _agent(who: str, agent_ids: Mapping[str, int | None]) -> int | str:
    number = agent_ids.get(who)
    return who if number is None else number


def _places(findings: Found) -> dict[str, ScenarioPlace]:
    """Its dimensions may have other names in an instrument: the facts say which of them is which."""
    rated = {str(row["item"]): row for row in _rows(findings, "ratings", has="dimension item n mean sd")}
    wish, plausible = findings.get("desirability"), findings.get("plausibility")
    places = {}
    for item, wished in rated.items():
        place = item.rpartition("/")[0]
        expected = rated.get(f"{place}/{plausible}")
        if wished["dimension"] == wish and expected is not None:
            places[place] = ScenarioPlace(
                n=min(wished["n"], expected["n"]), mean_desirability=wished["mean"],
                mean_plausibility=expected["mean"], sd_desirability=wished["sd"], sd_plausibility=expected["sd"],
            )  # fmt: skip
    return places


def _rows(findings: Found, table: str, has: str) -> list[Mapping[str, Any]]:
    """The rows of a table that have these fields: another methodology may call something else by the same name."""
    rows, wanted = findings.get(table), set(has.split())
    return [row for row in rows if isinstance(row, dict) and row.keys() >= wanted] if isinstance(rows, list) else []


# --- What clients may send and what they get. Nothing here can name a file, a folder or a model server


RunId = Annotated[str, Field(examples=["run_20261121T203000_a1b2c3"])]
"""Of any form: what is no run's name names no run, which is 404."""


_PATH = re.compile(r"^[/~.\\]|\\|(^|/)\.\.(/|$)|^[A-Za-z]:/|^file:|\.(ya?ml|json|csv)$", re.IGNORECASE)


def _texts(value: Any) -> Iterator[str]:
    """Every text in it."""
    if isinstance(value, str):
        yield value
    for part in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)


class RequestBody(BaseModel):
    """What is not sent is for the environment and the defaults to decide."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("settings", check_fields=False)
    @classmethod
    def _name_no_file(cls, settings: dict[str, dict[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
        """Said early and plainly, of what is no content itself ({…}); that no file is opened rests on the `own_folder`
        of every request (PathSandbox.given)."""
        for method, values in (settings or {}).items():
            for name, value in values.items():
                if any(_PATH.search(text) for text in _texts(value) if not text.lstrip().startswith(("{", "("))):
                    raise ValueError(f"{method}.{name}: a client can name no file")
        return settings

    @field_validator("model", "model_b", "critic_model", "replicate_models", check_fields=False)
    @classmethod
    def _name_no_weights(cls, names: str | list[str] | None) -> str | list[str] | None:
        given = [names] if isinstance(names, str) else names or ()
        if any(name.strip().startswith(f"{LOCAL_MODEL}:") for name in given):
            raise ValueError("a client can name no file; `local` is the model that comes with Enquete")
        return names

    def request(self) -> dict[str, Any]:
        """The façade's arguments: only what was sent."""
        return sent(self.model_dump(exclude_unset=True))


KNOWN: dict[str, Any] = {"enum": list(dotted_paths())}
"""Methodologies, for readers of the schema. What another name is, the façade says better than a schema does."""
METHODS: Any = (
    Annotated[
        list[Annotated[Name, Field(json_schema_extra=KNOWN)]] | None,
        Field(description=meaning("methods", RunRequest.model_fields["methods"])),
    ],
    None,
)
B = TypeVar("B", bound=RequestBody)


def with_request_fields(names: Collection[str]) -> Callable[[type[B]], type[B]]:
    """The body with these fields of RunRequest beside its own."""
    fields: dict[str, Any] = {name: METHODS if name == "methods" else client_parameter(name) for name in names}
    return lambda b: create_model(b.__name__, __base__=b, __module__=b.__module__, __doc__=b.__doc__, **fields)


STARTING = fields_about("study", "driving", "start", at="http")
AFTERWARDS = {"methods", "baseline", "digest_chars", "probes", "probe_sample", "placebo", "replicates",
              "replicate_models", "assume_completed"}  # fmt: skip
"""What nothing before the simulation is asked with, and no methodology anew."""


@with_request_fields([name for name in STARTING if name not in AFTERWARDS])
class PreBody(RequestBody):
    """How T0 is asked."""


@with_request_fields(STARTING)
class PostBody(RequestBody):
    """How everything after the simulation is asked."""


@with_request_fields([name for name in STARTING if name not in {*AFTERWARDS, "new"}])
class RerunBody(RequestBody):
    """Which methodology is asked anew; the others are taken over from the finished run."""

    methodology: Annotated[
        Name,
        Field(
            validation_alias=METHODOLOGY,
            description="the one that is asked anew; `subagent` is read as well",
            json_schema_extra=KNOWN,
        ),
    ]


@with_request_fields([name for name in STARTING if name not in {"new", "confirm"}])
class EstimateBody(RequestBody):
    """A run that would be begun: of everything that is left to ask, or of one methodology anew."""

    methodology: Annotated[
        Name | None, Field(description="the one that is asked anew, as by /rerun", json_schema_extra=KNOWN)
    ] = None


@with_request_fields(fields_about("driving", "resume", at="http"))
class ResumeBody(RequestBody):
    """Which run goes on. A cap that was named holds until another one is."""

    resume_token: Annotated[str, Field(pattern=TOKEN, description="as a status or an error gave it; a run_id will do")]


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


class StatusData(RunProgress):
    """How far a run is, what it has cost, and who started it."""

    task_id: str
    status: Polled
    run_status: StatusWord
    started_by: Annotated[str, Field(description="pre, post, rerun, resume or watch; empty: not by this server")]
    created_at: str
    methods: list[str]
    budget: RunBudget
    calls_per_s: Annotated[
        float | None, Field(description="model calls a second of late, over all processes, while it goes on")
    ] = None
    sufficient_tokens: Annotated[
        int | None, Field(description="after a spent budget: a budget_tokens that is likely to be enough")
    ] = None
    failures: Annotated[list[str], Field(description="bugs of Enquete that left units without answers")]


class RunIdentity(BaseModel):
    """`partial`: the run has not come to its end."""

    run_id: str
    sim_id: str
    status: str
    partial: bool


class ResultData(RunIdentity):
    """A methodology's findings: all of them, and those that a figure is drawn from."""

    methodology: str
    result: dict[str, JsonValue]
    aggregate: Aggregate


class EpisodeData(Episode):
    """What an agent, or all of them, said, with the answers that it rests on; or what it was gathered into."""

    kind: str
    participant: str | None
    answer_ids: list[str]


class MemoryData(BaseModel):
    """Episodes, best first. `warning`: where no model and no person said some of it; null otherwise."""

    sim_id: str
    warning: str | None
    episodes: list[EpisodeData]


class ReportData(RunIdentity):
    """Page one as data, the report as Markdown, and what a reader must know before using the data."""

    page_one: dict[str, JsonValue]
    report_markdown: str
    flags: list[str]


class FitData(BaseModel):
    """Whether the questions are about what the simulation is about; a run that says `fit: any` is begun all the
    same."""

    methods: Annotated[list[str], Field(description="methodologies whose questions are about something else")]
    language: Annotated[str, Field(description="of the simulation's texts, where it is not that of the interviews")]


class ForeseenData(Estimated):
    """What a run with this body would cost. Nobody is asked."""

    fit: FitData | None


class DeletedData(BaseModel):
    """What went. `kept`: how many files in its folders Enquete did not write; they stay."""

    run_ids: list[str]
    files: int
    bytes: int
    kept: int


class SimulationsData(BaseModel):
    """By id."""

    simulations: list[SimulationRow]


class RunsData(BaseModel):
    """Newest first."""

    sim_id: str
    runs: list[RunRow]


class InstrumentsData(BaseModel):
    """Those that ship, then the server's own files."""

    instruments: list[InstrumentRow]
