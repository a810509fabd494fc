"""Answers that were given and say nothing: by agent, by item and by what is wrong, at any number of agents.

Formula and bounds are those of `health_thresholds.QUALITY`; what is a row without content says enquete/analysis/content.py.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from enquete.analysis.health.diagnostics import Detail, Diagnostic, Ruling, compared, judged
from enquete.analysis.health.thresholds import EMPTY_TEXTS, THRESHOLDS
from enquete.state.asking import RESPONDED

HALF = 0.5
MOST_NAMED = 20  # agents and items listed by name in a detail


def contentless(frame: pd.DataFrame) -> Diagnostic:
    """Share of agents who gave a row of one value, or at least half of whose answers have no content. A comment left empty by
    somebody who answered all else is no such case; where more than a quarter of all texts say nothing, it is a caution.

    frame: one row per answer with participant, item, status, text and content ("" where there is nothing to say).
    """
    given = frame[frame["status"].isin(RESPONDED)]
    noted = given["content"].fillna("").ne("")
    rows = given["content"].eq("one_value").groupby(given["participant"], sort=False).any()
    agents = rows | (noted.groupby(given["participant"], sort=False).mean() >= HALF)
    texts = given["text"].fillna("").ne("")
    empty = float(noted[texts].mean()) if texts.any() else None
    detail: Detail = {
        "without_content": [str(who) for who in agents.index[agents]][:MOST_NAMED],
        "n_answers": int(noted.sum()),
        "n_texts": int(texts.sum()),
        "share_of_texts": empty,
        "by_note": _counts(given.loc[noted, "content"]),
        "by_agent": _counts(given.loc[noted, "participant"]),
        "by_item": _counts(given.loc[noted, "item"]),
    }
    value = float(agents.mean()) if len(agents) else None
    rule, ruling = THRESHOLDS["contentless"], None
    if value is not None:
        ruling = compared(value, rule.caution, rule.bad)
        if ruling.verdict == "fine" and empty is not None and empty > EMPTY_TEXTS:
            ruling = Ruling("caution", "texts_say_nothing")
    return judged("contentless", value, {"agents": len(agents)}, detail=detail, ruling=ruling)


def _counts(of: pd.Series[str]) -> Mapping[str, int]:
    """The most frequent first."""
    return {str(name): int(n) for name, n in of.value_counts().head(MOST_NAMED).items()}
