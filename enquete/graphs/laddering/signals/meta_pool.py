"""meta.*: read off the other signals, in a second pass."""

from __future__ import annotations

from enquete.graphs.laddering.nodestate import RECENT
from enquete.graphs.laddering.signals.base import InterviewSignal, NodeSignal, Number, View, Words
from enquete.instruments.text import Text

EARLY_BELOW, LATE_FROM, MANY_ORPHANS = 5, 15, 3
DEPTH_GOAL = 3  # node types on a chain at which an interview counts as deep
NO_END_YET = 0.3  # share of the last part of progress that is held back until an end point was reached


class InterviewPhase(InterviewSignal):
    name = "meta.interview.phase"
    scale = Words(("early", "mid", "late"))
    description = Text(
        de="Abschnitt des Gesprächs: early sammelt, mid vertieft, late rundet ab.",
        en="Stage of the conversation: early collects, mid deepens, late rounds off.",
    )

    def detect(self, view: View) -> str:
        nodes, orphans = int(view.interview["graph.node_count"]), int(view.interview["graph.orphan_count"])
        if nodes < EARLY_BELOW:
            return "early"
        return "mid" if nodes < LATE_FROM or orphans > MANY_ORPHANS else "late"


class InterviewProgress(InterviewSignal):
    name = "meta.interview_progress"
    scale = Number(0, 1)
    description = Text(
        de="Wie weit das Gespräch ist: Breite, Tiefe, erreichte Endpunkte. Hoch: abrunden und schließen.",
        en="How far the conversation has come: breadth, depth, end points reached. High: round off and close.",
    )

    def detect(self, view: View) -> float:
        ended = any(view.ontology.is_terminal(node.type) for node in view.graph.nodes.values())
        coverage = float(view.interview["graph.coverage_breadth"])
        return 0.4 * coverage + 0.4 * min(view.chain / DEPTH_GOAL, 1) + 0.2 * (1 - (0 if ended else NO_END_YET))


class ExplorationScore(InterviewSignal):
    name = "meta.exploration_score"
    scale = Number(0, 1)
    description = Text(
        de="Mittel aus Breite, Verknüpfung und Tiefe. Niedrig: Es ist noch viel zu finden.",
        en="Mean of breadth, connectedness and depth. Low: there is a lot left to find.",
    )

    def detect(self, view: View) -> float:
        nodes, orphans = int(view.interview["graph.node_count"]), int(view.interview["graph.orphan_count"])
        connected = 1 - orphans / nodes if nodes else 0.0
        return (
            float(view.interview["graph.coverage_breadth"]) + connected + float(view.interview["graph.max_depth"])
        ) / 3


class Saturation(InterviewSignal):
    name = "meta.saturation"
    scale = Number(0, 1)
    description = Text(
        de="Wie wenig Neues die letzte Antwort brachte, gemessen an der ergiebigsten (1: nichts). Hoch: anders fragen oder schließen.",
        en="How little was new in the last answer, measured by the richest one (1: nothing). High: ask differently or close.",
    )

    def detect(self, view: View) -> float | None:
        peak = max((turn.new_nodes for turn in view.past), default=0)
        return None if not peak else 1 - min(view.past[-1].new_nodes / peak, 1)


class Opportunity(NodeSignal):
    name = "meta.node.opportunity"
    scale = Words(("exhausted", "probe_deeper", "fresh"))
    description = Text(
        de="Was ein Konzept noch verspricht: probe_deeper heißt, es wird tief geantwortet, aber noch nichts Neues gefunden.",
        en="What a concept still promises: probe_deeper means that answers are deep but brought nothing new yet.",
    )

    def detect(self, view: View, node: str) -> str:
        if view.nodes[node]["graph.node.exhausted"]:
            return "exhausted"
        state = view.state(node)
        return "probe_deeper" if "deep" in state.depths[-RECENT:] and not state.yields else "fresh"
