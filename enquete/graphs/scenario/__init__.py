"""Scenario: possible futures, each rated on the same dimensions; what is wished for, expected, and what one would do."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import Methodology, NoSettings, Steps

METHODOLOGY = Methodology(
    name="scenario",
    drafts="enquete.graphs.scenario.instrument:draft",
    title=N_("Scenarios"),
    default=True,
    order=40,
    phases=("T1",),
    instrument="enquete.graphs.scenario.instrument:ScenarioInstrument",
    settings=NoSettings,
    procedure="enquete.graphs.scenario.procedure:Rating",
    synthetic="enquete.graphs.scenario.synthetic:planted",
    results="enquete.graphs.scenario.results:EVALUATION",
    steps=Steps("open_scenarios", "ask_scenarios", "close_scenarios"),
)
