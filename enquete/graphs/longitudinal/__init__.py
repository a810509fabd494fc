"""Longitudinal: the same closed items before (T0) and after (T1) the simulation, and what moved."""

from __future__ import annotations

from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.procedure import Wave
from enquete.graphs.longitudinal.synthetic import planted
from enquete.locale import N_
from enquete.state.methodology import PROBES_OF_CLOSED, Methodology, NoSettings, Steps

METHODOLOGY = Methodology(
    name="longitudinal",
    drafts="enquete.graphs.longitudinal.drafting:draft",
    title=N_("Longitudinal"),
    default=True,
    order=10,
    phases=("T0", "T1"),
    instrument=LongitudinalInstrument,
    settings=NoSettings,
    procedure=Wave,
    synthetic=planted,
    results="enquete.graphs.longitudinal.results:EVALUATION",
    steps=Steps("open_wave", "ask_wave", "close_wave"),
    probes=(*PROBES_OF_CLOSED, "negative_control"),
)
