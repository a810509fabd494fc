"""What became of a pair: frozen in the ledger once, read by the report, by the memory and by whoever goes on after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.checkpoints.ledger import Ledger
from enquete.nodes.planning import CRITIC

PAIR, ANNOTATED, COSTS = "pair/", "annotated/", "costs"

Winner = Literal["A", "B", "tie", ""]
"""tie: the critic chose by the place, or both say the same. "": no verdict in one of the orders."""


class PairRecord(BaseModel):
    """One question answered by both. Scores by the rubric, None where a grade could not be read."""

    model_config = ConfigDict(frozen=True)

    question_id: str
    answer_id_a: str
    answer_id_b: str
    winner: Winner = ""
    score_a: int | None = None
    score_b: int | None = None
    reason: str = ""
    methodology: str = ""
    phase: str = ""
    participant: str = ""
    question_type: str = ""
    forward: Literal["A", "B", ""] = ""  # who won where A's answer stood first
    backward: Literal["A", "B", ""] = ""  # who won where B's did
    again: Literal["A", "B", ""] = ""  # who won where A's stood first, judged once more
    alike: bool = False  # both say the same: nothing was judged
    value_a: float | None = None
    value_b: float | None = None
    width: float | None = None  # of the scale that both values are on


def winner_of(forward: str, backward: str) -> Winner:
    """A win needs both orders; a split is a tie; without a verdict in one of them nothing is said."""
    if not (forward and backward):
        return ""
    return "tie" if forward != backward else "A" if forward == "A" else "B"


def pair_records(ledger: Ledger, arm: str) -> Iterator[PairRecord]:
    """All pairs of this respondent B, by question."""
    rows = ledger.read(
        "SELECT value FROM frozen WHERE methodology=? AND phase='' AND arm=? AND name LIKE ? ORDER BY name",
        (CRITIC, arm, f"{PAIR}%"),
    ).fetchall()
    return (PairRecord.model_validate_json(row[0]) for row in rows)


def annotated(ledger: Ledger, arm: str) -> set[str]:
    """Questions whose result the memory has."""
    rows = ledger.read(
        "SELECT name FROM frozen WHERE methodology=? AND phase='' AND arm=? AND name LIKE ?",
        (CRITIC, arm, f"{ANNOTATED}%"),
    ).fetchall()
    return {row[0].removeprefix(ANNOTATED) for row in rows}
