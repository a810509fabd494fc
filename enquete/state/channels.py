"""Channels and reducers: what graphs carry. Ids, counts and medians only; rows are in the ledger.

Every reducer is associative, commutative and idempotent on equal input where its name says "merge", so that parallel
branches may arrive in any order. State is plain dicts, because checkpoints are read with strict msgpack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


def add_counts(left: Mapping[str, int] | None, right: Mapping[str, int] | None) -> dict[str, int]:
    """Counts of parallel shards, added by name."""
    total = dict(left or {})
    for name, value in (right or {}).items():
        total[name] = total.get(name, 0) + value
    return total


def merge_by_id(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    """Themes, feedback by round, outcomes by methodology: each key has one writer; sorted, so that order is lost."""
    return dict(sorted({**(left or {}), **(right or {})}.items()))


def merge_notes(left: list[str] | None, right: list[str] | None) -> list[str]:
    """Flags and notices: a set, kept sorted."""
    return sorted({*(left or []), *(right or [])})


class RoundsInput(TypedDict):
    """What a methodology's graph starts from."""

    run: str
    phase: str


class RoundsState(RoundsInput):
    """A methodology at work."""

    round: NotRequired[int]
    aside: NotRequired[bool]  # whether probes and replicates are being asked, after the main arm
    units: NotRequired[dict[str, int]]  # by arm, in the current round
    counts: Annotated[NotRequired[dict[str, int]], add_counts]  # "round 1/done": 48
    themes: Annotated[NotRequired[dict[str, str]], merge_by_id]  # theme id → label
    feedback: Annotated[NotRequired[dict[str, Any]], merge_by_id]  # "round 2" → item → median, IQR, n
    outcome: NotRequired[str]
    outcomes: Annotated[NotRequired[dict[str, str]], merge_by_id]
    flags: Annotated[NotRequired[list[str]], merge_notes]


class RoundsOutput(TypedDict):
    """What a methodology's graph tells its parent."""

    outcomes: Annotated[dict[str, str], merge_by_id]
    flags: Annotated[NotRequired[list[str]], merge_notes]


class InterviewsInput(TypedDict, total=False):
    """What a whole run starts from: a simulation (Studio), or a run that the façade has prepared."""

    sim: Annotated[
        str,
        Field(title="Simulation", description="sim_id under ENQUETE_ROOT, or a path; demo, or nothing, for the demo"),
    ]
    run: Annotated[
        str, Field(title="Run", description="folder of a run that exists (…/runs/run_…), to go on with; else left out")
    ]


class InterviewsState(InterviewsInput, total=False):
    """A run at work."""

    agents: int
    awaiting: str  # what the run waits for, "" when for nothing
    outcomes: Annotated[dict[str, str], merge_by_id]  # "delphi/T1" → done
    flags: Annotated[list[str], merge_notes]
    findings: list[str]  # page one's sentences
    page_one: str  # Markdown
    note: str  # what a reader of this state must know; "" where nothing
    status: str


class InterviewsOutput(TypedDict, total=False):
    """How a run ended."""

    run: str
    status: str
    findings: list[str]
    page_one: str
    note: str
    outcomes: Annotated[dict[str, str], merge_by_id]
    flags: Annotated[list[str], merge_notes]


class ShardSpec(TypedDict):
    """A range of units for one graph task. JSON only, so that it can travel to another process."""

    run: str
    methodology: str
    phase: str
    arm: str
    round: int
    lo: int
    hi: int
