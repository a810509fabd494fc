"""What may be asked for, once: the command line, HTTP bodies and MCP arguments are made of these fields.

The address of a PostgreSQL database that holds ledgers, and its password, which is written down nowhere.

In which formats a run gives its data away, and how answers stand in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from enquete.state.asking import Arm, Spoken
from enquete.state.errors import SettingsError, of_argument
from enquete.state.model_names import LONGEST_NAME, name_of_model, with_labels
from enquete.state.numbers import DecimalMark

# --- Formats of data -------------------------------------------------------------------------------------------------

FileFormat = Literal["csv", "parquet", "sav", "xlsx"]
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
FigureFormat = Literal["svg", "png", "pdf"]
Layout = Literal["both", "long", "wide"]
"""A row an answer, a row an agent, or both."""
BOM = "CSV with the mark by which Excel knows UTF-8"
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


# --- The address of a database ---------------------------------------------------------------------------------------

VARIABLE = "ENQUETE_STORE"
SCHEMES = ("postgresql", "postgres")
SECRET = ("password", "sslpassword", "passfile")

_with_password: dict[str, str] = {}


def masked(url: str) -> str:
    """A store's address as it may be shown and kept. Raises ValueError where it is none."""
    try:
        parts = urlsplit(url)
        host, port, user = parts.hostname or "", parts.port, parts.username
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in SCHEMES or not parts.path.strip("/") or "\n" in url:
        raise ValueError(
            "an address like postgresql://user@host:5432/database is expected; the password is best kept in ~/.pgpass "
            f"or PGPASSWORD, or the whole address in {VARIABLE}"
        )
    place = f"[{host}]" if ":" in host else host
    known = urlencode([pair for pair in parse_qsl(parts.query) if pair[0].lower() not in SECRET])
    at = f"{f'{user}@' if user else ''}{place}{f':{port}' if port else ''}"
    return f"postgresql://{at}{parts.path}{f'?{known}' if known else ''}"


def remember(url: str) -> str:
    """Use this address, with its password, as long as this process lives. Gives it without."""
    shown = masked(url)
    if secret_of(url):
        _with_password[shown] = url
    return shown


def secret_of(url: str) -> str:
    parts = urlsplit(url)
    return parts.password or next((value for name, value in parse_qsl(parts.query) if name == "password"), "")


def with_credentials(shown: str) -> str:
    """The address to connect with: as it was given to this process, else the environment's, else what libpq finds for
    it (PGPASSWORD, ~/.pgpass)."""
    if shown not in _with_password and (url := os.environ.get(VARIABLE, "")) and masked(url) == shown:
        return url
    return _with_password.get(shown, shown)


StoreAddress = Annotated[str, AfterValidator(remember)]
"""Validated, it has no password any more."""


# --- What may be asked for -------------------------------------------------------------------------------------------

DEFAULT_MAX_TOKENS = 10_000_000
DEFAULT_CONCURRENCY = 32
DEFAULT_PATIENCE_S = 180.0
DEFAULT_SYNC_PATIENCE_S = 3600
DEFAULT_RUNS_AT_ONCE = 4
"""Driven by one server."""
MOST_NAMED = 8
"""Themes of a draft."""
MOST_EPISODES = 100
"""Found at once in the memory."""

SHIPPED = "shipped"
"""In place of a file: the pack's instrument, not the earlier run's own in a re-run. Also the `source` of one asked."""

FRESH = "walk through the whole run again; what is answered is not asked again"
"""The one argument of going on with a run that no request has."""

NO_KEY = "-"
"""In place of the variable of a key: the server gets the key that ENQUETE_MODEL_SERVERS names for it, or none."""

Phase = Literal["T0", "T1"]
MemoryKind = Literal["local", "zep-cloud", "zep"]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
CHOSEN_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
"""What callers call something of their own: an item, a project, a table."""
RUN_ID = r"^run_[0-9A-Za-z_]{1,64}$"
TOKEN = r"^run_[0-9A-Za-z_]{1,64}(\.[0-9A-Za-z]{1,128})?$"
"""A resume token; a run_id will do."""
Place = Annotated[str, BeforeValidator(lambda given: str(given) if isinstance(given, PurePath) else given)]
"""A path, which Python callers may give as a `Path`."""

