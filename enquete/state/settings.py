"""Where what a user says about a run comes from, and what it resolves to.

Arguments win over the environment, the environment over `.env`. `RunRequest` doubles as the Studio context.

Words for a model that runs in the box: how it is asked for, and what a run's record keeps of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, Json, SecretStr, ValidationError

from enquete.state.asking import AS_WRITTEN, Arm, Spoken
from enquete.state.errors import SettingsError, complaints
from enquete.state.model_names import chat_model_of, has_own_service
from enquete.state.request import (
    DEFAULT_CONCURRENCY,
    DEFAULT_MAX_TOKENS,
    DEFAULT_PATIENCE_S,
    EXECUTORS,
    LOCAL,
    Concurrency,
    Fit,
    MemoryKind,
    ModelLimits,
    Patience,
    RunRequest,
    StoreAddress,
)
from enquete.state.untrusted_input import Stamp, stamp_of

# --- A model that runs in the box ------------------------------------------------------------------------------------

LOCAL_MODEL = "local"
LOCAL_URL = "http://local-model.invalid/v1"
"""Its server in prices and caches, since its port is another one each time; a name that no real server can have."""

DEFAULT_CONTEXT = 8192


class Weights(BaseModel):
    """A model file. `file`: "" for the one that comes as a package, wherever that is installed."""

    model_config = ConfigDict(frozen=True)

    name: str
    sha256: str
    file: str = ""


def is_local(model: str | None) -> bool:
    """Whether a name asks for a local model: `local` or `local:PATH`."""
    return model is not None and (model == LOCAL_MODEL or model.startswith(f"{LOCAL_MODEL}:"))


DOTENV = Path(".env")
KEYS = ("LLM_API_KEY", "OPENAI_API_KEY")
"""Either names the key of the model's server."""
SECRETS = (*KEYS, "ZEP_API_KEY", "ENQUETE_TOKEN", "ENQUETE_STORE")
"""Variables whose values are shown nowhere."""
SHORTEST_SECRET = 6
"""Characters. No provider gives out a shorter key, and masking so short a word would spoil ordinary text."""
PLACEHOLDERS = frozenset(
    {"lm-studio", "lmstudio", "ollama", "llama.cpp", "llamacpp", "local", "localai", "no-key", "nokey", "no-key-needed",
     "no-key-required", "not-needed", "not-required", "notneeded", "sk-no-key-required", "unused", "vllm", "dummy-key",
     "placeholder", "secret", "token-abc123"}
)  # fmt: skip
"""What the manuals of local model servers tell people to write where a key is asked for."""


def is_placeholder(secret: str) -> bool:
    """Return whether a key is none, but a word in its place, such as EMPTY: it needs no masking."""
    return len(secret) < SHORTEST_SECRET or secret.casefold() in PLACEHOLDERS


class Environment(BaseModel):
    """What the environment and `.env` say."""

    model_config = ConfigDict(frozen=True)

    api_key: SecretStr | None = Field(None, validation_alias=AliasChoices(*KEYS))
    base_url: str | None = Field(None, validation_alias="LLM_BASE_URL")
    model: str | None = Field(None, validation_alias="LLM_MODEL_NAME")
    zep_api_key: SecretStr | None = Field(None, validation_alias="ZEP_API_KEY")
    zep_url: str | None = Field(None, validation_alias="ZEP_API_URL")  # the name that Zep's own libraries read
    memory: MemoryKind | None = Field(None, validation_alias="ENQUETE_MEMORY")
    root: str | None = Field(None, validation_alias="ENQUETE_ROOT")
    language: Spoken | None = Field(None, validation_alias="ENQUETE_LANGUAGE")
    fit: Fit = Field("checked", validation_alias="ENQUETE_FIT")
    max_tokens: int = Field(DEFAULT_MAX_TOKENS, gt=0, validation_alias="ENQUETE_MAX_TOKENS_PER_RUN")
    concurrency: Concurrency = Field(DEFAULT_CONCURRENCY, validation_alias="ENQUETE_CONCURRENCY")
    respondent: Literal["llm", "synthetic"] | None = Field(None, validation_alias="ENQUETE_RESPONDENT")
    limits: Json[dict[str, ModelLimits]] = Field({}, validation_alias="ENQUETE_LIMITS")
    patience_s: Patience = Field(DEFAULT_PATIENCE_S, validation_alias="ENQUETE_PATIENCE_S")
    executor: str = Field(LOCAL, pattern=f"^({EXECUTORS})$", validation_alias="ENQUETE_EXECUTOR")
    local_context: int = Field(DEFAULT_CONTEXT, ge=512, le=1_000_000, validation_alias="ENQUETE_LOCAL_CONTEXT")
    model_servers: Json[dict[str, str]] = Field({}, validation_alias="ENQUETE_MODEL_SERVERS")  # URL → key's variable
    prices: Path | None = Field(None, validation_alias="ENQUETE_PRICES")  # YAML file of one's own prices
    store: StoreAddress | None = Field(None, validation_alias="ENQUETE_STORE")
    allow_network_drive: bool = Field(False, validation_alias="ENQUETE_ALLOW_NETWORK_DRIVE")

    @property
    def names_model(self) -> bool:
        """Whether a model can be asked without anything being said: a key, a server, or a model that needs neither."""
        return bool(self.api_key or self.base_url) or is_local(self.model) or has_own_service(self.model)

    @classmethod
    def variables(cls) -> Iterator[str]:
        """Every name that is read, in the order declared."""
        for info in cls.model_fields.values():
            alias = info.validation_alias
            yield from map(str, alias.choices if isinstance(alias, AliasChoices) else [alias])

    @classmethod
    def read(cls) -> Environment:
        """Raises SettingsError naming the variable, its value and what would be right. Keys are never shown."""
        try:
            return _read(frozenset(os.environ.items()), stamp_of([DOTENV.absolute()]))
        except ValidationError as error:
            raise SettingsError(f"environment: {complaints(error)}") from None
        except UnicodeDecodeError as error:
            raise SettingsError(f".env is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8") from None


