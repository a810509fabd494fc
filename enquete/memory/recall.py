"""What is remembered: a record of what somebody said, a comparison of two answers; and what a graph outside can do.

What is noted of a simulation's interviews beside its runs: LangGraph's SqliteStore in one file, made with its first
note.

Annotated answers, preferences, and which episodes a graph got. What was said is not repeated in it: episodes are read
where runs wrote them.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal, Protocol

from langgraph.store.base import GetOp, PutOp
from langgraph.store.sqlite import SqliteStore
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.ledger.connection import connect
from enquete.simulations.digest import Knowledge
from enquete.state.errors import MemoryFault

TIMEOUT_S = 20.0
"""For one request to a graph."""
LEAST_WAIT_S = 1.0
"""A server that allows nothing and asks for no wait must not be asked for ever."""

Kind = Literal["interview", "overall", "aggregate", "answer"]


class MemoryRecord(BaseModel):
    """Something that was said, found again by its id. Annotations stand beside these fields: respondent_id,
    critic_score (1–5), pairwise_winner, or anything else."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str = Field(min_length=1)
    kind: Kind
    text: str
    sim_id: str
    run_id: str
    participant: str | None = None  # None: of all agents
    agent_name: str = ""
    stakeholder_type: str = ""
    methodology: str = ""
    phase: str = ""
    respondent: str = ""  # who answered: llm, synthetic or human; and its model
    model: str = ""
    answer_ids: list[str] = []


class Preference(BaseModel):
    """Two configurations answered the same question, and which of them a critic preferred. `tie`: also where the
    verdict changed with the order of the two."""

    model_config = ConfigDict(frozen=True)

    question_id: str = Field(min_length=1)  # with the run: the key of the comparison
    run_id: str
    answer_id_a: str
    answer_id_b: str
    methodology: str
    question_type: str  # scale, choice, text, …
    stakeholder_type: str
    a: str  # a configuration as it is told, such as "model, temperature 0.7"
    b: str
    winner: Literal["a", "b", "tie"]
    score_a: float | None = None
    score_b: float | None = None
    reason: str = ""


class Graph(Protocol):
    """A graph outside. Every method raises MemoryFault, and nothing else, where it does not answer.

    `name`: under which deliveries to it are marked.
    """

    name: str

    def read(self, agents: Sequence[str]) -> dict[str, Knowledge]:
        """What is known of these participants, by id; of nobody a part only."""

    def write(self, record: MemoryRecord) -> None: ...

    def holds(self, record: MemoryRecord) -> bool:
        """Whether an earlier request whose answer was lost did arrive."""

    def close(self) -> None: ...


__all__ = ["TIMEOUT_S", "Graph", "Kind", "MemoryFault", "MemoryRecord", "Preference"]


# --- Episodes of a simulation's interviews: read where its runs wrote them, exports/episodes.jsonl; found by words.

EPISODES = "episodes.jsonl"
ENTITY_WEIGHT, FETCHED = 0.1, 3
"""Of a name in the query that is the agent's; records weighed for each that is kept."""
INDEX = 'CREATE VIRTUAL TABLE words USING fts5(agent, text, tokenize="unicode61 remove_diacritics 2")'
_WORD = re.compile(r"\w+")


def episodes(interviews: Path) -> Iterator[MemoryRecord]:
    """Of all runs in this interviews/ folder, oldest first, each once. Raises MemoryFault where a file is damaged."""
    known: set[str] = set()
    for folder in sorted(interviews.glob("synthesis/*/")):
        file = folder / "exports" / EPISODES
        for record in complete(file) if file.is_file() else ():
            if record.id not in known:
                known.add(record.id)
                yield record


def complete(file: Path) -> Iterator[MemoryRecord]:
    """Episodes that nothing will be added to. Raises MemoryFault where the file is damaged."""
    try:
        with file.open(encoding="utf-8") as opened:
            for line in opened:
                episode: dict[str, Any] = json.loads(line)
                if episode.pop("complete"):
                    yield MemoryRecord.model_validate(episode)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise MemoryFault(f"{file} is damaged; enquete export writes the run's files again") from error


def search(records: Iterable[MemoryRecord], query: str, *, agent: str = "", limit: int = 10) -> list[MemoryRecord]:
    """Best first: how well the words fit (1 for the best, by BM25), + 0.1 where the query names the agent. Words match
    by their beginnings. `agent`: only of whom this name or id is. Without words the last."""
    spoken, asked = list(records), _WORD.findall(query)
    parts = [f"agent : ({' AND '.join(_prefixes(whom))})"] if (whom := _WORD.findall(agent)) else []
    parts += [f"({' OR '.join(_prefixes(asked))})"] if asked else []
    if not parts:
        return spoken[::-1][:limit]
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(INDEX)
        words = ((place, f"{r.agent_name} {r.participant or ''}", r.text) for place, r in enumerate(spoken))
        index.executemany("INSERT INTO words(rowid, agent, text) VALUES(?,?,?)", words)
        rows = index.execute(
            "SELECT rowid, bm25(words, 2, 1) FROM words WHERE words MATCH ? ORDER BY 2, rowid DESC LIMIT ?",
            (" AND ".join(parts), FETCHED * limit),
        ).fetchall()
    best = min((rank for _, rank in rows), default=0) or 1
    weighed = [(rank / best + ENTITY_WEIGHT * _named(spoken[place], asked), spoken[place]) for place, rank in rows]
    return [record for _, record in sorted(weighed, key=lambda pair: -pair[0])][:limit]


def _prefixes(words: Sequence[str]) -> list[str]:
    return [f'"{word}"*' for word in words]


def _named(record: MemoryRecord, asked: Sequence[str]) -> bool:
    names = {word.casefold() for word in _WORD.findall(record.agent_name)}
    return any(word.casefold() in names for word in asked)


# --- Which configuration wins for which type of question and of stakeholder, over all runs of a simulation.


@dataclass(frozen=True)
class PreferenceShare:
    """One configuration against all others on one type of question, asked of one type of stakeholder.

    `rate`: (wins + ties / 2) / n; `low`, `high`: Wilson's interval of 95% for it, which takes comparisons as
    independent.
    """

    question_type: str
    stakeholder_type: str
    configuration: str
    n: int
    wins: int
    ties: int
    rate: float
    low: float
    high: float


def standings(preferences: Iterable[Preference]) -> list[PreferenceShare]:
    """By type of question and of stakeholder, the configuration that wins most often first."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for pair in preferences:
        for configuration, side in ((pair.a, "a"), (pair.b, "b")):
            counted = counts.setdefault((pair.question_type, pair.stakeholder_type, configuration), [0, 0, 0])
            counted[0] += 1
            counted[1] += pair.winner == side
            counted[2] += pair.winner == "tie"
    shares = [_standing(*key, *counted) for key, counted in counts.items()]
    return sorted(shares, key=lambda s: (s.question_type, s.stakeholder_type, -s.rate, s.configuration))


def _standing(
    question_type: str, stakeholder_type: str, configuration: str, n: int, wins: int, ties: int
) -> PreferenceShare:
    from enquete.analysis.preference import wilson  # noqa: PLC0415 - recall itself computes nothing

    rate = (wins + ties / 2) / n
    low, high = wilson(rate, n)
    return PreferenceShare(question_type, stakeholder_type, configuration, n, wins, ties, rate, low, high)


# --- The store beside runs -------------------------------------------------------------------------------------------

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

    def count_compared(self) -> int:
        """How many pairs of answers a critic compared, of all runs, whether or not a preference followed."""
        annotated = sum("critic_score" in value for _, value in self._all_of(RECORDS))
        return annotated // 2

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
