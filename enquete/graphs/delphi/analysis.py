"""What the panel makes of its themes: ratings by round, convergence, persistent disagreement, ranked consensus.

Quartiles are of type 7. Thresholds are the instrument's (`disagreement:`). Measured by: every theme traces back to the
answers that voice it, every figure stands beside its n, and who holds out is quoted in their own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import JsonValue

from enquete.graphs.delphi import ratings, tested
from enquete.graphs.delphi.accord import checklist
from enquete.graphs.delphi.dissent import dissent
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.ratings import Panel
from enquete.graphs.delphi.settings import DelphiSettings
from enquete.graphs.delphi.themes import described_themes, left_over, second_coding
from enquete.reports.context import UNIT, AnalysisContext, answering, findings

READ = ["round", "participant", "agent_name", "stakeholder_type", "item_id", "status", "value", "text"]
"""What ratings are analysed by: rows of a narrow table are chosen at a fraction of the cost."""


def analyse(
    frame: pd.DataFrame, instrument: DelphiInstrument, settings: DelphiSettings | None, context: AnalysisContext
) -> Mapping[str, JsonValue]:
    """Findings over the main arm's rows; see reports/findings.py for the contract."""
    coded = context.frozen.get("themes")
    rows = frame[READ]
    themes = described_themes(coded, rows[rows["round"].eq(1)])
    rounds = {number: rows[rows["round"].eq(number)] for number in sorted(int(n) for n in rows["round"].unique())}
    panel = Panel.of(rounds, themes, instrument, context.frozen)
    rated = ratings.described(panel)
    found = {
        "unit_of_inference": UNIT,
        "rounds": {str(number): answering(rows) for number, rows in rounds.items()},
        "thresholds": instrument.disagreement.model_dump(),
        "dimensions": [_dimension(d.dimension_id, instrument) for d in instrument.dimensions],
        "themes": themes,
        "coding": left_over(coded),
        "second_coding": second_coding(themes, context.frozen.get("second_coding"), settings),
        "ratings": rated,
        "convergence": ratings.convergence(panel),
        "last_round": panel.last,
        "ended": context.frozen.get(f"exit/{panel.last}"),
        "unchanged": ratings.unchanged(panel),
        "drawn_together": tested.drawn_together(panel),
        "groups": tested.between_groups(panel, frame.groupby("participant", sort=False)["stakeholder_type"].first()),
        "concordance": ratings.concordance(panel),
        **dissent(panel, rated, rounds),
        "consensus": ratings.consensus(panel, rated),
        "ranking": ratings.ranking(panel),
    }
    return findings(context, {**found, "accord": checklist(found, frame, instrument, context.language)})


def _dimension(dimension: str, instrument: DelphiInstrument) -> dict[str, Any]:
    scale = instrument.scale_of(dimension)
    return {"dimension": dimension, "scale_min": scale.min, "scale_max": scale.max}
