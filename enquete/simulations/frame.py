"""The sampling frame of a large personas file: everybody who can be asked, one row each, in a database of its own.

It is a temporary one, which SQLite keeps in a file (in SQLITE_TMPDIR or TMPDIR) and removes with the process; in memory
are a few pages. Rows are written as they are read, and looked at again by place or by id.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from sys import intern
from threading import RLock
from typing import Any

from enquete.instruments.document import fold
from enquete.simulations.agents import FACTS, AgentRecord
from enquete.simulations.sources import Issue, clip, one_line
from enquete.state.asking import Participant
from enquete.state.people import PAGE, PagedPeople

MOST_ERRORS = 1000
"""Errors of rows, after which no more are read."""
AT_ONCE = 1000
_TABLE = """
CREATE TABLE people(place INTEGER PRIMARY KEY, id TEXT, given INTEGER, called TEXT, name TEXT, at TEXT, type TEXT,
  persona TEXT, agent_id INTEGER, facts TEXT, columns TEXT, prose INTEGER)
"""
_ADD = "INSERT INTO people VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"
_NUMBER_TWINS = """
UPDATE people SET id = people.id || '-' || twins.number
FROM (SELECT place, row_number() OVER (PARTITION BY id ORDER BY place) AS number FROM people
      WHERE id IN (SELECT id FROM people GROUP BY id HAVING count(*) > 1)) AS twins
