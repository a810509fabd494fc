"""What was sent to a model otherwise than asked for, as a run's ledger notes it, by the name that calls are filed by.

A server may take no temperature, or fewer tokens; then what reports say has to be what was sent. Each call's own record
has it, too (`raw`, under "sent").
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from enquete.ledger import queries

SENT = "sent/"
_IN_RAW = '"sent": {'

Deviations = Mapping[str, Mapping[str, JsonValue]]
"""By model: what was sent in place of what was asked for; None where a field was left out."""


class _Readable(Protocol):
    def read(self, sql: str, values: Sequence[object] = ()) -> Any: ...


class _Notable(Protocol):
    def noted(self, name: str) -> str | None: ...

    async def note(self, name: str, value: str) -> None: ...


async def note_deviations(ledger: _Notable, model: str, raw: str) -> None:
    """Keep what the record of one call says was sent otherwise; most say nothing."""
    if _IN_RAW not in raw:
        return
    sent = json.loads(raw).get("sent")
    if not isinstance(sent, dict):
        return
    known = json.loads(ledger.noted(f"{SENT}{model}") or "{}")
    if not sent.items() <= known.items():
        await ledger.note(f"{SENT}{model}", json.dumps(known | sent))


def read_deviations(ledger: _Readable) -> Deviations:
    """Return what a run sent otherwise than asked for, by model."""
    rows = ledger.read(queries.NOTES_LIKE, (f"{SENT}%",)).fetchall()
    return {key.removeprefix(SENT): json.loads(value) for key, value in rows}


def sent_temperature(deviations: Deviations, model: str, asked: float) -> float | None:
    """Return the temperature that was sent; None where the model takes none, so that its server's default held."""
    value = deviations.get(model, {}).get("temperature", asked)
    return float(value) if isinstance(value, int | float) else None


def describe_deviations(sent: Mapping[str, JsonValue]) -> str:
    """Return them as `temperature: left out; max_tokens: 512`."""
    shown = {name: "left out" if value is None else json.dumps(value) for name, value in sent.items()}
    return "; ".join(f"{name}: {value}" for name, value in shown.items())
