"""Every methodology on its own, with the gate, under its own name, and all of them in one run: what langgraph.json
points LangGraph Studio to.

Studio reads the names that a module has, so they are all built where it is imported, and nothing else imports it.
"""

from __future__ import annotations

from enquete.graphs.interviews import study_graph
from enquete.graphs.registry import methodologies

interviews = study_graph("interviews", methodologies())
globals().update({name: study_graph(name, [name]) for name in methodologies()})
