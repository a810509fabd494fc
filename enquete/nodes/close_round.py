"""What happens after everybody was asked: the round is closed for each arm, or the graph ends and says why.

A methodology's own node opens `round_barrier` and works with the answers in it; `file_stage` is every graph's last
node. A round that cannot be finished (budget, a person, a bug) sets `outcome`; the graph then files its stage and ends,
and the parent's gate decides. Nothing in this file interrupts.
"""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

from enquete.ledger import queries
from enquete.ledger.ledger import Failure
from enquete.nodes.ask import UNFINISHED, Channels, arms_owing, count_name, next_round
from enquete.respondents.ledger_context import LedgerContext
from enquete.runs.planning import OF_PROBES, claim_name, closed, rounds_owed
from enquete.runs.run_session import RunSession, using
from enquete.state.channels import MethodologyState
from enquete.state.errors import LedgerError

Verdict = Literal["next", "end", "short", "waiting", "failed"]
"""What a closed round means for an arm: another round, no further one; or why the round cannot be closed now."""


class RoundStopped(Exception):
    """A round cannot be closed now: the budget is short, somebody is waited for, or it has failed."""


class RoundBarrier:
    """The end of a round, once every shard was asked: which arms can be closed, and what follows.

    Made by `round_barrier`. A node closes the round for each of `arms`, shows what a reader of Studio wants to see, and
    returns `next_state` after the block.
    """

    def __init__(self, session: RunSession, state: MethodologyState):
        self.session = session
        self.methodology = state["methodology"]
        self.phase = state["phase"]
        self.round = state["round"]
        self.asking_probes = state["asking_probes"]
        self.main = session.context(self.methodology, self.phase, session.record.main.id)
        self.procedure: Any = session.procedure(self.methodology)
        self.instrument = session.instrument(self.methodology)
        self.next_state: Channels = {}
        self.outcome = self._outcome_of(state.get("counts", {}))
        self.arms = self._arms_to_close(state)
        self._shown: Channels = {}

    def _outcome_of(self, counts: Mapping[str, int]) -> str:
        for outcome in ("short", "waiting"):
            if counts.get(count_name(self.phase, self.round, outcome)):
                return outcome
        return ""

    def _arms_to_close(self, state: MethodologyState) -> list[LedgerContext]:
        """The arms that owed the round, the main one first; none while answers are missing."""
        if self.outcome:
            return []
        owing = arms_owing(self.session, state)
        return [self.session.context(self.methodology, self.phase, arm.id) for arm in owing]

    async def close_round(self, arm: LedgerContext, verdict: Verdict) -> None:
        """Pin the round as closed for this arm. A verdict other than "next" and "end" stops the graph here."""
        if verdict in UNFINISHED:
            raise RoundStopped(verdict)
        is_last = self.round == self.procedure.rounds
        await arm.pin(closed(self.round), "end" if is_last else verdict)

    def show(self, **channels: Any) -> None:
        """Put values into the graph's own channels, for readers of Studio."""
        self._shown.update(channels)

    def count_answered(self) -> dict[str, int]:
        """Return item → how many participants of the main arm answered it in this phase."""
        key = (self.methodology, self.phase, self.main.main_arm)
        return dict(self.session.ledger.read(queries.ANSWERED_BY_ITEM, key).fetchall())

    def mean_by_item(self) -> dict[str, float]:
        """Return item → the mean of the main arm's values in this phase, to two decimals."""
        key = (self.methodology, self.phase, self.main.main_arm)
        means = self.session.ledger.read(queries.MEAN_BY_ITEM, key).fetchall()
        return {item: round(mean, 2) for item, mean in means}

    def count_turns(self) -> dict[str, int]:
        """Return arm → how many turns of conversations were held in this phase."""
        counts = {}
        for arm in self.arms or [self.main]:
            key = (self.methodology, self.phase, arm.arm.id, "turn/%")
            (counts[arm.arm.id],) = self.session.ledger.read(queries.COUNT_PINNED, key).fetchone()
        return counts

    def finish(self) -> None:
        """Work out what the node returns: the round that follows, or how the graph ends."""
        if self.outcome:
            self.next_state = {"outcome": self.outcome}
            return
        following = next_round(
            self.session, self.methodology, self.phase, asking_probes=self.asking_probes, after=self.round
        )
        last = rounds_owed(self.procedure.rounds, self.main)[-1]
        self.next_state = {"round": following or last, "outcome": "" if following else "done", **self._shown}


@asynccontextmanager
async def round_barrier(state: MethodologyState) -> AsyncIterator[RoundBarrier]:
    """Open the barrier of a round. A bug inside fails this methodology, not the run, and is recorded with traceback."""
    async with using(state["run"]) as session:
        barrier = RoundBarrier(session, state)
        try:
            yield barrier
        except RoundStopped as stopped:
            barrier.outcome = str(stopped)
        except LedgerError:
            raise
        except Exception as error:
            if session.raise_bugs:
                raise
            key = graph_failure(session.record.main.id, barrier.methodology, barrier.phase)
            summary = f"{type(error).__name__}: {error}"
            await session.ledger.record_failure(Failure(*key, summary, traceback.format_exc()))
            barrier.outcome = "failed"
        await session.at_barrier()
        barrier.finish()


async def close_and_file(state: MethodologyState, describe: Callable[[RoundBarrier], Channels]) -> Channels:
    """Close the only round of a methodology, or of a wave, and file its stage.

    Args:
        state: Of the graph.
        describe: Gives what a reader of Studio is shown of the answers.
    """
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            await barrier.close_round(arm, "end")
        barrier.show(**describe(barrier))
    filed = await file_stage({**state, **barrier.next_state})  # type: ignore[typeddict-item]
    return {**barrier.next_state, **filed}


async def file_stage(state: MethodologyState) -> Channels:
    """Write down in the ledger how the methodology ended, and tell the parent graph.

    Probes and replicates follow once the main arm is through, so that they neither hold it up nor use up its budget:
    then nothing is filed yet, and the outcome is "probes".
    """
    name, phase, outcome = state["methodology"], state["phase"], state["outcome"]
    async with using(state["run"]) as session:
        record, budget = session.record, session.budget
        is_through = outcome == "done" and not state["asking_probes"]
        if is_through and next_round(session, name, phase, asking_probes=True) is not None:
            await budget.close(claim_name(name, phase, record.main))  # what it did not need is for the probes
            return {"asking_probes": True, "outcome": "probes"}

        whose = OF_PROBES if state["asking_probes"] else ""
        await session.ledger.set_stage(name, phase, outcome, f"round {state['round']}{whose}")
        session.asked_again.discard((name, phase))
        if outcome in ("done", "failed"):
            for arm in record.arms:
                await budget.close(claim_name(name, phase, arm))
        if outcome == "done":
            await session.ledger.clear_failure(*graph_failure(record.main.id, name, phase))
    return {"outcomes": {f"{name}/{phase}": outcome}}


async def choose_probes_or_end(state: MethodologyState) -> Literal["probes", "end"]:
    """Route after `file_stage`: back to the first round for probes and replicates, or out."""
    return "probes" if state["outcome"] == "probes" else "end"


def graph_failure(arm: str, methodology: str, phase: str) -> tuple[str, str, str, int, str]:
    """Return the key under which a bug of the methodology itself, not of one participant, is recorded."""
    return arm, methodology, phase, 0, "the methodology itself"
