"""What is noted of a simulation's interviews beside its runs: LangGraph's SqliteStore in one file, made with its first
note.

Annotated answers, preferences, and which episodes a graph got. What was said is not repeated in it: episodes are read
where runs wrote them.
"""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from langgraph.store.base import GetOp, PutOp
from langgraph.store.sqlite import SqliteStore
from pydantic import JsonValue

from enquete.ledger.connection import connect
from enquete.memory.recall import LEAST_WAIT_S, Graph, MemoryFault, MemoryRecord, Preference, episodes

FILE = "memory.sqlite"
RECORDS, PREFERENCES, DELIVERIES = ("records",), ("preferences",), "deliveries"
PAGE = 1000
log = logging.getLogger("enquete")


class LocalMemory:
    """Annotated answers, deliveries and preferences of one simulation. May be used from any thread."""

    def __init__(self, interviews: Path, connection: sqlite3.Connection, *, read_only: bool = False):
        self._interviews = interviews
        self._store = SqliteStore(connection)
        self._merging = threading.RLock()
        self._store.is_setup = read_only
        if not read_only:
            self._store.setup()

    @classmethod
    @contextmanager
    def opened(cls, interviews: Path, *, read_only: bool = False) -> Iterator[LocalMemory]:
        """The memory in this interviews/ folder. `read_only`: creates nothing; an empty memory where there is none.

        Raises LedgerError or sqlite3.Error where the file cannot be used.
        """
        path = interviews / FILE
        if read_only and not path.exists():
            with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as empty:
                yield cls(interviews, empty)
            return
        with closing(connect(path, read_only=read_only)) as connection:
            yield cls(interviews, connection, read_only=read_only)

    def remember(self, records: Sequence[MemoryRecord]) -> None:
        """Those that are not there yet."""
        with self._merging:
            there = self._store.batch([GetOp(RECORDS, record.id) for record in records])
            new = [record for record, item in zip(records, there, strict=True) if item is None]
            self._store.batch([PutOp(RECORDS, record.id, record.model_dump(exclude_defaults=True)) for record in new])

    def record(self, record_id: str) -> MemoryRecord | None:
        item = self._store.get(RECORDS, record_id)
        return MemoryRecord.model_validate(item.value) if item else None

    def annotate(self, record_id: str, fields: Mapping[str, JsonValue]) -> bool:
        """Add these fields to a record, keeping what is there. False, and a warning in the log, where there is none."""
        with self._merging:
            item = self._store.get(RECORDS, record_id)
            if item is None:
                log.warning("memory: no record %s to annotate with %s", record_id, ", ".join(fields))
                return False
            self._store.put(RECORDS, record_id, {**item.value, **fields})
        return True

    def forget(self, runs: Collection[str]) -> None:
        """Take away which answers of these runs were annotated or preferred, and which of their episodes were sent."""
        graphs = self._store.list_namespaces(prefix=(DELIVERIES,))
        for namespace in (RECORDS, PREFERENCES, *graphs):
            for key in [key for key, _ in self._all_of(namespace) if key.split("/")[0] in runs]:
                self._store.delete(namespace, key)

    # --- deliveries: one marker for each record and graph -------------------------------------------------------------

    def delivered(self, graph: str) -> dict[str, str]:
        """State by record id: "sent"; or "sending" where the request's answer was lost, so that it may have arrived."""
        return {key: str(value["state"]) for key, value in self._all_of(_to(graph))}

    def mark(self, graph: str, record_id: str, state: str) -> None:
        """`state`: sending or sent; "" takes the marker away."""
        if state:
            self._store.put(_to(graph), record_id, {"state": state})
        else:
            self._store.delete(_to(graph), record_id)

    def undelivered(self, graph: str) -> list[MemoryRecord]:
        """Episodes that this graph has not got for certain, oldest first. Raises MemoryFault for a damaged file."""
        states = self.delivered(graph)
        return [record for record in episodes(self._interviews) if states.get(record.id) != "sent"]

    # --- preferences --------------------------------------------------------------------------------------------------

    def remember_preference(self, preference: Preference) -> None:
        """The latest verdict on this question of this run."""
        key = f"{preference.run_id}/{preference.question_id}"
        self._store.put(PREFERENCES, key, preference.model_dump())

    def preferences(self) -> list[Preference]:
        """Of all runs, in the order of their keys."""
        return [Preference.model_validate(value) for _, value in sorted(self._all_of(PREFERENCES))]

    def _all_of(self, namespace: tuple[str, ...]) -> Iterator[tuple[str, dict[str, JsonValue]]]:
        for offset in range(0, 10**9, PAGE):
            page = self._store.search(namespace, limit=PAGE, offset=offset)
            yield from ((item.key, item.value) for item in page)
            if len(page) < PAGE:
                return


def _to(graph: str) -> tuple[str, ...]:
    return DELIVERIES, graph.replace(".", "_")  # a namespace may hold no full stop


# --- Episodes on their way from the embedded memory to a graph: each once, at the pace that the graph allows. A
# marker says "sending" before the request and "sent" after it. Where the answer is lost in between (a kill, a time-
# out), the graph is asked whether it holds the episode before it is sent again.


@dataclass
class Delivery:
    """How many were sent now, which are still to be sent, and why."""

    sent: int = 0
    left: list[MemoryRecord] = field(default_factory=list)
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
    """Send what the graph has not got, oldest first, waiting for `patience_s` seconds in all where it asks to be waited
    for; nothing more is begun after `longest_s` seconds.

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


def _send(memory: LocalMemory, graph: Graph, record: MemoryRecord, unsure: bool) -> None:
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


def _stopped(done: Delivery, rest: Sequence[MemoryRecord]) -> Delivery:
    done.left.extend(rest)
    return done
