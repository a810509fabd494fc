"""Node functions and routes by which every methodology's graph asks its participants, round by round.

A round is fanned out by `Send`: one task for each slice (shard) of the participants who still owe it. After all tasks
the graph meets at a barrier (close_round.py), which closes the round for each arm and decides the next step. Wiring:

    builder.add_node("rate_themes", ask_shard, input_schema=ShardSpec)
    builder.add_conditional_edges("code_themes", send_shards_to("rate_themes"), ["rate_themes"])
    builder.add_edge("rate_themes", "give_feedback")

The ledger is the record, the state is only the position. A graph that is started over takes the same way: in rounds
that are closed nobody owes an answer, so it passes them without asking and arrives at the first one that is open.
Nothing in this file interrupts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.config import get_stream_writer
from langgraph.types import Send

from enquete.runs.executors import executor_of
from enquete.runs.planning import closed, rounds_owed
from enquete.runs.run_session import RunSession, using
from enquete.state.asking import Arm
from enquete.state.channels import MethodologyState, ShardSpec

UNFINISHED = ("short", "waiting", "failed")
"""Outcomes with which a graph ends before its last round."""

Channels = dict[str, Any]
"""What a node returns: the channels that it changes."""


async def open_first_round(state: MethodologyState) -> Channels:
    """Start at round 1. Probes and replicates are asked once `file_stage` has said so, after the main arm."""
    return {"round": 1, "asking_probes": state.get("asking_probes", False), "outcome": ""}


def send_shards_to(node: str, *, if_stopped: str = "") -> Callable[[MethodologyState], Awaitable[list[Send] | str]]:
    """Return a route that sends a task to `node` for each shard of those who owe the round.

    Args:
        node: The node that asks a shard.
        if_stopped: The node that follows when the round before could not be finished. A graph whose round cannot be
            stopped before this edge leaves it out.
    """

    async def send_shards(state: MethodologyState) -> list[Send] | str:
        if state["outcome"] in UNFINISHED:
            return if_stopped
        async with using(state["run"]) as session:
            return build_sends(session, state, node)

    return send_shards


def build_sends(session: RunSession, state: MethodologyState, node: str) -> list[Send]:
    """Return a `Send` to `node` for each shard of the round: ranges of units, never their data.

    Where nobody owes the round, one empty shard keeps the way to the barrier open.
    """
    name, phase, number = state["methodology"], state["phase"], state["round"]
    size = session.machine.shard_size
    common = {"run": state["run"], "methodology": name, "phase": phase, "round": number}

    sends = []
    for arm in arms_owing(session, state):
        n_units = len(session.units(name, phase, number, arm.id))
        for first in range(0, n_units, size):
            sends.append(Send(node, {**common, "arm": arm.id, "lo": first, "hi": min(first + size, n_units)}))

    if not sends:
        sends.append(Send(node, {**common, "arm": session.record.main.id, "lo": 0, "hi": 0}))
    return sends


async def ask_shard(state: ShardSpec, interview: Any = None) -> Channels:
    """Ask one shard, in this process or by a worker. Answers go to the ledger; the state gets counts by outcome.

    Args:
        state: The shard.
        interview: The compiled graph that each unit goes through, where a unit is a conversation. The methodology's
            procedure runs it, wherever the shard is asked; a node names it so that LangGraph draws it inside that node.
    """
    if state["lo"] == state["hi"]:
        return {}
    async with using(state["run"]) as session:
        counts = await executor_of(session).run(session, state, get_stream_writer())
    return {"counts": {count_name(state["phase"], state["round"], outcome): n for outcome, n in counts.items()}}


def count_name(phase: str, round: int, outcome: str) -> str:
    """Return the key of the channel `counts`, for example "T1 round 2/done"."""
    return f"{phase} round {round}/{outcome}"


def arms_owing(session: RunSession, state: MethodologyState) -> list[Arm]:
    """Return the arms that owe this round, the main one first: other arms may need what it gave (themes, feedback)."""
    name, phase, number = state["methodology"], state["phase"], state["round"]
    arms = arms_asked_now(session, asking_probes=state["asking_probes"])
    return [arm for arm in arms if number in open_rounds(session, name, phase, arm)]


def arms_asked_now(session: RunSession, *, asking_probes: bool) -> list[Arm]:
    """Return the main arm and those asked with it, or the probes and replicates that follow."""
    arms = [arm for arm in session.record.arms if arm.aside == asking_probes]
    return sorted(arms, key=lambda arm: arm.role != "main")


def next_round(session: RunSession, name: str, phase: str, *, asking_probes: bool, after: int = 0) -> int | None:
    """Return the earliest round later than `after` that an arm still owes; None where no arm owes one."""
    numbers: set[int] = set()
    for arm in arms_asked_now(session, asking_probes=asking_probes):
        numbers.update(open_rounds(session, name, phase, arm))
    return min((number for number in numbers if number > after), default=None)


def open_rounds(session: RunSession, name: str, phase: str, arm: Arm) -> list[int]:
    """Return the rounds that an arm still owes.

    An arm that has ended owes none, or its last one where failed answers are to be asked for again.
    """
    context = session.context(name, phase, arm.id)
    owed = rounds_owed(session.procedure(name).rounds, context)
    still_open = [number for number in owed if context.pinned(closed(number)) is None]
    if still_open:
        return still_open
    return [owed[-1]] if (name, phase) in session.asked_again else []
