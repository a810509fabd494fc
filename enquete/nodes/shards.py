"""Shards: ranges of units, worked on where there is room (executors.py). Agents of a shard work at the same time, an
agent's own blocks in turn.

A subgraph per agent cost a hundred times the CPU of a shard of fifty; rows go to the ledger, never through channels.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable

from enquete.ledger.ledger import Failure
from enquete.nodes.run_session import Progress, RunSession, event_of
from enquete.state.asking import Outcome
from enquete.state.channels import ShardSpec
from enquete.state.errors import LedgerError
from enquete.state.methodology import gather

REPORT_EVERY_S = 0.2

Tick = Callable[[Outcome], None]
"""Told of every unit what it came to."""


async def run_shard(run_session: RunSession, spec: ShardSpec, tick: Tick) -> dict[str, int]:
    """Conduct every unit of the range; those already answered are found in the ledger and cost nothing."""
    units = run_session.units(spec["methodology"], spec["phase"], spec["round"], spec["arm"])

    async def conduct(unit: str) -> Outcome:
        outcome = await conduct_unit(run_session, spec, unit)
        tick(outcome)
        return outcome

    return dict(Counter(await gather(map(conduct, units[spec["lo"] : spec["hi"]]))))


async def conduct_unit(run_session: RunSession, spec: ShardSpec, unit: str) -> Outcome:
    """One unit. A bug stays with its unit, recorded with its traceback; an unwritable ledger stops the run."""
    key = (spec["arm"], spec["methodology"], spec["phase"], spec["round"], unit)
    context = run_session.context(spec["methodology"], spec["phase"], spec["arm"])
    try:
        outcome = await run_session.procedure(spec["methodology"]).conduct(unit, spec["round"], context)
    except LedgerError:
        raise
    except Exception as error:
        if run_session.raise_bugs:
            raise
        run_session.failed_units.add(key)
        text = f"{type(error).__name__}: {error}"
        await run_session.ledger.record_failure(Failure(*key, text, traceback.format_exc()))
        return "failed"
    if key in run_session.failed_units and outcome == "done":
        run_session.failed_units.discard(key)
        await run_session.ledger.clear_failure(*key)
    return outcome


class RoundProgress:
    """Counts finished units of a round and reports them, first before any is finished, at most every REPORT_EVERY_S."""

    def __init__(self, run_session: RunSession, spec: ShardSpec, report: Progress):
        self._run_session = run_session
        self._total = len(run_session.units(spec["methodology"], spec["phase"], spec["round"], spec["arm"]))
        self._report = report
        self._key = (spec["methodology"], spec["phase"], spec["round"], spec["arm"])
        self._row = (spec["methodology"], spec["phase"], spec["arm"], spec["round"])
        self._next = 0.0
        self._tell(self._done)

    @property
    def _done(self) -> int:
        return self._run_session.units_done.get(self._key, 0)

    def tick(self, outcome: Outcome) -> None:
        """A unit came to this."""
        if outcome == "done":
            self._run_session.units_done[self._key] = self._done + 1
        done = self._done
        now = time.monotonic()
        if now >= self._next or done == self._total:
            self._next = now + REPORT_EVERY_S
            self._tell(done)

    def _tell(self, done: int) -> None:
        self._report(event_of(self._run_session.budget, self._row, done, self._total))
