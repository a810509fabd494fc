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

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from enquete.ledger import queries
from enquete.ledger.budget import Amount
from enquete.ledger.connection import Connection, WriteConnection
from enquete.ledger.entries import (
    Reservation,
    call_values,
    write_failed,
    write_lost,
    write_reservations,
    write_settled,
)
from enquete.ledger.writer import Batch
from enquete.state.errors import LedgerError

DRIVER = "driver"
"""The driver's address in `workers`."""


class Evicted(LedgerError):
    """Another process has taken over what this one was doing; nothing of it is stored any more."""


def has_workers(connection: Connection) -> bool:
    """Whether this run was ever worked on by several."""
    return connection.execute(queries.HAS_WORKERS[connection.dialect]).fetchone() is not None


def make_tables(connection: WriteConnection) -> None:
    from enquete.ledger.tables import worker_statements  # noqa: PLC0415 - SQLAlchemy is for who makes tables

    for statement in worker_statements(connection.dialect):
        connection.execute(statement)


def evict_all(connection: WriteConnection) -> None:
    """A new driver begins: whoever worked for the one before it writes nothing more."""
    for table in queries.WORKER_TABLES:
        connection.execute(f"DELETE FROM {table}")


def register_driver(connection: WriteConnection, owner: str, spent_usd: float) -> None:
    connection.execute(queries.REGISTER, (owner, DRIVER, spent_usd))


def register(connection: WriteConnection, owner: str, address: str, driver: str, run: str) -> None:
    """A process begins to work for this driver; one that had its address before is gone. Raises Evicted where another
    driver has taken over."""
    require_registered(connection, driver)
    for (gone,) in connection.execute(queries.AT_ADDRESS, (address,)).fetchall():
        evict(connection, gone, run)
    connection.execute(queries.REGISTER, (owner, address, 0.0))


def require_registered(connection: WriteConnection, owner: str) -> None:
    if connection.execute(queries.REGISTERED[connection.dialect], (owner,)).fetchone() is None:
        raise Evicted("this process was taken to be lost, and others do its work now")


def evict(connection: WriteConnection, owner: str, run: str) -> int:
    """This process is gone: its calls in flight may have been billed, so each is an allowance. Returns their number."""
    row = connection.execute(queries.UNREGISTER, (owner,)).fetchone()  # first: what it is writing now is waited for
    lost = write_lost(connection, run, queries.LOSE_OF, (owner,))
    if row is not None:
        connection.execute(queries.ADD_PAID_AT, (row[0], DRIVER))
    connection.execute(queries.LEAVE_CALLS, (owner,))
    connection.execute(queries.LEAVE_SHARDS, (owner,))
    return lost


def addresses(connection: Connection) -> dict[str, str]:
    """Workers, without the driver: owner → address."""
    return dict(connection.execute(queries.WORKERS, (DRIVER,)).fetchall())


def take_shard(connection: WriteConnection, shard: str, owner: str, run: str) -> None:
    """Whoever had it before is gone: a shard is given to a second worker only then."""
    row = connection.execute(queries.SHARD_OF, (shard,)).fetchone()
    if row is not None and row[0] != owner:
        evict(connection, row[0], run)
    connection.execute(queries.TAKE_SHARD, (shard, owner))


def leave_shard(connection: WriteConnection, shard: str, owner: str) -> None:
    connection.execute(queries.LEAVE_SHARD, (shard, owner))


class Batches(NamedTuple):
    """How calls are filed when they are reserved, settled and failed."""

    reserved: Batch
    settled: Batch
    failed: Batch


def worker_batches(owner: str) -> Batches:
    """Of a worker: who sent a call is noted while it is in flight."""

    def reserved(connection: WriteConnection, calls: Sequence[Reservation]) -> None:
        write_reservations(connection, calls)
        connection.executemany(queries.SENT_BY, [(owner, *call_values(call.key)) for call, _ in calls])

    def settled(connection: WriteConnection, calls: Sequence[Any]) -> None:
        write_settled(connection, calls)
        landed(connection, calls)

    def failed(connection: WriteConnection, calls: Sequence[Any]) -> None:
        write_failed(connection, calls)
        landed(connection, calls)

    def landed(connection: WriteConnection, calls: Sequence[Any]) -> None:
        connection.executemany(queries.LANDED, [call_values(call.key) for call in calls])

    return Batches(reserved, settled, failed)


