"""Roundtable: groups of agents discuss a question over rounds, in one of several modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import Methodology, MethodParts, Offer

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material
    from enquete.state.methodology import Operation


def _asking() -> MethodParts:
    from enquete.methods.roundtable.discussion import RoundtableSettings
    from enquete.methods.roundtable.instrument import RoundtableInstrument
    from enquete.methods.roundtable.procedure import Roundtable, planted

    return MethodParts(RoundtableInstrument, RoundtableSettings, Roundtable, planted)


def _evaluation() -> Evaluation:
    from enquete.methods.roundtable.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.roundtable.instrument import draft

    return draft(material)


def _operations() -> Sequence[Operation]:
    from enquete.methods.roundtable.operations import OPERATIONS

    return OPERATIONS


def _graph() -> Any:
    from enquete.graphs.roundtable import roundtable

    return roundtable


METHODOLOGY = Methodology(
    name="roundtable",
    title=N_("Roundtable"),
    default=False,
    order=70,
    phases=("T1",),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    probes=(),  # a discussion that goes its own way is another one when held again, which is what a replicate is for
    drafts=_drafts,
    offers=Offer(
        "roundtable",
        "To have a question talked over or decided by two to ten who hear one another, in place of asking everybody "
        "alone",
        _operations,
    ),
)
