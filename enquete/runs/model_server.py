"""The server that a run's models are asked at: which one, over which transport, and whether it is there before anything
is asked.

Without that last check a server that is down is silence for as long as a run is patient with one that goes away
halfway. `StandaloneContext` is for the interviewer's work outside a run's graph: one model, one cap, and a ledger in
which every request is filed before it is sent, as in a run. Whoever begins anew after a stop pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from enquete.ledger.budget import Budget
from enquete.ledger.folders import LEDGER, held
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord
from enquete.ledger.shared_limits import SharedPace
from enquete.models.chat_models import make_chat_model, require_chat_model
from enquete.models.chat_replies import ModelResponse
from enquete.models.faults import checked_url, mask, shown_url
from enquete.models.local_model import LocalModel, file_of
from enquete.models.metered_model import MeteredModel, Terms
from enquete.models.prices import OPENAI_URL, Prices, server_of
from enquete.models.servers import Limiter
from enquete.models.transport import Room, Transport
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.person import HumanRespondent
from enquete.runs.planning import models_of, served_models
from enquete.state.asking import Arm, ServedModel
from enquete.state.errors import ModelError, ModelRejected, ModelUnavailable, SettingsError
from enquete.state.interview_context import Prompt
from enquete.state.methodology import alongside
from enquete.state.model_names import PROVIDERS, has_own_service, is_object, provider_of
from enquete.state.request import NO_KEY, ModelLimits
from enquete.state.settings import LOCAL_URL, Machine, is_local, setting_of

if TYPE_CHECKING:
    from enquete.models.chat_services import ChatService
    from enquete.models.reachability import Absence

EVERY_S, LOGGED_EVERY_S = 1.0, 10.0
"""Seconds between two looks at what is waited for, for people and for the log."""
log = logging.getLogger("enquete")

STANDBY_S = 20.0
"""Seconds that a server may stay away, or say "later" to everything, before a model that stands by takes over."""

LIMITER = Limiter(32)
"""One limit on requests in flight for the whole process, whatever runs in it."""


def asked_url(record: RunRecord, machine: Machine) -> str:
    """The server that this run's models are asked at: the one named now, else the run's own."""
    if record.weights:
        return LOCAL_URL
    named = "" if record.key_variable else machine.base_url  # its key is no other server's
    return named or _own_url(record) or OPENAI_URL


def _own_url(record: RunRecord) -> str:
    """The run's own server, where names without a provider are asked: not the address of a provider."""
    return "" if has_own_service(record.main.model) else record.base_url


def at_its_server(record: RunRecord, machine: Machine) -> Machine:
    """With the run's own server and the key it was begun with, unless others are named now. Raises SettingsError."""
    if has_own_service(record.main.model):
        return machine
    if not record.key_variable:
        return machine.model_copy(update={"base_url": machine.base_url or record.base_url or None})
    server = ServedModel(base_url=record.base_url, key_variable=record.key_variable.removeprefix(NO_KEY))
    changes = {"base_url": record.base_url or None, "api_key": key_in(_variable(server, machine))}
    return machine.model_copy(update=changes)


def key_in(variable: str) -> SecretStr | None:
    """The key that an environment variable holds. Raises SettingsError where it holds none."""
    if not variable:
        return None
    key = setting_of(variable.upper())
    if not key:
        raise SettingsError(
            f"key_variable: {variable!r} is not set, neither in the environment nor in .env; it is the NAME of the "
            "variable that holds the server's key"
        )
    return SecretStr(key)


