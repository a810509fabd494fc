"""Signals: what can be read off an interview after an answer, of the whole, of a concept, of a strategy; and what each
concept went through, from which many of them are read.

A signal is a row of one of four tables: name, scale, how it is read off a view (None where there is nothing to read: it
is then not active, and no weight counts it), and in German and English what it measures, how to read it, what it means
for the next question. Weights of a methodology name signals by their rows.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from enquete.instruments.text import suggestion, wrong
from enquete.methods.laddering.knowledge import Coverage, KnowledgeGraph, Ontology, complete_share
from enquete.state.asking import Language

Value = bool | str | float | int
Values = Mapping[str, Value]
Depth = Literal["surface", "moderate", "deep"]

BINS = ("low", "mid", "high")
LOW, HIGH = 0.25, 0.75  # of the normalised value, both inclusive

RECENT = 3  # answers that "recently" looks back on
STALE_TURNS = 3  # turns without yield
STREAK = 2
SHALLOW_SHARE = 2 / 3
RECENCY_TURNS = 20
FRESH_BELOW, EXHAUSTED_FROM = 0.3, 0.6
WINDOW = 5  # turns
EARLY_BELOW, LATE_FROM, MANY_ORPHANS = 5, 15, 3
DEPTH_GOAL = 3  # node types on a chain at which an interview counts as deep
NO_END_YET = 0.3  # share of the last part of progress that is held back until an end point was reached

# --- how an answer was given ------------------------------------------------------------------------------------------

RATINGS = ("response_depth", "specificity", "certainty", "valence", "engagement")
SURFACE_BELOW, MODERATE_BELOW = 10, 30  # words
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BETWEEN = re.compile(
    r"[.!?;:,–—]\s|\s(?:und|aber|weil|denn|damit|dass|sodass|obwohl|wenn|and|but|because|so that|since|although|if)\s",
    re.I,
)


class AnswerRating(BaseModel):
    """1 (least) to 5 (most), with the reason in at most twenty words."""

    model_config = ConfigDict(frozen=True)

    rating: Annotated[int, Field(ge=1, le=5)]
    rationale: str = ""


class Readings(BaseModel):
    """What one call says about one answer. None throughout where there was no answer to read."""

    model_config = ConfigDict(frozen=True)

    response_depth: AnswerRating | None = None
    specificity: AnswerRating | None = None
    certainty: AnswerRating | None = None
    valence: AnswerRating | None = None
    engagement: AnswerRating | None = None
    sentiment: Literal["negative", "neutral", "positive"] | None = None
    topics: tuple[str, ...] | None = None

    def rating(self, name: str) -> int | None:
        rating = getattr(self, name)
        return rating.rating if isinstance(rating, AnswerRating) else None


def depth_of(answer: str, readings: Readings) -> Depth:
    """Rated 1–2 surface, 3 moderate, 4–5 deep; without a rating: surface below ten words or of one proposition,
    moderate below thirty words, deep otherwise."""
    rated = readings.rating("response_depth")
    if rated is not None:
        return "surface" if rated <= 2 else "moderate" if rated == 3 else "deep"
    words = word_count(answer)
    if words < SURFACE_BELOW or propositions(answer) <= 1:
        return "surface"
    return "moderate" if words < MODERATE_BELOW else "deep"


def propositions(answer: str) -> int:
    """Clauses of at least three words: what an answer says, counted at commas, stops and conjunctions."""
    return sum(word_count(part) >= 3 for part in _BETWEEN.split(answer))


def word_count(text: str) -> int:
    """Words; a contraction ("don't", "geht's") is one."""
    return len(_WORD.findall(text))


# --- what a concept went through --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeState:
    """Counts are of turns. `since_yield` counts from the concept's first mention until it yields, `since_focus` until
    it is in focus. Only a change of focus ends a streak; a yield does not."""

    focused: int = 0
    streak: int = 0
    yields: int = 0
    since_yield: int = 0
    since_focus: int = 0
    depths: tuple[Depth, ...] = ()
    strategies: Mapping[str, int] = field(default_factory=dict)

    @property
    def yield_rate(self) -> float | None:
        """Yields per time in focus; None before it ever was."""
        return self.yields / self.focused if self.focused else None

    @property
    def shallow_ratio(self) -> float:
        """Share of shallow ones among the recent answers; 0 before there is one."""
        recent = self.depths[-RECENT:]
        return recent.count("surface") / len(recent) if recent else 0.0

    @property
    def stagnant(self) -> bool:
        return self.since_yield >= STALE_TURNS

    @property
    def exhausted(self) -> bool:
        """In focus at least once, three turns dry, twice in a row in focus, two thirds of the recent answers
        shallow."""
        return self.focused >= 1 and self.stagnant and self.streak >= STREAK and self.shallow_ratio >= SHALLOW_SHARE

    @property
    def exhaustion_score(self) -> float | None:
        """0 fresh … 1 exhausted: dryness .4, streak .3, shallowness .3. None before it was ever in focus: what nobody
        asked about cannot be used up."""
        if not self.focused:
            return None
        dry, streak = min(self.since_yield, 10) / 10, min(self.streak, 5) / 5
        return dry * 0.4 + streak * 0.3 + self.shallow_ratio * 0.3


States = Mapping[str, NodeState]


def after_answer(
    states: States, nodes: Sequence[str], focus: str, depth: Depth, *, yielded: bool
) -> dict[str, NodeState]:
    """An answer to a question about `focus` ("" for none): every known node ages by a turn, new ones begin at
    nought."""
    states_now = {
        node: replace(before, since_yield=before.since_yield + 1, since_focus=before.since_focus + 1)
        if (before := states.get(node))
        else NodeState()
        for node in nodes
    }
    if focus in states_now:
        asked = replace(states_now[focus], depths=(*states_now[focus].depths, depth))
        states_now[focus] = replace(asked, yields=asked.yields + 1, since_yield=0) if yielded else asked
    return states_now


def after_choice(states: States, focus: str, strategy: str) -> dict[str, NodeState]:
    """The next question is about `focus` ("" for none): its streak goes on or begins, every other one's ends."""
    states_now = {
        node: replace(state, streak=0) if state.streak and node != focus else state for node, state in states.items()
    }
    if focus in states_now:
        chosen = states_now[focus]
        uses = {**chosen.strategies, strategy: chosen.strategies.get(strategy, 0) + 1}
        states_now[focus] = replace(
            chosen, focused=chosen.focused + 1, streak=chosen.streak + 1, since_focus=0, strategies=uses
        )
    return states_now


