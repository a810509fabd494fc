"""What comes after an answer: the next question, chosen among every strategy on every concept, and its words; or the
end.

score = Σ weight × value, a key with a value counting 1 where it holds; times the phase multiplier of the strategy. A
negative score is divided by it instead, so that a phase which favours a strategy never makes it worse.

An interview ends at its last turn, after a closing strategy, or because nothing more comes.

From turn `from_turn` on, or in the late phase: so many shallow answers in a row that brought nothing, turns without
yield, turns at the same depth, or no concept left that could still yield. Two of these are narrower than the words
suggest, or they would end every good interview: a turn counts as one at the same depth only if it found no link either
(a second chain that catches up with the first is no standstill), and concepts are exhausted only when every one is by
its own state, or when all are dry and no strategy is left that was not tried on each it suits (a concept could
otherwise not be left for another one, nor be asked about in another way).
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from enquete.instruments.text import Text
from enquete.methods.laddering.knowledge import KnowledgeGraph
from enquete.methods.laddering.settings import (
    FOCUS,
    MOST_FOCUS_WORDS,
    MOST_WORDS,
    SECOND,
    THIRD,
    TOPIC,
    InterviewMethod,
    LadderingSettings,
    StopRule,
    Technique,
    most_words,
)
from enquete.methods.laddering.signals import SIGNALS, Detected, Past, States, Value, Values, in_a_row, split_key
from enquete.respondents.ground_truth import pick, uniform
from enquete.respondents.roles import normal
from enquete.state.asking import Language

CLOSING_FROM = 5  # turns an interview must have for a closing question: of fewer it would take too large a share
NEAR = 0.5  # of a score: pairs that close to the best one are as good
SHOWN = 5  # runners-up that are kept

Reason = Literal[
    "", "max_turns", "closing", "shallow", "no_yield", "same_depth", "all_exhausted", "nothing_left", "ended"
]

Pair = tuple[str, str]  # strategy, focus


class Use(NamedTuple):
    """What an interview has spent: the same technique of the same strategy never comes twice on the same concept."""

    strategy: str
    technique: str
    focus: str


class Candidate(NamedTuple):
    """A strategy, the concept it would ask about ("" for none), and the ways it could be put."""

    strategy: str
    focus: str
    techniques: tuple[Technique, ...]


class Scored(BaseModel):
    """A pair with its score and what made it up: weight key → contribution, before the multiplier."""

    model_config = ConfigDict(frozen=True)

    strategy: str
    focus: str
    score: float
    parts: Mapping[str, float] = {}


class QuestionChoice(BaseModel):
    """What the next question will be, and why. `runners_up`: the best others, without their parts.

    `because`: set on a closing question that was not chosen by its score: why the interview ends with the answer to it.
    """

    model_config = ConfigDict(frozen=True)

    strategy: str
    focus: str
    technique: str
    score: float
    parts: Mapping[str, float] = {}
    multiplier: float = 1.0
    bonus: float = 0.0
    runners_up: tuple[Scored, ...] = ()
    because: Reason = ""

    @property
    def use(self) -> Use:
        return Use(self.strategy, self.technique, self.focus)


def contributions(weights: Mapping[str, float], values: Values) -> dict[str, float]:
    """weight × value of every key that counts. A signal that is not active counts nothing."""
    parts = {}
    for key, weight in weights.items():
        name, word = split_key(key)
        if name in values:
            signal, value = SIGNALS[name], values[name]
            if share := float(signal.word(value) == word) if word else signal.normal(value):
                parts[key] = weight * share
    return parts


def total(parts: Mapping[str, float], multiplier: float) -> float:
    """Return the score of a pair: Σ weight × value, times the phase's multiplier, whichever sign it has."""
    return sum(parts.values()) * multiplier


def rank(method: InterviewMethod, candidates: Sequence[Candidate], detected: Detected) -> list[Scored]:
    """Candidates by score, the best first; equals in their given order."""
    phase = str(detected.interview["meta.interview.phase"])
    scored = []
    for strategy, focus, _ in candidates:
        parts = contributions(method.strategies[strategy].weights, detected.of(strategy, focus))
        score = total(parts, method.multiplier(phase, strategy)) + method.bonus(phase, strategy)
        scored.append(Scored(strategy=strategy, focus=focus, score=round(score, 6), parts=parts))
    return sorted(scored, key=lambda pair: -pair.score)