# --- The budget in blocks: a process may have in flight, and spend until it looks again, what its row says. What all
# have settled stands in the counters, so what is free is the cap less the counters less all blocks. A block counts what
# was settled since it was taken twice, once more in the counters: on the safe side, until its owner looks again.


class SharedBalance(NamedTuple):
    """The run's money as one process sees it: its own block, the others', and what all have spent. `processes`: the
    driver among them."""

    tokens: int
    usd: float
    others: int
    others_usd: float
    spent: int
    spent_usd: float
    processes: int


class BlockRequest(NamedTuple):
    """What a process has in flight, needs beside it, and would take in reserve: tokens and US dollars. `paid_usd`: what
    it spent since it last said."""

    in_flight: Amount
    need: Amount
    spare: Amount
    paid_usd: float


def take_block(
    connection: WriteConnection, owner: str, wanted: BlockRequest, cap: int, cap_usd: float | None
) -> SharedBalance:
    """Take what is wanted, as far as it is there, else what is in flight alone. Raises Evicted."""
    connection.execute(queries.ONE_BY_ONE, (DRIVER,))
    require_registered(connection, owner)
    connection.execute(queries.ADD_PAID, (wanted.paid_usd, owner))
    spent = int(connection.execute(queries.TOTAL, ("tokens",)).fetchone()[0])
    others, others_usd, processes, spent_usd = connection.execute(queries.BLOCKS, (owner, owner)).fetchone()
    tokens = _granted(wanted, 0, cap - spent - others, processes)
    usd = wanted.in_flight[1] + wanted.need[1] + wanted.spare[1]
    if cap_usd is not None:
        usd = _granted(wanted, 1, cap_usd - spent_usd - others_usd, processes)
    if tokens < wanted.in_flight[0] + wanted.need[0] or usd < wanted.in_flight[1] + wanted.need[1]:
        tokens, usd = wanted.in_flight
    connection.execute(queries.TAKE_BLOCK, (int(tokens), usd, owner))
    return SharedBalance(int(tokens), usd, int(others), others_usd, spent, spent_usd, processes)


def _granted(wanted: BlockRequest, which: int, room: float, processes: int) -> float:
    """A reserve is no more than a share of what is left, so that the last calls under a cap are not one process's."""
    least = wanted.in_flight[which] + wanted.need[which]
    return least + max(0, min(wanted.spare[which], (room - least) / (2 * processes))) if least <= room else 0


def ask_to_stop(connection: WriteConnection, owner: str, reason: str, failed: bool) -> None:
    connection.execute(queries.ASK_TO_STOP, (reason, int(failed), owner))


class Looked(NamedTuple):
    """At a glance: is this process registered, does anybody want the run to stop, what is spent, how many work."""

    registered: bool
    stopped: str
    failed: bool
    spent: int
    processes: int


def look(connection: Connection, owner: str) -> Looked:
    rows = connection.execute(queries.STANDING_WORKERS).fetchall()
    spent = int(connection.execute(queries.TOTAL, ("tokens",)).fetchone()[0])
    stopped, failed = next(((why, bool(bad)) for _, why, bad in rows if why), ("", False))
    return Looked(any(row[0] == owner for row in rows), stopped, failed, spent, len(rows))


def take_turns(connection: WriteConnection, model: str, requests_s: float, tokens_s: float) -> tuple[float, float]:
    """Time for so many requests and tokens of a model, in seconds each: in how many seconds each is this process's."""
    now = connection.execute(queries.CLOCK).fetchone()[0] if connection.remote else time.time()
    given = (model, now + requests_s, now + tokens_s, now, now, requests_s, now, now, tokens_s)
    requests, tokens = connection.execute(queries.TAKE_TURNS, given).fetchone()
    return requests - requests_s - now, tokens - tokens_s - now
