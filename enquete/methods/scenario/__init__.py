"""Scenario: possible futures, each rated on the same dimensions; what is wished for, expected, and what one would
do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import Methodology, MethodParts, NoSettings

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material


def _asking() -> MethodParts:
    from enquete.methods.scenario.instrument import ScenarioInstrument
    from enquete.methods.scenario.procedure import ScenarioRating, planted

    return MethodParts(ScenarioInstrument, NoSettings, ScenarioRating, planted)


def _graph() -> Any:
    from enquete.graphs.scenario import scenario

    return scenario


def _evaluation() -> Evaluation:
    from enquete.methods.scenario.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.scenario.instrument import draft

    return draft(material)


METHODOLOGY = Methodology(
    name="scenario",
    title=N_("Scenarios"),
    default=True,
    order=40,
    phases=("T1",),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    drafts=_drafts,
)
