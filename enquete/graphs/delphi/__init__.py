"""Delphi: open answers, themes rated, ratings revised after anonymous feedback; consensus and honest dissent."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import PROBES_OF_CLOSED, Methodology, Steps

METHODOLOGY = Methodology(
    name="delphi",
    drafts="enquete.graphs.delphi.instrument:draft",
    title=N_("Delphi"),
    default=True,
    order=30,
    phases=("T1",),
    instrument="enquete.graphs.delphi.instrument:DelphiInstrument",
    settings="enquete.graphs.delphi.instrument:DelphiSettings",
    procedure="enquete.graphs.delphi.procedure:Delphi",
    synthetic="enquete.graphs.delphi.synthetic:planted",
    results="enquete.graphs.delphi.results:EVALUATION",
    steps=Steps(ask="ask_panel", close="feedback", readout="enquete.graphs.delphi.procedure:readout"),
    probes=(*PROBES_OF_CLOSED, "false_median"),
)