@lru_cache(maxsize=4)
def _read(environment: frozenset[tuple[str, str]], written: Stamp) -> Environment:
    """Read once as long as neither the environment nor .env changes: a run asks often."""
    surroundings, file = _upper(os.environ), in_dotenv()
    if any(key in surroundings for key in KEYS):  # by either name, the environment's beats that of .env
        file = {name: value for name, value in file.items() if name not in KEYS}
    return Environment.model_validate(file | surroundings)


def setting_of(name: str) -> str:
    """What the environment says, else `.env`; "" for nothing."""
    return _upper(os.environ).get(name) or in_dotenv().get(name, "")


def in_dotenv() -> dict[str, str]:
    """Raises UnicodeDecodeError."""
    if not DOTENV.is_file():
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 - there is none as a rule

    return _upper(dotenv_values(DOTENV, encoding="utf-8"))


def _upper(values: Mapping[str, str | None]) -> dict[str, str]:
    """Variables that say something, however they are spelt."""
    return {name.upper(): value for name, value in values.items() if value}


class Machine(BaseModel):
    """How a run is driven here and now: never part of its fingerprint."""

    model_config = ConfigDict(frozen=True)

    api_key: SecretStr | None = None
    base_url: str | None = None
    zep_api_key: SecretStr | None = None
    zep_url: str | None = None
    cap_tokens: int | None = None  # None: not said now; the run's own cap, else the environment's, holds
    cap_usd: float | None = None
    default_cap_tokens: int = DEFAULT_MAX_TOKENS
    prices: Path | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    limits: dict[str, ModelLimits] = {}
    model_servers: dict[str, str] = {}
    patience_s: float = DEFAULT_PATIENCE_S
    waits_for_server: bool = False  # also before the first question: patience was named
    local_context: int = DEFAULT_CONTEXT  # tokens of one request to a local model
    retry_failed: bool = False
    timeout_s: float = 120
    executor: str = LOCAL
    shard_size: int = 50
    assume_completed: bool = False
    offline: bool = False  # reading and writing up only: no model is asked, so no key is needed


def resolve_root(request: RunRequest, environment: Environment) -> Path:
    return Path(request.root or environment.root or ".").expanduser()


def root_of(root: str | Path | None = None) -> Path:
    """The folder that holds simulations/: this one, else the environment's, else here."""
    return Path(root or Environment.read().root or ".").expanduser()


def resolve_machine(request: RunRequest, environment: Environment) -> Machine:
    return Machine(
        api_key=environment.api_key,
        base_url=request.base_url or environment.base_url,
        zep_api_key=environment.zep_api_key,
        zep_url=environment.zep_url,
        cap_tokens=request.budget_tokens,
        cap_usd=request.budget_usd,
        default_cap_tokens=environment.max_tokens,
        prices=environment.prices,
        concurrency=request.concurrency or environment.concurrency,
        limits={**environment.limits, **(request.limits or {})},
        model_servers=environment.model_servers,
        patience_s=environment.patience_s if request.patience_s is None else request.patience_s,
        waits_for_server=request.patience_s is not None or "patience_s" in environment.model_fields_set,
        local_context=environment.local_context,
        retry_failed=request.retry_failed,
        timeout_s=request.timeout_s,
        executor=request.executor or environment.executor,
        shard_size=request.shard_size,
        assume_completed=request.assume_completed,
    )


def resolve_arms(request: RunRequest, environment: Environment, *, needs_server: bool = True) -> list[Arm]:
    """One main arm unless arms are given. A run that names a model never falls back to the synthetic respondent.

    needs_server: whether a model that is named must have a key or a server; an estimate asks none.
    Probes, placebo and replicates come in beside it: see runs/arms.py.
    """
    if request.arms is not None:
        return _given_arms(request, request.arms)
    respondent = request.respondent or (None if request.model else environment.respondent)
    has_server = bool(environment.api_key or request.base_url or environment.base_url)
    if respondent is None:
        respondent = "llm" if request.model or has_server or environment.names_model else "synthetic"
    if respondent == "synthetic":
        if request.model:
            raise SettingsError(f"model {request.model!r} is named, but the respondent is synthetic: drop one of them")
        return [_main(request, "synthetic", "synthetic", 0)]
    model = request.model or environment.model
    if not model:
        raise SettingsError(
            "no model named: set LLM_MODEL_NAME or say model=NAME (or respondent=synthetic)",
            fact="no model named, and LLM_MODEL_NAME is not set where Enquete runs",
        )
    if needs_server and not has_server and not is_local(model) and not has_own_service(model):
        raise SettingsError(
            f"model {model!r} is named, but there is neither a key (LLM_API_KEY) nor a server (LLM_BASE_URL), and it "
            "is no provider:name"
        )
    return [_main(request, "llm", model, temperature_of(model, request))]


def temperature_of(model: str, request: RunRequest) -> float:
    """What is asked for, else a chat model object's own, else the default."""
    own = getattr(chat_model_of(model), "temperature", None)
    if "temperature" in request.model_fields_set or not isinstance(own, int | float):
        return request.temperature
    return float(own)


def _given_arms(request: RunRequest, arms: list[Arm]) -> list[Arm]:
    if [arm.role for arm in arms].count("main") != 1 or len({arm.id for arm in arms}) < len(arms):
        raise SettingsError("arms: exactly one arm with role 'main' and no id twice")
    for name, unsaid in (("randomise", "items"), ("elicitation", "point")):
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
