"""What the discussions give: see reports/evaluation.py."""

from __future__ import annotations

from typing import Any

import pandas as pd

from enquete.graphs.roundtable.discussion import discussions
from enquete.graphs.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.graphs.roundtable.settings import RoundtableSettings
from enquete.reports.context import AnalysisContext, Found, ItemFacts, counted
from enquete.reports.evaluation import Evaluation


def analyse(frame: pd.DataFrame, instrument: Any, settings: Any, context: AnalysisContext) -> Found:
    assert isinstance(settings, RoundtableSettings)
    talks = list(discussions(context.frozen, settings.played.mode.id))
    return {
        **counted(frame),
        "groups": [
            {
                "group": talk.unit,
                "participants": list(talk.participants),
                "rounds": talk.held,
                "exit": talk.exit.reason if talk.exit else "",
            }
            for talk in talks
        ],
    }


def item_facts(item_id: str, instrument: RoundtableInstrument) -> ItemFacts:
    """Considerations have a scale; all else is said in words or chosen."""
    family, _, name = item_id.partition("/")
    if family != CONSIDERATION:
        return ItemFacts(dimension=item_id)
    scale = instrument.scales[str(instrument.scale)]
    return ItemFacts(family=family, dimension=name, scale_min=scale.min, scale_max=scale.max)


EVALUATION = Evaluation(analyse=analyse, item_facts=item_facts)
