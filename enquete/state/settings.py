"""What a user may say about a run, where it comes from, and what it resolves to.

Arguments win over the environment, the environment over `.env`. `RunRequest` doubles as the Studio context.
"""

from __future__ import annotations

import difflib
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from enquete.state.asking import AS_WRITTEN, Arm, Language
from enquete.state.errors import SettingsError

DEFAULT_MAX_TOKENS = 10_000_000
DEFAULT_CONCURRENCY = 32
DEFAULT_PATIENCE_S = 180.0

SHIPPED = "shipped"
"""In place of a file: the instrument of the pack, where a re-run would ask the earlier run's own. Also the `source` of one
of the default pack that was asked."""

Phase = Literal["T0", "T1"]
Place = Annotated[str, BeforeValidator(lambda given: str(given) if isinstance(given, PurePath) else given)]
"""A path, which Python callers may give as a `Path`."""

ProbeKind = Literal[
    "all",
    "retest",
    "options_reversed",
    "items_shuffled",
    "paraphrase",
    "persona_swapped",
    "persona_null",
    "negative_control",
    "false_median",
]


class ModelLimits(BaseModel):
    """What a server allows for one model. None: no limit known; the process-wide concurrency holds in any case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: Annotated[int | None, Field(gt=0)] = None
    tokens_per_minute: Annotated[int | None, Field(gt=0)] = None
    concurrency: Annotated[int | None, Field(gt=0)] = None


class RunRequest(BaseModel):
    """What is asked for. None means: not said, take the environment's or the default."""

    model_config = ConfigDict(extra="forbid")

    sim: Annotated[
        Place, Field(description="sim_id under the root, or a path to a simulation folder or personas file")
    ] = ""
    root: Annotated[Place | None, Field(description="folder that holds simulations/{sim_id}")] = None
    out: Annotated[
        Place | None, Field(description="results go here instead of the simulation's interviews/ folder")
    ] = None
    methods: Annotated[list[str] | None, Field(description="methodologies, in the order they get budget")] = None
    phase: Annotated[Phase | None, Field(description="only T0 (before) or only T1 (after); both unless named")] = None
    language: Annotated[Language | None, Field(description="language of the interviews")] = None
    respondent: Annotated[
        Literal["llm", "synthetic", "replay"] | None,
        Field(description="who answers; replay: a finished run's own ledger, without a network"),
    ] = None
    replay_of: Annotated[
        str | None, Field(description="run_id that respondent=replay reads; else the canonical run")
    ] = None
    model: Annotated[str | None, Field(description="model name, as the server knows it")] = None
    base_url: Annotated[str | None, Field(description="OpenAI-compatible server")] = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    seed: int = 0
    asking: Annotated[Literal["block", "item"], Field(description="all items of a part at once, or one by one")] = (
        "block"
    )
    pack: Annotated[str, Field(description="topic that ships with Enquete; the default one unless named")] = ""
    instruments: Annotated[
        dict[str, Place],
        Field(description="methodology → YAML file of one's own; those alone are asked unless methods are named"),
    ] = {}
    settings: Annotated[dict[str, dict[str, Any]], Field(description="methodology → its own settings")] = {}
    arms: list[Arm] | None = None
    probes: Annotated[
        list[ProbeKind],
        Field(description="checks that ask a sample of agents once more under another condition, or all"),
    ] = []
    probe_sample: Annotated[
        int, Field(ge=1, description="agents asked in each probe, drawn by seed from every stakeholder type")
    ] = 20
    replicates: Annotated[
        int, Field(ge=1, le=50, description="how often the whole study is asked, each time with another seed")
    ] = 1
    replicate_models: Annotated[
        list[str], Field(description="other models that are asked the whole study, in place of other seeds")
    ] = []
    placebo: Annotated[
        bool, Field(description="ask T1 once more with a neutral memory, to tell what the simulation changed")
    ] = False
    randomise: Annotated[
        Literal["none", "items", "options", "both"],
        Field(description="show items, answer options or both in an order of each agent's own, drawn by seed"),
    ] = "none"
    elicitation: Annotated[
        Literal["point", "distribution"],
        Field(description="ask for one answer, or for the probability of every answer option"),
    ] = "point"
    budget_tokens: Annotated[int | None, Field(gt=0, description="cap on tokens for the whole run")] = None
    budget_usd: Annotated[float | None, Field(gt=0, description="cap on money for the whole run, by known prices")] = (
        None
    )
    confirm: Annotated[bool, Field(description="start although the estimate exceeds the budget")] = False
    concurrency: Annotated[int | None, Field(ge=1, le=4096, description="requests in flight, process-wide")] = None
    limits: Annotated[
        dict[str, ModelLimits] | None, Field(description="model → requests and tokens a minute, requests in flight")
    ] = None
    patience_s: Annotated[
        float | None, Field(ge=0, description="seconds that a server may stay away before the run pauses")
    ] = None
    cache: Annotated[bool | None, Field(description="reuse responses to identical requests of earlier runs")] = None
    shard_size: Annotated[int, Field(ge=1, le=1024, description="agents a graph task")] = 50
    digest_chars: Annotated[int, Field(ge=0, le=100_000, description="length of a memory digest")] = 2000
    memoryless_weight: Annotated[float, Field(ge=0, le=1, description="weight in drift of agents without memory")] = 0.5
    baseline: Annotated[str, Field(description="auto, reconstructed, or the run_id of an earlier T0")] = "auto"
    assume_completed: Annotated[bool, Field(description="treat a simulation that still says running as completed")] = (
        False
    )
    new: Annotated[bool, Field(description="start another run even where one matches")] = False
    rerun: Annotated[bool, Field(description="ask the named methods anew, take the others from the canonical run")] = (
        False
    )
    retry_failed: Annotated[bool, Field(description="ask once more for what failed, and only for that")] = False
    timeout_s: Annotated[float, Field(gt=0, description="seconds for one request, once it is sent")] = 120

    @property
    def own_instruments(self) -> dict[str, str]:
        """Files by methodology."""
        return {name: file for name, file in self.instruments.items() if file != SHIPPED}


