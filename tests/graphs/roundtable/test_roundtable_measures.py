"""Measures of a discussion: expected numbers are derived by hand from facts/roundtable.md, beside each."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.analysis.stopping import Limits, RoundStanding, exit_after
from enquete.graphs.roundtable.agreement import (
    ANALYST,
    Analysed,
    RoundSaid,
    agreement,
    clusters,
    groupthink,
    likeness,
    should_exit,
)
from enquete.graphs.roundtable.modes import Response, Stance
from enquete.graphs.roundtable.movement import moves, persuasion
from enquete.respondents.rule_coder import Theme

LEVY = "Introduce the carbon levy quickly across every county"  # content words: introduce carbon levy quickly county
NO_LEVY = "Never introduce the carbon levy quickly across every county"
SCHOOLS = "Better schools matter most"


def said(position: str, confidence: float | None = 0.5, stance: Stance = "", reasoning: str = "") -> Response:
    return Response(position=position, confidence=confidence, stance=stance, reasoning=reasoning)


# --- agreement --------------------------------------------------------------------------------------------------------


def test_opposites_share_their_words_and_are_no_cluster() -> None:
    group = {"a": said(LEVY), "b": said(NO_LEVY), "c": said(LEVY)}
    assert clusters(group) == [("a", "c"), ("b",)]
    assert likeness(group["a"], group["b"]) == 0


def test_stances_decide_where_both_have_one() -> None:
    assert clusters({"a": said(LEVY, stance="yes"), "b": said(LEVY, stance="no")}) == [("a",), ("b",)]
    assert clusters({"a": said(LEVY, stance="yes"), "b": said(NO_LEVY, stance="yes")}) == [("a", "b")]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Position A", "Position B", False),  # only a label tells them apart
        ("Support option A at once", "Support option B at once", False),
        ("Cut the quota by 10 %", "Cut the quota by 50 %", False),
        ("Trams", "Cheaper trams", False),  # ½ ≥ .35, by one word
        ("Position A", "position a.", True),
        ("Yes.", "Yes", True),
        ("Introduce the levy", "A levy: introduce it", True),  # the two words of both
    ],
)
def test_one_word_is_no_position(one: str, other: str, alike: bool) -> None:
    assert (len(clusters({"a": said(one), "b": said(other)})) == 1) == alike
    assert should_exit([{"a": said(one), "b": said(other)}]).reason == ("consensus" if alike else "")


def test_agreement_of_two_in_three_with_equal_confidence() -> None:
    """.7 · 2/3 + .3 · (1 − 0) = .7667."""
    assert agreement({"a": said(LEVY), "b": said(LEVY), "c": said(NO_LEVY)}) == pytest.approx(0.7 * 2 / 3 + 0.3)


def test_all_different_agree_on_nothing_but_their_confidence() -> None:
    """Confidences 0 and 1: variance .25, so .7 · 0 + .3 · 0."""
    assert agreement({"a": said(LEVY, 0.0), "b": said(SCHOOLS, 1.0)}) == 0
    assert agreement({"a": said(LEVY, 0.5), "b": said(SCHOOLS, 0.5)}) == pytest.approx(0.3)


def test_without_confidences_positions_alone_count_and_one_voice_is_no_agreement() -> None:
    assert agreement({"a": said(LEVY, None), "b": said(LEVY, None)}) == 1
    assert agreement({"a": said(LEVY), "b": said("")}) is None


WORDS = ["carbon", "levy", "schools", "county", "harbour", "never", "against", "tariff"]
RESPONSES = st.builds(
    Response,
    position=st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    confidence=st.none() | st.floats(0, 1),
    stance=st.sampled_from(["yes", "no", "neutral"]),
)


@settings(max_examples=60, deadline=None)
@given(group=st.dictionaries(st.sampled_from("abcdefg"), RESPONSES, max_size=6), data=st.data())
def test_agreement_is_a_share_and_knows_no_order(group: Mapping[str, Response], data: st.DataObject) -> None:
    other = dict(data.draw(st.permutations(list(group.items()))))
    found, again = agreement(group), agreement(other)
    assert clusters(group) == clusters(other)
    assert (found is None) == (again is None)
    if found is not None:
        assert 0 <= found <= 1
        assert again == pytest.approx(found)


@settings(max_examples=60, deadline=None)
@given(one=RESPONSES, other=RESPONSES)
def test_likeness_is_symmetric_and_a_share(one: Response, other: Response) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert 0 <= likeness(one, other) <= 1


# --- groupthink -------------------------------------------------------------------------------------------------------


def test_a_like_minded_group_is_flagged() -> None:
    group = {name: said(LEVY, 0.9) for name in "abc"}
    found = groupthink(group)
    assert found.detected
    assert found.indicators == ("all_sure", "one_side", "same_words")
    assert found.recommendation == "evidence"  # certainty is one of the signs, and weak evidence


def test_like_minded_without_being_sure_is_flagged_by_side_and_words() -> None:
    found = groupthink({name: said(LEVY, 0.4) for name in "abc"})
    assert found.indicators == ("one_side", "same_words")
    assert found.recommendation == "opposition"


def test_sure_opponents_are_no_groupthink() -> None:
    """One sign of three: all sure. Their words are the same but for "never", which the measure of words counts as
    none."""
    found = groupthink({"a": said(LEVY, 0.95, "yes"), "b": said(SCHOOLS, 0.95, "no")})
    assert found.indicators == ("all_sure",)
    assert not found.detected


# --- exit -------------------------------------------------------------------------------------------------------------


def test_two_confident_opponents_are_not_ended_by_confidence() -> None:
    """Agreement .7 · 0 + .3 · 1 = .3, below .7, though both are sure; unmoved, they end by convergence after round
    3."""
    opponents = {"a": said(LEVY, 0.95, "yes"), "b": said(NO_LEVY, 0.95, "no")}
    assert should_exit([opponents]).reason == ""
    assert should_exit([opponents] * 2).reason == ""
    assert should_exit([opponents] * 3, Limits(most_rounds=6)).reason == "convergence"


def test_stances_that_were_assigned_end_nothing_before_the_last_round() -> None:
    """They agree and stay because they were told to."""
    agreed = [{"a": said(LEVY, 0.95, "yes"), "b": said(LEVY, 0.95, "yes")}] * 3
    assert [should_exit(agreed[:n], assigned=True).reason for n in (1, 2, 3)] == ["", "", "max_rounds"]


def test_a_converging_group_ends_in_the_round_in_which_all_have_stayed_twice() -> None:
    """b moves in round 2 and stays in 3 and 4: two rounds without a move are complete after round 4. Two of three agree
    throughout (.7 · 2/3 + .3 = .77), so it is not consensus."""
    first = {"a": said(LEVY), "b": said(SCHOOLS), "c": said(NO_LEVY)}
    then = {**first, "b": said(LEVY)}
    limits = Limits(most_rounds=6)
    assert [should_exit([first, then, then, then][:n], limits).reason for n in range(1, 5)] == [
        "",
        "",
        "",
        "convergence",
    ]


def test_consensus_comes_first_and_confidence_needs_agreement() -> None:
    assert should_exit([{"a": said(LEVY, 0.9), "b": said(LEVY, 0.9)}]).reason == "consensus"
    sure = {"a": said(LEVY, 0.9), "b": said(LEVY, 0.9), "c": said(SCHOOLS, 0.9)}  # .7 · 2/3 + .3 = .77
    assert should_exit([sure]).reason == "confidence"
    assert should_exit([{**sure, "c": said(SCHOOLS, 0.8)}]).reason == ""
    assert should_exit([{**sure, "c": said(SCHOOLS, None)}]).reason == ""


def test_the_last_round_ends_it_and_the_least_number_holds_it() -> None:
    apart = [
        {"a": said(LEVY), "b": said(SCHOOLS)},
        {"a": said(SCHOOLS), "b": said(LEVY)},
        {"a": said(LEVY), "b": said(SCHOOLS)},
    ]
    assert should_exit(apart).reason == "max_rounds"
    agreed = [{"a": said(LEVY), "b": said(LEVY)}]
    assert should_exit(agreed, Limits(least_rounds=2)).should_exit is False
    assert should_exit(agreed * 2, Limits(least_rounds=2)).reason == "consensus"


def test_a_share_of_a_panel_may_do() -> None:
    """Ratings: 6 of 7 panelists kept theirs, .857 ≥ .85."""
    kept = {str(who): 1.0 for who in range(6)} | {"6": 0.2}
    rounds = [RoundStanding(0.5, 7, {}), RoundStanding(0.5, 7, kept)]
    assert exit_after(rounds, Limits(stable_rounds=1, stable_share=0.85)).reason == "convergence"
    assert exit_after(rounds, Limits(stable_rounds=1)).reason == ""


# --- movement ---------------------------------------------------------------------------------------------------------


def test_who_moved_toward_whom_and_on_what() -> None:
    before = {
        "a": said(LEVY, 0.9, "yes"),
        "b": said("Leave prices alone", 0.8, "no"),
        "c": said(SCHOOLS, 0.5, "neutral"),
    }
    after = {
        "a": said(LEVY, 0.95, "yes"),
        "b": said("Introduce the levy", 0.6, "yes", "Rebates protect poorer households"),
        "c": said(SCHOOLS, 0.5, "neutral"),
    }
    arguments = [
        Theme(id="x1", label="Rebates protect", description="households with little money", statements=["a|g#1.1"]),
        Theme(
            id="x2", label="Rebates protect", description="households, schools", statements=["c|g#3.1"]
        ),  # not moved toward
    ]
    found = {move.participant: move for move in moves(before, after, arguments)}
    assert [who for who, move in found.items() if move.moved] == ["b"]
    assert (found["b"].toward, found["b"].argument) == (("a",), "x1")
    assert found["b"].surer == pytest.approx(-0.2)
    assert persuasion(found.values()) == {("b", "a"): 1.0}


def test_equally_near_ones_share_a_move() -> None:
    before = {"a": said(LEVY), "b": said(LEVY), "c": said(SCHOOLS)}
    found = moves(before, {**before, "c": said(LEVY)})
    assert persuasion(found) == {("c", "a"): 0.5, ("c", "b"): 0.5}


# --- the model's reading ----------------------------------------------------------------------------------------------


def test_a_models_reading_is_used_where_it_counts_everybody() -> None:
    data = RoundSaid(topic="levy", said={"1": said(LEVY), "2": said(NO_LEVY)})
    used = ANALYST.check(data, Analysed(agreement=0.2, camp_of={"1": 1, "2": 2}, conflicts=list("abcd")))
    assert used is not None
    assert used.conflicts == ["a", "b", "c"]
    assert ANALYST.check(data, Analysed(agreement=0.2, camp_of={"1": 1})) is None
    assert ANALYST.rule(data) == Analysed()  # nobody reads in its place
    assert LEVY in ANALYST.prompt(data, "en")
