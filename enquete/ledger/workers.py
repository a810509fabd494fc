"""Several processes at one run's ledger: who they are, what each may spend, and what becomes of one that is gone.

The driver registers itself, workers register beside it. A worker's row is its right to write: every transaction of a
worker looks for it first (`require_registered`), and whoever takes over from a lost worker deletes it (`evict`), in the
transaction in which its calls in flight become allowances. A worker that was only asleep, or cut off, finds its row
gone and stores nothing more. A new driver deletes all rows.

    workers       process → its block of the budget, what it spent in US dollars, why it wants the run to stop
    worker_calls  calls in flight → who sent them
    shards        shards at work → by whom
    pace          model → from when on the next request may go, in seconds since 1970
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from enquete.ledger.usage import lose
from enquete.state.errors import LedgerError

TABLES = (
    "CREATE TABLE IF NOT EXISTS workers(owner TEXT NOT NULL PRIMARY KEY, address TEXT NOT NULL, tokens INTEGER NOT NULL,"
    " usd REAL NOT NULL, spent_usd REAL NOT NULL, stopped TEXT NOT NULL, failed INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS worker_calls(call INTEGER NOT NULL PRIMARY KEY, owner TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS shards(shard TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS pace(model TEXT NOT NULL PRIMARY KEY, requests REAL NOT NULL, tokens REAL NOT NULL)"
    " STRICT, WITHOUT ROWID",
)
"""Made when a run is first driven with workers; other ledgers have none of them."""

DRIVER = "driver"
"""The driver's address in `workers`."""


class Evicted(LedgerError):
    """Another process has taken over what this one was doing; nothing of it is stored any more."""


def make_tables(connection: sqlite3.Connection) -> None:
    for table in TABLES:
        connection.execute(table)


def has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name='workers'").fetchone() is not None


def evict_all(connection: sqlite3.Connection) -> None:
    """A new driver begins: whoever worked for the one before it writes nothing more."""
    for table in ("workers", "worker_calls", "shards", "pace"):
        connection.execute(f"DELETE FROM {table}")


def register_driver(connection: sqlite3.Connection, owner: str, spent_usd: float) -> None:
    connection.execute("INSERT INTO workers VALUES(?,?,0,0,?,'',0)", (owner, DRIVER, spent_usd))


def register(connection: sqlite3.Connection, owner: str, address: str, driver: str, run: str) -> None:
    """A process begins to work for this driver; one that had its address before is gone. Raises Evicted where another
    driver has taken over."""
    require_registered(connection, driver)
    before = connection.execute("SELECT owner FROM workers WHERE address=?", (address,)).fetchall()
    for (gone,) in before:
        evict(connection, gone, run)
    connection.execute("INSERT INTO workers VALUES(?,?,0,0,0,'',0)", (owner, address))


def require_registered(connection: sqlite3.Connection, owner: str) -> None:
    if connection.execute("SELECT 1 FROM workers WHERE owner=?", (owner,)).fetchone() is None:
        raise Evicted("this process was taken to be lost, and others do its work now")


def evict(connection: sqlite3.Connection, owner: str, run: str) -> int:
    """This process is gone: its calls in flight may have been billed, so each is an allowance. Returns their number."""
    mine = "id IN (SELECT call FROM worker_calls WHERE owner=?)"
    lost = lose(connection, run, mine, (owner,))
    connection.execute(
        "UPDATE workers SET spent_usd=spent_usd+coalesce((SELECT spent_usd FROM workers WHERE owner=?), 0)"
        " WHERE address=?",
        (owner, DRIVER),
    )
    for table in ("worker_calls", "shards", "workers"):
        connection.execute(f"DELETE FROM {table} WHERE owner=?", (owner,))
    return lost


def addresses(connection: sqlite3.Connection) -> dict[str, str]:
    """Workers, without the driver: owner → address."""
    return dict(connection.execute("SELECT owner, address FROM workers WHERE address<>?", (DRIVER,)).fetchall())


def take_shard(connection: sqlite3.Connection, shard: str, owner: str, run: str) -> None:
    """Whoever had it before is gone: a shard is given to a second worker only then."""
    row = connection.execute("SELECT owner FROM shards WHERE shard=?", (shard,)).fetchone()
    if row is not None and row[0] != owner:
        evict(connection, row[0], run)
    connection.execute("INSERT OR REPLACE INTO shards VALUES(?,?)", (shard, owner))


def leave_shard(connection: sqlite3.Connection, shard: str, owner: str) -> None:
    connection.execute("DELETE FROM shards WHERE shard=? AND owner=?", (shard, owner))


