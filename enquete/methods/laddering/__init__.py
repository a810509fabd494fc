"""Laddering: an adaptive depth interview that builds a knowledge graph and picks each question by what it has heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import Methodology, MethodParts, Offer

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material
    from enquete.state.methodology import Operation, PersonInterviews


def _asking() -> MethodParts:
    from enquete.methods.laddering.procedure import Laddering
    from enquete.methods.laddering.settings import FILES, LadderingInstrument, LadderingSettings
    from enquete.methods.laddering.synthetic import planted

    return MethodParts(LadderingInstrument, LadderingSettings, Laddering, planted, FILES)


def _evaluation() -> Evaluation:
    from enquete.methods.laddering.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.laddering.settings import draft

    return draft(material)


def _operations() -> Sequence[Operation]:
    from enquete.methods.laddering.files import OPERATIONS
    from enquete.methods.laddering.persons import PERSON_OPERATIONS

    return (*PERSON_OPERATIONS, *OPERATIONS)


def _persons() -> PersonInterviews:
    from enquete.methods.laddering.persons import PERSONS

    return PERSONS


def _graph() -> Any:
    from enquete.graphs.laddering import laddering

    return laddering


METHODOLOGY = Methodology(
    name="laddering",
    title=N_("Laddering"),
    default=False,
    order=50,
    phases=("T1",),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    probes=(),  # an interview that goes its own way is another one when asked again, which is what a replicate is for
    drafts=_drafts,
    offers=Offer(
        "laddering",
        "After a study with laddering, to see why agents want what they want, and to apply its codebook again once it "
        "was edited",
        _operations,
        _persons,
    ),
)
