"""The graphs that langgraph.json names: the parent over all methodologies, and each methodology on its own.

They are built where LangGraph Studio imports this module, and nothing else imports it. A methodology on its own runs in
the same parent graph, with gate, critic and synthesis.
"""

from __future__ import annotations

from enquete.graphs.checked import CheckedGraph
from enquete.graphs.contexts import make_context
from enquete.graphs.interviews import interviews_graph
from enquete.methods.registry import methodologies


def alone(name: str) -> CheckedGraph:
    """Return the parent graph of one methodology."""
    return interviews_graph(name, [name], context=make_context(name, {name: methodologies()[name]}))


interviews = interviews_graph("interviews", methodologies(), context=make_context("interviews", methodologies()))
longitudinal = alone("longitudinal")
diversity = alone("diversity")
delphi = alone("delphi")
scenario = alone("scenario")
laddering = alone("laddering")
discovery = alone("discovery")
roundtable = alone("roundtable")
poll = alone("poll")
