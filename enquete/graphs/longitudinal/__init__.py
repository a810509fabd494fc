"""Longitudinal: the same closed items before (T0) and after (T1) the simulation, and what moved."""

from __future__ import annotations

from enquete.graphs.longitudinal.analysis import analyse
from enquete.graphs.longitudinal.graph import graph, standalone
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.graphs.longitudinal.procedure import LongitudinalSettings, plan, planted, procedure
from enquete.state.seam import Methodology

METHODOLOGY = Methodology(
    name="longitudinal",
    title={"de": "Längsschnitt", "en": "Longitudinal"},
    default=True,
    order=10,
    phases=("T0", "T1"),
    instrument=LongitudinalInstrument,
    settings=LongitudinalSettings,
    procedure=procedure,
    graph=graph,
    standalone=standalone,
    plan=plan,
    synthetic=planted,
    analyse=analyse,
    present="enquete.graphs.longitudinal.present",
)
