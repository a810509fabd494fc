"""Delphi: open answers, themes rated, ratings revised after anonymous feedback; consensus and honest dissent."""

from __future__ import annotations

from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.delphi.procedure import Delphi, DelphiSettings, readout
from enquete.graphs.delphi.synthetic import planted
from enquete.locale import N_
from enquete.state.methodology import PROBES_OF_CLOSED, Methodology, Steps

METHODOLOGY = Methodology(
    name="delphi",
    drafts="enquete.graphs.delphi.drafting:draft",
    title=N_("Delphi"),
    default=True,
    order=30,
    phases=("T1",),
    instrument=DelphiInstrument,
    settings=DelphiSettings,
    procedure=Delphi,
    synthetic=planted,
    results="enquete.graphs.delphi.results:EVALUATION",
    steps=Steps(ask="ask_panel", close="feedback", readout=readout),
    probes=(*PROBES_OF_CLOSED, "false_median"),
)
