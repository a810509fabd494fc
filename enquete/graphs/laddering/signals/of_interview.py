"""Signals of the interview as a whole, and of a strategy whatever it asks about. Their order is that in which a turn's log
shows them."""

from __future__ import annotations

from enquete.graphs.laddering.coverage import complete_share
from enquete.graphs.laddering.signals.base import OF_INTERVIEW, OF_STRATEGY, YES_NO, Number, View, Words, signal

RUBRIC = Number(1, 5)
WINDOW = 5  # turns
EARLY_BELOW, LATE_FROM, MANY_ORPHANS = 5, 15, 3
DEPTH_GOAL = 3  # node types on a chain at which an interview counts as deep
NO_END_YET = 0.3  # share of the last part of progress that is held back until an end point was reached


# --- graph.*: the shape of the knowledge graph


@signal(
    OF_INTERVIEW,
    "graph.chain_completion.ratio",
    Number(0, 1),
    de="Anteil der untersten Konzepte, von denen eine Kette bis zum Endpunkt führt. Niedrig: begonnene Ketten zu Ende fragen.",
    en="Share of bottom concepts from which a chain reaches an end point. Low: finish the chains that were begun.",
)
def chain_ratio(view: View) -> float | None:
    return complete_share(view.graph, view.ontology)


@signal(
    OF_INTERVIEW,
    "graph.coverage_breadth",
    Number(0, 1),
    de="Anteil der Elemente des Themas, von denen die Rede war. Niedrig: breiter fragen.",
    en="Share of the topic's elements that were spoken of. Low: ask more broadly.",
)
def coverage_breadth(view: View) -> float:
    return view.coverage.breadth


@signal(
    OF_INTERVIEW,
    "graph.first_count",
    Number(0, 8),
    de="Zahl der Konzepte, mit denen alles anfängt. Niedrig, bis zwei: zu wenige, um drei zu vergleichen; nach weiteren fragen.",
    en="Number of concepts that things begin with. Low, up to two: too few to compare three; ask for more.",
)
def first_count(view: View) -> int:
    return sum(node.type == view.ontology.first_type for node in view.graph.nodes.values())


@signal(
    OF_INTERVIEW,
    "graph.edge_count",
    Number(0, 20),
    de="Zahl der Beziehungen. Wenige bei vielen Konzepten: nach Zusammenhängen fragen.",
    en="Number of relationships. Few beside many concepts: ask how things hang together.",
)
def edge_count(view: View) -> int:
    return len(view.graph.edges)


@signal(
    OF_INTERVIEW,
    "graph.chain_completion.has_complete",
    YES_NO,
    de="Ob es eine vollständige Kette gibt. Wenn nicht: bei der längsten weiterfragen.",
    en="Whether there is a complete chain. If not: go on with the longest one.",
)
def has_complete(view: View) -> bool | None:
    share = complete_share(view.graph, view.ontology)
    return None if share is None else share > 0


@signal(
    OF_INTERVIEW,
    "graph.max_depth",
    Number(0, 1),
    de="Längste zusammenhängende Kette als Anteil der Leiter. Niedrig: tiefer fragen. Hoch: eine Kette reicht bis oben.",
    en="Longest connected chain as a share of the ladder. Low: ask deeper. High: one chain reaches the top.",
)
def max_depth(view: View) -> float:
    return min(view.chain / view.ontology.rungs, 1.0)


@signal(
    OF_INTERVIEW,
    "graph.node_count",
    Number(0, 20),
    de="Zahl der Konzepte. Wenige: Das Feld ist noch kaum betreten, erst sammeln. Viele: eher verbinden und abrunden.",
    en="Number of concepts. Few: hardly any ground covered, collect first. Many: rather connect and round off.",
)
def node_count(view: View) -> int:
    return len(view.graph.nodes)


@signal(
    OF_INTERVIEW,
    "graph.orphan_count",
    Number(0, 8),
    de="Konzepte ohne jede Beziehung. Viele: zu ihnen zurückkehren und nachfragen, wofür sie stehen.",
    en="Concepts without any relationship. Many: go back to them and ask what they stand for.",
)
def orphan_count(view: View) -> int:
    return len(view.graph.orphans)


# --- llm.*: how the last answer was given; judged anew every turn, all in one call, nothing is carried over


@signal(
    OF_INTERVIEW,
    "llm.certainty",
    RUBRIC,
    de="Wie sicher gesprochen wird (1 tastend, 5 bestimmt). Niedrig: klären, was gemeint ist, ohne zu drängen.",
    en="How surely it is said (1 groping, 5 firm). Low: clarify what is meant, without pressing.",
)
def certainty(view: View) -> int | None:
    return view.readings.rating("certainty")


@signal(
    OF_INTERVIEW,
    "llm.engagement",
    RUBRIC,
    de="Wie beteiligt die Person ist (1 abwesend, 5 lebhaft). Niedrig: Thema oder Ton wechseln, beleben.",
    en="How engaged the person is (1 absent, 5 lively). Low: change topic or tone, revitalise.",
)
def engagement(view: View) -> int | None:
    return view.readings.rating("engagement")


@signal(
    OF_INTERVIEW,
    "llm.response_depth",
    Words(("surface", "moderate", "deep")),
    de="Tiefe der Antwort (surface: so bewertet, sonst unter zehn Wörtern oder ein Gedanke). Surface: leichter fragen. Deep: folgen.",
    en="Depth of the answer (surface: rated so, else under ten words or one thought). Surface: ask more easily. Deep: follow.",
)
def response_depth(view: View) -> str:
    return view.past[-1].depth


