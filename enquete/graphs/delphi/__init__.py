"""Delphi: open answers, themes rated, ratings revised after anonymous feedback; consensus and honest dissent."""

from __future__ import annotations

from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.graph import graph, standalone
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.procedure import DelphiSettings, plan, planted, procedure
from enquete.state.seam import Methodology

METHODOLOGY = Methodology(
    name="delphi",
    title={"de": "Delphi", "en": "Delphi"},
    default=True,
    order=30,
    phases=("T1",),
    instrument=DelphiInstrument,
    settings=DelphiSettings,
    procedure=procedure,
    graph=graph,
    standalone=standalone,
    plan=plan,
    synthetic=planted,
    analyse=analyse,
    present="enquete.graphs.delphi.present",
)