# --- what signals look at ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Past:
    """A turn in short: which strategy asked about what, and what became of it. `answered`: there was an answer at
    all."""

    strategy: str
    focus: str  # node id, "" for none
    depth: Depth
    new_nodes: int
    new_edges: int
    chain: int  # node types on the longest chain after it
    retracted: int = 0
    answered: bool = True

    @property
    def yielded(self) -> bool:
        return self.new_nodes + self.new_edges + self.retracted > 0

    @property
    def barren(self) -> bool:
        """A shallow answer that brought nothing either: a short one that did is what was asked for."""
        return self.answered and self.depth == "surface" and not self.yielded


@dataclass(frozen=True)
class SignalView:
    """An interview after an answer, as signals see it. `past` ends with the turn that was just answered; `asks`:
    strategy → kinds of concepts that it asks for by name."""

    ontology: Ontology
    graph: KnowledgeGraph
    states: States
    coverage: Coverage
    past: Sequence[Past]
    readings: Readings
    focus: str = ""  # what the answered question was about
    chain: int = 0
    asks: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def state(self, node: str) -> NodeState:
        return self.states.get(node) or NodeState()


@dataclass(frozen=True, slots=True)
class SignalRange:
    """A number and its declared range; what lies beyond is taken as its end."""

    least: float
    most: float

    def normal(self, value: float) -> float:
        """0–1. Binning a raw rubric or count would make everything high."""
        return min(max((value - self.least) / (self.most - self.least), 0.0), 1.0)

    def bin(self, value: float) -> str:
        share = self.normal(value)
        return "low" if share <= LOW else "high" if share >= HIGH else "mid"


