"""Longitudinal: the same closed items before (T0) and after (T1) the simulation, and what moved."""

from __future__ import annotations

from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.procedure import Wave
from enquete.graphs.longitudinal.synthetic import planted
from enquete.state.seam import Methodology, NoSettings, Steps

METHODOLOGY = Methodology(
    name="longitudinal",
    title={"de": "Längsschnitt", "en": "Longitudinal"},
    default=True,
    order=10,
    phases=("T0", "T1"),
    instrument=LongitudinalInstrument,
    settings=NoSettings,
    procedure=Wave,
    synthetic=planted,
    analyse=analyse,
    present="enquete.graphs.longitudinal.present",
    steps=Steps("open_wave", "ask_wave", "close_wave"),
)
