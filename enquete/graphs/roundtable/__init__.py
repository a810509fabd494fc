"""Roundtable: groups of agents discuss a question over rounds, in one of several modes."""

from __future__ import annotations

from enquete.graphs.roundtable.instrument import RoundtableInstrument
from enquete.graphs.roundtable.procedure import Roundtable
from enquete.graphs.roundtable.settings import RoundtableSettings
from enquete.graphs.roundtable.synthetic import planted
from enquete.locale import N_
from enquete.state.methodology import Methodology, Steps

METHODOLOGY = Methodology(
    name="roundtable",
    drafts="enquete.graphs.roundtable.drafting:draft",
    title=N_("Roundtable"),
    default=False,
    order=70,
    phases=("T1",),
    instrument=RoundtableInstrument,
    settings=RoundtableSettings,
    procedure=Roundtable,
    synthetic=planted,
    results="enquete.graphs.roundtable.results:EVALUATION",
    operations="enquete.graphs.roundtable.operations:OPERATIONS",
    command="roundtable",
    steps=Steps("seat_groups", "discuss", "close_tables", unit="enquete.graphs.roundtable.loop:discussion_graph"),
    probes=(),  # a discussion that goes its own way is another one when held again, which is what a replicate is for
)