def script(method: InterviewMethod) -> list[tuple[str, str]]:
    """A fixed order of (strategy, technique): the first technique of each strategy that does not close, then the
    second, …"""
    ways = {name: strategy.techniques for name, strategy in method.strategies.items() if not strategy.closing}
    longest = max(map(len, ways.values()), default=0)
    return [(name, all_[place].id) for place in range(longest) for name, all_ in ways.items() if place < len(all_)]


def scripted(method: InterviewMethod, candidates: Sequence[Candidate], number: int) -> QuestionChoice | None:
    """What the script asks after turn `number`, whatever was said: its next way that can be put at all, about the
    latest concept where it needs one; None at its end. The comparison that adapting is measured against."""
    slots = deque(script(method))
    slots.rotate(1 - number)
    focuses = {(pair.strategy, way.id): pair.focus for pair in candidates for way in pair.techniques}
    for name, technique in slots:
        if (name, technique) in focuses:
            focus = focuses[name, technique]
            return QuestionChoice(strategy=name, focus=focus, technique=technique, score=0.0)
    return None


def choose(
    method: InterviewMethod,
    candidates: Sequence[Candidate],
    detected: Detected,
    linked_types: Mapping[str, frozenset[str]],
    types: Mapping[str, str],
    random_key: tuple[str | int, ...] | None = None,
    used: Sequence[Use] = (),
    key: tuple[str | int, ...] = (),
) -> QuestionChoice:
    """The best pair (with a `random_key` any that does not close the interview) and the technique that serves it.

    linked_types: node → types of its neighbours; types: node → its own type; used: what was asked so far; key: draws
    among pairs that are nearly as good as the best, so that not all interviews go the same way; the first without one.
    """
    ranked = rank(method, candidates, detected)
    near = [pair for pair in ranked if ranked[0].score - pair.score <= NEAR] if key else ranked[:1]
    best = near[int(uniform(*key, "near") * len(near))] if key else near[0]
    if random_key:  # each as likely as the other, but a closing one: chance must not look bad for ending at once
        going_on = [pair for pair in candidates if not method.strategies[pair.strategy].closing] or candidates
        chosen = going_on[int(uniform(*random_key, "random strategy") * len(going_on))]
        best = Scored(strategy=chosen.strategy, focus=chosen.focus, score=0.0)
    candidate = next(pair for pair in candidates if (pair.strategy, pair.focus) == (best.strategy, best.focus))
    linked = frozenset[str | None](linked_types.get(best.focus, frozenset()))
    technique = least_used(method, candidate, linked, types.get(best.focus, ""), used, frozenset(types.values()))
    others = [pair for pair in ranked if (pair.strategy, pair.focus) != (best.strategy, best.focus)]
    phase = str(detected.interview["meta.interview.phase"])
    return QuestionChoice(
        strategy=best.strategy, focus=best.focus, technique=technique.id, score=best.score, parts=best.parts,
        multiplier=method.multiplier(phase, best.strategy), bonus=method.bonus(phase, best.strategy),
        runners_up=tuple(pair.model_copy(update={"parts": {}}) for pair in others[:SHOWN]),
    )  # fmt: skip


def least_used(
    method: InterviewMethod,
    candidate: Candidate,
    linked: frozenset[str | None],
    own_type: str,
    used: Sequence[Use],
    known: frozenset[str] = frozenset(),
) -> Technique:
    """One that asks for a type still missing beside the concept: a comparison of three first, then a type that is not
    `known` in the interview yet, then the rung above; of those the one used least in the interview, then least on the
    concept, then the first of the file."""
    in_interview = Counter((use.strategy, use.technique) for use in used)
    on_concept = Counter(use.technique for use in used if use.focus == candidate.focus)
    above = method.next_type(own_type)

    def rank_of(technique: Technique) -> tuple[bool, bool, bool, bool, int, int]:
        aim = method.aim(technique.elicits, own_type)
        used_so_far = in_interview[candidate.strategy, technique.id], on_concept[technique.id]
        return (aim in linked, not technique.triad, aim in known, above is not None and aim != above, *used_so_far)

    return min(candidate.techniques, key=rank_of)


# --- the end ----------------------------------------------------------------------------------------------------------


