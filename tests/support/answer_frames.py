"""Tidy rows of answers from a matrix, as the health checks read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from enquete.analysis.answers import Answers, read_answers


def answer_frame(
    values: ArrayLike,
    *,
    low: int = 1,
    high: int = 5,
    reverse: Sequence[int] = (),
    families: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    statuses: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    option_orders: ArrayLike = "",
) -> pd.DataFrame:
    """values: agents × items, NaN where refused. Items i00, i01, …; shown in that order unless `positions` says
    otherwise."""
    x = np.asarray(values, dtype=float)
    n, m = x.shape
    status = np.where(np.isnan(x), "refused", "ok") if statuses is None else np.asarray(statuses)
    place = np.broadcast_to(np.arange(1, m + 1), x.shape) if positions is None else np.asarray(positions)
    return pd.DataFrame(
        {
            "participant": np.repeat([f"agent:{a:04}" for a in range(n)], m),
            "stakeholder_type": np.repeat(["fisher"] * n if types is None else list(types), m),
            "item": np.tile([f"i{i:02}" for i in range(m)], n),
            "family": np.tile(["f"] * m if families is None else list(families), n),
            "value": x.ravel(),
            "scale_min": low,
            "scale_max": high,
            "reverse_keyed": np.tile([i in reverse for i in range(m)], n),
            "status": status.ravel(),
            "attempts": 1,
            "item_position": place.ravel(),
            "option_order": np.broadcast_to(np.asarray(option_orders), x.shape).ravel(),
        }
    )


def table(values: ArrayLike, **given: object) -> Answers:
    return read_answers(answer_frame(values, **given))  # type: ignore[arg-type]
