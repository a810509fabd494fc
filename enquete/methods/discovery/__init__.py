"""Discovery: an interview that fills the record of a schema, question by question, from what the respondent knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enquete.locale import N_
from enquete.state.methodology import Methodology, MethodParts, Offer, SettingFile

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation
    from enquete.runs.material import Material
    from enquete.state.methodology import Operation, PersonInterviews


def _asking() -> MethodParts:
    from enquete.methods.discovery.instrument import DiscoveryInstrument
    from enquete.methods.discovery.interview import DiscoverySettings
    from enquete.methods.discovery.originals import ENDINGS, is_original
    from enquete.methods.discovery.procedure import Discovery
    from enquete.methods.discovery.schema import DiscoverySchema, load_schema
    from enquete.methods.discovery.synthetic import planted

    schema = SettingFile("ds", DiscoverySchema.known_keys, load_schema, ENDINGS, is_original)
    return MethodParts(DiscoveryInstrument, DiscoverySettings, Discovery, planted, (schema,))


def _evaluation() -> Evaluation:
    from enquete.methods.discovery.evaluation import EVALUATION

    return EVALUATION


def _drafts(material: Material) -> Mapping[str, str]:
    from enquete.methods.discovery.instrument import draft

    return draft(material)


def _operations() -> Sequence[Operation]:
    from enquete.methods.discovery.operations import OPERATIONS

    return OPERATIONS


def _persons() -> PersonInterviews:
    from enquete.methods.discovery.operations import PERSONS

    return PERSONS


def _graph() -> Any:
    from enquete.graphs.discovery import discovery

    return discovery


METHODOLOGY = Methodology(
    name="discovery",
    title=N_("Discovery"),
    default=False,
    order=60,
    phases=("T1",),
    asks=_asking,
    evaluation=_evaluation,
    graph=_graph,
    probes=(),  # an interview that goes its own way is another one when asked again, which is what a replicate is for
    drafts=_drafts,
    offers=Offer(
        "discover",
        "To fill a record of named fields by interviews with one agent, expert or person at a time, kept in a project",
        _operations,
        _persons,
    ),
)
