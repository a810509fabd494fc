"""An instrument before it is used: read by the rules, and tried on a few agents.

The pilot is a run like any other, of a stratified sample with the items once more in another order; what it shows is item by item.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enquete.graphs.registry import methodologies
from enquete.instruments.derived import Note
from enquete.instruments.instrument import Instrument
from enquete.instruments.load import load_own
from enquete.instruments.review import ReviewFinding, review
from enquete.state.errors import InstrumentError, SettingsError
from enquete.study.instrument_mismatch import likeliest, of_another
from enquete.study.run import Run

if TYPE_CHECKING:
    import pandas as pd

SHUFFLED = "items_shuffled"
ORDER_EFFECT = 0.5
"""Mean absolute difference, in scale points, between the two orders from which an item is told; a proposal."""
FEWEST = 3
"""Answers without which an item says nothing of its variance."""


@dataclass(frozen=True)
class Reviewed:
    """An instrument file: for which methodology, what was derived, what the rules find."""

    methodology: str
    instrument: Instrument
    notes: tuple[Note, ...]
    findings: list[ReviewFinding]


def reviewed(file: str, methodology: str = "") -> Reviewed:
    """Raises InstrumentError with every problem of the file, SettingsError for another methodology."""
    known = methodologies()
    if methodology and methodology not in known:
        raise SettingsError(f"instruments: there is no methodology {methodology!r}; there are {', '.join(known)}")
    path = Path(file).expanduser()
    refused: dict[str, InstrumentError] = {}
    for name in [methodology] if methodology else list(known):
        try:
            instrument, notes = load_own(known[name].instrument, path)
        except InstrumentError as error:
            refused[name] = error
            continue
        return Reviewed(name, instrument, notes, review(list(instrument.wordings())))
    if methodology:
        raise of_another(file, path, methodology) or refused[methodology]
    raise refused[likeliest(path)[0]]


def pilot_request(about: Reviewed, file: str, agents: int, **request: Any) -> dict[str, Any]:
    """Arguments of `conduct_interviews` for a pilot of so many agents."""
    probes = [SHUFFLED] if SHUFFLED in methodologies()[about.methodology].probes else []
    asked = {"methods": [about.methodology], "instruments": {about.methodology: file}, "probes": probes, "fit": "any"}
    return {"sample": agents, "stratify": True, "probe_sample": agents, **asked, **request}


@dataclass(frozen=True)
class ItemHealth:
    """What a pilot shows of an item. `apart`: mean absolute difference between two orders of the items; None: not computed."""

    item: str
    asked: int
    answered: int
    values: int  # different answers
    sd: float | None
    apart: float | None

    @property
    def troubles(self) -> tuple[str, ...]:
        """Keys of what is wrong with it."""
        return tuple(
            name
            for name, holds in (
                ("unread", self.answered < self.asked),
                ("no_variance", self.values == 1 and self.answered >= FEWEST),
                ("order_effect", self.apart is not None and self.apart >= ORDER_EFFECT),
            )
            if holds
        )


def item_health(run: Run) -> list[ItemHealth]:
    """Of every item that was asked, in the order of the table; the latest wave."""
    rows = run.responses
    rows = rows[rows["phase"].eq(rows["phase"].max())]
    main = rows[rows["arm_role"].eq("main")]
    again = rows[rows["arm"].eq(SHUFFLED)]
    return [
        _of_item(str(item), own, again[again["item_id"].eq(item)]) for item, own in main.groupby("item_id", sort=False)
    ]


def _of_item(item: str, asked: pd.DataFrame, again: pd.DataFrame) -> ItemHealth:
    from enquete.reports.context import responded  # noqa: PLC0415 - pulls in pandas, which lists do without

    answered = responded(asked)
    values = answered["value"].dropna().astype(float)
    chosen = answered["choice"].fillna("")
    said = values if len(values) else chosen if chosen.ne("").any() else answered["text"].astype(str)
    both = answered.set_index("participant")["value"].astype(float) - responded(again).set_index("participant")[
        "value"
    ].astype(float)
    apart = both.abs().mean()
    return ItemHealth(
        item=item,
        asked=len(asked),
        answered=len(answered),
        values=int(said.nunique()),
        sd=float(values.std(ddof=1)) if len(values) > 1 else None,
        apart=None if math.isnan(apart) else float(apart),
    )
