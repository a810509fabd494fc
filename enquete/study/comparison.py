"""Two runs side by side: which answers differ, and whether a replay made the same data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enquete.state.complaints import shown as named
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from enquete.study.run import Run

KEY = ["arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id"]
VOLATILE = ("run_id", "asked_at")
"""Columns of all_responses.csv in which a replay differs from the run it replays: its name and when it was made."""


@dataclass(frozen=True)
class Comparison:
    """`changed`: rows that differ, by column; `only_first`, `only_second`: rows that the other run does not have.

    `values`: key columns, value and text of both runs (suffixes _first and _second) where value or text differ.
    """

    rows: int
    only_first: int
    only_second: int
    changed: dict[str, int]
    values: pd.DataFrame

    @property
    def identical(self) -> bool:
        """In everything but VOLATILE."""
        return not (self.only_first or self.only_second or self.changed.keys() - set(VOLATILE))


def compare(first: Run, second: Run) -> Comparison:
    """All rows of two runs of the same population, matched by what was asked of whom. Raises SettingsError."""
    for one in (first, second):
        if not hasattr(one, "responses"):
            raise SettingsError(f"compare: {named(one)} is no run; give two, such as load_run(SIM, 'run_…')")
    return compared(first.responses, second.responses)


def compared(first: pd.DataFrame, second: pd.DataFrame) -> Comparison:
    """The same of two tables."""
    joined = first.merge(second, on=KEY, how="outer", suffixes=("_first", "_second"), indicator=True, validate="1:1")
    both = joined[joined["_merge"] == "both"]
    columns = [name for name in first.columns if name not in KEY and name in second.columns]
    differs = {name: _differs(both[f"{name}_first"], both[f"{name}_second"]) for name in columns}
    shown = [f"{name}_{end}" for name in ("value", "text") for end in ("first", "second")]
    return Comparison(
        rows=len(both),
        only_first=int((joined["_merge"] == "left_only").sum()),
        only_second=int((joined["_merge"] == "right_only").sum()),
        changed={name: int(rows.sum()) for name, rows in differs.items() if rows.any()},
        values=both.loc[differs["value"] | differs["text"], [*KEY, *shown]].reset_index(drop=True),
    )


def _differs(first: pd.Series, second: pd.Series) -> pd.Series:
    """Missing equals missing."""
    return ~((first == second) | (first.isna() & second.isna())).fillna(False).astype(bool)