def sent_by(connection: sqlite3.Connection, owner: str, call: str, values: tuple[object, ...]) -> None:
    """A call is in flight: `call`, a condition on `calls` with its values."""
    connection.execute(f"INSERT OR REPLACE INTO worker_calls SELECT id, ? FROM calls WHERE {call}", (owner, *values))


def landed(connection: sqlite3.Connection, call: str, values: tuple[object, ...]) -> None:
    connection.execute(f"DELETE FROM worker_calls WHERE call=(SELECT id FROM calls WHERE {call})", values)


# --- The budget in blocks: a process may have in flight, and spend until it looks again, what its row says. What all
# have settled stands in the counters, so what is free is the cap less the counters less all blocks. A block counts what
# was settled since it was taken twice, once more in the counters: on the safe side, until its owner looks again.


class Standing(NamedTuple):
    """The run's money as one process sees it: its own block, the others', and what all have spent. `processes`: the
    driver among them."""

    tokens: int
    usd: float
    others: int
    others_usd: float
    spent: int
    spent_usd: float
    processes: int


class Wanted(NamedTuple):
    """What a process has in flight, needs beside it, and would take in reserve; `paid_usd`: all that it spent so far,
    without what was there when it registered."""

    in_flight: tuple[int, float]
    need: tuple[int, float]
    spare: tuple[int, float]
    paid_usd: float


def take_block(connection: sqlite3.Connection, owner: str, wanted: Wanted, cap: int, cap_usd: float | None) -> Standing:
    """Take what is wanted, as far as it is there: a block smaller than in flight and needed is what is in flight
    alone. Raises Evicted."""
    require_registered(connection, owner)
    connection.execute("UPDATE workers SET spent_usd=spent_usd+? WHERE owner=?", (wanted.paid_usd, owner))
    (spent,) = connection.execute("SELECT coalesce(sum(value), 0) FROM counters WHERE name='tokens'").fetchone()
    others, others_usd, processes, spent_usd = connection.execute(
        "SELECT coalesce(sum(CASE WHEN owner<>? THEN tokens END), 0), coalesce(sum(CASE WHEN owner<>? THEN usd END), 0),"
        " count(*), sum(spent_usd) FROM workers",
        (owner, owner),
    ).fetchone()
    tokens = _granted(wanted, 0, cap - spent - others, processes)
    usd = wanted.in_flight[1] + wanted.need[1] + wanted.spare[1]
    if cap_usd is not None:
        usd = _granted(wanted, 1, cap_usd - spent_usd - others_usd, processes)
    if tokens < wanted.in_flight[0] + wanted.need[0] or usd < wanted.in_flight[1] + wanted.need[1]:
        tokens, usd = wanted.in_flight
    connection.execute("UPDATE workers SET tokens=?, usd=? WHERE owner=?", (tokens, usd, owner))
    return Standing(int(tokens), usd, others, others_usd, spent, spent_usd, processes)


def _granted(wanted: Wanted, which: int, room: float, processes: int) -> float:
    """A reserve is no more than a share of what is left, so that the last calls under a cap are not one process's."""
    least = wanted.in_flight[which] + wanted.need[which]
    return least + max(0, min(wanted.spare[which], (room - least) // (2 * processes))) if least <= room else 0


def ask_to_stop(connection: sqlite3.Connection, owner: str, reason: str, failed: bool) -> None:
    connection.execute("UPDATE workers SET stopped=?, failed=? WHERE owner=?", (reason, int(failed), owner))


class Looked(NamedTuple):
    """At a glance: is this process registered, does anybody want the run to stop, what is spent, how many work."""

    registered: bool
    stopped: str
    failed: bool
    spent: int
    processes: int


def look(connection: sqlite3.Connection, owner: str) -> Looked:
    rows = connection.execute("SELECT owner, stopped, failed FROM workers").fetchall()
    (spent,) = connection.execute("SELECT coalesce(sum(value), 0) FROM counters WHERE name='tokens'").fetchone()
    stopped, failed = next(((why, bool(bad)) for _, why, bad in rows if why), ("", False))
    return Looked(any(row[0] == owner for row in rows), stopped, failed, spent, len(rows))


def take_turns(
    connection: sqlite3.Connection, model: str, now: float, requests_s: float, tokens_s: float
) -> tuple[float, float]:
    """Time for so many requests and tokens of a model, in seconds each: from when on it is this process's, of both."""
    row = connection.execute("SELECT requests, tokens FROM pace WHERE model=?", (model,)).fetchone() or (0.0, 0.0)
    requests, tokens = max(now, row[0]), max(now, row[1])
    connection.execute("INSERT OR REPLACE INTO pace VALUES(?,?,?)", (model, requests + requests_s, tokens + tokens_s))
    return requests, tokens
