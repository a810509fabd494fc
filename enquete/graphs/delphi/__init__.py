"""Delphi: open answers, themes rated, ratings revised after anonymous feedback; consensus and honest dissent."""

from __future__ import annotations

from enquete.graphs.delphi.analysis import analyse
from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.procedure import Delphi, DelphiSettings, readout
from enquete.graphs.delphi.synthetic import planted
from enquete.state.seam import Methodology, Steps

METHODOLOGY = Methodology(
    name="delphi",
    title={"de": "Delphi", "en": "Delphi"},
    default=True,
    order=30,
    phases=("T1",),
    instrument=DelphiInstrument,
    settings=DelphiSettings,
    procedure=Delphi,
    synthetic=planted,
    analyse=analyse,
    present="enquete.graphs.delphi.present",
    steps=Steps(ask="ask_panel", close="feedback", readout=readout),
)
