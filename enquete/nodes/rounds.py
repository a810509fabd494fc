"""A methodology's graph: open a round, fan out shards, close the round; again until every arm has ended.

Graphs never interrupt here: a round that cannot be finished ends the graph with outcome short, waiting or failed, and
the parent's gate decides.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from enquete.ledger.ledger import Failure
from enquete.nodes.close_round import graph_failure
from enquete.nodes.executors import executor_of
from enquete.nodes.planning import OF_PROBES, claim_name, closed, rounds_owed
from enquete.nodes.run_session import RunSession, using
from enquete.state.asking import Arm
from enquete.state.channels import RoundsInput, RoundsOutput, RoundsState, ShardSpec
from enquete.state.errors import LedgerError
from enquete.state.methodology import Steps
from enquete.state.request import RunRequest


def rounds_graph(name: str, steps: Steps) -> Any:
    """The inner graph of the methodology of this name, compiled: nested in the entry graph, which alone interrupts."""
    nodes = RoundNodes(name, steps)
    builder = StateGraph(RoundsState, context_schema=RunRequest, input_schema=RoundsInput, output_schema=RoundsOutput)
    builder.add_node(steps.open, nodes.open_round)
    builder.add_node(steps.ask, _around(nodes.ask, steps.unit), input_schema=ShardSpec)
    builder.add_node(steps.close, nodes.close_round)
    builder.add_edge(START, steps.open)
    builder.add_conditional_edges(steps.open, nodes.fan_out, [steps.ask, steps.close])
    builder.add_edge(steps.ask, steps.close)
    builder.add_conditional_edges(steps.close, nodes.route, {"next": steps.open, "end": END})
    return builder.compile(name=f"{name}_rounds")


def _around(
    ask: Callable[[ShardSpec], Awaitable[dict[str, Any]]], unit: Callable[[], Any] | None
) -> Callable[..., Awaitable[dict[str, Any]]]:
    """`ask`, with the graph of every unit in its closure: there LangGraph looks for what to draw inside."""
    if unit is None:
        return ask
    inside = unit().copy({"checkpointer": None})  # LangGraph draws none that has switched checkpoints off

    async def conduct(state: ShardSpec) -> dict[str, Any]:
        """Every unit of the shard goes through the graph inside."""
        return await ask(state) if inside else {}

    return conduct


class RoundNodes:
    """Node functions for the methodology of this name."""

    def __init__(self, name: str, steps: Steps):
        self._name = name
        self._steps = steps

    async def open_round(self, state: RoundsState) -> dict[str, Any]:
        """Which round is next, for which arms, and how many units each has in it.

        Probes and replicates go through all rounds after the others have: they neither hold them up nor starve them.
        """
        phase = state["phase"]
        async with using(state["run"]) as run_session:
            aside, number = state.get("aside"), state.get("round")
            if aside is None or number is None:
                aside, number = self._first(run_session, phase)
            units = {
                arm.id: len(run_session.units(self._name, phase, number, arm.id))
                for arm in self._arms(run_session, aside)
                if self._due(run_session, phase, arm) == number
            }
        return {"round": number, "aside": aside, "units": units}

    def _first(self, run_session: RunSession, phase: str) -> tuple[bool, int]:
        for aside in (False, True):
            number = self._next(run_session, phase, aside)
            if number is not None:
                return aside, number
        return False, run_session.procedure(self._name).rounds

    def _next(self, run_session: RunSession, phase: str, aside: bool, after: int = 0) -> int | None:
        """The earliest round later than `after` that an arm still owes."""
        due = [self._due(run_session, phase, arm) for arm in self._arms(run_session, aside)]
        return min((number for number in due if number is not None and number > after), default=None)

    def _due(self, run_session: RunSession, phase: str, arm: Arm) -> int | None:
        """The first open round. An arm that has ended owes none, or its last where failed answers are asked again."""
        context = run_session.context(self._name, phase, arm.id)
        owed = rounds_owed(run_session.procedure(self._name).rounds, context)
        again = owed[-1] if (self._name, phase) in run_session.asked_again else None
        return next((number for number in owed if context.pinned(closed(number)) is None), again)

    def _arms(self, run_session: RunSession, aside: bool) -> list[Arm]:
        """Those that are asked together, the main one first: others answer about its themes and feedback."""
        arms = [arm for arm in run_session.record.arms if arm.aside == aside]
        return sorted(arms, key=lambda arm: arm.role != "main")

    async def fan_out(self, state: RoundsState) -> list[Send] | str:
        """One task a shard: a range of units, never their data."""
        async with using(state["run"]) as run_session:
            size = run_session.machine.shard_size
        common = {"run": state["run"], "methodology": self._name, "phase": state["phase"], "round": state["round"]}
        sends = [
            Send(self._steps.ask, {**common, "arm": arm, "lo": lo, "hi": min(lo + size, units)})
            for arm, units in state["units"].items()
            for lo in range(0, units, size)
        ]
        return sends or self._steps.close

    async def ask(self, state: ShardSpec) -> dict[str, Any]:
        """Conduct one shard; its counts are added to the round's."""
        async with using(state["run"]) as run_session:
            counts = await executor_of(run_session).run(run_session, state, get_stream_writer())
        return {"counts": {f"round {state['round']}/{outcome}": n for outcome, n in counts.items()}}

    async def close_round(self, state: RoundsState) -> dict[str, Any]:
        """After the barrier: is the round complete, and what follows?"""
        counts, number, phase, aside = state.get("counts", {}), state["round"], state["phase"], state["aside"]
        for outcome in ("short", "waiting"):
            if counts.get(f"round {number}/{outcome}"):
                return await self._end(state, outcome)
        async with using(state["run"]) as run_session:
            stopped = await self._between(run_session, phase, number, list(state["units"]))
            await run_session.at_barrier()
            main = run_session.context(self._name, phase, run_session.record.main.id)
            readout = run_session.procedure(self._name).readout(main, number)
            following = None if stopped else self._next(run_session, phase, aside, after=number)
            if following is None and not stopped and not aside:
                following, aside = self._next(run_session, phase, True), True
                if following is not None:  # what the main arm did not need is for its probes
                    await run_session.budget.close(claim_name(self._name, phase, run_session.record.main))
        if following is None:
            return {**readout, **await self._end(state, stopped or "done")}
        return {"round": following, "aside": aside, "outcome": "", **readout}

    async def _between(self, run_session: RunSession, phase: str, number: int, arms: Sequence[str]) -> str:
        """Each arm's own verdict, the main one's first; what kept one from it, or "". A bug fails the methodology."""
        procedure = run_session.procedure(self._name)
        try:
            for arm in arms:
                context = run_session.context(self._name, phase, arm)
                verdict = await procedure.between(number, context)
                if verdict not in ("next", "end"):
                    return verdict
                await context.pin(closed(number), verdict if number < procedure.rounds else "end")
        except LedgerError:
            raise
        except Exception as error:
            if run_session.raise_bugs:
                raise
            key = graph_failure(run_session.record.main.id, self._name, phase)
            await run_session.ledger.record_failure(
                Failure(*key, f"{type(error).__name__}: {error}", traceback.format_exc())
            )
            return "failed"
        return ""

    async def _end(self, state: RoundsState, outcome: str) -> dict[str, Any]:
        """The graph stops here: filed in the ledger, told to the parent."""
        async with using(state["run"]) as run_session:
            where = f"round {state['round']}{OF_PROBES if state['aside'] else ''}"
            await run_session.ledger.set_stage(self._name, state["phase"], outcome, where)
            run_session.asked_again.discard((self._name, state["phase"]))
            if outcome in ("done", "failed"):
                for arm in run_session.record.arms:
                    await run_session.budget.close(claim_name(self._name, state["phase"], arm))
            if outcome == "done":
                await run_session.ledger.clear_failure(
                    *graph_failure(run_session.record.main.id, self._name, state["phase"])
                )
        return {"outcome": outcome, "outcomes": {f"{self._name}/{state['phase']}": outcome}}

    def route(self, state: RoundsState) -> Literal["next", "end"]:
        return "end" if state.get("outcome") else "next"