def stop_reason(
    past: Sequence[Past],
    states: States,
    *,
    turns: int,
    closed: bool,
    phase: str,
    candidates: Collection[Pair],
    stops: StopRule,
) -> Reason:
    """Why the interview ends after the last of `past`, "" to go on. `closed`: that turn's strategy was a closing one;
    `candidates`: every (strategy, focus) that could still be asked, "" for no focus."""
    if closed:
        return "closing"
    if len(past) >= turns:
        return "max_turns"
    if not candidates:
        return "nothing_left"
    if len(past) < stops.from_turn and phase != "late":
        return ""
    if in_a_row(past, lambda turn: turn.barren) >= stops.shallow:
        return "shallow"
    if in_a_row(past, lambda turn: not turn.yielded) >= stops.without_yield:
        return "no_yield"
    if in_a_row(past, lambda turn: turn.chain == past[-1].chain and not turn.new_edges) >= stops.same_depth:
        return "same_depth"
    return "all_exhausted" if all_exhausted(states, untried(past, states, candidates)) else ""


def all_exhausted(states: States, untried: Collection[Pair] = ()) -> bool:
    """Every concept is exhausted by its own state; or each is dry, was in focus, and nothing is left to try."""
    if not states:
        return False
    if all(state.exhausted for state in states.values()):
        return True
    return not untried and all(state.focused and state.stagnant for state in states.values())


def untried(past: Sequence[Past], states: States, candidates: Collection[Pair]) -> list[Pair]:
    """Candidates whose strategy was not yet used on their concept; without a concept, not yet used at all."""
    used = {turn.strategy for turn in past if not turn.focus}
    return [
        (strategy, focus)
        for strategy, focus in candidates
        if (strategy not in states[focus].strategies if focus in states else strategy not in used)
    ]


def closing_turn(
    method: InterviewMethod, used: Sequence[Use], *, turns: int, done: int, stop: Reason, heard: bool
) -> QuestionChoice | None:
    """The closing question that an interview which would end with `stop` ("" for one that goes on) is to have first.

    It is also the last of all `turns`. None where there is no turn for it, it was asked, or nothing was `heard` so far.
    """
    if not heard or turns < CLOSING_FROM or done >= turns or stop in ("max_turns", "closing"):
        return None
    because: Reason = stop or ("max_turns" if done == turns - 1 else "")
    closing = [(name, strategy) for name, strategy in method.strategies.items() if strategy.closing]
    if not because or not closing or {use.strategy for use in used} & {name for name, _ in closing}:
        return None
    name, strategy = closing[0]
    return QuestionChoice(strategy=name, focus="", technique=strategy.techniques[0].id, score=0.0, because=because)


# --- words of a question ----------------------------------------------------------------------------------------------

MOST_QUOTED = 8  # words, however much room a question has

_BRACKETS = re.compile(r"[\[\]{}<>]")
_PUNCTUATION = " ,.;:!?–—-"


def as_one_line(text: str) -> str:
    """Without line breaks and without anything that could look like a mark around data."""
    return " ".join(_BRACKETS.sub("", text).split())


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nothing can end in one of these: something must follow.
_LINKING: Mapping[Language, frozenset[str]] = {
    "de": words_of(
        """der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines mein meine
        meinen meinem meiner meines dein deine unser unsere unseren unserem unserer unseres ihr ihre ihren ihrem ihrer
        sein seine seinen seinem seiner seines dieser diese dieses diesen diesem jeder jede jedes jeden jedem und oder
        aber sondern sowie denn als wie weil dass daß wenn ob damit obwohl sodass bevor nachdem sehr so zu"""
    ),
    "en": words_of(
        """a an the my our your his her its their this these those every each no some any many much very and or but nor
        because that which who whom whose when where while if whether although since than as"""
    ),
}  # fmt: skip
# What is cut off behind one of these was its other half. At the end of a whole text they may be a part of the verb.
_OPENING: Mapping[Language, frozenset[str]] = {
    "de": words_of(
        """in im ins an am ans auf aufs aus bei beim mit nach von vom vor zu zum zur für durch gegen ohne um unter über
        zwischen hinter neben bis seit während wegen trotz statt je pro per ab gegenüber viel viele vielen vieler manche
        manchen alle allen aller ich wir man es sie er ist sind war waren wird werden hat haben kann können muss müssen
        soll will nicht mehr ganz"""
    ),
    "en": words_of(
        """in on at by for from of off to into onto with without within about over under between behind beside near
        through during against across along among around per via before after until towards is are was were be been has
        have had do does did can could will would should must i we you they he she it not more all both other"""
    ),
}  # fmt: skip
_CLAUSE: Mapping[Language, frozenset[str]] = {
    "de": words_of("weil dass daß wenn ob damit obwohl sodass bevor nachdem"),
    "en": words_of("because that which who whom whose when where while if whether although"),
}


