"""Replay: a finished run's ledger answers instead of a model, call by call, without a network and at no cost.

Everything else is done anew: prompts are built, replies parsed, themes and feedback frozen, findings computed. What
differs then is what the code makes of the same responses. Measured by `study.runs`: exports are identical.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from enquete.checkpoints.entries import CALL, call_values
from enquete.checkpoints.folders import LEDGER
from enquete.checkpoints.ledger import Ledger, Usage
from enquete.simulations.digest import SOURCES
from enquete.state.asking import CallKey
from enquete.state.errors import ModelUnavailable, ReplayMissing
from enquete.state.interview_context import Completion


class LedgerReplay:
    """The responses of one run."""

    def __init__(self, ledger: Ledger):
        self._ledger = ledger

    def obtained(self, key: CallKey) -> tuple[Completion, Usage]:
        """What this call got then, at what cost. A failure fails again."""
        row = self._ledger.read(
            "SELECT status, response, finish, input_tokens, output_tokens, allowance, sends, latency_ms, fingerprint, raw,"
            f" model, error FROM calls WHERE {CALL}",
            call_values(key),
        ).fetchone()
        if row is not None and row[0] == "settled":
            usage = Usage(row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10])
            # Ids of answers begin with their run's: what a model cited then it cites of this run now.
            text = row[1] if self._ledger.run not in row[1] else row[1].replace(self._ledger.run, key.run)
            return Completion(text, row[2]), usage
        if row is not None and row[0] == "failed":
            raise ModelUnavailable(row[11], sends=row[6])
        raise ReplayMissing(
            f"run {self._ledger.run} made no request {key.methodology} {key.phase} {key.purpose} {key.subject!r} "
            f"(attempt {key.attempt}), so it cannot be replayed: instruments, prompts or Enquete itself have changed"
        )


@contextmanager
def replaying(folder: Path) -> Iterator[LedgerReplay]:
    """Raises LedgerError where the run's ledger is missing or cannot be read."""
    ledger = Ledger.reading(folder / LEDGER)
    try:
        yield LedgerReplay(ledger)
    finally:
        ledger.close_reading()


async def copy_memories(source: Path, ledger: Ledger) -> None:
    """What agents remembered then, so that neither the simulation nor its databases are needed."""
    origin = Ledger.reading(source / LEDGER)
    try:
        memory = origin.frozen("", "", "T1", "memory")
        if memory is not None:
            await ledger.store_digests("T1", origin.digests("T1"))
            await ledger.freeze("", "", "T1", SOURCES, origin.frozen("", "", "T1", SOURCES))
            await ledger.freeze("", "", "T1", "memory", memory)
    finally:
        origin.close_reading()
