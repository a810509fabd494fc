"""Scenario: possible futures, each rated on the same dimensions; what is wished for, expected, and what one would do."""

from __future__ import annotations

from enquete.graphs.scenario.instrument import ScenarioInstrument
from enquete.graphs.scenario.procedure import Rating
from enquete.graphs.scenario.synthetic import planted
from enquete.locale import N_
from enquete.state.methodology import Methodology, NoSettings, Steps

METHODOLOGY = Methodology(
    name="scenario",
    drafts="enquete.graphs.scenario.drafting:draft",
    title=N_("Scenarios"),
    default=True,
    order=40,
    phases=("T1",),
    instrument=ScenarioInstrument,
    settings=NoSettings,
    procedure=Rating,
    synthetic=planted,
    results="enquete.graphs.scenario.results:EVALUATION",
    steps=Steps("open_scenarios", "ask_scenarios", "close_scenarios"),
)