@lru_cache(maxsize=65_536)  # every technique that could be used on a concept quotes it
def in_few_words(label: str, room: int, language: Language) -> str:
    """A label in at most `room` words, without anything that marks data; what is cut is cut between phrases."""
    words = [word for word in as_one_line(label).split() if word.strip(_PUNCTUATION)]
    cut = len(words) > room
    kept = _closed(words[:room], words[room], language) if cut else words
    endless = _LINKING[language] | (_OPENING[language] if cut or len(words) >= MOST_QUOTED else frozenset())
    while len(kept) > 1 and _bare(kept[-1]) in endless:
        kept.pop()
    return " ".join(kept).strip(_PUNCTUATION)


def _closed(kept: list[str], following: str, language: Language) -> list[str]:
    """Without the clause or phrase that goes on in `following`; a single word stays whatever it is."""
    for place in range(1, len(kept)):
        if _bare(kept[place]) in _CLAUSE[language] or kept[place - 1].endswith((",", ";", ":")):
            return kept[:place]
    function = _LINKING[language] | _OPENING[language]
    # A German noun closes its phrase, unless it is the next word's first half.
    is_noun = language == "de" and kept[-1][0].isupper() and not following[0].isupper()
    if _bare(following) in function or is_noun:
        return kept
    last = max((place for place in range(1, len(kept)) if _bare(kept[place]) in function), default=len(kept))
    return kept[:last]


def _bare(word: str) -> str:
    return word.strip(_PUNCTUATION).casefold()


SAME_QUESTION = 0.9  # share of words in common from which a question counts as asked before
DRY_OPENERS = 2
"""Questions for something new, since anything last came, after which the interviewer stops asking for it."""

_NODE_ID = re.compile(r"\bn\d+\b")
# What makes a question more insistent and no other one.
_PARTICLES = frozenset({
    "so", "sehr", "denn", "eigentlich", "nun", "jetzt", "genau", "überhaupt", "wirklich", "gerade", "bitte",
    "really", "very", "then", "just", "exactly", "now",
})  # fmt: skip


Named = tuple[str, ...]
"""The concepts that a question names, by their texts: one, three that it compares, or ("",)."""


class WordedQuestion(BaseModel):
    question: str


class SignalShown(BaseModel):
    """An active signal as the interviewer reads it."""

    name: str
    value: str
    reading: str


class WordingInput(BaseModel):
    """What a question is made from. `pool`: the rule's own questions, none of them asked yet; `focus`: "" without one;
    `clients_view`: what the client believes and promises; `jargon`: words that a question must not hold; `asked`:
    questions that were asked before, this and `jargon` as `normal` writes them; `compared`: three concepts that it
    names."""

    opening: bool
    topic: str
    method: str
    ladder: list[str]
    method_goal: str
    goal: str
    transcript: list[tuple[str, str]] = []  # (question, answer), the latest last
    signals: list[SignalShown] = []
    why: list[str] = []
    focus: str = ""
    compared: list[str] = []
    strategy: str = ""
    strategy_description: str = ""
    technique: str = ""
    clients_view: list[str] = []
    jargon: list[str] = []
    asked: frozenset[str] = frozenset()
    pool: list[str]


def ask_by_rule(data: WordingInput) -> WordedQuestion:
    """The first of the pool."""
    return WordedQuestion(question=as_one_line(data.pool[0]))


def fit_to_ask(data: WordingInput, worded: WordedQuestion) -> WordedQuestion | None:
    """A model's question; None for one that is too long, asks twice, was asked before, speaks of node types or compares
    others."""
    question = as_one_line(worded.question)
    fit = acceptable(question, data.asked, data.jargon, most_words(bool(data.compared)))
    names = all(f" {normal(text)} " in f" {normal(question)} " for text in data.compared)
    return WordedQuestion(question=question) if fit and names else None


def worded(question: Text, named: Named, language: Language) -> str:
    """A pool's question about a concept, quoted in as many of its words as the question has room for; about three, in
    few of each."""
    frame = question.in_(language)
    if len(named) == 1:
        room = MOST_WORDS - len(frame.replace(FOCUS, "x").split()) + 1
        return frame.replace(FOCUS, in_few_words(named[0], min(room, MOST_QUOTED), language))
    for place, text in zip((FOCUS, SECOND, THIRD), named, strict=True):
        frame = frame.replace(place, in_few_words(text, MOST_FOCUS_WORDS, language))
    return frame