class Environment(BaseSettings):
    """What the environment and `.env` say."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True)

    api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("LLM_API_KEY", "OPENAI_API_KEY"))
    base_url: str | None = Field(None, validation_alias="LLM_BASE_URL")
    model: str | None = Field(None, validation_alias="LLM_MODEL_NAME")
    zep_api_key: SecretStr | None = Field(None, validation_alias="ZEP_API_KEY")
    root: str | None = Field(None, validation_alias="ENQUETE_ROOT")
    language: Language | None = Field(None, validation_alias="ENQUETE_LANGUAGE")
    max_tokens: int = Field(DEFAULT_MAX_TOKENS, gt=0, validation_alias="ENQUETE_MAX_TOKENS_PER_RUN")
    concurrency: int = Field(DEFAULT_CONCURRENCY, ge=1, le=4096, validation_alias="ENQUETE_CONCURRENCY")
    respondent: Literal["llm", "synthetic"] | None = Field(None, validation_alias="ENQUETE_RESPONDENT")
    limits: dict[str, ModelLimits] = Field({}, validation_alias="ENQUETE_LIMITS")  # JSON
    patience_s: float = Field(DEFAULT_PATIENCE_S, ge=0, validation_alias="ENQUETE_PATIENCE_S")
    cache: bool = Field(False, validation_alias="ENQUETE_CACHE")
    cache_dir: Path | None = Field(None, validation_alias="ENQUETE_CACHE_DIR")
    prices: Path | None = Field(None, validation_alias="ENQUETE_PRICES")  # YAML file of one's own prices
    allow_network_drive: bool = Field(False, validation_alias="ENQUETE_ALLOW_NETWORK_DRIVE")

    @classmethod
    def read(cls) -> Environment:
        """Raises SettingsError naming the variable, its value and what would be right. Keys are never shown."""
        try:
            return cls()
        except ValidationError as error:
            lines = [f"{'.'.join(map(str, e['loc']))}={e['input']!r}: {e['msg']}" for e in error.errors()]
            raise SettingsError("environment: " + "; ".join(lines)) from None
        except UnicodeDecodeError as error:
            raise SettingsError(f".env is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8") from None


class Machine(BaseModel):
    """How a run is driven here and now: never part of its fingerprint."""

    model_config = ConfigDict(frozen=True)

    api_key: SecretStr | None = None
    base_url: str | None = None
    cap_tokens: int | None = None  # None: not said now; the run's own cap, else the environment's, holds
    cap_usd: float | None = None
    default_cap_tokens: int = DEFAULT_MAX_TOKENS
    prices: Path | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    limits: dict[str, ModelLimits] = {}
    patience_s: float = DEFAULT_PATIENCE_S
    cache: bool = False
    cache_dir: Path | None = None
    retry_failed: bool = False
    timeout_s: float = 120
    shard_size: int = 50
    assume_completed: bool = False
    offline: bool = False  # reading and writing up only: no model is asked, so no key is needed


def parse_request(**given: Any) -> RunRequest:
    """Raises SettingsError naming the argument, its value and what would be right."""
    try:
        return RunRequest(**given)
    except ValidationError as error:
        raise SettingsError("; ".join(_complaint(e) for e in error.errors())) from None


def _complaint(error: ErrorDetails) -> str:
    """Field, value, what would be right. The value of an unknown argument is not shown: it may be a key."""
    field = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        known = difflib.get_close_matches(field, RunRequest.model_fields, n=1)
        return f"{field}: no such argument" + (f"; did you mean {known[0]!r}?" if known else "")
    return f"{field}: {error['input']!r} — {error['msg']}"


def resolve_root(request: RunRequest, environment: Environment) -> Path:
    return Path(request.root or environment.root or ".").expanduser()


def resolve_machine(request: RunRequest, environment: Environment) -> Machine:
    return Machine(
        api_key=environment.api_key,
        base_url=request.base_url or environment.base_url,
        cap_tokens=request.budget_tokens,
        cap_usd=request.budget_usd,
        default_cap_tokens=environment.max_tokens,
        prices=environment.prices,
        concurrency=request.concurrency or environment.concurrency,
        limits={**environment.limits, **(request.limits or {})},
        patience_s=environment.patience_s if request.patience_s is None else request.patience_s,
        cache=environment.cache if request.cache is None else request.cache,
        cache_dir=environment.cache_dir,
        retry_failed=request.retry_failed,
        timeout_s=request.timeout_s,
        shard_size=request.shard_size,
        assume_completed=request.assume_completed,
    )


def resolve_arms(request: RunRequest, environment: Environment) -> list[Arm]:
    """One main arm unless arms are given. A run that names a model never falls back to the synthetic respondent.

    Probes, placebo and replicates come in beside it: see nodes/arms.py.
    """
    if request.arms is not None:
        return _given_arms(request, request.arms)
    respondent = request.respondent or (None if request.model else environment.respondent)
    has_server = bool(environment.api_key or request.base_url or environment.base_url)
    if respondent is None:
        respondent = "llm" if request.model or has_server else "synthetic"
    if respondent == "synthetic":
        if request.model:
            raise SettingsError(f"model {request.model!r} is named, but the respondent is synthetic: drop one of them")
        return [_main(request, "synthetic", "synthetic", 0)]
    model = request.model or environment.model
    if not model:
        raise SettingsError(
            "no model named: give --model or set LLM_MODEL_NAME (or --respondent synthetic)",
            fact="no model named, and LLM_MODEL_NAME is not set where Enquete runs",
        )
    if not has_server:
        raise SettingsError(
            f"model {model!r} is named, but there is neither a key (LLM_API_KEY) nor a server (LLM_BASE_URL)"
        )
    return [_main(request, "llm", model, request.temperature)]


def _given_arms(request: RunRequest, arms: list[Arm]) -> list[Arm]:
    if [arm.role for arm in arms].count("main") != 1 or len({arm.id for arm in arms}) < len(arms):
        raise SettingsError("arms: exactly one arm with role 'main' and no id twice")
    for name, unsaid in (("randomise", "none"), ("elicitation", "point")):
        if getattr(request, name) != unsaid:
            raise SettingsError(
                f"{name}: {getattr(request, name)!r} is said beside arms, which say it themselves "
                "(presentation, elicitation); leave one of them out"
            )
    return arms


def _main(request: RunRequest, respondent: Literal["llm", "synthetic"], model: str, temperature: float) -> Arm:
    orders = {"items": "items_random", "options": "options_random", "both": "items_random+options_random"}
    return Arm(
        respondent=respondent,
        model=model,
        temperature=temperature,
        seed=request.seed,
        presentation=orders.get(request.randomise, AS_WRITTEN),
        draw_seed=request.seed if request.randomise != "none" else 0,
        elicitation=request.elicitation,
    )