@signal(
    OF_INTERVIEW,
    "llm.sentiment",
    Words(("negative", "neutral", "positive")),
    de="Stimmung der Antwort in einem Wort. Negativ: anerkennen, bevor vertieft wird.",
    en="Mood of the answer in a word. Negative: acknowledge before going deeper.",
)
def sentiment(view: View) -> str | None:
    return view.readings.sentiment


@signal(
    OF_INTERVIEW,
    "llm.specificity",
    RUBRIC,
    de="Wie konkret die Antwort ist (1 vage, 5 mit Beispiel). Niedrig: um ein Beispiel bitten.",
    en="How concrete the answer is (1 vague, 5 with an example). Low: ask for an example.",
)
def specificity(view: View) -> int | None:
    return view.readings.rating("specificity")


@signal(
    OF_INTERVIEW,
    "llm.topics",
    Number(0, 5),
    de="Zahl der Themen, die die Antwort anspricht. Viele: eines davon aufgreifen.",
    en="Number of topics the answer touches. Many: take up one of them.",
)
def topic_count(view: View) -> int | None:
    return None if view.readings.topics is None else len(view.readings.topics)


@signal(
    OF_INTERVIEW,
    "llm.valence",
    RUBRIC,
    de="Färbung der Antwort (1 sehr negativ, 5 sehr positiv). Negativ: erst Raum geben, dann weiterfragen.",
    en="Colour of the answer (1 very negative, 5 very positive). Negative: give room first, then ask on.",
)
def valence(view: View) -> int | None:
    return view.readings.rating("valence")


# --- temporal.*: how the conversation has been going over the last turns


@signal(
    OF_INTERVIEW,
    "temporal.turns_since_focus_change",
    Number(0, 6),
    de="Runden seit dem letzten Wechsel des Konzepts. Viele: ein Wechsel kann guttun.",
    en="Turns since the concept in focus last changed. Many: a change may do good.",
)
def turns_since_focus_change(view: View) -> int:
    focuses = [turn.focus for turn in view.past]
    same = 0
    while same < len(focuses) and focuses[-1 - same] == focuses[-1]:
        same += 1
    return max(same - 1, 0)


@signal(
    OF_STRATEGY,
    "temporal.strategy_repetition_count",
    Number(0, WINDOW),
    de="Wie oft die Strategie in den letzten fünf Runden gewählt wurde. Oft: abwechseln, sonst ermüdet das Gespräch.",
    en="How often the strategy was chosen in the last five turns. Often: vary, or the conversation tires.",
)
def strategy_repetition_count(view: View, strategy: str) -> int:
    return sum(turn.strategy == strategy for turn in view.past[-WINDOW:])


@signal(
    OF_STRATEGY,
    "graph.kind_count",
    Number(0, 4),
    de="Wie viele Konzepte es von der seltensten Art gibt, nach der die Strategie fragt. Keines: danach wurde noch nicht gefragt.",
    en="How many concepts there are of the rarest kind that the strategy asks for. None: that has not been asked yet.",
)
def kind_count(view: View, strategy: str) -> int | None:
    kinds = view.asks.get(strategy)
    return min(sum(n.type == kind for n in view.graph.nodes.values()) for kind in kinds) if kinds else None


# --- meta.*: read off the other signals, in a second pass


@signal(
    OF_INTERVIEW,
    "meta.exploration_score",
    Number(0, 1),
    de="Mittel aus Breite, Verknüpfung und Tiefe. Niedrig: Es ist noch viel zu finden.",
    en="Mean of breadth, connectedness and depth. Low: there is a lot left to find.",
)
def exploration_score(view: View) -> float:
    nodes, orphans = int(view.interview["graph.node_count"]), int(view.interview["graph.orphan_count"])
    connected = 1 - orphans / nodes if nodes else 0.0
    return (float(view.interview["graph.coverage_breadth"]) + connected + float(view.interview["graph.max_depth"])) / 3


@signal(
    OF_INTERVIEW,
    "meta.interview.phase",
    Words(("early", "mid", "late")),
    de="Abschnitt des Gesprächs: early sammelt, mid vertieft, late rundet ab.",
    en="Stage of the conversation: early collects, mid deepens, late rounds off.",
)
def interview_phase(view: View) -> str:
    nodes, orphans = int(view.interview["graph.node_count"]), int(view.interview["graph.orphan_count"])
    if nodes < EARLY_BELOW:
        return "early"
    return "mid" if nodes < LATE_FROM or orphans > MANY_ORPHANS else "late"


@signal(
    OF_INTERVIEW,
    "meta.interview_progress",
    Number(0, 1),
    de="Wie weit das Gespräch ist: Breite, Tiefe, erreichte Endpunkte. Hoch: abrunden und schließen.",
    en="How far the conversation has come: breadth, depth, end points reached. High: round off and close.",
)
def interview_progress(view: View) -> float:
    ended = any(view.ontology.is_terminal(node.type) for node in view.graph.nodes.values())
    coverage = float(view.interview["graph.coverage_breadth"])
    return 0.4 * coverage + 0.4 * min(view.chain / DEPTH_GOAL, 1) + 0.2 * (1 - (0 if ended else NO_END_YET))


@signal(
    OF_INTERVIEW,
    "meta.saturation",
    Number(0, 1),
    de="Wie wenig Neues die letzte Antwort brachte, gemessen an der ergiebigsten (1: nichts). Hoch: anders fragen oder schließen.",
    en="How little was new in the last answer, measured by the richest one (1: nothing). High: ask differently or close.",
)
def saturation(view: View) -> float | None:
    peak = max((turn.new_nodes for turn in view.past), default=0)
    return None if not peak else 1 - min(view.past[-1].new_nodes / peak, 1)
