"""Batches of a run (models/batch_queue.py) as its session has them: made where the run was begun so, gone on with, told about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from enquete.checkpoints.batch_jobs import Noted
from enquete.checkpoints.budget import Budget
from enquete.checkpoints.ledger import Ledger
from enquete.checkpoints.record import RunRecord
from enquete.models.metered import Terms
from enquete.state.asking import Arm, CallKey
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest
from enquete.state.settings import Machine

if TYPE_CHECKING:
    from enquete.models.batch_queue import BatchQueue

MOST_IN_BATCHES = 10_000
"""Calls of a run that wait for batches, or for their replies, at once, in place of those in flight. With 5 KB of text each holds 32 KB
of memory."""


def in_batches(request: RunRequest, arms: Sequence[Arm], *, local: bool) -> bool:
    """Of a new run. Raises SettingsError where no server with a Batch API is asked."""
    if request.batch and (local or not any(arm.respondent == "llm" for arm in arms)):
        why = "a local model has" if local else "no model answers, so there is"
        raise SettingsError(f"batch: {why} no Batch API; leave it out")
    return request.batch


def require_as_begun(request: RunRequest, record: RunRecord) -> None:
    """Raises SettingsError where a run would go on at twice the price that is asked for."""
    if request.batch and not record.batch:
        raise SettingsError(
            f"batch: run {record.run_id} is unfinished and was begun without batches, so it goes on without; leave batch out to go on "
            "with it, or start another beside it: new=True"
        )


def make_collector(url: str, machine: Machine, ledger: Ledger) -> BatchQueue:
    from enquete.models.batch_queue import BatchQueue  # noqa: PLC0415 - the SDK takes a second to import

    return BatchQueue(url, machine.api_key, ledger, patience_s=machine.patience_s)


def adopt(batch_queue: BatchQueue, ledger: Ledger, budget: Budget, terms: Callable[[CallKey, str], Terms]) -> None:
    """Go on with what an earlier session ordered."""
    from enquete.models.batch_queue import EarlierBatches  # noqa: PLC0415

    adopted = EarlierBatches(ledger, budget, terms, batch_queue.key)
    for call, longest in batch_queue.adopt(adopted.settle):
        adopted.take(call, longest)


def tell(batch_queue: BatchQueue, budget: Budget, progress: Callable[[dict[str, Any]], None]) -> None:
    """How far the batches are, as events of a run's progress: of requests, not of agents."""

    def report(order: Noted, placed: int, fault: str) -> None:
        progress(
            {
                "methodology": "batch", "phase": "", "arm": "main", "round": order.number, "batches": placed,
                "fault": fault, "done": order.done + order.failed, "total": order.total, "tokens": budget.spent,
                "cap": budget.cap, "expected": budget.expected,
            },
        )  # fmt: skip

    batch_queue.tell(report)