def require_served(served: Sequence[ServedModel], machine: Machine, *, listed: bool, needs_keys: bool = True) -> None:
    """Before anything is asked. `listed`: only servers of ENQUETE_MODEL_SERVERS may be named, each with the key that
    stands there, as a caller from elsewhere could have any key sent anywhere. needs_keys: not for an estimate. Raises
    SettingsError."""
    for model in served:
        if model.base_url and ("://" not in model.base_url or server_of(model.base_url) is None):
            raise SettingsError(
                f"base_url: {shown_url(model.base_url)!r} (model {model.model!r}) is no base URL; write one such as "
                "https://host/v1, without user, password or query"
            )
        if is_local(model.model):
            raise SettingsError(
                f"model: {model.model!r} answers whole runs on this machine; a seat names a model of a server"
            )
        known = {url.rstrip("/"): variable for url, variable in machine.model_servers.items()}
        url, variable = model.base_url.rstrip("/"), model.key_variable
        if listed and (url or variable) and (url not in known or variable not in ("", known[url])):
            there = ", ".join(f"{shown_url(name)} with {key or 'no key'}" for name, key in known.items()) or "none"
            raise SettingsError(
                f"base_url: {shown_url(url)!r} with {variable or 'no key'} may not be named here; whoever runs the "
                f"server lists what may, in ENQUETE_MODEL_SERVERS: {there}"
            )
        if needs_keys:
            key_in(_variable(model, machine))


def _variable(served: ServedModel, machine: Machine) -> str:
    """The one named, else the one that is listed for its server."""
    known = {url.rstrip("/"): variable for url, variable in machine.model_servers.items()}
    return served.key_variable or known.get(served.base_url.rstrip("/"), "")


class OtherServers:
    """Senders to the servers of models that answer in place of the run's, each made when it is first needed."""

    def __init__(self, record: RunRecord, machine: Machine, shared: Ledger | None = None):
        """`shared`: as of `make_sender`."""
        self._shared = shared
        self._machine = at_its_server(record, machine)
        self._own = asked_url(record, machine).rstrip("/")
        self._senders: dict[tuple[str, str, bool], ModelSenders] = {}

    def sender(self, served: ServedModel, *, patient: bool) -> ModelSenders:
        """`patient`: whether its server is waited for while it is away, or another model stands by."""
        own_url, variable = served.base_url.rstrip("/"), _variable(served, self._machine)
        url = own_url or self._own
        key = (url, variable, patient)
        if key not in self._senders:
            named: dict[str, object] = {} if url == self._own and not variable else {"api_key": key_in(variable)}
            if not patient:
                named["patience_s"] = min(self._machine.patience_s, STANDBY_S)
            machine = self._machine.model_copy(update=named)
            self._senders[key] = ModelSenders(url, machine, self._shared, own_url=own_url, key_variable=variable)
        return self._senders[key]

    def halt(self) -> None:
        for sender in self._senders.values():
            sender.halt()

    @property
    def waits_for(self) -> str:
        return next((sender.waits_for for sender in self._senders.values() if sender.waits_for), "")

    async def aclose(self) -> None:
        for sender in self._senders.values():
            await sender.aclose()


class ModelSenders:
    """The requests of a run, each to the server of its model: see `metered_model.Sender`.

    A name goes to the server that is named, `provider:name` to the provider, the label of a chat model object to that
    object. Each has limits, health and patience of its own.
    """

    def __init__(
        self, url: str, machine: Machine, shared: Ledger | None = None, *, own_url: str = "", key_variable: str = ""
    ):
        """
        Args:
            url: Where names without a provider are asked.
            shared: As of `make_sender`.
            own_url: Another address than a provider's own.
            key_variable: Of a provider, where it is not the usual one.
        """
        self._url = url
        self._machine = machine
        self._shared = shared
        self._own_url = own_url
        self._key_variable = key_variable
        self._transports: dict[str, Transport] = {}
        self._is_halted = False

    def _of(self, model: str) -> Transport:
        place = model if is_object(model) else provider_of(model)
        if place not in self._transports:
            self._transports[place] = transport = self._make(place)
            if self._is_halted:
                transport.halt()
        return self._transports[place]

    def _make(self, place: str) -> Transport:
        if not place:
            return _transport(self._url, self._machine, self._shared)
        from enquete.models.langchain_chat import LangChainChat  # noqa: PLC0415 - slow, and not for every run

        keys = PROVIDERS[place].keys if place in PROVIDERS else ()
        variables = (self._key_variable,) if self._key_variable else keys
        key = next((value for name in variables if (value := setting_of(name))), "")
        own_url, variable = self._own_url, self._key_variable
        service = LangChainChat(lambda model: make_chat_model(model, own_url, variable), key, self._machine.patience_s)
        address = own_url or (place.rpartition(":")[0] if is_object(place) else place)
        transport = _transport(address, self._machine, self._shared, service)
        transport.key_name = " or ".join(variables)
        return transport

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Room = None, agent: str = ""
    ) -> ModelResponse:
        """See `Transport.send`."""
        sender = self._of(model)
        return await sender.send(prompt, model=model, temperature=temperature, seed=seed, room=room, agent=agent)

    async def fit(self, prompt: Prompt, model: str, agent: str = "") -> Prompt:
        """See `Transport.fit`."""
        return await self._of(model).fit(prompt, model, agent)

    @property
    def waits_for(self) -> str:
        """See `Transport.waits_for`, of the first that is waited for."""
        return next((sender.waits_for for sender in self._transports.values() if sender.waits_for), "")

    def halt(self) -> None:
        """See `Transport.halt`."""
        self._is_halted = True
        for sender in self._transports.values():
            sender.halt()

    async def aclose(self) -> None:
        """Let go of every server."""
        for sender in self._transports.values():
            await sender.aclose()


