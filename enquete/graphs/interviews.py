"""The parent graph: all methodologies over one population.

load_population → freeze → longitudinal T0 → await_simulation → longitudinal T1 ‖ delphi ‖ … → gate → synthesis
"""

from __future__ import annotations

from enquete.graphs.registry import dotted_paths, methodologies
from enquete.nodes.study_graph import build
from enquete.reports.synthesis import synthesise

graph = build(
    "interviews",
    {
        name: (dotted_paths()[name], methodology.phases, methodology.graph)
        for name, methodology in methodologies().items()
    },
    synthesise,
)
