"""All checks that need no extra calls, over one methodology's answers on one occasion."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from enquete.analysis.answer_rows import read_answers
from enquete.analysis.health.coherence import coherence
from enquete.analysis.health.diagnostics import Diagnostic
from enquete.analysis.health.nonresponse import nonresponse
from enquete.analysis.health.quality import Marginals, flat_items, human_anchor, persona_flattening, variance_ratio
from enquete.analysis.health.style import style


def examine_answers(
    frame: pd.DataFrame,
    *,
    human_sd: Mapping[str, float] | None = None,
    human_marginals: Marginals | None = None,
    seed: int = 0,
) -> list[Diagnostic]:
    """Coherence, style, quality and nonresponse, in the table's order. frame: as for `answer_rows.read_answers`.

    Not meant for a forced sort, whose grid settles style and entropy: take `nonresponse` and `persona_flattening` there.
    """
    answers = read_answers(frame)
    return [
        coherence(answers, seed=seed),
        *style(answers),
        flat_items(answers),
        variance_ratio(answers, human_sd),
        persona_flattening(answers, seed=seed),
        *nonresponse(frame),
        *human_anchor(answers, human_marginals),
    ]
