"""Signals of a concept (graph.node.*: what it went through, and how it hangs in the graph; meta.node.*: what follows from that
in the second pass), and of a strategy used on it."""

from __future__ import annotations

from enquete.graphs.laddering.nodestate import RECENT
from enquete.graphs.laddering.signals.base import OF_CONCEPT, OF_PAIR, YES_NO, Number, View, Words, signal

RECENCY_TURNS = 20
FRESH_BELOW, EXHAUSTED_FROM = 0.3, 0.6


@signal(
    OF_CONCEPT,
    "graph.node.exhausted",
    YES_NO,
    de="Mehrfach im Fokus, drei Runden ohne Ertrag, zuletzt meist knappe Antworten. Wenn ja: dieses Konzept ruhen lassen.",
    en="In focus repeatedly, three turns dry, recent answers mostly short. If so: leave this concept alone.",
)
def exhausted(view: View, node: str) -> bool:
    return view.state(node).exhausted


@signal(
    OF_CONCEPT,
    "graph.node.exhaustion",
    Words(("fresh", "moderate", "exhausted")),
    de="Dasselbe in Worten: fresh unter 0,3, moderate unter 0,6, exhausted darüber.",
    en="The same in words: fresh below 0.3, moderate below 0.6, exhausted above.",
)
def exhaustion(view: View, node: str) -> str | None:
    score = view.state(node).exhaustion_score
    if score is None:
        return None
    return "fresh" if score < FRESH_BELOW else "moderate" if score < EXHAUSTED_FROM else "exhausted"


@signal(
    OF_CONCEPT,
    "graph.node.exhaustion_score",
    Number(0, 1),
    de="Wie ausgeschöpft ein Konzept ist: Dürre, Dauer im Fokus, Knappheit; ohne Nachfrage kein Wert. Ab 0,6 lohnt ein Wechsel.",
    en="How used up a concept is: dryness, time in focus, shortness; no value before it was asked about. From 0.6 on a change pays.",
)
def exhaustion_score(view: View, node: str) -> float | None:
    return view.state(node).exhaustion_score


@signal(
    OF_CONCEPT,
    "graph.node.focus_streak",
    Words(("none", "low", "medium", "high")),
    de="Wie lange ununterbrochen über dieses Konzept gesprochen wird (none 0, low 1, medium 2–3, high ab 4). Hoch: Luft geben.",
    en="For how long this concept has been talked about without a break (none 0, low 1, medium 2–3, high from 4). High: give air.",
)
def focus_streak(view: View, node: str) -> str:
    streak = view.state(node).streak
    return "none" if streak < 1 else "low" if streak < 2 else "medium" if streak < 4 else "high"


@signal(
    OF_CONCEPT,
    "graph.node.is_current_focus",
    YES_NO,
    de="Ob zuletzt nach diesem Konzept gefragt wurde. Ja: weiterfragen wirkt natürlich, ein Wechsel braucht einen Grund.",
    en="Whether the last question was about this concept. If so: going on is natural, a change needs a reason.",
)
def is_current_focus(view: View, node: str) -> bool:
    return node == view.focus


@signal(
    OF_CONCEPT,
    "graph.node.is_open_end",
    YES_NO,
    de="Von hier führt noch nichts weiter, und es ist kein Endpunkt. Wenn ja: hier ist die Kette zu verlängern.",
    en="Nothing leads on from here yet, and it is no end point. If so: this is where the chain can grow.",
)
def is_open_end(view: View, node: str) -> bool:
    """Direction is the ontology's affair (a solution addresses a pain that was said before it): what leads on is
    whatever hangs on the concept and was first said after it."""
    graph = view.graph
    if view.ontology.is_terminal(graph.nodes[node].type):
        return False
    return not any(graph.order[other] > graph.order[node] for other in graph.neighbours[node])


@signal(
    OF_CONCEPT,
    "graph.node.is_orphan",
    YES_NO,
    de="Ohne jede Beziehung. Wenn ja: fragen, wofür es steht oder woher es kommt.",
    en="Without any relationship. If so: ask what it stands for or where it comes from.",
)
def is_orphan(view: View, node: str) -> bool:
    return node in view.graph.orphans


@signal(
    OF_CONCEPT,
    "graph.node.edge_count",
    Number(0, 6),
    de="Beziehungen dieses Konzepts. Viele: ein Knotenpunkt, gut zum Zusammenfassen.",
    en="Relationships of this concept. Many: a hub, good for summing up.",
)
def node_edge_count(view: View, node: str) -> int:
    return view.graph.degrees[node]


@signal(
    OF_CONCEPT,
    "graph.node.recency_score",
    Number(0, 1),
    de="Wie kürzlich von diesem Konzept die Rede war (1 eben, 0 vor zwanzig Runden). Hoch: der Faden ist noch warm.",
    en="How recently this concept was spoken of (1 just now, 0 twenty turns ago). High: the thread is still warm.",
)
def recency(view: View, node: str) -> float:
    return max(0.0, 1 - view.state(node).since_focus / RECENCY_TURNS)


@signal(
    OF_CONCEPT,
    "graph.node.yield_rate",
    Number(0, 1),
    de="Ertrag je Nachfrage zu diesem Konzept. Hoch: Nachfragen lohnt. Ohne Nachfrage gibt es keinen Wert.",
    en="Yield per question about this concept. High: asking pays. Without a question there is no value.",
)
def yield_rate(view: View, node: str) -> float | None:
    return view.state(node).yield_rate


@signal(
    OF_CONCEPT,
    "graph.node.yield_stagnation",
    YES_NO,
    de="Drei Runden oder länger ohne neuen Gedanken zu diesem Konzept. Wenn ja: anders fragen oder wechseln.",
    en="Three turns or more without a new thought on this concept. If so: ask differently or move on.",
)
def yield_stagnation(view: View, node: str) -> bool:
    state = view.state(node)
    return state.focused > 0 and state.stagnant


@signal(
    OF_CONCEPT,
    "meta.node.opportunity",
    Words(("exhausted", "probe_deeper", "fresh")),
    de="Was ein Konzept noch verspricht: probe_deeper heißt, es wird tief geantwortet, aber noch nichts Neues gefunden.",
    en="What a concept still promises: probe_deeper means that answers are deep but brought nothing new yet.",
)
def opportunity(view: View, node: str) -> str:
    if view.nodes[node]["graph.node.exhausted"]:
        return "exhausted"
    state = view.state(node)
    return "probe_deeper" if "deep" in state.depths[-RECENT:] and not state.yields else "fresh"


@signal(
    OF_PAIR,
    "graph.node.strategy_repetition",
    Words(("none", "low", "medium", "high")),
    de="Wie oft diese Strategie an diesem Konzept schon versucht wurde (low bis 2, medium bis 4). Öfter: eine andere nehmen.",
    en="How often this strategy was already tried on this concept (low to 2, medium to 4). More often: take another one.",
)
def strategy_repetition(view: View, node: str, strategy: str) -> str:
    times = view.state(node).strategies.get(strategy, 0)
    return "none" if times < 1 else "low" if times <= 2 else "medium" if times <= 4 else "high"
