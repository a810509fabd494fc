"""Discovery: an interview that fills the record of a schema, question by question, from what the respondent knows."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import Methodology, Steps

METHODOLOGY = Methodology(
    name="discovery",
    drafts="enquete.graphs.discovery.instrument:draft",
    title=N_("Discovery"),
    default=False,
    order=60,
    phases=("T1",),
    instrument="enquete.graphs.discovery.instrument:DiscoveryInstrument",
    settings="enquete.graphs.discovery.interview:DiscoverySettings",
    procedure="enquete.graphs.discovery.interview:Discovery",
    synthetic="enquete.graphs.discovery.synthetic:planted",
    results="enquete.graphs.discovery.results:EVALUATION",
    steps=Steps("open_records", "fill_records", "close_records", unit="enquete.graphs.discovery.loop:interview_graph"),
    operations="enquete.graphs.discovery.operations:OPERATIONS",
    taken_for="To fill a record of named fields by interviews with one agent, expert or person at a time, kept in a project",
    command="discover",
    probes=(),  # an interview that goes its own way is another one when asked again, which is what a replicate is for
)
