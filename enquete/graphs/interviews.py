"""The parent graph: all methodologies over one population.

load_population → pin → longitudinal T0 → await_simulation → longitudinal T1 ‖ delphi ‖ … → gate → synthesis
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from enquete.graphs.registry import dotted_paths, methodologies
from enquete.nodes.rounds import rounds_graph
from enquete.nodes.run_session import RunSession
from enquete.nodes.study_graph import Closed, Synthesise, build


async def synthesise(run_session: RunSession, planned: list[tuple[str, str]], *, partial: bool = False) -> Closed:
    """`reports.synthesis.synthesise`: statistics and charts are imported for it, and no question waits for them."""
    from enquete.reports.synthesis import synthesise as write_up  # noqa: PLC0415

    return await write_up(run_session, planned, partial=partial)


def study_graph(title: str, names: Iterable[str], synthesise: Synthesise = synthesise) -> Any:
    """A run of these methodologies, from its population to its synthesis."""
    known, dotted = methodologies(), dotted_paths()
    inner = {name: (dotted[name], known[name].phases, graph_of(name)) for name in names}
    return build(title, inner, synthesise)


def graph_of(name: str) -> Any:
    """A methodology's own graph, compiled."""
    methodology = methodologies()[name]
    return methodology.graph() if methodology.graph else rounds_graph(name, methodology.steps)
