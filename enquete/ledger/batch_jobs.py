"""Orders of a run at a Batch API, as its ledger notes them: each from before its first byte is sent until all its
replies are settled.

    batch/MARK   how many tokens each of its requests may be answered with, by name (`name_of` its call); "" once it is
    over order/MARK   which batch it is (number, model), and how far: its file, its id at the provider, requests done
    and failed

A call in flight that stands in an order is not lost with the process that placed it: whoever goes on fetches its reply.
One that stands in none was never sent. Measured by: what a server was asked, however often the process was killed
(tests/study/test_batches.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from enquete.ledger import queries
from enquete.ledger.entries import now, seal_calls
from enquete.ledger.ledger import Ledger
from enquete.state.asking import CallKey

ASKED, STATE = "batch/", "order/"
NAME_LENGTH = 32


def name_of(key: CallKey) -> str:
    """By which a call is known to the provider: it tells nothing of whom is asked what."""
    return sha256("\x1f".join(map(str, key)).encode()).hexdigest()[:NAME_LENGTH]


@dataclass(frozen=True)
class BatchOrder:
    """One order. `number`: from 1, in the run. `file` "": nothing was ordered yet; `id` "": it may have been."""

    mark: str
    number: int
    model: str
    total: int
    file: str = ""
    id: str = ""
    done: int = 0
    failed: int = 0
    at: str = ""  # since when it stands
    ended: bool = False  # its replies were fetched; some may not be settled


class InFlight(NamedTuple):
    """A call that was reserved, as the ledger has it. `tokens`: of its reservation."""

    id: int
    key: CallKey
    model: str
    tokens: int
    system: str
    messages: str


def open_orders(ledger: Ledger) -> list[BatchOrder]:
    """Those that are not over, in the order in which they were placed."""
    rows = ledger.read(queries.ORDERS, (ASKED, len(STATE) + 1, f"{STATE}%")).fetchall()
    return sorted((BatchOrder(**json.loads(value)) for (value,) in rows), key=lambda order: order.number)


def asked_in(ledger: Ledger, mark: str) -> Mapping[str, int]:
    """The requests of an order: tokens that each may be answered with, by name."""
    noted = ledger.noted(f"{ASKED}{mark}")
    return dict(json.loads(noted)) if noted else {}


def orders_placed(ledger: Ledger) -> int:
    """Ever, by this run."""
    return int(ledger.read(queries.COUNT_LIKE, (f"{STATE}%",)).fetchone()[0])


def told(order: BatchOrder, placed: int, fault: str = "") -> str:
    """How far an order is, of so many that the run has placed. English, as all notes of a run are."""
    done = order.done + order.failed
    return f"batch {order.number} of {placed}: {done:,} of {order.total:,} done{f' ({fault})' if fault else ''}"


def waited_for(ledger: Ledger) -> str:
    """What the run waits for at the provider; "" where there is nothing."""
    placed = orders_placed(ledger)
    return "; ".join(told(order, placed) for order in open_orders(ledger) if order.id and not order.ended)


async def note(ledger: Ledger, order: BatchOrder, asked: Mapping[str, int] | None = None) -> BatchOrder:
    """How far an order is; with what is `asked` where it is new. Gives it as noted."""
    noted = order if order.at else replace(order, at=now())
    if asked is not None:
        await ledger.note(f"{ASKED}{order.mark}", json.dumps(asked))
    await ledger.note(f"{STATE}{order.mark}", json.dumps(asdict(noted)))
    return noted


async def close(ledger: Ledger, order: BatchOrder) -> None:
    """Nothing of it is owed any more, or it was never placed."""
    await ledger.note(f"{ASKED}{order.mark}", "")


async def close_settled(ledger: Ledger) -> None:
    """Orders whose replies are all settled."""
    ended = {order: asked_in(ledger, order.mark).keys() for order in open_orders(ledger) if order.ended}
    in_flight = calls_in_flight(ledger, lambda name: any(name in asked for asked in ended.values())).keys()
    for order, asked in ended.items():
        if not asked & in_flight:
            await close(ledger, order)


def calls_in_flight(ledger: Ledger, wanted: Callable[[str], bool]) -> dict[str, InFlight]:
    """By name, those whose name is wanted."""
    rows = ledger.read(queries.IN_FLIGHT)
    calls = {}
    for number, *names, model, tokens, system, messages in rows.fetchall():
        key = CallKey(ledger.run, *names)
        name = name_of(key)
        if wanted(name):
            calls[name] = InFlight(number, key, model, tokens, system or "", messages or "")
    return calls


async def sweep_unordered(ledger: Ledger) -> int:
    """Calls in flight that stand in no order: nothing of them was sent, so nothing is charged. In place of
    `Ledger.sweep`, for a run whose requests go in batches. Returns their number."""
    for order in open_orders(ledger):
        if not order.file:  # killed before it could be ordered
            await close(ledger, order)
    standing = {name for order in open_orders(ledger) for name in asked_in(ledger, order.mark)}
    unsent = calls_in_flight(ledger, lambda name: name not in standing)
    ids = json.dumps([call.id for call in unsent.values()])
    await ledger.write(lambda connection: seal_calls(connection, connection.execute(queries.UNSEND, (ids,)).fetchall()))
    return len(unsent)