ProbeKind = Literal[
    "all", "retest", "options_reversed", "items_shuffled", "paraphrase", "persona_swapped", "persona_null",
    "negative_control", "false_median",
]  # fmt: skip
Rubric = Literal["realistic", "style", "clarity", "empathic", "interpretive", "creative"]


LOCAL = "local"
"""The executor that is this process."""
MOST_PROCESSES = 256
EXECUTORS = r"local|processes:([2-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-6])|dask:\S.*"

Interface = Literal["cli", "http", "mcp"]
EVERYWHERE: tuple[Interface, ...] = ("cli", "http", "mcp")
About = Literal["study", "driving", "start", "resume"]
M = TypeVar("M", bound=BaseModel)


class OptionMetadata:
    """Where a field of RunRequest can be said beside Python, which takes them all, and how a terminal spells it and the
    fields of other requests.

    Who calls over HTTP or MCP may name no file, no folder and no model server. `about`: the study itself, how a run is
    driven (which may change whenever it goes on), which run is started, or what only going on with one can mean.
    `option`: where it is not the field's name; `value`: where its type does not say it; `more`: what only a terminal
    says.
    """

    def __init__(self, *at: Interface, about: About = "driving", option: str = "", value: str = "", more: str = ""):
        self.at = at
        self.about = about
        self.option = option
        self.value = value
        self.more = more


PYTHON_ALONE = OptionMetadata(about="start")

USUAL = (
    "sim", "root", "out", "methods", "pack", "instruments", "language", "respondent", "model", "budget_tokens",
    "budget_usd", "phase", "agents", "types", "sample", "new",
)  # fmt: skip
"""What most studies are begun with: first in Studio's form, where every other field is called an expert's."""


def experts_apart(schema: dict[str, Any]) -> None:
    fields = schema["properties"]
    rest = {
        name: {**field, "title": f"Expert: {name.replace('_', ' ')}"}
        for name, field in fields.items()
        if name not in USUAL
    }
    usual = {name: fields[name] for name in USUAL if name in fields}
    schema["properties"] = {**usual, **rest}


class CriticSettings(BaseModel):
    """How the answers of two respondents are judged. `model` "": the main arm's; `pairs` 0: all."""

    model_config = ConfigDict(frozen=True)

    model: str = ""
    rubric: Rubric = "realistic"
    pairs: int = 0


