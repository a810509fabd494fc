"""Longitudinal: the same closed items before (T0) and after (T1) the simulation, and what moved."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import PROBES_OF_CLOSED, Methodology, NoSettings, Steps

METHODOLOGY = Methodology(
    name="longitudinal",
    drafts="enquete.graphs.longitudinal.instrument:draft",
    title=N_("Longitudinal"),
    default=True,
    order=10,
    phases=("T0", "T1"),
    instrument="enquete.graphs.longitudinal.instrument:LongitudinalInstrument",
    settings=NoSettings,
    procedure="enquete.graphs.longitudinal.procedure:Wave",
    synthetic="enquete.graphs.longitudinal.synthetic:planted",
    results="enquete.graphs.longitudinal.results:EVALUATION",
    steps=Steps("open_wave", "ask_wave", "close_wave"),
    probes=(*PROBES_OF_CLOSED, "negative_control"),
)