def open_questions(
    questions: Iterable[Text], names: Iterable[Named], asked: Collection[str], language: Language
) -> Iterator[tuple[str, Named]]:
    """Questions that were not asked yet with the concepts they name; `asked` holds them as `normal` writes them."""
    for named in names:
        for question in questions:
            text = worded(question, named, language)
            if not asked_before(text, asked):
                yield text, named


def namings(technique: Technique, focus: str, graph: KnowledgeGraph) -> list[Named]:
    """What a technique can name: the focus, "" where it asks about none; of a triad with any two others of its type."""
    if not technique.triad:
        return [(graph.nodes[focus].text if focus else "",)]
    node = graph.nodes[focus]
    others = [other.text for other in graph.nodes.values() if other.type == node.type and other.id != focus]
    return [(node.text, *pair) for pair in combinations(others, 2)]


def technique_pool(
    technique: Technique, names: Iterable[Named], asked: Collection[str], language: Language
) -> list[tuple[str, Named]]:
    """A technique's questions that were not asked yet, the wording that was heard least first."""

    def heard(question: Text) -> int:
        frame = normal(question.in_(language).replace(FOCUS, ""))
        return sum(frame in question for question in asked)

    return list(open_questions(sorted(technique.questions, key=heard), names, asked, language))


def candidates(
    method: InterviewMethod,
    graph: KnowledgeGraph,
    asked: Collection[str],
    language: Language,
    used: Collection[Use] = (),
    past: Sequence[Past] = (),
) -> list[Candidate]:
    """Every strategy on every concept it can serve, in the file's order and that of the conversation.

    A pair needs a technique that suits the concept, whose answer could hang together with it, and that was not used on
    it: so nothing is ever asked twice, whoever words it; a pole that has its opposite is not asked for it. After
    questions for something new that brought nothing, another one would be pestering: they rest until an answer brings
    something again, unless there is no concept to ask about.
    """
    dry = past[len(past) - in_a_row(past, lambda turn: not turn.yielded) :]
    resting = bool(graph.nodes) and sum(bool(turn.strategy) and not turn.focus for turn in dry) >= DRY_OPENERS
    whole = {edge.source for edge in graph.edges.values() if edge.contrast}
    concepts, pairs = [(node.id, node.type) for node in graph.nodes.values()], []
    for name, strategy in method.strategies.items():
        if resting and not strategy.focus and not strategy.closing:
            continue
        for focus, kind in concepts if strategy.focus else [("", "")]:
            fitting = tuple(
                technique
                for technique in strategy.techniques
                if Use(name, technique.id, focus) not in used
                and method.applicable(technique, kind)
                and not (focus in whole and technique.elicits == method.opposite_type(kind))
                and any(open_questions(technique.questions, namings(technique, focus, graph), asked, language))
            )
            if fitting:
                pairs.append(Candidate(name, focus, fitting))
    return pairs


def acceptable(question: str, asked: Collection[str], jargon: Collection[str] = (), most: int = MOST_WORDS) -> bool:
    """One question of at most so many words that was not asked before, in words that a respondent would use.

    `asked` and `jargon` hold texts as `normal` writes them.
    """
    words, text = len(question.split()), normal(question)
    if not 2 <= words <= most or question.count("?") != 1 or _NODE_ID.search(text):
        return False
    return not any(f" {term} " in f" {text} " for term in jargon) and not asked_before(question, asked)


def asked_before(question: str, asked: Collection[str]) -> bool:
    """Whether a question is one of `asked` (as `normal` writes them), or so like one that a respondent hears it
    again."""
    text = normal(question)
    if text in asked:
        return True
    words = _telling_words(text)
    for others in _heard(frozenset(asked)):  # no generator: it would cost more than the comparison
        if 2 * len(words & others) >= SAME_QUESTION * (len(words) + len(others)):
            return True
    return False


@lru_cache(maxsize=1024)  # some hundred questions a turn are held against every one so far
def _heard(asked: frozenset[str]) -> list[frozenset[str]]:
    return [words for question in asked if (words := _telling_words(question))]


@lru_cache(maxsize=65_536)  # a question is compared with every later one of its interview
def _telling_words(text: str) -> frozenset[str]:
    return frozenset(text.split()) - _PARTICLES


# --- what the interviewer is told -------------------------------------------------------------------------------------


