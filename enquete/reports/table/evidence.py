"""Answers by name: `run/arm/methodology/phase/session/round/turn/participant/item`, as claims and episodes cite them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from enquete.reports.context import responded

PARTS = ("run_id", "arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id")


def with_ids(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that carry an answer, with a column `answer_id`. Two answers never share one."""
    answered = responded(frame)
    if answered.empty:
        return answered.assign(answer_id=pd.Series(dtype="str"))
    columns = [answered[part].astype(str).tolist() for part in PARTS]
    return answered.assign(answer_id=["/".join(parts) for parts in zip(*columns, strict=True)])


def cited(rows: pd.DataFrame, most: int) -> list[str]:
    """The ids of the first `most` rows of a table made by `with_ids`, none twice."""
    return list(dict.fromkeys(rows["answer_id"]))[:most]


def alternating(*lists: Iterable[str]) -> list[str]:
    """One of each in turn, so that what is cut off at the end is cut off from all alike; none twice."""
    columns = [list(one) for one in lists]
    longest = max(map(len, columns), default=0)
    mixed = [column[row] for row in range(longest) for column in columns if row < len(column)]
    return list(dict.fromkeys(mixed))
