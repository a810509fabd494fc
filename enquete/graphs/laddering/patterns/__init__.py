"""What interviews are summed up by where their ontology has no ladder: the forces for and against a change, the journey with
how people were at each step, the chain of an incident. Which one it is the ontology's file declares (`pattern`).

Each module counts (`summed_up`), draws its one figure and states its finding; counts are of codes and of agents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from enquete.graphs.laddering.interview import Interview
from enquete.graphs.laddering.methods import InterviewMethod
from enquete.graphs.laddering.network import PooledConcept
from enquete.graphs.laddering.patterns import forces, incidents, journey
from enquete.reports.context import Found, at
from enquete.reports.figures.canvas import Figure
from enquete.reports.key_findings import KeyFinding
from enquete.state.asking import Language

KINDS: Mapping[str, ModuleType] = {"forces": forces, "journey": journey, "incidents": incidents}
"""By the name that the ontology's file and the findings have for it."""


def summed_up(
    interviews: Sequence[Interview], concepts: Sequence[PooledConcept], method: InterviewMethod, language: Language
) -> dict[str, Any] | None:
    """{kind: …} of the pattern that the ontology declares; None where it has none."""
    for kind, module in KINDS.items():
        declared = getattr(method.pattern, kind, None)
        if declared is not None:
            return {kind: module.summed_up(interviews, concepts, declared, method, language)}
    return None


def figures(found: Found, note: str, language: Language) -> Iterator[Figure]:
    for kind, module in KINDS.items():
        own = at(found, "pattern", kind)
        if own:
            yield from module.figures(own, note, language)


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    n, total = (int(at(found, "interviews", key) or 0) for key in ("begun", "total"))
    for kind, module in KINDS.items():
        own = at(found, "pattern", kind)
        if own:
            yield from module.findings(own, n, total, language)
