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
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.budget import Budget
from enquete.checkpoints.folders import LEDGER, held
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.models.faults import checked_url, mask, shown_url
from enquete.models.http_client import Absence, absence
from enquete.models.local_model import LocalModel, file_of
from enquete.models.metered import MeteredModel, Terms
from enquete.models.prices import OPENAI_URL, Prices
from enquete.models.servers import Limiter
from enquete.models.transport import Transport
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.person import HumanRespondent
from enquete.state.asking import Arm
from enquete.state.errors import ModelError, ModelRejected, ModelUnavailable, SettingsError
from enquete.state.local_weights import LOCAL_URL
from enquete.state.settings import Machine

EVERY_S, LOGGED_EVERY_S = 1.0, 10.0
"""Seconds between two looks at what is waited for, for people and for the log."""
log = logging.getLogger("enquete")

LIMITER = Limiter(32)
"""One limit on requests in flight for the whole process, whatever runs in it."""


def asked_url(record: RunRecord, machine: Machine) -> str:
    """The server that this run's models are asked at: the one named now, else the run's own."""
    return LOCAL_URL if record.weights else machine.base_url or record.base_url or OPENAI_URL


def at_its_server(record: RunRecord, machine: Machine) -> Machine:
    """With the run's own server, unless another is named now."""
    return machine.model_copy(update={"base_url": machine.base_url or record.base_url or None})


def server_url(arms: Sequence[Arm], machine: Machine, interviewer: str = "") -> str | None:
    """Where requests go; None where no arm needs a model, and there is no interviewer's. Raises SettingsError where
    neither key nor server is known."""
    if machine.offline or not (interviewer or any(arm.respondent == "llm" for arm in arms)):
        return None
    if machine.api_key is None and not machine.base_url:
        raise SettingsError("this run's answers come from a model: set LLM_API_KEY or LLM_BASE_URL")
    return checked_url(machine.base_url or OPENAI_URL)


def make_sender(record: RunRecord, machine: Machine) -> Transport | LocalModel | None:
    """The transport, where any arm needs a model; with a server of the run's own where that is a local one."""
    if record.weights and not machine.offline:
        own = machine.model_copy(update={"api_key": None})
        return LocalModel(
            record.weights, file_of(record.weights), machine.local_context, lambda url: _transport(url, own)
        )
    machine = at_its_server(record, machine)
    url = server_url(record.arms, machine, record.interviewer_model)
    return _transport(url, machine) if url else None


def _transport(url: str, machine: Machine) -> Transport:
    return Transport(
        base_url=url,
        api_key=machine.api_key,
        timeout_s=machine.timeout_s,
        limiter=LIMITER,
        limits=machine.limits,
        patience_s=machine.patience_s,
    )


async def require_server_of(record: RunRecord, machine: Machine) -> None:
    """Of a run, where models answer and no earlier run does. Raises as `require_server`."""
    if record.replay_of or record.weights:  # a local model's server is the run's own
        return
    machine = at_its_server(record, machine)
    url = server_url(record.arms, machine, record.interviewer_model)
    if url is not None:
        await require_server(url, record.interviewer_model or record.main.model, machine)


async def require_server(url: str, model: str, machine: Machine) -> None:
    """Raises ModelRejected where key or URL are wrong, ModelUnavailable where nobody answers; a server that is to be
    waited for, or that a cache may stand in for, is only told about, in the log."""
    found = await absence(url, machine.api_key)
    if found is None:
        return
    key = machine.api_key.get_secret_value() if machine.api_key else ""
    words = f"The model server {mask(shown_url(url), key)} {found.did} (asked before anything else; model {model!r})."
    patient = machine.waits_for_server or machine.cache or found.loading
    if patient and not (found.wrong_key or found.wrong_url):
        log.warning("%s It is waited for, %g s at most (ENQUETE_PATIENCE_S).", words, machine.patience_s)
        return
    raise _refusal(found, words)


def _refusal(found: Absence, words: str) -> ModelError:
    """Nothing was sent that anybody is billed for."""
    if found.wrong_key:
        advice = "Check LLM_API_KEY (or OPENAI_API_KEY): it must be a key of this server."
        return ModelRejected(f"{words} {advice}", fatal=True, sends=0)
    if found.wrong_url:
        advice = "Check LLM_BASE_URL: it usually ends in /v1 and is not the full path of an endpoint."
        return ModelRejected(f"{words} {advice}", fatal=True, sends=0)
    fact = f"{words} Nothing was asked."
    advice = "Start it, or check LLM_BASE_URL. To have it waited for, say for how many seconds: patience_s=600"
    return ModelUnavailable(f"{fact} {advice}", sends=0, fact=fact)


@asynccontextmanager
async def telling(
    waits_for: Callable[[], str], tell: Callable[[str], object], every_s: float = EVERY_S
) -> AsyncIterator[None]:
    """Within, `tell` is called every so many seconds with what is waited for, while anything is, and with "" once
    nothing is."""

    async def watch() -> None:
        told = ""
        while True:
            await asyncio.sleep(every_s)
            words = waits_for()
            if words or told:
                tell(words)
            told = words

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


@dataclass(frozen=True)
class StandaloneContext:
    context: LedgerContext
    ledger: Ledger
    budget: Budget


def url_of(machine: Machine) -> str:
    return checked_url(machine.base_url or OPENAI_URL)


@asynccontextmanager
async def staffed(ledger: Ledger, model: str, machine: Machine, methodology: str) -> AsyncIterator[StandaloneContext]:
    """methodology: under which its requests stand in the ledger."""
    url = url_of(machine)
    sender = _transport(url, machine)
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
