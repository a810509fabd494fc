"""The embedded memory: LangGraph's SqliteStore in one file beside a simulation's runs, with an FTS5 index over its texts.

Without embeddings SqliteStore's own search orders by time and ignores the query, so words are looked up in FTS5 here,
and found records are read from the store. The index is written first: a kill in between leaves an entry without a
record, which is passed over, and which the same record, remembered again, completes.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from langgraph.store.base import GetOp, PutOp
from langgraph.store.sqlite import SqliteStore
from pydantic import JsonValue

from enquete.checkpoints.connection import connect
from enquete.memory.recalled import Preference, Record

FILE = "memory.sqlite"
RECORDS, PREFERENCES, DELIVERIES = ("records",), ("preferences",), "deliveries"
ENTITY_WEIGHT, SCORE_WEIGHT, FETCHED = 0.1, 0.05, 3
"""Of a name in the query that is the agent's, and of each point of the critic's above 3; records fetched for each kept."""
PAGE, BATCH = 1000, 500
INDEX = """CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    id UNINDEXED, kind UNINDEXED, agent, text, tokenize="unicode61 remove_diacritics 2", prefix='3 4 5')"""
_WORD = re.compile(r"\w+")
log = logging.getLogger("enquete")


class LocalMemory:
    """Records, deliveries and preferences of one simulation. May be used from any thread."""

    def __init__(self, connection: sqlite3.Connection, *, read_only: bool = False):
        self._connection = connection
        self._store = SqliteStore(connection)
        self._merging = threading.RLock()
        self._store.is_setup = read_only
        if not read_only:
            self._store.setup()
            connection.execute(INDEX)

    @classmethod
    @contextmanager
    def opened(cls, interviews: Path, *, read_only: bool = False) -> Iterator[LocalMemory]:
        """The memory in this interviews/ folder. `read_only`: creates nothing; an empty memory where there is none.

        Raises LedgerError or sqlite3.Error where the file cannot be used.
        """
        path = interviews / FILE
        if read_only and not path.exists():
            with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as empty:
                yield cls(empty)
            return
        with closing(connect(path, read_only=read_only)) as connection:
            yield cls(connection, read_only=read_only)

    def remember(self, records: Sequence[Record]) -> int:
        """Those that are not there yet; how many they were."""
        every, count = list({record.id: record for record in records}.values()), 0
        for start in range(0, len(every), BATCH):
            count += self._remember(every[start : start + BATCH])
        return count

    def _remember(self, records: Sequence[Record]) -> int:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._merging:
            there = self._store.batch([GetOp(RECORDS, one.id) for one in records])
            new = [one for one, found in zip(records, there, strict=True) if found is None]
            if not new:
                return 0
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO words(id, kind, agent, text) VALUES(?,?,?,?)",
                [(one.id, one.kind, f"{one.agent_name} {one.participant or ''}", one.text) for one in new],
            )
            self._connection.execute("COMMIT")
            self._store.batch(
                [PutOp(RECORDS, one.id, {"at": now, **one.model_dump(exclude_defaults=True)}) for one in new]
            )
        return len(new)

    def record(self, record_id: str) -> Record | None:
        found = self._store.get(RECORDS, record_id)
        return Record.model_validate(found.value) if found else None

    def annotate(self, record_id: str, fields: Mapping[str, JsonValue]) -> bool:
        """Add these fields to a record, keeping what is there. False, and a warning in the log, where there is none."""
        with self._merging:
            found = self._store.get(RECORDS, record_id)
            if found is None:
                log.warning("memory: no record %s to annotate with %s", record_id, ", ".join(fields))
                return False
            self._store.put(RECORDS, record_id, {**found.value, **fields})
        return True

    def search(self, query: str, *, agent: str = "", limit: int = 10) -> list[Record]:
        """Best first: how well the words fit (1 for the best, by BM25), + 0.1 where the query names the agent, + 0.05 for
        each point the critic gave above 3. Words match by their beginnings. `agent`: only of whom this name or id is.
        Without words the newest. Episodes alone: single answers are there to be annotated."""
        asked = _WORD.findall(query)
        parts = [f"agent : ({_all(_WORD.findall(agent))})"] if _WORD.findall(agent) else []
        parts += [f"{{agent text}} : ({_any(asked)})"] if asked else []
        if not parts:
            rows = self._connection.execute(
                "SELECT id, 0 FROM words WHERE kind != 'answer' ORDER BY rowid DESC LIMIT ?", (limit,)
            ).fetchall()
        else:
            rows = self._connection.execute(
                "SELECT id, bm25(words, 0, 0, 2, 1) FROM words WHERE words MATCH ? AND kind != 'answer'"
                " ORDER BY 2, rowid DESC LIMIT ?",
                (" AND ".join(parts), FETCHED * limit),
            ).fetchall()
        best = min((rank for _, rank in rows), default=0) or 1
        found = [(rank / best, self.record(record_id)) for record_id, rank in _first_of_each(rows)]
        weighed = [(fit + _bonus(record, asked), record) for fit, record in found if record is not None]
        return [record for _, record in sorted(weighed, key=lambda pair: -pair[0])][:limit]

    def forget(self, runs: Collection[str]) -> int:
        """Take away what was said in these runs, and which of their answers were preferred; how many records that were."""
        said = [key for key, value in self._all_of(RECORDS) if value["run_id"] in runs]
        compared = [key for key, value in self._all_of(PREFERENCES) if value["run_id"] in runs]
        graphs = self._store.list_namespaces(prefix=(DELIVERIES,))
        with self._merging:
            for key in said:
                self._connection.execute("DELETE FROM words WHERE id=?", (key,))
                for namespace in (RECORDS, *graphs):
                    self._store.delete(namespace, key)
            for key in compared:
                self._store.delete(PREFERENCES, key)
        return len(said)

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

    def undelivered(self, graph: str) -> list[Record]:
        """What this graph has not got for certain, oldest first. Answers are for the embedded memory alone."""
        states = self.delivered(graph)
        rows = self._connection.execute("SELECT id FROM words WHERE kind != 'answer' ORDER BY rowid").fetchall()
        missing = [self.record(row[0]) for row in dict.fromkeys(rows) if states.get(row[0]) != "sent"]
        return [record for record in missing if record is not None]

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


def _first_of_each(rows: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    return list({row[0]: row for row in reversed(rows)}.values())[::-1]


def _any(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"*' for word in words)


def _all(words: Sequence[str]) -> str:
    return " AND ".join(f'"{word}"*' for word in words)


def _bonus(record: Record, asked: Sequence[str]) -> float:
    names = {word.casefold() for word in _WORD.findall(record.agent_name)}
    named = any(word.casefold() in names for word in asked)
    score = (record.model_extra or {}).get("critic_score")
    return ENTITY_WEIGHT * named + (SCORE_WEIGHT * (score - 3) if isinstance(score, int | float) else 0.0)
