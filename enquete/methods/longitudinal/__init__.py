"""Longitudinal: the same closed items before (T0) and after (T1) the simulation, and what moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import PROBES_OF_CLOSED, Methodology, MethodParts, NoSettings

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material


def _asking() -> MethodParts:
    from enquete.methods.longitudinal.instrument import LongitudinalInstrument
    from enquete.methods.longitudinal.procedure import Wave, planted

    return MethodParts(LongitudinalInstrument, NoSettings, Wave, planted)


def _graph() -> Any:
    from enquete.graphs.longitudinal import longitudinal

    return longitudinal


def _evaluation() -> Evaluation:
    from enquete.methods.longitudinal.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.longitudinal.instrument import draft

    return draft(material)


METHODOLOGY = Methodology(
    name="longitudinal",
    title=N_("Longitudinal"),
    default=True,
    order=10,
    phases=("T0", "T1"),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    probes=(*PROBES_OF_CLOSED, "negative_control"),
    drafts=_drafts,
)
