"""The ACCORD checklist of this run: what its record answers, and what only the people behind the study can say.

ACCORD (Gattrell et al. 2024, PLOS Medicine 21: e1004326) lists 35 items for reports of consensus exercises: title 1,
introduction 3, methods 21, results 5, discussion 2, other information 3. It was written for panels of people; that this
panel is simulated is said wherever an item asks about panellists. Our paraphrases of the items are in `accord.md.j2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.reports.context import tally
from enquete.state.asking import RESPONDED, Language

State = Literal["filled", "partly", "open", "not_applicable"]

ITEMS = (
    "T1", *(f"I{i}" for i in range(1, 4)), *(f"M{i}" for i in range(1, 22)), *(f"R{i}" for i in range(1, 6)),
    "D1", "D2", *(f"O{i}" for i in range(1, 4)),
)  # fmt: skip
FILLED = frozenset(("M4", "M5", "M8", "M9", "M10", "M11", "M13", "M14", "M15", "M17", "M18", "M19", "R3", "R4", "R5"))
PARTLY = frozenset(("I2", "M1", "M3", "M6", "M12", "R1", "D1"))
NOT_APPLICABLE = frozenset(("M20", "M21"))
OF_AGENTS = ["stakeholder_type", "memory_available"]
AFTER_A_RATING = frozenset(("M17", "R4"))
"""Items that the record answers only once the themes have been rated."""


def checklist(
    found: Mapping[str, Any], frame: pd.DataFrame, instrument: DelphiInstrument, language: Language
) -> dict[str, Any]:
    """State of every item, and the facts that the answers are made of. `found`: the findings without the checklist."""
    rated = found["last_round"] is not None
    return {"items": [{"item": item, "state": _state(item, rated)} for item in ITEMS],
            "facts": _facts(found, frame, instrument, language)}  # fmt: skip


def _state(item: str, rated: bool) -> State:
    if item in AFTER_A_RATING and not rated:
        return "open"
    if item in NOT_APPLICABLE:
        return "not_applicable"
    return "filled" if item in FILLED else "partly" if item in PARTLY else "open"


def _facts(
    found: Mapping[str, Any], frame: pd.DataFrame, instrument: DelphiInstrument, language: Language
) -> dict[str, Any]:
    last = [one for one in found["ratings"] if one["round"] == found["last_round"]]
    people = frame.loc[~frame["participant"].duplicated(), frame.columns.intersection(OF_AGENTS)]
    coding = found["coding"] or {}
    return {
        "topic": instrument.topic.in_(language),
        "instrument_hash": _distinct(frame, "instrument_hash"),
        "models": _distinct(frame, "model"),
        "respondents": _distinct(frame, "respondent"),
        "n_agents": len(people),
        "types": tally(people["stakeholder_type"]),
        "n_with_memory": int(people["memory_available"].sum()) if "memory_available" in people else None,
        "n_rounds": len(found["rounds"]) if instrument.rounds == "auto" else instrument.rounds,
        "n_questions": len(instrument.questions),
        "rounds": [
            {"round": number, "n_responded": one["agents_responded"], "n_total": one["agents_total"],
             **_times(frame, int(number))}
            for number, one in found["rounds"].items()
        ],
        "n_themes": len(found["themes"]),
        "n_ratings": len(last),
        **{f"n_{label}": sum(one["label"] == label for one in last) for label in ("consensus", "open", "disagreement")},
        "n_uncoded": coding.get("uncoded"),
        "n_dropped": sum(coding.get(key) or 0 for key in coding if key.startswith("dropped_")),
    }  # fmt: skip


def _distinct(frame: pd.DataFrame, column: str) -> list[str]:
    return sorted({str(value) for value in frame[column].unique() if value}) if column in frame else []


def _times(frame: pd.DataFrame, number: int) -> dict[str, str]:
    """When the first and the last answer of a round came; "" where the table does not say."""
    if "asked_at" not in frame:
        return {"first": "", "last": ""}
    asked = frame.loc[frame["round"].eq(number) & frame["status"].isin(RESPONDED), "asked_at"]
    known = sorted(time for time in asked if time)
    return {"first": known[0], "last": known[-1]} if known else {"first": "", "last": ""}
