"""Scores by hand, phases, the choice, and when an interview ends."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.graphs.laddering.questions import (
    Candidate,
    acceptable,
    candidates,
    choose,
    contributions,
    rank,
    stop_reason,
    total,
)
from enquete.graphs.laddering.settings import InterviewMethod, LadderingSettings, StopRule
from enquete.graphs.laddering.signals import Detected, NodeState, detect
from enquete.respondents.quoting import normal
from tests.graphs.laddering.builders import METHOD, graph, past, view


def test_contributions_by_hand() -> None:
    values: dict[str, Any] = {
        "graph.node.exhausted": True, "graph.max_depth": 0.2, "llm.engagement": 4, "graph.orphan_count": 2,
        "meta.node.opportunity": "fresh", "temporal.strategy_repetition_count": 3,
    }  # fmt: skip
    weights = {
        "graph.node.exhausted.true": -5.0,  # holds: −5
        "graph.node.exhausted.false": 9.0,  # does not
        "graph.max_depth.low": 1.5,  # .2 is low: 1.5
        "graph.max_depth": 2.0,  # .2 of 0–1: .4
        "llm.engagement.high": 1.0,  # (4 − 1)/4 = .75 is high: 1
        "llm.engagement": 4.0,  # 4 × .75 = 3
        "graph.orphan_count": -4.0,  # 2 of 8: −1
        "meta.node.opportunity.fresh": 2.0,  # 2
        "meta.saturation.high": 7.0,  # not active: nothing
        "temporal.strategy_repetition_count": -2.5,  # 3 of 5: −1.5
    }
    assert contributions(weights, values) == pytest.approx(
        {"graph.node.exhausted.true": -5, "graph.max_depth.low": 1.5, "graph.max_depth": 0.4, "llm.engagement.high": 1,
         "llm.engagement": 3, "graph.orphan_count": -1, "meta.node.opportunity.fresh": 2,
         "temporal.strategy_repetition_count": -1.5}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "multiplier", "score"),
    [({"a": 2, "b": 1}, 1.5, 4.5), ({"a": 2, "b": -4}, 0.5, -4.0), ({"a": -2}, 2.0, -1.0), ({}, 3.0, 0.0)],
)
def test_a_favoured_phase_never_makes_a_score_worse(parts: dict[str, float], multiplier: float, score: float) -> None:
    assert total(parts, multiplier) == score


@pytest.mark.parametrize(
    ("phase", "strategy", "multiplier"),
    [
        ("early", "explore", 1.5), ("early", "clarify", 1.2), ("early", "deepen", 0.5), ("early", "reflect", 0.2),
        ("mid", "deepen", 1.3), ("mid", "clarify", 1.0), ("mid", "explore", 0.8), ("mid", "reflect", 0.7),
        ("late", "reflect", 1.5), ("late", "deepen", 0.5), ("late", "explore", 0.3), ("late", "revitalize", 1.0),
    ],
)  # fmt: skip
def test_phase_multipliers_of_the_means_end_chain_are_the_literatures(
    phase: str, strategy: str, multiplier: float
) -> None:
    assert METHOD.multiplier(phase, strategy) == multiplier


@pytest.mark.parametrize("name", ["critical_incident", "customer_journey", "jobs_to_be_done", "repertory_grid"])
def test_the_other_methodologies_have_phases_that_shift_the_choice(name: str) -> None:
    method = LadderingSettings(methodology=name).method
    favourites = {
        phase: max(method.strategies, key=lambda s: method.multiplier(phase, s)) for phase in ("early", "mid", "late")
    }
    assert len(set(favourites.values())) >= 2, favourites


def detected(method: InterviewMethod, seen: Any) -> Detected:
    return detect(seen, list(method.strategies))


def test_the_ranking_of_a_first_turn_by_hand() -> None:
    """One orphan attribute, first answer, early phase (multipliers deepen .5, explore 1.5).

    deepen: orphan 3 + open end 3 + fresh 2 + low depth 1.5 + recency 2 × 1 = 11.5, × .5 = 5.75
    explore: low breadth 1.5 + few concepts .5 − 8 × 1/8 orphan = 1, × 1.5 = 1.5
    """
    known = graph("a1")
    seen = view(known, {"a1": NodeState()}, [past("", "", new_nodes=1)])
    ranked = rank(METHOD, candidates(METHOD, known, frozenset(), "de"), detected(METHOD, seen))
    scores = {(one.strategy, one.focus): one.score for one in ranked}
    assert scores["deepen", "a1"] == pytest.approx(5.75)
    assert scores["explore", ""] == pytest.approx(1.5)
    assert (ranked[0].strategy, ranked[0].focus) == ("deepen", "a1")


def test_what_is_exhausted_or_repeated_loses() -> None:
    known = graph("a1 a2 f1 f2", "a1>f1 a2>f2")
    tired = NodeState(focused=3, streak=2, since_yield=3, depths=("surface",) * 3)
    seen = view(known, {"f1": tired, "f2": NodeState(since_focus=4)}, [past(focus="f1")], focus="f1")
    ranked = rank(METHOD, candidates(METHOD, known, frozenset(), "de"), detected(METHOD, seen))
    order = [one.focus for one in ranked if one.strategy == "deepen"]
    assert order.index("f2") < order.index("f1")
    # Port point 4: the repetition count must carry weight, and a negative one.
    known = graph("a1 f1", "a1>f1")
    scores = []
    for times in (0, 5):
        seen = view(known, {}, [past("clarify")] * times + [past("reflect")] * (5 - times))
        ranked = rank(METHOD, candidates(METHOD, known, frozenset(), "de"), detected(METHOD, seen))
        scores.append(next(one.score for one in ranked if (one.strategy, one.focus) == ("clarify", "f1")))
    assert scores[1] < scores[0] - 1


def test_the_choice_takes_the_technique_whose_answer_is_still_missing() -> None:
    """An incident that has an action already is asked what came of it."""
    method = LadderingSettings(methodology="critical_incident").method
    strategy = method.strategies["deepen_narrative"]
    known = graph("a1")
    seen = view(known, {"a1": NodeState()})
    candidate = Candidate("deepen_narrative", "n1", strategy.techniques)
    found = Detected(detected(METHOD, seen).interview, {"n1": {}}, {}, {})
    kinds = {"n1": "incident"}
    assert choose(method, [candidate], found, {}, kinds).technique == "what_did_you_do"
    assert choose(method, [candidate], found, {"n1": frozenset({"action"})}, kinds).technique == "what_came_of_it"


def test_of_pairs_nearly_as_good_one_is_drawn_for_each_agent() -> None:
    """Two bottom concepts that differ in nothing: without a key the first, with one either of them, and the same every
    time."""
    known = graph("a1 a2")
    found = detected(METHOD, view(known, {"a1": NodeState(), "a2": NodeState()}))
    possible = [one for one in candidates(METHOD, known, frozenset(), "de") if one.strategy == "deepen"]
    kinds = {"a1": "attribute", "a2": "attribute"}

    def focus(*key: str | int) -> str:
        return choose(METHOD, possible, found, {}, kinds, key=key).focus

    assert focus() == "a1"
    assert {focus(0, f"agent:{n}", 2) for n in range(20)} == {"a1", "a2"}
    assert focus(0, "agent:1", 2) == focus(0, "agent:1", 2)


def test_the_top_of_the_ladder_and_what_was_asked_are_no_candidates() -> None:
    possible = candidates(METHOD, graph("t1"), frozenset(), "de")
    assert ("deepen", "t1") not in {(one.strategy, one.focus) for one in possible}
    assert ("clarify", "t1") in {(one.strategy, one.focus) for one in possible}
    known = graph("a1")
    before = {(one.strategy, one.focus) for one in candidates(METHOD, known, frozenset(), "de")}
    asked = frozenset(
        normal(question.in_("de").replace("{focus}", "a1 text"))
        for technique in METHOD.strategies["clarify"].techniques
        for question in technique.questions
    )
    after = {(one.strategy, one.focus) for one in candidates(METHOD, known, asked, "de")}
    assert before - after == {("clarify", "a1")}


@pytest.mark.parametrize(
    ("question", "good"),
    [
        ("Warum ist Ihnen das wichtig?", True), ("Warum? Wieso?", False), ("Erzählen Sie.", False),
        ("Schon gefragt?", False),
        (" ".join(["wort"] * 13) + " wort?", True), (" ".join(["wort"] * 14) + " wort?", False), ("Ja?", False),
    ],
)  # fmt: skip
def test_one_short_question_that_was_not_asked(question: str, good: bool) -> None:
    assert acceptable(question, {normal("schon gefragt?")}) is good


DRY = NodeState(focused=1, since_yield=3)
TRIED = NodeState(focused=1, since_yield=3, strategies={"deepen": 1})
USED_UP = NodeState(focused=2, since_yield=3, streak=2, depths=("surface", "surface"))
STOPS = StopRule()


@pytest.mark.parametrize(
    ("turns", "more", "reason"),
    [
        ([past(new_nodes=1, chain=i) for i in range(15)], {}, "max_turns"),
        ([past(new_nodes=1, chain=i) for i in range(14)], {}, ""),
        ([past(new_nodes=1)] * 2, {"closed": True}, "closing"),
        ([past(new_nodes=1)] * 2, {"candidates": []}, "nothing_left"),
        ([past(depth="surface", new_edges=1)] * 14, {}, ""),  # short, and each brought something
        ([past(new_edges=1)] + [past(depth="surface")] * 5, {}, "shallow"),
        ([past(new_edges=1)] + [past(depth="surface")] * 4, {}, ""),
        ([past(depth="surface", answered=False)] * 5, {}, "no_yield"),  # there was no answer to be shallow
        ([past(new_edges=1, chain=1)] + [past(chain=2)] * 5, {}, "no_yield"),
        ([past(new_edges=1, chain=1)] + [past(chain=2)] * 4, {}, ""),
        ([past(chain=2)] * 4, {}, ""),  # before the fifth turn
        ([past(chain=2)] * 4, {"phase": "late"}, ""),  # four turns without yield are not five
        # the late phase opens the stops
        ([past(depth="surface")] * 4, {"phase": "late", "stops": StopRule(shallow=4)}, "shallow"),
        ([past(depth="surface")] * 4, {"stops": StopRule(shallow=4)}, ""),
        ([past(new_nodes=1, chain=2)] * 6, {}, "same_depth"),  # concepts without a link lead no deeper
        ([past(new_nodes=1, chain=2)] * 5, {}, ""),
        ([past(new_edges=1, chain=2)] * 6, {}, ""),  # a second chain that catches up is no standstill
        # another way to ask about n1 is left
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": DRY}}, ""),
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": TRIED}}, "all_exhausted"),
        ([past(new_nodes=1, chain=i) for i in range(5)],
            {"states": {"n1": TRIED}, "candidates": [("deepen", "n1"), ("explore", "")]},
         ""),  # nobody asked what else there is
        ([past("explore", "", new_nodes=1, chain=i) for i in range(5)],
         {"states": {"n1": TRIED}, "candidates": [("deepen", "n1"), ("explore", "")]}, "all_exhausted"),
        # by its own state
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": USED_UP}}, "all_exhausted"),
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": USED_UP, "n2": NodeState()}}, ""),
        # n2 was never asked about
        ([past(new_nodes=1, chain=i) for i in range(5)], {"states": {"n1": DRY, "n2": NodeState()}}, ""),
        ([past(new_nodes=1, chain=i) for i in range(4)], {"states": {"n1": DRY}}, ""),
    ],
)  # fmt: skip
def test_stops(turns: list[Any], more: dict[str, Any], reason: str) -> None:
    given: dict[str, Any] = {
        "turns": 15, "closed": False, "phase": "mid", "candidates": [("deepen", "n1")], "stops": STOPS, "states": {},
        **more,
    }  # fmt: skip
    assert stop_reason(turns, given.pop("states"), **given) == reason
