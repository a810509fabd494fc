"""Laddering: an adaptive depth interview that builds a knowledge graph and picks each question by what it has heard."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import Methodology, Steps

METHODOLOGY = Methodology(
    name="laddering",
    drafts="enquete.graphs.laddering.drafting:draft",
    title=N_("Laddering"),
    default=False,
    order=50,
    phases=("T1",),
    instrument="enquete.graphs.laddering.settings:LadderingInstrument",
    settings="enquete.graphs.laddering.settings:LadderingSettings",
    procedure="enquete.graphs.laddering.procedure:Laddering",
    synthetic="enquete.graphs.laddering.synthetic:planted",
    variants=lambda settings: settings.strategies[1:],
    operations="enquete.graphs.laddering.files:OPERATIONS",
    taken_for="After a study with laddering, to see why agents want what they want, and to apply its codebook again once it was edited",
    command="laddering",
    results="enquete.graphs.laddering.results:EVALUATION",
    steps=Steps(
        "open_interviews", "interview_agents", "close_interviews", unit="enquete.graphs.laddering.turn:turn_graph"
    ),
    probes=(),  # an interview that goes its own way is another one when asked again, which is what a replicate is for
)
