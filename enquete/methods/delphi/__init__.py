"""Delphi: open answers, themes rated, ratings revised after anonymous feedback; consensus and honest dissent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import PROBES_OF_CLOSED, Methodology, MethodParts

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material


def _asking() -> MethodParts:
    from enquete.methods.delphi.instrument import DelphiInstrument, DelphiSettings
    from enquete.methods.delphi.procedure import Delphi, planted

    return MethodParts(DelphiInstrument, DelphiSettings, Delphi, planted)


def _graph() -> Any:
    from enquete.graphs.delphi import delphi

    return delphi


def _evaluation() -> Evaluation:
    from enquete.methods.delphi.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.delphi.instrument import draft

    return draft(material)


METHODOLOGY = Methodology(
    name="delphi",
    title=N_("Delphi"),
    default=True,
    order=30,
    phases=("T1",),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    probes=(*PROBES_OF_CLOSED, "false_median"),
    drafts=_drafts,
)
