"""Diversity: a Q-sort and axes, and what types of view there are among the agents, if any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import Methodology, MethodParts

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material


def _asking() -> MethodParts:
    from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings
    from enquete.methods.diversity.procedure import Diversity, planted

    return MethodParts(DiversityInstrument, DiversitySettings, Diversity, planted)


def _graph() -> Any:
    from enquete.graphs.diversity import diversity

    return diversity


def _evaluation() -> Evaluation:
    from enquete.methods.diversity.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.diversity.instrument import draft

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
