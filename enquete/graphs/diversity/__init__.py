"""Diversity: a Q-sort and axes, and what types of view there are among the agents, if any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import Methodology, MethodParts

if TYPE_CHECKING:
    from enquete.nodes.material import Material
    from enquete.reports.evaluation import Evaluation


def _asking() -> MethodParts:
    from enquete.graphs.diversity.instrument import DiversityInstrument, DiversitySettings
    from enquete.graphs.diversity.procedure import Diversity, planted

    return MethodParts(DiversityInstrument, DiversitySettings, Diversity, planted)


def _graph() -> Any:
    from enquete.graphs.diversity.graph import diversity

    return diversity


def _evaluation() -> Evaluation:
    from enquete.graphs.diversity.results import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.graphs.diversity.instrument import draft

    return draft(material)


METHODOLOGY = Methodology(
    name="diversity",
    title=N_("Diversity of views"),
    default=True,
    order=20,
    phases=("T1",),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    drafts=_drafts,
)
