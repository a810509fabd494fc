"""What the ledger files beside answers: the cost of a call, how far a methodology got, a bug that was caught."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """What a settled call cost and how it went."""

    input_tokens: int
    output_tokens: int
    allowance: int = 0  # tokens of sends that never answered
    sends: int = 1
    latency_ms: int = 0
    fingerprint: str = ""
    raw: str = ""
    model: str = ""
    allowance_read: int = 0  # how much of `allowance` was question


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a methodology got in a phase."""

    methodology: str
    phase: str
    outcome: str
    note: str
    at: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A bug that was caught: the unit has no answers."""

    arm: str
    methodology: str
    phase: str
    round: int
    unit: str
    error: str
    traceback: str


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