def technique_of(method: InterviewMethod, choice: QuestionChoice) -> Technique:
    """KeyError for one that the methodology does not have."""
    return {technique.id: technique for technique in method.strategies[choice.strategy].techniques}[choice.technique]


def opening_questions(settings: LadderingSettings, language: Language) -> list[str]:
    """Return what a rule may open with: the methodology's questions, about the concept's topic."""
    topic = settings.topic.topic.in_(language)
    questions = []
    for question in settings.method.opening.questions:
        frame = question.in_(language)
        other_words = len(frame.replace(TOPIC, "").split())
        named = in_few_words(topic, max(MOST_WORDS - other_words, 1), language)
        questions.append(frame.replace(TOPIC, named))
    return questions


def opening(settings: LadderingSettings, language: Language, *key: str | int) -> WordingInput:
    """For the first question; `key` draws which of the rule's openings stands first."""
    questions = opening_questions(settings, language)
    first = pick(questions, *key)
    return WordingInput(
        opening=True, goal=settings.method.opening.goal.in_(language), **_about(settings, [], language),
        pool=[first, *(question for question in questions if question != first)],
    )  # fmt: skip


def _about(settings: LadderingSettings, answers: Sequence[str], language: Language) -> dict[str, Any]:
    """What is the same of every question: the topic, the client's view of it, the method and its jargon."""
    method, concept = settings.method, settings.topic
    return {
        "topic": concept.topic.in_(language), "clients_view": [text.in_(language) for text in concept.clients_view],
        "method": method.title.in_(language), "method_goal": method.goal.in_(language),
        "ladder": [method.node_types[rung].label.in_(language) for rung in method.ladder],
        "jargon": list(jargon(method, answers, language)),
    }  # fmt: skip


def follow_up(
    settings: LadderingSettings,
    choice: QuestionChoice,
    graph: KnowledgeGraph,
    detected: Detected,
    transcript: list[tuple[str, str]],
    asked: frozenset[str],
    language: Language,
) -> WordingInput:
    """For a question that follows the choice: the active signals with their readings, and why this strategy won."""
    method = settings.method
    strategy, technique = method.strategies[choice.strategy], technique_of(method, choice)
    focus = graph.nodes[choice.focus].text if choice.focus else ""
    asking = technique_pool(technique, namings(technique, choice.focus, graph.standing), asked, language)
    return WordingInput(
        opening=False, goal=strategy.goal.in_(language), transcript=transcript,
        **_about(settings, [answer for _, answer in transcript], language),
        signals=list(active(choice.parts, detected.of(choice.strategy, choice.focus), language)),
        why=list(reasons(choice)), focus=focus, strategy=strategy.label.in_(language),
        compared=[in_few_words(text, MOST_FOCUS_WORDS, language) for text in asking[0][1]] if technique.triad else [],
        strategy_description=strategy.description.in_(language), technique=technique.description.in_(language),
        asked=asked, pool=[text for text, _ in asking],
    )  # fmt: skip


def active(parts: Mapping[str, float], values: Mapping[str, Value], language: Language) -> Iterator[SignalShown]:
    """The signals that counted for the choice, each with what its value means."""
    for name in dict.fromkeys(split_key(key)[0] for key in parts):
        signal, value = SIGNALS[name], values[name]
        shown = f"{value:.2f}" if isinstance(value, float) else str(value).lower()
        yield SignalShown(name=name, value=shown, reading=signal.reading(language))


def reasons(choice: QuestionChoice) -> Iterator[str]:
    """What spoke for the choice and against it, the strongest first."""
    for key, part in sorted(choice.parts.items(), key=lambda pair: -abs(pair[1])):
        yield f"{key}: {part:+.1f}"
    if choice.because:
        yield f"end: {choice.because}"
    if choice.multiplier != 1:
        yield f"phase: ×{choice.multiplier:g}"
    if choice.bonus:
        yield f"phase: {choice.bonus:+g}"


def jargon(method: InterviewMethod, answers: Sequence[str], language: Language) -> Iterator[str]:
    """Names of node types that no question may hold: none that the respondent or the methodology's own questions
    use."""
    pool = [q for s in method.strategies.values() for t in s.techniques for q in t.questions]
    asked = [question.in_(language).replace(TOPIC, "") for question in (*pool, *method.opening.questions)]
    everyday = f" {normal(' '.join([*answers, *asked]))} "
    for name, kind in method.node_types.items():
        for term in dict.fromkeys((normal(name), normal(kind.label.in_(language)))):
            if f" {term} " not in everyday:
                yield term
