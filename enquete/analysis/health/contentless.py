"""Answers that were given and say nothing: by agent, by item and by what is wrong, at any number of agents.

Formula and bounds are those of `health_thresholds.QUALITY`; what is a row without content says enquete/analysis/content.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from enquete.analysis.health.diagnostics import Detail, Diagnostic, judged
from enquete.state.asking import RESPONDED

HALF = 0.5
MOST_NAMED = 20  # agents and items listed by name in a detail


def contentless(frame: pd.DataFrame) -> Iterator[Diagnostic]:
    """Of agents, then of texts where there are any.

    Agents: the share who gave a row of one value, or at least half of whose answers have no content; a comment left empty by
    somebody who answered all else is no such case. Texts: the share that say nothing.

    frame: one row per answer with participant, item, status, text and content ("" where there is nothing to say).
    """
    given = frame[frame["status"].isin(RESPONDED)]
    noted = given["content"].fillna("").ne("")
    rows = given["content"].eq("one_value").groupby(given["participant"], sort=False).any()
    agents = rows | (noted.groupby(given["participant"], sort=False).mean() >= HALF)
    detail: Detail = {
        "without_content": [str(who) for who in agents.index[agents]][:MOST_NAMED],
        "n_answers": int(noted.sum()),
        "by_note": _counts(given.loc[noted, "content"]),
        "by_agent": _counts(given.loc[noted, "participant"]),
        "by_item": _counts(given.loc[noted, "item"]),
    }
    value = float(agents.mean()) if len(agents) else None
    yield judged("contentless", value, {"agents": len(agents)}, detail=detail)
    texts = noted[given["text"].fillna("").ne("")]
    if len(texts):
        yield judged("empty_texts", float(texts.mean()), {"texts": len(texts)})


def _counts(of: pd.Series[str]) -> Mapping[str, int]:
    """The most frequent first."""
    return {str(name): int(n) for name, n in of.value_counts().head(MOST_NAMED).items()}