class ModelLimits(BaseModel):
    """What a server allows for one model. None: no limit known; the process-wide concurrency holds in any case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: Annotated[int | None, Field(gt=0)] = None
    tokens_per_minute: Annotated[int | None, Field(gt=0)] = None
    concurrency: Annotated[int | None, Field(gt=0)] = None


Name = Annotated[str, Field(min_length=1, max_length=200)]
SINGLE = BeforeValidator(lambda given: [given] if isinstance(given, str) else given)  # a name where a list is meant
Names = Annotated[list[Name], SINGLE]
ModelName = Annotated[str, BeforeValidator(name_of_model), Field(max_length=LONGEST_NAME)]
FallbackModel = Annotated[str, Field(description="model asked when that one fails")]
Prose = Annotated[str, Field(max_length=20_000)]
"""What somebody writes: an answer, a persona, a document."""
TokenCap = Annotated[int | None, Field(gt=0, le=10**12)]
Concurrency = Annotated[int, Field(ge=1, le=4096)]
Patience = Annotated[float, Field(ge=0)]
Fit = Literal["checked", "any"]


def _baseline(given: str) -> str:
    if given not in ("auto", "reconstructed") and not re.fullmatch(TOKEN, given):
        raise ValueError(f"{given!r} is not taken; write auto, reconstructed or the run_id of an earlier run")
    return given


def _executor(given: str | None) -> str | None:
    if given is not None and not re.fullmatch(EXECUTORS, given):
        raise ValueError(
            f"{given!r} is not taken; write local, processes:N (N from 2 to {MOST_PROCESSES}), or dask: and a "
            "scheduler's address (dask:tcp://host:8786) or scheduler file (dask:/shared/scheduler.json)"
        )
    return given


SKIP_NON_PEOPLE = (
    "leave out rows of a people file that are no people: further header rows, totals, spreadsheet errors, duplicates"
)


class RunRequest(BaseModel):
    """What is asked for. None means: not said, take the environment's or the default.

    Declared once: options of the command line, HTTP bodies and MCP arguments are made of what an `OptionMetadata` field
    says.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra=experts_apart)

    sim: Annotated[
        Place, Field(description="sim_id under the root, or a path to a simulation folder or personas file")
    ] = ""
    root: Annotated[
        Place | None,
        Field(description="folder that holds simulations/{sim_id}"),
        OptionMetadata("cli", value="DIR", more="else ENQUETE_ROOT, else here"),
    ] = None
    out: Annotated[
        Place | None,
        Field(description="results go here instead of the simulation's own interviews/ folder"),
        OptionMetadata("cli", value="DIR"),
    ] = None
    store: Annotated[
        StoreAddress | None,
        Field(
            max_length=4096, description="PostgreSQL database that holds the ledger of a new run; a file unless named"
        ),
        OptionMetadata("cli", about="start", value="postgresql://…", more="else ENQUETE_STORE; docs/deployment.md"),
    ] = None
    methods: Annotated[
        Names | None,
        Field(description="methodologies, in the order they get budget; the usual ones unless named"),
        OptionMetadata(*EVERYWHERE, about="study", more="see `enquete list methods`"),
    ] = None
    phase: Annotated[
        Phase | None,
        Field(description="only before (T0) or only after (T1) the simulation; both unless named"),
        OptionMetadata("cli", "mcp", about="study"),  # over HTTP the path says it
    ] = None
    agents: Annotated[
        Names | None,
        Field(max_length=100_000, description="only these agents, by name or id; all unless named"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = None
    guests: Annotated[
        list[dict[str, str]],
        Field(max_length=100, description="who takes part beside a simulation's agents: name, persona and type each"),
    ] = []
    types: Annotated[
        Names | None,
        Field(max_length=1000, description="only agents of these stakeholder types; all unless named"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = None
    where: Annotated[
        str,
        Field(
            max_length=500,
            description='only agents of whom this holds, such as stakeholder_type == "ngo" and age >= 40',
        ),
        OptionMetadata(*EVERYWHERE, about="study", value="CONDITION", more="docs/simulations.md"),
    ] = ""
    sample: Annotated[
        int | None,
        Field(gt=0, le=1_000_000, description="only so many of those, drawn by seed; all unless named"),
        OptionMetadata(*EVERYWHERE, about="study", value="N"),
    ] = None
    stratify: Annotated[
        bool,
        Field(description="draw the sample from every stakeholder type in proportion"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = False
    skip_incomplete: Annotated[
        bool,
        Field(description="leave out agents with neither bio nor persona"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = False
    missing_codes: Annotated[
        Names,
        Field(
            max_length=200,
            description="values of a people file that say “not known”: -99 in every column, income=-99 in one",
        ),
        OptionMetadata(*EVERYWHERE, about="study", value="[COLUMN=]CODE"),
    ] = []
    decimal_mark: Annotated[
        DecimalMark | None,
        Field(description="mark before decimals in a people file's columns, where the columns do not tell"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = None
    skip_non_people: Annotated[
        bool,
        Field(description=SKIP_NON_PEOPLE),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = False
    language: Annotated[
        Spoken | None,
        Field(description="language of the interviews"),
        OptionMetadata(*EVERYWHERE, about="study", more="else ENQUETE_LANGUAGE, else the simulation's own"),
    ] = None
    respondent: Annotated[
        Literal["llm", "synthetic", "replay"] | None,
        Field(
            description="who answers: a model, or the built-in synthetic respondent (free, deterministic, for trying "
            "out)"
        ),
        OptionMetadata(
            "cli",
            "http",
            about="start",
            more="or replay: a finished run's own ledger, without a request; docs/reruns.md",
        ),
    ] = None
    replay_of: Annotated[
        str | None,
        Field(description="run to replay, which implies respondent replay; the canonical one unless named"),
        OptionMetadata("cli", about="start", value="RUN"),
    ] = None
    model: Annotated[
        ModelName | None,
        Field(description="model as the server calls it, or provider:name (anthropic:claude-sonnet-4-5)"),
        OptionMetadata("cli", "http", about="study", value="NAME", more="else LLM_MODEL_NAME"),
    ] = None
    base_url: Annotated[
        str | None,
        Field(description="OpenAI-compatible server up to /v1; of a provider: its address"),
        OptionMetadata("cli", value="URL", more="else LLM_BASE_URL"),
    ] = None
    key_variable: Annotated[
        str,
        Field(
            max_length=200,
            description="NAME of the environment variable with that server's key, '-' for none; LLM_API_KEY unless "
            "named",
        ),
    ] = ""
    temperature: Annotated[
        float,
        Field(ge=0, le=2, allow_inf_nan=False, description="of the model that answers, 0 to 2"),
        OptionMetadata("cli", "http", about="study"),
    ] = 0.7
    seed: Annotated[
        int,
        Field(ge=0, lt=2**31, description="of every draw and of the synthetic respondent, and sent to the model"),
        OptionMetadata("cli", "http", about="study"),
    ] = 0
    asking: Annotated[
        Literal["block", "item"],
        Field(description="all items of a part in one request, or one request an item"),
        OptionMetadata("cli", "http", about="study"),
    ] = "block"
    pack: Annotated[
        str,
        Field(max_length=200, description="what ships on a topic"),
        OptionMetadata(*EVERYWHERE, about="study", value="NAME"),
    ] = ""
    instruments: Annotated[
        dict[str, Place | dict[str, Any]],  # the content of such a file in Python
        Field(
            description="methodology → YAML or CSV file of one's own (on a server: the name of one in its folder), "
            "asked alone unless methods are named, or `shipped` for Enquete's"
        ),
        OptionMetadata(*EVERYWHERE, about="study", option="--instrument", value="METHOD=FILE"),
    ] = {}
    settings: Annotated[
        dict[Name, dict[Name, Any]],
        Field(max_length=20, description="methodology → its own settings"),
        OptionMetadata("cli", "http", about="study", option="--set", value="METHOD.KEY=VALUE"),
    ] = {}
    own_folder: Annotated[
        Place | None,
        Field(
            description="folder whose files settings may name, by name alone, beside what ships; any file unless given"
        ),
    ] = None
    arms: Annotated[
        list[Arm] | None,
        Field(description="conditions of answering in place of one, exactly one of them with the role main"),
        OptionMetadata(about="study"),
    ] = None
    probes: Annotated[
        list[ProbeKind],
        SINGLE,
        Field(
            max_length=20, description="checks that ask a sample of agents once more under another condition, or all"
        ),
        OptionMetadata("cli", "http", about="study", value="A,B|all", more="docs/probes.md"),
    ] = []
    probe_sample: Annotated[
        int,
        Field(ge=1, le=1_000_000, description="agents asked in each probe, drawn by seed from every stakeholder type"),
        OptionMetadata("cli", "http", about="study"),
    ] = 20
    placebo: Annotated[
        bool,
        Field(description="ask T1 once more with a neutral memory, to tell what the simulation changed"),
        OptionMetadata("cli", "http", about="study"),
    ] = False
    replicates: Annotated[
        int,
        Field(ge=1, le=50, description="how often the whole study is asked, each time with another seed"),
        OptionMetadata("cli", "http", about="study", value="R"),
    ] = 1
    replicate_models: Annotated[
        Names,
        Field(max_length=20, description="other models that are asked the whole study, in place of other seeds"),
        OptionMetadata("cli", "http", about="study"),
    ] = []
    respondent_b: Annotated[
        bool,
        Field(
            description="put every question to a second respondent too, whose answers a critic compares with the "
            "first's"
        ),
        OptionMetadata(*EVERYWHERE, about="study", more="docs/probes.md"),
    ] = False
    model_b: Annotated[
        ModelName | None,
        Field(description="model of the second respondent; the first's unless named"),
        OptionMetadata(*EVERYWHERE, about="study", value="NAME"),
    ] = None
    temperature_b: Annotated[
        float | None,
        Field(ge=0, le=2, allow_inf_nan=False, description="of the second respondent, 0 to 2; .5 unless said"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = None
    critic_model: Annotated[
        ModelName | None,
        Field(description="model that grades and compares the answers of both; the first's unless named"),
        OptionMetadata(*EVERYWHERE, about="study", value="NAME"),
    ] = None
    critic_rubric: Annotated[
        Rubric | None,
        Field(description="what the critic grades by; realistic unless said"),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = None
    critic_pairs: Annotated[
        int | None,
        Field(
            ge=1, le=1_000_000, description="pairs judged of each methodology and phase, drawn by seed; all unless said"
        ),
        OptionMetadata(*EVERYWHERE, about="study"),
    ] = None
    randomise: Annotated[
        Literal["none", "items", "options", "both"],
        Field(
            description="show items, answer options or both in an order of each agent's own, drawn by seed; items only "
            "where the instrument has no order of its own"
        ),
        OptionMetadata("cli", "http", about="study"),
    ] = "items"
    elicitation: Annotated[
        Literal["point", "distribution"],
        Field(description="ask for one answer, or for the probability of every answer option"),
        OptionMetadata("cli", "http", about="study"),
    ] = "point"
    budget_tokens: Annotated[
        TokenCap,
        Field(description="cap on tokens for the whole run, earlier sessions included; holds until another is named"),
        OptionMetadata(*EVERYWHERE, value="N", more=f"{DEFAULT_MAX_TOKENS:,} unless named"),
    ] = None
    budget_usd: Annotated[
        float | None,
        Field(
            gt=0,
            le=10**9,
            allow_inf_nan=False,
            description="cap in US dollars for the whole run, where the model's price is known",
        ),
        OptionMetadata(*EVERYWHERE, value="AMOUNT", more="docs/budget.md"),
    ] = None
    confirm: Annotated[
        bool,
        Field(description="start although the estimate exceeds the budget; the run pauses at the cap"),
        OptionMetadata("http", "mcp", about="start"),  # a terminal's --yes says more
    ] = False
    fit: Annotated[
        Fit | None,
        Field(
            description="any: ask although the questions are not about what the simulation is about, or in another "
            "language"
        ),
        OptionMetadata(*EVERYWHERE, about="start", more="else ENQUETE_FIT, else checked"),
    ] = None
    concurrency: Annotated[
        Concurrency | None,
        Field(description="requests in flight at once, process-wide"),
        OptionMetadata("cli", value="N", more=f"{DEFAULT_CONCURRENCY} unless named"),
    ] = None
    limits: Annotated[
        dict[str, ModelLimits] | None,
        Field(description="what the server allows a model: requests_per_minute, tokens_per_minute or concurrency"),
        OptionMetadata("cli", option="--limit", value="MODEL.KEY=VALUE"),
    ] = None
    patience_s: Annotated[
        Patience | None,
        Field(description="how long the server may stay away before the run pauses"),
        OptionMetadata("cli", option="--patience", value="SECONDS", more=f"{DEFAULT_PATIENCE_S:g} unless named"),
    ] = None
    executor: Annotated[
        str | None,
        Field(
            description="where agents are asked: in this process, in N on this machine, or by a Dask cluster's workers"
        ),
        AfterValidator(_executor),
        OptionMetadata(
            "cli", value="local|processes:N|dask:ADDRESS", more="else ENQUETE_EXECUTOR, else local; docs/scale.md"
        ),
    ] = None
    shard_size: Annotated[int, Field(ge=1, le=1024, description="agents a graph task")] = 50
    digest_chars: Annotated[
        int, Field(ge=0, le=100_000, description="length of a memory digest"), OptionMetadata("http", about="study")
    ] = 2000
    memory: Annotated[
        MemoryKind | None,
        Field(description="graph whose facts join the agents' memories and that gets the interviews as episodes"),
        OptionMetadata("cli", about="study", more="else ENQUETE_MEMORY, else local: none; docs/memory.md"),
    ] = None
    memoryless_weight: Annotated[
        float, Field(ge=0, le=1, description="weight in drift of agents without memory"), OptionMetadata(about="study")
    ] = 0.5
    by: Annotated[
        str,
        Field(
            max_length=200,
            description="what agents are compared by: a column of the personas file; stakeholder types unless named",
        ),
        OptionMetadata(*EVERYWHERE, about="study", value="COLUMN"),
    ] = ""
    primary: Annotated[
        Names,
        Field(
            max_length=50,
            description="primary questions, METHOD.QUESTION each, with =PART where they do not share the error rate "
            "alike; what the instruments say, or one of each methodology, unless named",
        ),
        OptionMetadata(*EVERYWHERE, about="study", value="METHOD.QUESTION[=PART],…", more="docs/report.md"),
    ] = []
    baseline: Annotated[
        str,
        Field(description="where T0 comes from: auto, reconstructed, or the run_id of an earlier one"),
        AfterValidator(_baseline),
        OptionMetadata(
            "cli", "http", about="study", value="auto|reconstructed|RUN_ID", more="see docs/longitudinal.md"
        ),
    ] = "auto"
    assume_completed: Annotated[
        bool,
        Field(description="treat a simulation that still says running as completed, such as one that was killed"),
        OptionMetadata("cli", "http"),
    ] = False
    new: Annotated[
        bool,
        Field(description="start another run even where one matches"),
        OptionMetadata(*EVERYWHERE, about="start"),
    ] = False
    rerun: Annotated[
        bool,
        Field(description="ask the named methods anew, take the others over from the finished run"),
        OptionMetadata("cli", about="study"),
    ] = False
    retry_failed: Annotated[
        bool,
        Field(description="ask once more for what failed, and only for that"),
        OptionMetadata(*EVERYWHERE, about="resume", more="docs/reruns.md"),
    ] = False
    timeout_s: Annotated[
        float,
        Field(gt=0, description="for one request, once it is sent"),
        OptionMetadata("cli", option="--timeout", value="SECONDS"),
    ] = 120

    @property
    def own_instruments(self) -> dict[str, str | dict[str, Any]]:
        """Files, or their content, by methodology."""
        return {name: file for name, file in self.instruments.items() if file != SHIPPED}


def fields_about(*about: About, at: Interface | None = None) -> list[str]:
    """Fields, in the order declared: what is about one of these, and can be said there."""
    marked = [(name, mark_of(name)) for name in RunRequest.model_fields]
    return [name for name, mark in marked if mark.about in about and (at is None or at in mark.at)]


def mark_of(field: str, model: type[BaseModel] = RunRequest) -> OptionMetadata:
    """One that says nothing of it is for Python alone."""
    return next((mark for mark in model.model_fields[field].metadata if isinstance(mark, OptionMetadata)), PYTHON_ALONE)


def parse_request(**given: Any) -> RunRequest:
    """As `parsed`."""
    return parsed(RunRequest, given)


def parsed(model: type[M], given: Mapping[str, Any]) -> M:
    """None is not said. Raises SettingsError naming the argument, its value and what would be right."""
    try:
        return model(**{name: with_labels(value) for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise SettingsError("; ".join(of_argument(e, model.model_fields) for e in error.errors())) from None


class MemorySearch(BaseModel):
    """What is looked for in a simulation's interviews."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[
        str, Field(max_length=500, description="words, matched by their beginnings; the newest without any")
    ] = ""
    agent: Annotated[
        str, Field(max_length=500, description="only of this agent, by name or id"), OptionMetadata(value="NAME")
    ] = ""
    run_id: Annotated[
        str, Field(max_length=500, description="only of this run, by run_id or token"), OptionMetadata(value="RUN")
    ] = ""
    limit: Annotated[int, Field(ge=1, le=MOST_EPISODES, description="at most so many episodes")] = 10


BOTH = "in one language, or as “German = English”"


class DraftRequest(BaseModel):
    """What a draft is about, and where it goes: as a client says it."""

    model_config = ConfigDict(extra="forbid")

    topic: Annotated[
        str, Field(max_length=500, description=f"what it is about, {BOTH}; the simulation's own unless named")
    ] = ""
    themes: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=MOST_NAMED, description=f"themes instead of those found, each {BOTH}"),
        OptionMetadata(option="--theme", value="TEXT"),
    ] = []
    into: Annotated[
        FileName | None,
        Field(description="folder for the drafts; drafts-SIM_ID unless named"),
        OptionMetadata(value="DIR"),
    ] = None
    skip_non_people: Annotated[bool, Field(description=SKIP_NON_PEOPLE)] = False
