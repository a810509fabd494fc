"""A desk for the interviewer's work outside a run's graph: one model, one cap, and a ledger in which every request is filed before it
is sent, as in a run. Whoever begins anew after a stop pays for nothing twice."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.budget import Budget
from enquete.checkpoints.folders import LEDGER, held
from enquete.checkpoints.ledger import Ledger
from enquete.models.faults import checked_url
from enquete.models.metered import MeteredModel, Terms
from enquete.models.prices import OPENAI_URL, Prices
from enquete.models.transport import Transport
from enquete.nodes.run_session import LIMITER
from enquete.nodes.server_check import require_server, telling
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.person import HumanRespondent
from enquete.state.asking import Arm
from enquete.state.settings import Machine

LOGGED_EVERY_S = 10.0
log = logging.getLogger("enquete")


@dataclass(frozen=True)
class StandaloneContext:
    desk: LedgerContext
    ledger: Ledger
    budget: Budget


def url_of(machine: Machine) -> str:
    return checked_url(machine.base_url or OPENAI_URL)


@asynccontextmanager
async def staffed(ledger: Ledger, model: str, machine: Machine, methodology: str) -> AsyncIterator[StandaloneContext]:
    """methodology: under which its requests stand in the ledger."""
    url = url_of(machine)
    sender = Transport(
        url, machine.api_key, limiter=LIMITER, timeout_s=machine.timeout_s, limits=machine.limits, patience_s=machine.patience_s
    )  # fmt: skip
    budget = Budget(machine.cap_tokens or machine.default_cap_tokens, ledger.total("tokens"))
    budget.when_stopped = sender.halt
    metered = MeteredModel(
        ledger, budget, sender, Terms(model, 0, 0, Prices.read(machine.prices).of(model, url), "", url)
    )
    arm = Arm(respondent="llm", model=model, temperature=0)
    desk = LedgerContext(
        arm=arm, main_arm=arm.id, methodology=methodology, phase="", language="en", asking="block", population=(),
        ledger=ledger, respondent=HumanRespondent(ledger), model=metered, interviewers=lambda _: metered,
        interviewer_has_model=True,
    )  # fmt: skip
    try:
        async with telling(lambda: sender.waits_for, _log, LOGGED_EVERY_S):
            yield StandaloneContext(desk, ledger, budget)
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
