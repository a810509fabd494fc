"""graph.node.*: what a concept went through, and how it hangs in the graph."""

from __future__ import annotations

from enquete.graphs.laddering.signals.base import YES_NO, NodeSignal, Number, PairSignal, View, Words
from enquete.instruments.text import Text

RECENCY_TURNS = 20
FRESH_BELOW, EXHAUSTED_FROM = 0.3, 0.6


class Exhausted(NodeSignal):
    name = "graph.node.exhausted"
    scale = YES_NO
    description = Text(
        de="Mehrfach im Fokus, drei Runden ohne Ertrag, zuletzt meist knappe Antworten. Wenn ja: dieses Konzept ruhen lassen.",
        en="In focus repeatedly, three turns dry, recent answers mostly short. If so: leave this concept alone.",
    )

    def detect(self, view: View, node: str) -> bool:
        return view.state(node).exhausted


class ExhaustionScore(NodeSignal):
    name = "graph.node.exhaustion_score"
    scale = Number(0, 1)
    description = Text(
        de="Wie ausgeschöpft ein Konzept ist: Dürre, Dauer im Fokus, Knappheit; ohne Nachfrage kein Wert. Ab 0,6 lohnt ein Wechsel.",
        en="How used up a concept is: dryness, time in focus, shortness; no value before it was asked about. From 0.6 on a change pays.",
    )

    def detect(self, view: View, node: str) -> float | None:
        return view.state(node).exhaustion_score


class Exhaustion(NodeSignal):
    name = "graph.node.exhaustion"
    scale = Words(("fresh", "moderate", "exhausted"))
    description = Text(
        de="Dasselbe in Worten: fresh unter 0,3, moderate unter 0,6, exhausted darüber.",
        en="The same in words: fresh below 0.3, moderate below 0.6, exhausted above.",
    )

    def detect(self, view: View, node: str) -> str | None:
        score = view.state(node).exhaustion_score
        if score is None:
            return None
        return "fresh" if score < FRESH_BELOW else "moderate" if score < EXHAUSTED_FROM else "exhausted"


class YieldStagnation(NodeSignal):
    name = "graph.node.yield_stagnation"
    scale = YES_NO
    description = Text(
        de="Drei Runden oder länger ohne neuen Gedanken zu diesem Konzept. Wenn ja: anders fragen oder wechseln.",
        en="Three turns or more without a new thought on this concept. If so: ask differently or move on.",
    )

    def detect(self, view: View, node: str) -> bool:
        state = view.state(node)
        return state.focused > 0 and state.stagnant


class FocusStreak(NodeSignal):
    name = "graph.node.focus_streak"
    scale = Words(("none", "low", "medium", "high"))
    description = Text(
        de="Wie lange ununterbrochen über dieses Konzept gesprochen wird (none 0, low 1, medium 2–3, high ab 4). Hoch: Luft geben.",
        en="For how long this concept has been talked about without a break (none 0, low 1, medium 2–3, high from 4). High: give air.",
    )

    def detect(self, view: View, node: str) -> str:
        streak = view.state(node).streak
        return "none" if streak < 1 else "low" if streak < 2 else "medium" if streak < 4 else "high"


class IsCurrentFocus(NodeSignal):
    name = "graph.node.is_current_focus"
    scale = YES_NO
    description = Text(
        de="Ob zuletzt nach diesem Konzept gefragt wurde. Ja: weiterfragen wirkt natürlich, ein Wechsel braucht einen Grund.",
        en="Whether the last question was about this concept. If so: going on is natural, a change needs a reason.",
    )

    def detect(self, view: View, node: str) -> bool:
        return node == view.focus


class Recency(NodeSignal):
    name = "graph.node.recency_score"
    scale = Number(0, 1)
    description = Text(
        de="Wie kürzlich von diesem Konzept die Rede war (1 eben, 0 vor zwanzig Runden). Hoch: der Faden ist noch warm.",
        en="How recently this concept was spoken of (1 just now, 0 twenty turns ago). High: the thread is still warm.",
    )

    def detect(self, view: View, node: str) -> float:
        return max(0.0, 1 - view.state(node).since_focus / RECENCY_TURNS)


class IsOrphan(NodeSignal):
    name = "graph.node.is_orphan"
    scale = YES_NO
    description = Text(
        de="Ohne jede Beziehung. Wenn ja: fragen, wofür es steht oder woher es kommt.",
        en="Without any relationship. If so: ask what it stands for or where it comes from.",
    )

    def detect(self, view: View, node: str) -> bool:
        return node in view.graph.orphans


class IsOpenEnd(NodeSignal):
    name = "graph.node.is_open_end"
    scale = YES_NO
    description = Text(
        de="Von hier führt noch nichts weiter, und es ist kein Endpunkt. Wenn ja: hier ist die Kette zu verlängern.",
        en="Nothing leads on from here yet, and it is no end point. If so: this is where the chain can grow.",
    )

    def detect(self, view: View, node: str) -> bool:
        """Direction is the ontology's affair (a solution addresses a pain that was said before it): what leads on is
        whatever hangs on the concept and was first said after it."""
        graph = view.graph
        if view.ontology.is_terminal(graph.nodes[node].type):
            return False
        return not any(graph.order[other] > graph.order[node] for other in graph.neighbours[node])


class NodeEdgeCount(NodeSignal):
    name = "graph.node.edge_count"
    scale = Number(0, 6)
    description = Text(
        de="Beziehungen dieses Konzepts. Viele: ein Knotenpunkt, gut zum Zusammenfassen.",
        en="Relationships of this concept. Many: a hub, good for summing up.",
    )

    def detect(self, view: View, node: str) -> int:
        return view.graph.degrees[node]


class YieldRate(NodeSignal):
    name = "graph.node.yield_rate"
    scale = Number(0, 1)
    description = Text(
        de="Ertrag je Nachfrage zu diesem Konzept. Hoch: Nachfragen lohnt. Ohne Nachfrage gibt es keinen Wert.",
        en="Yield per question about this concept. High: asking pays. Without a question there is no value.",
    )

    def detect(self, view: View, node: str) -> float | None:
        return view.state(node).yield_rate


class StrategyRepetition(PairSignal):
    name = "graph.node.strategy_repetition"
    scale = Words(("none", "low", "medium", "high"))
    description = Text(
        de="Wie oft diese Strategie an diesem Konzept schon versucht wurde (low bis 2, medium bis 4). Öfter: eine andere nehmen.",
        en="How often this strategy was already tried on this concept (low to 2, medium to 4). More often: take another one.",
    )

    def detect(self, view: View, node: str, strategy: str) -> str:
        times = view.state(node).strategies.get(strategy, 0)
        return "none" if times < 1 else "low" if times <= 2 else "medium" if times <= 4 else "high"
