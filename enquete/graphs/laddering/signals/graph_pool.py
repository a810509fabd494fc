"""graph.*: the shape of the knowledge graph."""

from __future__ import annotations

from enquete.graphs.laddering.coverage import complete_share
from enquete.graphs.laddering.signals.base import YES_NO, InterviewSignal, Number, View
from enquete.instruments.text import Text


class NodeCount(InterviewSignal):
    name = "graph.node_count"
    scale = Number(0, 20)
    description = Text(
        de="Zahl der Konzepte. Wenige: Das Feld ist noch kaum betreten, erst sammeln. Viele: eher verbinden und abrunden.",
        en="Number of concepts. Few: hardly any ground covered, collect first. Many: rather connect and round off.",
    )

    def detect(self, view: View) -> int:
        return len(view.graph.nodes)


class EdgeCount(InterviewSignal):
    name = "graph.edge_count"
    scale = Number(0, 20)
    description = Text(
        de="Zahl der Beziehungen. Wenige bei vielen Konzepten: nach Zusammenhängen fragen.",
        en="Number of relationships. Few beside many concepts: ask how things hang together.",
    )

    def detect(self, view: View) -> int:
        return len(view.graph.edges)


class MaxDepth(InterviewSignal):
    name = "graph.max_depth"
    scale = Number(0, 1)
    description = Text(
        de="Längste zusammenhängende Kette als Anteil der Leiter. Niedrig: tiefer fragen. Hoch: eine Kette reicht bis oben.",
        en="Longest connected chain as a share of the ladder. Low: ask deeper. High: one chain reaches the top.",
    )

    def detect(self, view: View) -> float:
        return min(view.chain / view.ontology.rungs, 1.0)


class OrphanCount(InterviewSignal):
    name = "graph.orphan_count"
    scale = Number(0, 8)
    description = Text(
        de="Konzepte ohne jede Beziehung. Viele: zu ihnen zurückkehren und nachfragen, wofür sie stehen.",
        en="Concepts without any relationship. Many: go back to them and ask what they stand for.",
    )

    def detect(self, view: View) -> int:
        return len(view.graph.orphans)


class CoverageBreadth(InterviewSignal):
    name = "graph.coverage_breadth"
    scale = Number(0, 1)
    description = Text(
        de="Anteil der Elemente des Themas, von denen die Rede war. Niedrig: breiter fragen.",
        en="Share of the topic's elements that were spoken of. Low: ask more broadly.",
    )

    def detect(self, view: View) -> float:
        return view.coverage.breadth


class ChainRatio(InterviewSignal):
    name = "graph.chain_completion.ratio"
    scale = Number(0, 1)
    description = Text(
        de="Anteil der untersten Konzepte, von denen eine Kette bis zum Endpunkt führt. Niedrig: begonnene Ketten zu Ende fragen.",
        en="Share of bottom concepts from which a chain reaches an end point. Low: finish the chains that were begun.",
    )

    def detect(self, view: View) -> float | None:
        return complete_share(view.graph, view.ontology)


class HasComplete(InterviewSignal):
    name = "graph.chain_completion.has_complete"
    scale = YES_NO
    description = Text(
        de="Ob es eine vollständige Kette gibt. Wenn nicht: bei der längsten weiterfragen.",
        en="Whether there is a complete chain. If not: go on with the longest one.",
    )

    def detect(self, view: View) -> bool | None:
        share = complete_share(view.graph, view.ontology)
        return None if share is None else share > 0