def server_url(record: RunRecord, machine: Machine) -> str | None:
    """Where names without a provider are asked; None where there are none. Raises SettingsError where neither key nor
    server is known."""
    if machine.offline or not record.asks_model:
        return None
    named = {*models_of(record), *filter(None, [record.interviewer_model])}
    if named and all(has_own_service(model) for model in named):
        return None
    if machine.api_key is None and not machine.base_url:
        raise SettingsError("this run's answers come from a model: set LLM_API_KEY or LLM_BASE_URL")
    return url_of(machine)


def make_sender(record: RunRecord, machine: Machine, shared: Ledger | None = None) -> ModelSenders | LocalModel | None:
    """Who sends, where any arm needs a model; with a server of the run's own where that is a local one. `shared`: the
    ledger by which several processes keep the run's pace."""
    if record.weights and not machine.offline:
        keyless = machine.model_copy(update={"api_key": None})
        return LocalModel(
            record.weights, file_of(record.weights), machine.local_context, lambda url: _transport(url, keyless)
        )
    machine = at_its_server(record, machine)
    url = server_url(record, machine)
    if machine.offline or not record.asks_model:
        return None
    own_url = record.base_url if has_own_service(record.main.model) else ""
    variable = record.key_variable.removeprefix(NO_KEY) if has_own_service(record.main.model) else ""
    return ModelSenders(url or OPENAI_URL, machine, shared, own_url=own_url, key_variable=variable)


def _transport(
    url: str, machine: Machine, shared: Ledger | None = None, service: ChatService | None = None
) -> Transport:
    def pace(model: str, limits: ModelLimits) -> SharedPace | None:
        if shared is None or not (limits.requests_per_minute or limits.tokens_per_minute):
            return None
        return SharedPace(shared, model, limits.requests_per_minute, limits.tokens_per_minute)

    return Transport(
        base_url=url,
        api_key=None if service else machine.api_key,
        service=service,
        timeout_s=machine.timeout_s,
        limiter=LIMITER,
        limits=machine.limits,
        patience_s=machine.patience_s,
        shared_pace=pace,
    )


async def require_server_of(record: RunRecord, machine: Machine) -> None:
    """Of a run, where models answer and no earlier run does. Raises as `require_server`."""
    if record.replay_of or record.weights:  # a local model's server is the run's own
        return
    served = served_models(record)
    require_served(served, machine, listed=False)
    machine = at_its_server(record, machine)
    url = server_url(record, machine)
    for model in sorted({*models_of(record), record.interviewer_model}):
        if has_own_service(model):
            require_chat_model(model, record.key_variable.removeprefix(NO_KEY) if model == record.main.model else "")
    if url is not None:
        await require_server(url, record.interviewer_model or record.main.model, machine)


