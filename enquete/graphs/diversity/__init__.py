"""Diversity: a Q-sort and axes, and what types of view there are among the agents, if any."""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import Methodology, Steps

METHODOLOGY = Methodology(
    name="diversity",
    drafts="enquete.graphs.diversity.instrument:draft",
    title=N_("Diversity of views"),
    default=True,
    order=20,
    phases=("T1",),
    instrument="enquete.graphs.diversity.instrument:DiversityInstrument",
    settings="enquete.graphs.diversity.instrument:DiversitySettings",
    procedure="enquete.graphs.diversity.procedure:Diversity",
    synthetic="enquete.graphs.diversity.synthetic:planted",
    results="enquete.graphs.diversity.results:EVALUATION",
    steps=Steps("open_sort", "ask_sort", "close_sort"),
    answer_columns=("placed", "notes"),
)
