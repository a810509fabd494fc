"""Episodes on their way from the embedded memory to a graph: each once, at the pace that the graph allows.

A marker says "sending" before the request and "sent" after it. Where the answer is lost in between (a kill, a time-out),
the graph is asked whether it holds the episode before it is sent again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep

from enquete.memory.local import LocalMemory
from enquete.memory.recalled import Graph, MemoryFault, Record

LEAST_WAIT_S = 1.0
"""A server that allows nothing and asks for no wait must not be asked for ever."""


@dataclass
class Delivery:
    """How many were sent now, which are still to be sent, and why."""

    sent: int = 0
    left: list[Record] = field(default_factory=list)
    why: str = ""


def deliver(
    memory: LocalMemory,
    graph: Graph,
    *,
    patience_s: float,
    longest_s: float = math.inf,
    wait: Callable[[float], object] = sleep,
    clock: Callable[[], float] = monotonic,
) -> Delivery:
    """Send what the graph has not got, oldest first, waiting for `patience_s` seconds in all where it asks to be waited for;
    nothing more is begun after `longest_s` seconds.

    An episode that the graph refuses is left and the others go on; any other fault ends the delivery. Raises nothing of
    the graph's.
    """
    states = memory.delivered(graph.name)
    waiting = memory.undelivered(graph.name)
    done, began = Delivery(), clock()
    for place, record in enumerate(waiting):
        if clock() - began > longest_s:
            done.why = done.why or f"{longest_s:g} seconds were not enough"
            return _stopped(done, waiting[place:])
        while True:
            try:
                _send(memory, graph, record, states.get(record.id) == "sending")
                done.sent += 1
                break
            except MemoryFault as fault:
                done.why = str(fault)
                pause = None if fault.wait_s is None else max(fault.wait_s, LEAST_WAIT_S)
                if pause is not None and pause <= patience_s:
                    patience_s -= pause
                    wait(pause)
                    continue
                if not fault.refused:
                    return _stopped(done, waiting[place:])
                done.left.append(record)
                break
    if not done.left:
        done.why = ""
    return done


def _send(memory: LocalMemory, graph: Graph, record: Record, unsure: bool) -> None:
    """A marker goes where the request itself did not arrive, not where the graph could not be asked what it holds."""
    if not (unsure and graph.holds(record)):
        memory.mark(graph.name, record.id, "sending")
        try:
            graph.write(record)
        except MemoryFault as fault:
            if not fault.unsure:
                memory.mark(graph.name, record.id, "")
            raise
    memory.mark(graph.name, record.id, "sent")


def _stopped(done: Delivery, rest: Sequence[Record]) -> Delivery:
    done.left.extend(rest)
    return done
