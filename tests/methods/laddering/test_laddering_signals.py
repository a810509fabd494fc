"""Every signal at its boundaries, the two passes, and the key rules of weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.methods.laddering.interviewer import JudgementInput, trimmed
from enquete.methods.laddering.signals import (
    SIGNALS,
    AnswerRating,
    Depth,
    NodeState,
    Readings,
    Value,
    after_answer,
    after_choice,
    depth_of,
    detect,
)
from tests.methods.laddering.builders import graph, past, view

RATED = Readings(
    specificity=AnswerRating(rating=1), certainty=AnswerRating(rating=2), valence=AnswerRating(rating=5),
    engagement=AnswerRating(rating=4), sentiment="positive", topics=("a", "b"),
)  # fmt: skip

# name → [(view, value, word)]: of the interview
MANY = "a1 " + " ".join(f"f{i}" for i in range(1, 15))  # fifteen concepts


def star(links: int) -> str:
    return " ".join(f"a1>f{i}" for i in range(1, links + 1))


OF_INTERVIEW: dict[str, list[tuple[Any, Value | None, str]]] = {
    "graph.node_count": [(view(), 0, "low"), (view(graph("a1 a2 a3 a4 a5")), 5, "low"),
                         (view(graph(" ".join(f"a{i}" for i in range(15)))), 15, "high")],
    "graph.first_count": [(view(graph("a1 a2 f1")), 2, "low"), (view(graph("a1 a2 a3")), 3, "mid")],
    "graph.edge_count": [(view(), 0, "low"), (view(graph("a1 f1", "a1>f1")), 1, "low")],
    "graph.max_depth": [
        (view(), 0.0, "low"), (view(graph("a1")), 0.2, "low"), (view(graph("a1 f1", "a1>f1")), 0.4, "mid"),
        (view(graph("a1 f1 p1 i1", "a1>f1 f1>p1 p1>i1")), 0.8, "high"),
    ],
    "graph.orphan_count": [(view(graph("a1 f1", "a1>f1")), 0, "low"),
                           (view(graph("a1 a2 a3")), 3, "mid"), (view(graph("a1 a2 a3 a4 a5 a6")), 6, "high")],
    "graph.coverage_breadth": [(view(), 0.0, "low"),
        (view(graph("a1", elements={"a1": ("quota", "price")})), 0.25, "low"),
                               (view(graph("a1", elements={"a1": ("quota", "price", "origin")})), 0.375, "mid")],
    "graph.chain_completion.ratio": [(view(), None, ""), (view(graph("a1")), 0.0, "low"),
                                     (view(graph("a1 a2 f1 p1 i1 t1", "a1>f1 f1>p1 p1>i1 i1>t1")), 0.5, "mid")],
    "graph.chain_completion.has_complete": [(view(), None, ""), (view(graph("a1")), False, "false"),
                                            (view(graph("a1 f1 p1 i1 t1", "a1>f1 f1>p1 p1>i1 i1>t1")), True, "true")],
    "llm.response_depth": [(view(turns=[past(depth="surface")]), "surface", "surface"),
        (view(turns=[past(depth="deep")]), "deep", "deep")],
    "llm.specificity": [(view(), None, ""), (view(readings=RATED), 1, "low")],
    "llm.certainty": [(view(readings=RATED), 2, "low")],  # (2 − 1)/4 = .25, the upper end of low
    "llm.valence": [(view(readings=RATED), 5, "high")],
    "llm.engagement": [(view(readings=RATED), 4, "high")],  # (4 − 1)/4 = .75, the lower end of high
    "llm.sentiment": [(view(), None, ""), (view(readings=RATED), "positive", "positive")],
    "llm.topics": [(view(), None, ""), (view(readings=RATED), 2, "mid")],
    "temporal.turns_since_focus_change": [
        (view(turns=[past(focus="a1")]), 0, "low"), (view(turns=[past(focus="a1"), past(focus="f1")]), 0, "low"),
        (view(turns=[past(focus="x"), *[past(focus="a1")] * 4]), 3, "mid"),
    ],
    "meta.interview.phase": [
        (view(graph("a1 a2 a3 a4")), "early", "early"), (view(graph("a1 a2 a3 a4 a5")), "mid", "mid"),
        (view(graph(MANY.removesuffix(" f14"), star(13))), "mid", "mid"),  # 14
        (view(graph(MANY, star(14))), "late", "late"),  # 15
        (view(graph(MANY, star(11))), "late", "late"),  # 3 orphans
        (view(graph(MANY, star(10))), "mid", "mid"),  # 4 orphans
    ],
    # .4 × coverage + .4 × min(chain / 3, 1) + .2 × (1 − .3 without an end point)
    "meta.interview_progress": [
        (view(), 0.14, "low"), (view(graph("a1 f1 p1", "a1>f1 f1>p1")), 0.54, "mid"),
        (view(graph("t1")), 0.4 / 3 + 0.2, "mid"),
        (view(graph("a1 f1 p1 i1 t1", "a1>f1 f1>p1 p1>i1 i1>t1",
            {"a1": ("quota", "stocks", "protection", "harbour")})), 0.8, "high"),
    ],
    # mean of breadth, 1 − share of orphans, chain / rungs
    "meta.exploration_score": [(view(), 0.0, "low"), (view(graph("a1 f1", "a1>f1")), (0 + 1 + 0.4) / 3, "mid")],
    "meta.saturation": [
        (view(), None, ""), (view(turns=[past(new_nodes=2), past(new_nodes=0)]), 1.0, "high"),
        (view(turns=[past(new_nodes=2), past(new_nodes=1)]), 0.5, "mid"), (view(turns=[past(new_nodes=2)]), 0.0, "low"),
    ],
}  # fmt: skip


def of_node(state: NodeState, known: str = "a1 f1", links: str = "a1>f1", focus: str = "", node: str = "a1") -> Any:
    return view(graph(known, links), {node: state}, focus=focus)


EXHAUSTED = NodeState(focused=3, streak=2, since_yield=3, depths=("surface", "surface", "surface"))

# name → [(view, value)]: of node a1
OF_NODE: dict[str, list[tuple[Any, Value | None]]] = {
    "graph.node.exhausted": [(of_node(NodeState()), False), (of_node(EXHAUSTED), True)],
    # None before the first question about it, however long ago it was said
    "graph.node.exhaustion_score": [(of_node(NodeState(since_yield=8)), None),
                                    (of_node(NodeState(focused=1, since_yield=5)), 0.2)],
    # fresh below .3, moderate below .6: .4 × 7/10 = .28; × 8/10 = .32; .4 + .3 × 3/5 = .58; .4 + .3 × 4/5 = .64
    "graph.node.exhaustion": [
        (of_node(NodeState(since_yield=8)), None), (of_node(NodeState(focused=1, since_yield=7)), "fresh"),
        (of_node(NodeState(focused=1, since_yield=8)), "moderate"),
        (of_node(NodeState(focused=3, since_yield=10, streak=3)), "moderate"),
        (of_node(NodeState(focused=4, since_yield=10, streak=4)), "exhausted")],
    "graph.node.yield_stagnation": [
        (of_node(NodeState(focused=1, since_yield=2)), False), (of_node(NodeState(focused=1, since_yield=3)), True),
        (of_node(NodeState(focused=0, since_yield=9)), False),
    ],
    "graph.node.focus_streak": [(of_node(NodeState(streak=n)), word) for n, word in
                                ((0, "none"), (1, "low"), (2, "medium"), (3, "medium"), (4, "high"), (9, "high"))],
    "graph.node.is_current_focus": [(of_node(NodeState(), focus="a1"), True),
        (of_node(NodeState(), focus="f1"), False)],
    "graph.node.recency_score": [(of_node(NodeState(since_focus=0)), 1.0), (of_node(NodeState(since_focus=5)), 0.75),
                                 (of_node(NodeState(since_focus=20)), 0.0), (of_node(NodeState(since_focus=30)), 0.0)],
    "graph.node.is_orphan": [(of_node(NodeState()), False), (of_node(NodeState(), "a1 f1", ""), True)],
    "graph.node.is_open_end": [(of_node(NodeState()), False), (of_node(NodeState(), "a1 f1", ""), True),
                                # what came after it, whichever way the link points
                                (of_node(NodeState(), "a1 a2", "a2>a1"), False),
                                (of_node(NodeState(), "a2 a1", "a1>a2"), True)],
    "graph.node.edge_count": [(of_node(NodeState()), 1), (of_node(NodeState(), "a1", ""), 0)],
    "graph.node.yield_rate": [(of_node(NodeState()), None), (of_node(NodeState(focused=4, yields=1)), 0.25)],
    "meta.node.opportunity": [
        (of_node(EXHAUSTED), "exhausted"), (of_node(NodeState()), "fresh"),
        (of_node(NodeState(focused=1, depths=("deep",))), "probe_deeper"),  # deep, but nothing came of it
        (of_node(NodeState(focused=1, yields=1, depths=("deep",))), "fresh"),
        # deep, but not recently
        (of_node(NodeState(focused=4, depths=("deep", "moderate", "moderate", "moderate"))), "fresh"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "seen", "value", "word"), [(n, *case) for n, cases in OF_INTERVIEW.items() for case in cases]
)
def test_a_signal_of_the_interview_at_its_boundary(name: str, seen: Any, value: Value | None, word: str) -> None:
    signal = detect(seen, ["deepen"]).interview.get(name)
    if value is None:
        assert signal is None
    else:
        assert signal == (pytest.approx(value) if isinstance(value, float) else value)
        assert type(signal) is type(value)
        assert SIGNALS[name].word(value) == word


@pytest.mark.parametrize(("name", "seen", "value"), [(n, *case) for n, cases in OF_NODE.items() for case in cases])
def test_a_signal_of_a_concept_at_its_boundary(name: str, seen: Any, value: Value | None) -> None:
    signal = detect(seen, ["deepen"]).nodes["a1"].get(name)
    assert signal == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("times", "word"), [(0, "none"), (1, "low"), (2, "low"), (3, "medium"), (4, "medium"), (5, "high")]
)
def test_repetition_of_a_strategy_on_a_concept(times: int, word: str) -> None:
    seen = view(graph("a1"), {"a1": NodeState(strategies={"deepen": times})})
    assert detect(seen, ["deepen", "clarify"]).pairs["deepen", "a1"]["graph.node.strategy_repetition"] == word
    assert detect(seen, ["deepen", "clarify"]).pairs["clarify", "a1"]["graph.node.strategy_repetition"] == "none"


def test_repetition_is_counted_over_five_turns_and_kinds_by_the_rarest() -> None:
    seen = view(turns=[past("explore"), *[past("deepen")] * 3, past("clarify"), past("deepen")])
    strategies = detect(seen, ["deepen", "clarify", "explore"]).strategies
    assert [strategies[name]["temporal.strategy_repetition_count"] for name in strategies] == [4, 1, 0]
    asks = {
        "deepen": frozenset({"attribute", "terminal_value"}), "explore": frozenset({"attribute"}),
        "reflect": frozenset[str]()}  # fmt: skip
    strategies = detect(replace(view(graph("a1 a2 f1")), asks=asks), list(asks)).strategies
    assert [strategies[name].get("graph.kind_count") for name in asks] == [0, 2, None]


def test_every_registered_signal_has_boundary_cases_and_a_description_in_both_languages() -> None:
    others = {"graph.node.strategy_repetition", "temporal.strategy_repetition_count", "graph.kind_count"}
    assert SIGNALS.keys() == OF_INTERVIEW.keys() | OF_NODE.keys() | others
    for signal in SIGNALS.values():
        assert all(len(text) > 40 for text in (signal.de, signal.en)), signal.name


def test_every_value_is_flat_and_one_that_its_scale_knows() -> None:
    """Port point 3: a dict never matches a weight key, and a number must be binned before it is compared with a
    word."""
    known = graph("a1 a2 f1 p1", "a1>f1 f1>p1", {"a1": ("quota",)})
    detection = detect(view(known, {"a1": EXHAUSTED}, [past(new_nodes=2)], RATED, "a1"), ["deepen", "explore"])
    for node in known.nodes:
        for name, value in detection.of("deepen", node).items():
            assert isinstance(value, bool | str | int | float), name
            assert SIGNALS[name].word(value) in SIGNALS[name].words, name


def test_a_nodes_signals_win_over_the_interviews() -> None:
    detection = detect(view(graph("a1"), {"a1": NodeState()}), ["deepen"])
    assert detection.of("deepen", "a1")["graph.node.edge_count"] == 0
    assert "graph.node.edge_count" not in detection.of("deepen", "")


@pytest.mark.parametrize(
    ("answer", "rating", "depth"),
    [
        ("Das ist so.", None, "surface"),
        (" ".join(["wort"] * 9) + ", und noch etwas mehr", None, "moderate"),
        ("eins zwei drei vier, fünf sechs sieben acht neun", None, "surface"),  # nine words
        ("eins zwei drei vier, fünf sechs sieben acht neun zehn", None, "moderate"),  # ten words, two propositions
        ("eins zwei drei vier fünf sechs sieben acht neun zehn elf", None, "surface"),  # one proposition
        ("a b c, " + " ".join(["wort"] * 26), None, "moderate"),  # 29 words
        ("a b c, " + " ".join(["wort"] * 27), None, "deep"),  # 30 words
        ("don't can't won't, it's he's she's we're they're I'm", None, "surface"),  # nine words: a contraction is one
        ("a b c, " + " ".join(["wort"] * 27), 2, "surface"),  # the rating decides where there is one
        ("a b c, " + " ".join(["wort"] * 27), 3, "moderate"),
        ("Das ist so.", 4, "deep"),
        ("", None, "surface"),
    ],
)
def test_depth_of_an_answer_can_be_shallow(answer: str, rating: int | None, depth: str) -> None:
    """Without a rating ten words, two propositions, thirty words are the boundaries."""
    readings = Readings(response_depth=AnswerRating(rating=rating)) if rating else Readings()
    assert depth_of(answer, readings) == depth


def test_reasons_are_cut_to_twenty_words() -> None:
    long = Readings(valence=AnswerRating(rating=3, rationale=" ".join(["wort"] * 40)))
    data = JudgementInput(topic="t", question="?", answer="!")
    assert len((trimmed(data, long).valence or AnswerRating(rating=1)).rationale.split()) == 20


# --- what a concept goes through --------------------------------------------------------------------------------------


S: Depth = "surface"
M: Depth = "moderate"


@pytest.mark.parametrize(
    ("since_yield", "streak", "depths", "score"),
    [
        # .4 × dryness/10 + .3 × streak/5 + .3 × share of shallow ones among the last three, worked by hand
        (0, 0, (), 0.0),
        (3, 2, (S, S, M), 0.4 * 0.3 + 0.3 * 0.4 + 0.3 * 2 / 3),
        (10, 5, (S, S, S), 1.0),
        (25, 9, (S, S, S), 1.0),  # both counts are capped
        (5, 0, (M, M, M), 0.2),
        (0, 5, (), 0.3),
        (0, 0, (M, S), 0.15),
        (0, 0, (S, S, M, M, M), 0.0),  # only the last three count
    ],
)
def test_exhaustion_score(since_yield: int, streak: int, depths: tuple[Depth, ...], score: float) -> None:
    state = NodeState(focused=1, streak=streak, since_yield=since_yield, depths=depths)
    assert state.exhaustion_score == pytest.approx(score)


@pytest.mark.parametrize(
    ("focused", "since_yield", "streak", "depths", "exhausted"),
    [
        (1, 3, 2, (S, S, M), True),  # each condition at its boundary
        (0, 3, 2, (S, S, M), False),  # never in focus
        (1, 2, 2, (S, S, M), False),  # two turns dry
        (1, 3, 1, (S, S, M), False),  # once in focus
        (1, 3, 2, (S, M, M), False),  # one third shallow
        (1, 3, 2, (), False),
    ],
)
def test_exhausted(focused: int, since_yield: int, streak: int, depths: tuple[Depth, ...], exhausted: bool) -> None:
    state = NodeState(focused=focused, since_yield=since_yield, streak=streak, depths=depths)
    assert state.exhausted is exhausted


def test_focus_yield_and_depth_move_every_turn() -> None:
    """Port point 1: without recording, exhaustion, streak and recency never move.

    n1 is asked about three times; the first answer yields n2, the others nothing.
    """
    states = after_answer({}, ["n1"], "", M, yielded=True)
    states = after_choice(states, "n1", "deepen")
    assert (states["n1"].focused, states["n1"].streak, states["n1"].strategies) == (1, 1, {"deepen": 1})
    states = after_answer(states, ["n1", "n2"], "n1", M, yielded=True)
    assert (states["n1"].yields, states["n1"].since_yield, states["n1"].depths) == (1, 0, (M,))
    for turn in (1, 2, 3):
        states = after_answer(after_choice(states, "n1", "deepen"), ["n1", "n2"], "n1", S, yielded=False)
        assert states["n1"].since_yield == turn
        assert states["n2"].since_yield == turn  # every node ages, not the focus alone
        assert states["n2"].since_focus == turn
    assert states["n1"].depths == (M, S, S, S)
    assert states["n1"].exhausted
    assert states["n2"].depths == ()  # the depth belongs to what was asked about


def test_depth_goes_to_the_focus_and_only_a_change_of_focus_ends_a_streak() -> None:
    states = after_choice(after_answer({}, ["n1", "n2"], "", M, yielded=True), "n1", "deepen")
    states = after_choice(after_answer(states, ["n1", "n2"], "n1", S, yielded=False), "n2", "deepen")
    assert states["n1"].depths == (S,)
    assert states["n2"].depths == ()
    # Port point 2.
    states = after_choice(after_answer({}, ["n1", "n2"], "", M, yielded=True), "n1", "deepen")
    states = after_choice(after_answer(states, ["n1", "n2"], "n1", M, yielded=True), "n1", "deepen")
    assert states["n1"].streak == 2
    states = after_choice(states, "n2", "deepen")
    assert (states["n1"].streak, states["n2"].streak) == (0, 1)
    states = after_choice(states, "", "explore")  # a question about no concept is a change as well
    assert states["n2"].streak == 0


turns = st.lists(st.tuples(st.sampled_from(["", "n1", "n2"]), st.sampled_from([S, M]), st.booleans()), max_size=25)


@given(turns)
def test_counts_are_consistent_whatever_happens(history: list[tuple[str, Depth, bool]]) -> None:
    states = after_answer({}, ["n1", "n2"], "", M, yielded=True)
    for focus, depth, yielded in history:
        states = after_answer(after_choice(states, focus, "deepen"), ["n1", "n2"], focus, depth, yielded=yielded)
    for node, state in states.items():
        asked = [turn for turn in history if turn[0] == node]
        assert state.focused == len(asked) == len(state.depths) == sum(state.strategies.values())
        assert state.yields == sum(turn[2] for turn in asked)
        assert (state.exhaustion_score is None) is (state.focused == 0)
        assert 0 <= (state.exhaustion_score or 0) <= 1
        assert state.streak <= state.focused
        assert state.yield_rate is None if not asked else 0 <= (state.yield_rate or 0) <= 1