WHERE twins.place = people.place AND twins.number > 1
"""
_PEOPLE = "SELECT id, agent_id, name, type, persona FROM people"

Usable = Callable[[AgentRecord, list[Issue]], bool]


class SamplingFrame:
    """`people` are all of them; `facts` and `columns` what else is known of each, by id; `issues` what was wrong."""

    def __init__(
        self,
        records: Iterable[AgentRecord],
        usable: Usable,
        key_of: Callable[[AgentRecord], str],
        participant_of: Callable[[AgentRecord, str], Participant],
    ) -> None:
        """Reads all records. `usable` adds to the issues what is wrong with one that it refuses."""
        self.issues: list[Issue] = []
        self.column_names: dict[str, None] = {}
        self._key_of, self._participant_of = key_of, participant_of
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._lock = RLock()
        self._page: tuple[int, dict[str, tuple[str, str]]] = -1, {}  # facts and columns of the page last read
        self._database.execute("PRAGMA journal_mode=OFF")
        self._database.execute(_TABLE)
        self._fill(records, usable)
        self._file = self._value("SELECT at FROM people ORDER BY place LIMIT 1").partition(", ")[0] if len(self) else ""
        self._database.execute("CREATE INDEX by_id ON people(id)")
        self._look_for_twins()
        self._look_for_gaps()
        self.people = self.among(None)

    def __len__(self) -> int:
        return int(self._value("SELECT count(*) FROM people"))

    def _fill(self, records: Iterable[AgentRecord], usable: Usable) -> None:
        rows = self._rows_of(records, usable)
        while some := list(islice(rows, AT_ONCE)):
            self._database.execute("BEGIN")
            self._database.executemany(_ADD, some)
            self._database.execute("COMMIT")

    def _rows_of(self, records: Iterable[AgentRecord], usable: Usable) -> Iterator[tuple[Any, ...]]:
        place = 0
        for record in records:
            if not usable(record, self.issues):
                if len(self.issues) >= MOST_ERRORS:
                    self.issues.append(Issue("error", record.file, f"{record.where}: nothing after it was read"))
                    return
                continue
            key = self._key_of(record)
            who = self._participant_of(record, key)
            self.column_names.update(dict.fromkeys(record.columns))
            yield (
                place, key, bool(record.id or record.uuid), fold(who.name), who.name, f"{record.file}, {record.where}",
                who.stakeholder_type, who.persona, who.agent_id, json.dumps(dict(record.facts), ensure_ascii=False),
                json.dumps(dict(record.columns), ensure_ascii=False), record.has_prose,
            )  # fmt: skip
            place += 1

    def _value(self, sql: str, values: Sequence[object] = ()) -> Any:
        rows = self._all(sql, values)
        return rows[0][0] if rows else None

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            return self._database.execute(sql, values).fetchall()

    # --- what is wrong with rows, seen together -----------------------------------------------------------------------

    def _look_for_twins(self) -> None:
        """An id that was given belongs to one row; equal names with equal personas are numbered."""
        again = self._all(
            "SELECT p.at, p.id, first.at, first.name FROM people p JOIN (SELECT id, min(place) AS place FROM people "
            "GROUP BY id HAVING count(*) > 1) twin ON twin.id = p.id AND twin.place < p.place JOIN people first "
            f"ON first.place = twin.place WHERE p.given ORDER BY p.place LIMIT {MOST_ERRORS}"
        )
        for at, identity, first, name in again:
            file, _, where = at.partition(", ")
            known = first.removeprefix(f"{file}, ")
            message = f"{where}: id {identity.removeprefix('agent:')!r} is already that of {known} ({name})"
            self.issues.append(Issue("error", file, message))
        twins = self._all("SELECT id FROM people GROUP BY id HAVING count(*) > 1 ORDER BY min(place)")
        if twins:
            self._database.execute(_NUMBER_TWINS)
            message = f"{len(twins)} agents appear more than once with the same name and persona, e.g. {twins[0][0]}"
            self.issues.append(Issue("warning", "", message))

    def _look_for_gaps(self) -> None:
        bare = self._all("SELECT name FROM people WHERE NOT prose LIMIT 6")
        if bare:
            number = self._value("SELECT count(*) FROM people WHERE NOT prose")
            names = [name for (name,) in bare]
            self.issues.append(without_prose(number, len(self), names, self._file))
        shared, most = self._all(
            "SELECT count(*), coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM people GROUP BY called HAVING n > 1)"
        )[0]
        if shared:
            message = f"{most} agents share {shared} names: told apart by their ids alone"
            self.issues.append(Issue("warning", self._file, message))
        told = {name for name, _ in FACTS}
        unused = [clip(one_line(name), 60) for name in self.column_names if name not in told]
        if unused:
            self.issues.append(unused_columns(unused, self._file))

    # --- rows, again --------------------------------------------------------------------------------------------------

    def among(self, places: Sequence[int] | None) -> PagedPeople:
        """Those at these places, in their order; None: everybody."""
        if places is None:
            return PagedPeople(len(self), self._between, self._with_id)

        def read(low: int, high: int) -> list[Participant]:
            wanted = json.dumps(list(places[low:high]))
            rows = self._all(f"{_PEOPLE} WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place", (wanted,))
            return [_participant(row) for row in rows]

        return PagedPeople(len(places), read, self._with_id)

    def _between(self, low: int, high: int) -> list[Participant]:
        return [_participant(row) for row in self._all(f"{_PEOPLE} WHERE place >= ? AND place < ?", (low, high))]

    def _with_id(self, participant: str) -> Participant | None:
        rows = self._all(f"{_PEOPLE} WHERE id = ?", (participant,))
        return _participant(rows[0]) if rows else None

    def places_of(self, ids: Collection[str]) -> Iterator[tuple[int, bool]]:
        """Every place, and whether whoever has it is among these."""
        return ((place, identity in ids) for place, identity in self._paged("place, id"))

    def _paged(self, columns: str) -> Iterator[Any]:
        for low in range(0, len(self), PAGE):
            yield from self._all(f"SELECT {columns} FROM people WHERE place >= ? AND place < ?", (low, low + PAGE))

    @property
    def facts(self) -> Mapping[str, Mapping[str, str]]:
        return _ByParticipant(self, 0)

    @property
    def columns(self) -> Mapping[str, Mapping[str, str]]:
        return _ByParticipant(self, 1)

    @property
    def incomplete(self) -> frozenset[str]:
        return frozenset(identity for (identity,) in self._all("SELECT id FROM people WHERE NOT prose"))

    def known_of(self, participant: str) -> tuple[str, str]:
        """Facts and columns, as JSON. Raises KeyError."""
        with self._lock:
            if participant not in self._page[1]:
                place = self._value("SELECT place FROM people WHERE id = ?", (participant,))
                if place is None:
                    raise KeyError(participant)
                low = place // PAGE * PAGE
                query = "SELECT id, facts, columns FROM people WHERE place >= ? AND place < ?"
                rows = self._all(query, (low, low + PAGE))
                self._page = low, {identity: (facts, columns) for identity, facts, columns in rows}
            return self._page[1][participant]

    def ids(self) -> Iterator[str]:
        return (identity for (identity,) in self._paged("id"))


def _participant(row: Sequence[Any]) -> Participant:
    identity, number, name, kind, persona = row
    return Participant(identity, name, intern(kind), persona, agent_id=number)


class _ByParticipant(Mapping[str, Mapping[str, str]]):
    """Facts or columns by participant id, read as they are asked for."""

    def __init__(self, frame: SamplingFrame, which: int) -> None:
        self._frame, self._which = frame, which

    def __getitem__(self, participant: str) -> Mapping[str, str]:
        facts: dict[str, str] = json.loads(self._frame.known_of(participant)[self._which])
        return facts

    def __iter__(self) -> Iterator[str]:
        return self._frame.ids()

    def __len__(self) -> int:
        return len(self._frame)


def without_prose(number: int, of: int, names: Sequence[str], file: str) -> Issue:
    """Rows with neither bio nor persona: asked from what there is, and told with their number."""
    message = (
        f"{number} of {of} agents have neither bio nor persona and are asked from what else is known of them: "
        f"{', '.join(names[:5])}{' …' if number > 5 else ''}; --skip-incomplete leaves them out"
    )
    return Issue("warning", file, message)


def unused_columns(names: Sequence[str], file: str) -> Issue:
    """Columns of which interviews make nothing: neither prompts nor groups show them."""
    message = f"columns that no interview uses: {', '.join(names)}; agents.csv has them all"
    return Issue("info", file, message)
