"""Roundtable: groups of agents discuss a question over rounds, in one of several modes."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import Methodology, Steps

METHODOLOGY = Methodology(
    name="roundtable",
    drafts="enquete.graphs.roundtable.instrument:draft",
    title=N_("Roundtable"),
    default=False,
    order=70,
    phases=("T1",),
    instrument="enquete.graphs.roundtable.instrument:RoundtableInstrument",
    settings="enquete.graphs.roundtable.discussion:RoundtableSettings",
    procedure="enquete.graphs.roundtable.procedure:Roundtable",
    seats_together=True,
    synthetic="enquete.graphs.roundtable.synthetic:planted",
    results="enquete.graphs.roundtable.results:EVALUATION",
    operations="enquete.graphs.roundtable.operations:OPERATIONS",
    taken_for="To have a question talked over or decided by two to ten who hear one another, in place of asking everybody alone",
    command="roundtable",
    steps=Steps("seat_groups", "discuss", "close_tables", unit="enquete.graphs.roundtable.loop:discussion_graph"),
    probes=(),  # a discussion that goes its own way is another one when held again, which is what a replicate is for
)
