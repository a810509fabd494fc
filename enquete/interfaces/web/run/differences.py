"""Two runs of one population beside one another: what was asked in both, where their answers differ, item by item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from enquete.interfaces.web.run.run_cache import OpenRun
from enquete.interfaces.web.run.table import FEW
from enquete.state.asking import RESPONDED
from enquete.study.comparison import Comparison, compared

ITEM = ["methodology", "phase", "round", "item_id"]


@dataclass(frozen=True)
class ItemDifference:
    """Means of one item in both runs; n: answers; changed: answers that differ, of those that both have."""

    methodology: str
    phase: str
    round: int
    item: str
    n: tuple[int, int]
    means: tuple[float | None, float | None]
    changed: int

    @property
    def difference(self) -> float | None:
        first, second = self.means
        return None if first is None or second is None else second - first


@dataclass(frozen=True)
class Differences:
    comparison: Comparison
    items: list[ItemDifference]
    """Those that both runs asked and that have a scale, the largest difference first."""

    def rows(self, start: int, most: int) -> list[dict[str, Any]]:
        """Answers that differ, in the table's order."""
        shown = self.comparison.values.iloc[start : start + most]
        return [
            {str(name): None if pd.isna(value) else value for name, value in row.items()}
            for row in shown.to_dict("records")
        ]


def differences(first: OpenRun, second: OpenRun) -> Differences:
    """Raises NothingYet where one of the runs has no table yet."""
    frames = [_plain(run.table.frame) for run in (first, second)]
    found = compared(*frames)
    means = [_means(frame) for frame in frames]
    both = means[0].add_suffix("_first").join(means[1].add_suffix("_second"), how="inner")
    changed = found.values.groupby(ITEM, observed=True).size().rename("changed")
    columns = both.join(changed).fillna({"changed": 0}).reset_index().to_dict("records")
    items = [_difference({str(name): value for name, value in one.items()}) for one in columns]
    rated = [one for one in items if one.difference is not None]
    return Differences(found, sorted(rated, key=lambda one: (-abs(one.difference or 0.0), -one.changed)))


def _difference(one: Mapping[str, Any]) -> ItemDifference:
    return ItemDifference(
        one["methodology"], one["phase"], int(one["round"]), one["item_id"], (int(one["n_first"]), int(one["n_second"])),
        (_known(one["mean_first"]), _known(one["mean_second"])), int(one["changed"]),
    )  # fmt: skip


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(FEW, "object"))


def _means(frame: pd.DataFrame) -> pd.DataFrame:
    """Of the main arm."""
    own = frame[frame["arm_role"].eq("main") & frame["status"].isin(RESPONDED)]
    return own.groupby(ITEM, observed=True).agg(n=("status", "size"), mean=("value", "mean"))


def _known(value: float) -> float | None:
    return None if pd.isna(value) else float(value)