async def require_server(url: str, model: str, machine: Machine) -> None:
    """Raises ModelRejected where key or URL are wrong, ModelUnavailable where nobody answers. What is to be waited for
    is only told about, in the log. Raises SettingsError where a provider's package or key is missing."""
    if has_own_service(model):
        require_chat_model(model)
        return
    from enquete.models.reachability import absence  # noqa: PLC0415 - the SDK takes half a second to import

    missing = await absence(url, machine.api_key)
    if missing is None:
        return
    key = machine.api_key.get_secret_value() if machine.api_key else ""
    shown = mask(shown_url(url), key)
    words = f"The model server {shown} {missing.did} (asked before anything else; model {model!r})."
    patient = machine.waits_for_server or missing.loading
    if missing.wrong_key or missing.wrong_url or not patient:
        raise _refusal(missing, words)
    log.warning("%s It is waited for, %g s at most (ENQUETE_PATIENCE_S).", words, machine.patience_s)


def _refusal(absence: Absence, words: str) -> ModelError:
    """Nothing was sent that anybody is billed for."""
    if absence.wrong_key:
        advice = "Check LLM_API_KEY (or OPENAI_API_KEY): it must be a key of this server."
        return ModelRejected(f"{words} {advice}", fatal=True, sends=0)
    if absence.wrong_url:
        advice = "Check LLM_BASE_URL: it usually ends in /v1 and is not the full path of an endpoint."
        return ModelRejected(f"{words} {advice}", fatal=True, sends=0)
    fact = f"{words} Nothing was asked."
    advice = "Start it, or check LLM_BASE_URL. To have it waited for, say for how many seconds: patience_s=600"
    return ModelUnavailable(f"{fact} {advice}", sends=0, fact=fact)


def telling(
    waits_for: Callable[[], str], tell: Callable[[str], object], every_s: float = EVERY_S
) -> AbstractAsyncContextManager[None]:
    """Within, `tell` is called every so many seconds with what is waited for, while anything is; then once with ""."""

    async def watch() -> None:
        told = ""
        while True:
            await asyncio.sleep(every_s)
            words = waits_for()
            if words or told:
                tell(words)
            told = words

    return alongside(watch())


@dataclass(frozen=True)
class StandaloneContext:
    context: LedgerContext
    ledger: Ledger
    budget: Budget


def url_of(machine: Machine) -> str:
    """The server's base URL. Raises SettingsError."""
    return checked_url(machine.base_url or OPENAI_URL)


@asynccontextmanager
async def staffed(ledger: Ledger, model: str, machine: Machine, methodology: str) -> AsyncIterator[StandaloneContext]:
    """methodology: under which its requests stand in the ledger."""
    url = url_of(machine)
    sender = ModelSenders(url, machine)
    budget = Budget(machine.cap_tokens or machine.default_cap_tokens, ledger.total("tokens"))
    budget.when_stopped = sender.halt
    metered = MeteredModel(
        ledger, budget, sender, Terms(model, 0, 0, Prices.read(machine.prices).of(model, url), "", url)
    )
    arm = Arm(respondent="llm", model=model, temperature=0)
    context = LedgerContext(
        arm=arm, main_arm=arm.id, methodology=methodology, phase="", language="en", asking="block", population=(),
        ledger=ledger, respondent=HumanRespondent(ledger), model=metered, interviewers=lambda _: metered,
        interviewer_has_model=True,
    )  # fmt: skip
    try:
        async with telling(lambda: sender.waits_for, _log, LOGGED_EVERY_S):
            yield StandaloneContext(context, ledger, budget)
    finally:
        await sender.aclose()


def _log(words: str) -> None:
    if words:
        log.warning("%s", words)


@asynccontextmanager
async def opened(folder: Path, model: str, machine: Machine, methodology: str) -> AsyncIterator[StandaloneContext]:
    """With a ledger of its own in the folder, which is made. Raises RunLocked, LedgerError, and as `require_server`."""
    await require_server(url_of(machine), model, machine)
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        stack.enter_context(held(folder))
        LIMITER.resize(machine.concurrency)
        path = folder / LEDGER
        ledger = Ledger(path, methodology, create=not path.exists())
        stack.push_async_callback(ledger.close)
        await ledger.sweep()
        yield await stack.enter_async_context(staffed(ledger, model, machine, methodology))