@dataclass(frozen=True)
class Signal:
    """A row of a table. `scale`: a range, or the words that it may be; `detect`: of a view, and the node, strategy or
    both that it is of."""

    name: str
    scale: SignalRange | tuple[str, ...]
    detect: Callable[..., Value | None]
    de: str
    en: str

    @property
    def words(self) -> tuple[str, ...]:
        """What a weight key may name behind the signal."""
        return BINS if isinstance(self.scale, SignalRange) else self.scale

    def reading(self, language: Language) -> str:
        return self.de if language == "de" else self.en

    def word(self, value: Value) -> str:
        """The value as a weight key names it: true, a category, or a bin."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else self._number.bin(value)

    def normal(self, value: Value) -> float:
        """The value as a bare weight key counts it, 0–1. Raises TypeError for a category."""
        if isinstance(value, str):
            raise TypeError(f"{self.name} is {value!r}, which is no number")
        return float(value) if isinstance(value, bool) else self._number.normal(value)

    @property
    def _number(self) -> SignalRange:
        if not isinstance(self.scale, SignalRange):
            raise TypeError(f"{self.name} gave a number, but declares {', '.join(self.scale)}")
        return self.scale


# --- how they are read ------------------------------------------------------------------------------------------------


def in_a_row(past: Sequence[Past], holds: Callable[[Past], bool]) -> int:
    """How many of the last turns, without a gap."""
    return sum(1 for _ in takewhile(holds, reversed(past)))


def _of_type(view: SignalView, kind: str) -> int:
    return sum(node.type == kind for node in view.graph.nodes.values())


def _has_complete(view: SignalView) -> bool | None:
    share = complete_share(view.graph, view.ontology)
    return None if share is None else share > 0


def _breadth(view: SignalView) -> float | None:
    return view.coverage.breadth if view.coverage.elements_total else None


def _max_depth(view: SignalView) -> float:
    return min(view.chain / view.ontology.rungs, 1.0)


def _exploration(view: SignalView) -> float:
    nodes, orphans, breadth = len(view.graph.nodes), len(view.graph.orphans), _breadth(view)
    connected = 1 - orphans / nodes if nodes else 0.0
    parts = [connected, _max_depth(view)] if breadth is None else [breadth, connected, _max_depth(view)]
    return sum(parts) / len(parts)


def _phase(view: SignalView) -> str:
    nodes, orphans = len(view.graph.nodes), len(view.graph.orphans)
    if nodes < EARLY_BELOW:
        return "early"
    return "mid" if nodes < LATE_FROM or orphans > MANY_ORPHANS else "late"


def _progress(view: SignalView) -> float:
    ended = any(view.ontology.is_terminal(node.type) for node in view.graph.nodes.values())
    depth, end = 0.4 * min(view.chain / DEPTH_GOAL, 1), 0.2 * (1 - (0 if ended else NO_END_YET))
    breadth = _breadth(view)
    return (depth + end) / 0.6 if breadth is None else 0.4 * breadth + depth + end


def _saturation(view: SignalView) -> float | None:
    peak = max((turn.new_nodes for turn in view.past), default=0)
    return None if not peak else 1 - min(view.past[-1].new_nodes / peak, 1)


def _exhaustion(view: SignalView, node: str) -> str | None:
    score = view.state(node).exhaustion_score
    return None if score is None else EXHAUSTION[bisect((FRESH_BELOW, EXHAUSTED_FROM), score)]


def _is_open_end(view: SignalView, node: str) -> bool:
    """Direction is the ontology's affair (a solution addresses a pain that was said before it): what leads on is
    whatever hangs on the concept and was first said after it."""
    graph = view.graph
    if view.ontology.is_terminal(graph.nodes[node].type):
        return False
    return not any(graph.order[other] > graph.order[node] for other in graph.neighbours[node])


def _opportunity(view: SignalView, node: str) -> str:
    state = view.state(node)
    if state.exhausted:
        return "exhausted"
    return "probe_deeper" if "deep" in state.depths[-RECENT:] and not state.yields else "fresh"


# --- the tables; their order is that in which a turn's log shows them -------------------------------------------------

YES_NO, EXHAUSTION, OFTEN = ("true", "false"), ("fresh", "moderate", "exhausted"), ("none", "low", "medium", "high")
RUBRIC = SignalRange(1, 5)

OF_INTERVIEW: tuple[Signal, ...] = (
    Signal("graph.chain_completion.ratio", SignalRange(0, 1), lambda view: complete_share(view.graph, view.ontology),
        "Anteil der untersten Konzepte, von denen eine Kette bis zum Endpunkt führt. Niedrig: begonnene Ketten zu Ende "
        "fragen.",
        "Share of bottom concepts from which a chain reaches an end point. Low: finish the chains that were begun."),
    Signal("graph.coverage_breadth", SignalRange(0, 1), _breadth,
        "Anteil der Elemente des Themas, von denen die Rede war. Niedrig: breiter fragen.",
        "Share of the topic's elements that were spoken of. Low: ask more broadly."),
    Signal("graph.first_count", SignalRange(0, 8), lambda view: _of_type(view, view.ontology.first_type),
        "Zahl der Konzepte, mit denen alles anfängt. Niedrig, bis zwei: zu wenige, um drei zu vergleichen; nach "
        "weiteren fragen.",
        "Number of concepts that things begin with. Low, up to two: too few to compare three; ask for more."),
    Signal("graph.edge_count", SignalRange(0, 20), lambda view: len(view.graph.edges),
        "Zahl der Beziehungen. Wenige bei vielen Konzepten: nach Zusammenhängen fragen.",
        "Number of relationships. Few beside many concepts: ask how things hang together."),
    Signal("graph.chain_completion.has_complete", YES_NO, _has_complete,
        "Ob es eine vollständige Kette gibt. Wenn nicht: bei der längsten weiterfragen.",
        "Whether there is a complete chain. If not: go on with the longest one."),
    Signal("graph.max_depth", SignalRange(0, 1), _max_depth,
        "Längste zusammenhängende Kette als Anteil der Leiter. Niedrig: tiefer fragen. Hoch: eine Kette reicht bis "
        "oben.",
        "Longest connected chain as a share of the ladder. Low: ask deeper. High: one chain reaches the top."),
    Signal("graph.node_count", SignalRange(0, 20), lambda view: len(view.graph.nodes),
        "Zahl der Konzepte. Wenige: Das Feld ist noch kaum betreten, erst sammeln. Viele: eher verbinden und abrunden.",
        "Number of concepts. Few: hardly any ground covered, collect first. Many: rather connect and round off."),
    Signal("graph.orphan_count", SignalRange(0, 8), lambda view: len(view.graph.orphans),
        "Konzepte ohne jede Beziehung. Viele: zu ihnen zurückkehren und nachfragen, wofür sie stehen.",
        "Concepts without any relationship. Many: go back to them and ask what they stand for."),
    Signal("llm.certainty", RUBRIC, lambda view: view.readings.rating("certainty"),
        "Wie sicher gesprochen wird (1 tastend, 5 bestimmt). Niedrig: klären, was gemeint ist, ohne zu drängen.",
        "How surely it is said (1 groping, 5 firm). Low: clarify what is meant, without pressing."),
    Signal("llm.engagement", RUBRIC, lambda view: view.readings.rating("engagement"),
        "Wie beteiligt die Person ist (1 abwesend, 5 lebhaft). Niedrig: Thema oder Ton wechseln, beleben.",
        "How engaged the person is (1 absent, 5 lively). Low: change topic or tone, revitalise."),
    Signal("llm.response_depth", ("surface", "moderate", "deep"), lambda view: view.past[-1].depth,
        "Tiefe der Antwort (surface: so bewertet, sonst unter zehn Wörtern oder ein Gedanke). Surface: leichter "
        "fragen. Deep: folgen.",
        "Depth of the answer (surface: rated so, else under ten words or one thought). Surface: ask more easily. Deep: "
        "follow."),
    Signal("llm.sentiment", ("negative", "neutral", "positive"), lambda view: view.readings.sentiment,
        "Stimmung der Antwort in einem Wort. Negativ: anerkennen, bevor vertieft wird.",
        "Mood of the answer in a word. Negative: acknowledge before going deeper."),
    Signal("llm.specificity", RUBRIC, lambda view: view.readings.rating("specificity"),
        "Wie konkret die Antwort ist (1 vage, 5 mit Beispiel). Niedrig: um ein Beispiel bitten.",
        "How concrete the answer is (1 vague, 5 with an example). Low: ask for an example."),
    Signal("llm.topics", SignalRange(0, 5),
        lambda view: None if view.readings.topics is None else len(view.readings.topics),
        "Zahl der Themen, die die Antwort anspricht. Viele: eines davon aufgreifen.",
        "Number of topics the answer touches. Many: take up one of them."),
    Signal("llm.valence", RUBRIC, lambda view: view.readings.rating("valence"),
        "Färbung der Antwort (1 sehr negativ, 5 sehr positiv). Negativ: erst Raum geben, dann weiterfragen.",
        "Colour of the answer (1 very negative, 5 very positive). Negative: give room first, then ask on."),
    Signal("temporal.turns_since_focus_change", SignalRange(0, 6),
        lambda view: max(in_a_row(view.past, lambda turn: turn.focus == view.past[-1].focus) - 1, 0),
        "Runden seit dem letzten Wechsel des Konzepts. Viele: ein Wechsel kann guttun.",
        "Turns since the concept in focus last changed. Many: a change may do good."),
    Signal("meta.exploration_score", SignalRange(0, 1), _exploration,
        "Mittel aus Breite, Verknüpfung und Tiefe. Niedrig: Es ist noch viel zu finden.",
        "Mean of breadth, connectedness and depth. Low: there is a lot left to find."),
    Signal("meta.interview.phase", ("early", "mid", "late"), _phase,
        "Abschnitt des Gesprächs: early sammelt, mid vertieft, late rundet ab.",
        "Stage of the conversation: early collects, mid deepens, late rounds off."),
    Signal("meta.interview_progress", SignalRange(0, 1), _progress,
        "Wie weit das Gespräch ist: Breite, Tiefe, erreichte Endpunkte. Hoch: abrunden und schließen.",
        "How far the conversation has come: breadth, depth, end points reached. High: round off and close."),
    Signal("meta.saturation", SignalRange(0, 1), _saturation,
        "Wie wenig Neues die letzte Antwort brachte, gemessen an der ergiebigsten (1: nichts). Hoch: anders fragen "
        "oder schließen.",
        "How little was new in the last answer, measured by the richest one (1: nothing). High: ask differently or "
        "close."),
)  # fmt: skip
OF_STRATEGY: tuple[Signal, ...] = (
    Signal("temporal.strategy_repetition_count", SignalRange(0, WINDOW),
        lambda view, strategy: sum(turn.strategy == strategy for turn in view.past[-WINDOW:]),
        "Wie oft die Strategie in den letzten fünf Runden gewählt wurde. Oft: abwechseln, sonst ermüdet das Gespräch.",
        "How often the strategy was chosen in the last five turns. Often: vary, or the conversation tires."),
    Signal("graph.kind_count", SignalRange(0, 4),
        lambda view, strategy: min((_of_type(view, kind) for kind in view.asks.get(strategy, ())), default=None),
        "Wie viele Konzepte es von der seltensten Art gibt, nach der die Strategie fragt. Keines: danach wurde noch "
        "nicht gefragt.",
        "How many concepts there are of the rarest kind that the strategy asks for. None: that has not been asked "
        "yet."),
)  # fmt: skip
"""detect(view, strategy)."""
OF_NODE: tuple[Signal, ...] = (
    Signal("graph.node.exhausted", YES_NO, lambda view, node: view.state(node).exhausted,
        "Mehrfach im Fokus, drei Runden ohne Ertrag, zuletzt meist knappe Antworten. Wenn ja: dieses Konzept ruhen "
        "lassen.",
        "In focus repeatedly, three turns dry, recent answers mostly short. If so: leave this concept alone."),
    Signal("graph.node.exhaustion", EXHAUSTION, _exhaustion,
        "Dasselbe in Worten: fresh unter 0,3, moderate unter 0,6, exhausted darüber.",
        "The same in words: fresh below 0.3, moderate below 0.6, exhausted above."),
    Signal("graph.node.exhaustion_score", SignalRange(0, 1), lambda view, node: view.state(node).exhaustion_score,
        "Wie ausgeschöpft ein Konzept ist: Dürre, Dauer im Fokus, Knappheit; ohne Nachfrage kein Wert. Ab 0,6 lohnt "
        "ein Wechsel.",
        "How used up a concept is: dryness, time in focus, shortness; no value before it was asked about. From 0.6 on "
        "a change pays."),
    Signal("graph.node.focus_streak", OFTEN, lambda view, node: OFTEN[bisect((1, 2, 4), view.state(node).streak)],
        "Wie lange ununterbrochen über dieses Konzept gesprochen wird (none 0, low 1, medium 2–3, high ab 4). Hoch: "
        "Luft geben.",
        "For how long this concept has been talked about without a break (none 0, low 1, medium 2–3, high from 4). "
        "High: give air."),
    Signal("graph.node.is_current_focus", YES_NO, lambda view, node: node == view.focus,
        "Ob zuletzt nach diesem Konzept gefragt wurde. Ja: weiterfragen wirkt natürlich, ein Wechsel braucht einen "
        "Grund.",
        "Whether the last question was about this concept. If so: going on is natural, a change needs a reason."),
    Signal("graph.node.is_open_end", YES_NO, _is_open_end,
        "Von hier führt noch nichts weiter, und es ist kein Endpunkt. Wenn ja: hier ist die Kette zu verlängern.",
        "Nothing leads on from here yet, and it is no end point. If so: this is where the chain can grow."),
    Signal("graph.node.is_orphan", YES_NO, lambda view, node: node in view.graph.orphans,
        "Ohne jede Beziehung. Wenn ja: fragen, wofür es steht oder woher es kommt.",
        "Without any relationship. If so: ask what it stands for or where it comes from."),
    Signal("graph.node.edge_count", SignalRange(0, 6), lambda view, node: view.graph.degrees[node],
        "Beziehungen dieses Konzepts. Viele: ein Knotenpunkt, gut zum Zusammenfassen.",
        "Relationships of this concept. Many: a hub, good for summing up."),
    Signal("graph.node.recency_score", SignalRange(0, 1),
        lambda view, node: max(0.0, 1 - view.state(node).since_focus / RECENCY_TURNS),
        "Wie kürzlich von diesem Konzept die Rede war (1 eben, 0 vor zwanzig Runden). Hoch: der Faden ist noch warm.",
        "How recently this concept was spoken of (1 just now, 0 twenty turns ago). High: the thread is still warm."),
    Signal("graph.node.yield_rate", SignalRange(0, 1), lambda view, node: view.state(node).yield_rate,
        "Ertrag je Nachfrage zu diesem Konzept. Hoch: Nachfragen lohnt. Ohne Nachfrage gibt es keinen Wert.",
        "Yield per question about this concept. High: asking pays. Without a question there is no value."),
    Signal("graph.node.yield_stagnation", YES_NO,
        lambda view, node: view.state(node).focused > 0 and view.state(node).stagnant,
        "Drei Runden oder länger ohne neuen Gedanken zu diesem Konzept. Wenn ja: anders fragen oder wechseln.",
        "Three turns or more without a new thought on this concept. If so: ask differently or move on."),
    Signal("meta.node.opportunity", ("exhausted", "probe_deeper", "fresh"), _opportunity,
        "Was ein Konzept noch verspricht: probe_deeper heißt, es wird tief geantwortet, aber noch nichts Neues "
        "gefunden.",
        "What a concept still promises: probe_deeper means that answers are deep but brought nothing new yet."),
)  # fmt: skip
"""detect(view, node)."""
OF_PAIR: tuple[Signal, ...] = (
    Signal("graph.node.strategy_repetition", OFTEN,
        lambda view, node, strategy: OFTEN[bisect((1, 3, 5), view.state(node).strategies.get(strategy, 0))],
        "Wie oft diese Strategie an diesem Konzept schon versucht wurde (low bis 2, medium bis 4). Öfter: eine andere "
        "nehmen.",
        "How often this strategy was already tried on this concept (low to 2, medium to 4). More often: take another "
        "one."),
)  # fmt: skip
"""detect(view, node, strategy)."""

SIGNALS: Mapping[str, Signal] = {
    signal.name: signal for table in (OF_INTERVIEW, OF_NODE, OF_STRATEGY, OF_PAIR) for signal in table
}
_ALL_WORDS = frozenset(word for signal in SIGNALS.values() for word in signal.words)

# --- detection --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Detected:
    """The signals of one turn: of the interview, by node, by strategy, by (strategy, node). All values are flat."""

    interview: Values
    nodes: Mapping[str, Values]
    strategies: Mapping[str, Values]
    pairs: Mapping[tuple[str, str], Values]

    def of(self, strategy: str, node: str) -> dict[str, Value]:
        """What counts for a strategy used on a node ("" for none); a node's signals win over the interview's."""
        return {
            **self.interview,
            **self.strategies.get(strategy, {}),
            **self.nodes.get(node, {}),
            **self.pairs.get((strategy, node), {}),
        }


def detect(view: SignalView, strategies: Sequence[str]) -> Detected:
    """All signals that have something to say."""
    nodes = list(view.graph.nodes)
    return Detected(
        interview=_read(OF_INTERVIEW, view),
        nodes={node: _read(OF_NODE, view, node) for node in nodes},
        strategies={name: _read(OF_STRATEGY, view, name) for name in strategies},
        pairs={(name, node): _read(OF_PAIR, view, node, name) for name in strategies for node in nodes},
    )


def _read(table: Sequence[Signal], view: SignalView, *of: str) -> dict[str, Value]:
    return {s.name: value for s in table if (value := s.detect(view, *of)) is not None}


@cache
def split_key(key: str) -> tuple[str, str]:
    """A weight key as (signal, word): 'graph.node.exhausted.true' → ('graph.node.exhausted', 'true'); word '' for a
    bare one."""
    if key in SIGNALS:
        return key, ""
    name, _, word = key.rpartition(".")
    return name, word


def checked_key(key: str) -> str:
    """Validator of a weight key: a signal, and a value that it can take."""
    name, word = split_key(key)
    if name not in SIGNALS:
        raise wrong(f"'{key}' names no signal{suggestion(name if word in _ALL_WORDS else key, sorted(SIGNALS))}")
    signal = SIGNALS[name]
    if not word and not isinstance(signal.scale, SignalRange) and signal.scale != YES_NO:
        raise wrong(f"'{key}' is a category; name one of its values, such as {name}.{signal.words[0]}")
    if word and word not in signal.words:
        raise wrong(f"'{key}': {name} is never '{word}'; write {' or '.join(f'{name}.{w}' for w in signal.words)}")
    return key
