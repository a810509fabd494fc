"""Before anything is asked, estimated or written: is the model's server there? And while nothing moves: why, and for how much longer.

Without it a server that is down is silence for as long as a run is patient with one that goes away halfway.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from enquete.checkpoints.record import RunRecord
from enquete.models.faults import mask, shown_url
from enquete.nodes.run_session import server_url
from enquete.state.errors import ModelError, ModelRejected, ModelUnavailable
from enquete.state.settings import Machine

if TYPE_CHECKING:
    from enquete.models.http_client import Absence

EVERY_S = 1.0
log = logging.getLogger("enquete")


async def require_server_of(record: RunRecord, machine: Machine) -> None:
    """Of a run, where models answer and no earlier run does. Raises as `require_server`."""
    if record.replay_of or record.weights:  # a local model's server is the run's own
        return
    machine = machine.model_copy(update={"base_url": machine.base_url or record.base_url or None})
    url = server_url(record.arms, machine)
    if url is not None:
        await require_server(url, record.main.model, machine)


async def require_server(url: str, model: str, machine: Machine) -> None:
    """Raises ModelRejected where key or URL are wrong, ModelUnavailable where nobody answers; a server that is to be waited for,
    or that a cache may stand in for, is only told about, in the log."""
    from enquete.models.http_client import absence  # noqa: PLC0415 - half a second of import

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
    """Within, `tell` is called every so many seconds with what is waited for, while anything is, and with "" once nothing is."""

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
