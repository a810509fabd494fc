"""Measures of a discussion: expected numbers are derived by hand from facts/roundtable.md, beside each."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.analysis.stopping import Limits, RoundStanding, exit_after
from enquete.methods.roundtable.agreement import (
    ANALYST,
    Analysed,
    RoundSaid,
    agreement,
    clusters,
    groupthink,
    likeness,
    should_exit,
)
from enquete.methods.roundtable.modes import Response, Stance
from enquete.methods.roundtable.movement import moves
from enquete.respondents.rule_coder import Theme

LEVY = "Introduce the carbon levy quickly across every county"  # content words: introduce carbon levy quickly county
NO_LEVY = "Never introduce the carbon levy quickly across every county"
SCHOOLS = "Better schools matter most"


def says(position: str, confidence: float | None = 0.5, stance: Stance = "", reasoning: str = "") -> Response:
    return Response(position=position, confidence=confidence, stance=stance, reasoning=reasoning)


# --- agreement -------------------------------------------------------------------------------------------------------


def test_opposites_share_their_words_and_are_no_cluster_and_stances_decide() -> None:
    group = {"a": says(LEVY), "b": says(NO_LEVY), "c": says(LEVY)}
    assert clusters(group) == [("a", "c"), ("b",)]
    assert likeness(group["a"], group["b"]) == 0
    assert clusters({"a": says(LEVY, stance="yes"), "b": says(LEVY, stance="no")}) == [("a",), ("b",)]
    assert clusters({"a": says(LEVY, stance="yes"), "b": says(NO_LEVY, stance="yes")}) == [("a", "b")]


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
    assert (len(clusters({"a": says(one), "b": says(other)})) == 1) == alike
    assert should_exit([{"a": says(one), "b": says(other)}]).reason == ("consensus" if alike else "")


def test_agreement_by_hand() -> None:
    """.7 · 2/3 + .3 · (1 − 0) = .7667."""
    assert agreement({"a": says(LEVY), "b": says(LEVY), "c": says(NO_LEVY)}) == pytest.approx(0.7 * 2 / 3 + 0.3)
    # Confidences 0 and 1: variance .25, so .7 · 0 + .3 · 0.
    assert agreement({"a": says(LEVY, 0.0), "b": says(SCHOOLS, 1.0)}) == 0
    assert agreement({"a": says(LEVY, 0.5), "b": says(SCHOOLS, 0.5)}) == pytest.approx(0.3)
    assert agreement({"a": says(LEVY, None), "b": says(LEVY, None)}) == 1
    assert agreement({"a": says(LEVY), "b": says("")}) is None


WORDS = ["carbon", "levy", "schools", "county", "harbour", "never", "against", "tariff"]
RESPONSES = st.builds(
    Response, position=st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    confidence=st.none() | st.floats(0, 1), stance=st.sampled_from(["yes", "no", "neutral"]),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(group=st.dictionaries(st.sampled_from("abcdefg"), RESPONSES, max_size=6), data=st.data())
def test_agreement_is_a_share_and_knows_no_order(group: Mapping[str, Response], data: st.DataObject) -> None:
    other = dict(data.draw(st.permutations(list(group.items()))))
    agreed, again = agreement(group), agreement(other)
    assert clusters(group) == clusters(other)
    assert (agreed is None) == (again is None)
    if agreed is not None:
        assert 0 <= agreed <= 1
        assert again == pytest.approx(agreed)


@settings(max_examples=60, deadline=None)
@given(one=RESPONSES, other=RESPONSES)
def test_likeness_is_symmetric_and_a_share(one: Response, other: Response) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert 0 <= likeness(one, other) <= 1


# --- groupthink ------------------------------------------------------------------------------------------------------


def test_groupthink_has_three_signs() -> None:
    group = {name: says(LEVY, 0.9) for name in "abc"}
    signs = groupthink(group)
    assert signs.detected
    assert signs.indicators == ("all_sure", "one_side", "same_words")
    assert signs.recommendation == "evidence"  # certainty is one of the signs, and weak evidence
    signs = groupthink({name: says(LEVY, 0.4) for name in "abc"})
    assert signs.indicators == ("one_side", "same_words")
    assert signs.recommendation == "opposition"
    # One sign of three: all sure. Their words are the same but for "never", which the measure of words counts as
    # none.
    signs = groupthink({"a": says(LEVY, 0.95, "yes"), "b": says(SCHOOLS, 0.95, "no")})
    assert signs.indicators == ("all_sure",)
    assert not signs.detected


# --- exit ------------------------------------------------------------------------------------------------------------


def test_two_confident_opponents_are_not_ended_by_confidence() -> None:
    """Agreement .7 · 0 + .3 · 1 = .3, below .7, though both are sure; unmoved, they end by convergence after round
    3."""
    opponents = {"a": says(LEVY, 0.95, "yes"), "b": says(NO_LEVY, 0.95, "no")}
    assert should_exit([opponents]).reason == ""
    assert should_exit([opponents] * 2).reason == ""
    assert should_exit([opponents] * 3, Limits(most_rounds=6)).reason == "convergence"


def test_stances_that_were_assigned_end_nothing_before_the_last_round() -> None:
    """They agree and stay because they were told to."""
    agreed = [{"a": says(LEVY, 0.95, "yes"), "b": says(LEVY, 0.95, "yes")}] * 3
    assert [should_exit(agreed[:n], assigned=True).reason for n in (1, 2, 3)] == ["", "", "max_rounds"]


def test_a_converging_group_ends_in_the_round_in_which_all_have_stayed_twice() -> None:
    """b moves in round 2 and stays in 3 and 4: two rounds without a move are complete after round 4. Two of three agree
    throughout (.7 · 2/3 + .3 = .77), so it is not consensus."""
    first = {"a": says(LEVY), "b": says(SCHOOLS), "c": says(NO_LEVY)}
    then = {**first, "b": says(LEVY)}
    limits = Limits(most_rounds=6)
    assert [should_exit([first, then, then, then][:n], limits).reason for n in range(1, 5)] == [
        "", "", "", "convergence",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("We should introduce strict quotas", "We should definitely introduce strict quotas"),
        ("We should probably introduce strict quotas", "We should introduce strict quotas gradually"),
        ("Quoten müssen fair verteilt werden", "Quoten müssen unbedingt fair verteilt werden"),
        ("Wir brauchen feste Quoten", "Wir brauchen glücklicherweise feste Quoten"),
    ],
)
def test_positions_that_differ_in_an_adverb_are_stable(before: str, now: str) -> None:
    """Without it they are the same words: likeness 1. b and c disagree throughout, so it is no consensus."""
    others = {"b": says(SCHOOLS), "c": says(NO_LEVY)}
    rounds = [{"a": says(before), **others}, {"a": says(now), **others}, {"a": says(before), **others}]
    assert should_exit(rounds, Limits(most_rounds=6)).reason == "convergence"
    turned = [{"a": says(before), **others}, {"a": says(f"Never! {SCHOOLS}"), **others}, {"a": says(now), **others}]
    assert should_exit(turned, Limits(most_rounds=6)).reason == ""


def test_a_negation_is_no_adverb() -> None:
    rounds = [{"a": says(LEVY), "b": says(SCHOOLS)}, {"a": says(NO_LEVY), "b": says(SCHOOLS)}] * 2
    assert should_exit(rounds, Limits(most_rounds=6)).reason == ""


def test_a_late_joiner_does_not_block_convergence() -> None:
    """a and b have stayed for two rounds; c, who came in round 3, is not counted. Who missed a round is."""
    stay = {"a": says(LEVY), "b": says(SCHOOLS)}
    limits = Limits(most_rounds=6)
    joined = should_exit([stay, stay, {**stay, "c": says(NO_LEVY)}], limits)
    assert (joined.reason, joined.details["stable_share"]) == ("convergence", 1.0)
    absent = {**stay, "c": says(NO_LEVY)}
    missed = should_exit([absent, stay, absent], limits)
    assert (missed.reason, missed.details["stable_share"]) == ("", pytest.approx(2 / 3))
    assert should_exit([{}, {}, stay], limits).details["stable_share"] is None  # nobody has been there long enough


def test_a_stance_that_is_missing_is_no_dissent() -> None:
    """Two say yes in different words, and one takes no stance: one single stance, as nobody says no."""
    group = {"a": says(LEVY, 0.9, "yes"), "b": says("Every county should pay for its carbon", 0.9, "yes")}
    silent = {**group, "c": says(SCHOOLS, 0.9)}
    assert groupthink(silent).indicators == ("all_sure", "one_side")
    assert groupthink({**silent, "c": says(SCHOOLS, 0.9, "no")}).indicators == ("all_sure",)


def test_consensus_comes_first_and_confidence_needs_agreement() -> None:
    assert should_exit([{"a": says(LEVY, 0.9), "b": says(LEVY, 0.9)}]).reason == "consensus"
    sure = {"a": says(LEVY, 0.9), "b": says(LEVY, 0.9), "c": says(SCHOOLS, 0.9)}  # .7 · 2/3 + .3 = .77
    assert should_exit([sure]).reason == "confidence"
    assert should_exit([{**sure, "c": says(SCHOOLS, 0.8)}]).reason == ""
    assert should_exit([{**sure, "c": says(SCHOOLS, None)}]).reason == ""


def test_the_last_round_ends_it_and_the_least_number_holds_it() -> None:
    apart = [
        {"a": says(LEVY), "b": says(SCHOOLS)}, {"a": says(SCHOOLS), "b": says(LEVY)},
        {"a": says(LEVY), "b": says(SCHOOLS)}]  # fmt: skip
    assert should_exit(apart).reason == "max_rounds"
    agreed = [{"a": says(LEVY), "b": says(LEVY)}]
    assert should_exit(agreed, Limits(least_rounds=2)).should_exit is False
    assert should_exit(agreed * 2, Limits(least_rounds=2)).reason == "consensus"


def test_a_share_of_a_panel_may_do() -> None:
    """Ratings: 6 of 7 panelists kept theirs, .857 ≥ .85."""
    kept = {str(who): 1.0 for who in range(6)} | {"6": 0.2}
    rounds = [RoundStanding(0.5, kept, {}), RoundStanding(0.5, kept, kept)]
    assert exit_after(rounds, Limits(stable_rounds=1, stable_share=0.85)).reason == "convergence"
    assert exit_after(rounds, Limits(stable_rounds=1)).reason == ""


# --- movement --------------------------------------------------------------------------------------------------------


def test_who_moved_toward_whom_on_what_and_equally_near_ones_share_a_move() -> None:
    before = {
        "a": says(LEVY, 0.9, "yes"), "b": says("Leave prices alone", 0.8, "no"), "c": says(SCHOOLS, 0.5, "neutral"),
    }  # fmt: skip
    after = {
        "a": says(LEVY, 0.95, "yes"), "b": says("Introduce the levy", 0.6, "yes", "Rebates protect poorer households"),
        "c": says(SCHOOLS, 0.5, "neutral")}  # fmt: skip
    arguments = [
        Theme(id="x1", label="Rebates protect", description="households with little money", statements=["a|g#1.1"]),
        Theme(
            id="x2", label="Rebates protect", description="households, schools", statements=["c|g#3.1"]
        ),  # not moved toward
    ]
    moved = {move.participant: move for move in moves(before, after, arguments)}
    assert [who for who, move in moved.items() if move.moved] == ["b"]
    assert (moved["b"].toward, moved["b"].argument) == (("a",), "x1")
    assert moved["b"].surer == pytest.approx(-0.2)
    before = {"a": says(LEVY), "b": says(LEVY), "c": says(SCHOOLS)}
    moved = moves(before, {**before, "c": says(LEVY)})
    assert [move.toward for move in moved if move.moved] == [("a", "b")]


# --- the model's reading ---------------------------------------------------------------------------------------------


def test_a_models_reading_is_used_where_it_counts_everybody() -> None:
    data = RoundSaid(topic="levy", said={"1": says(LEVY), "2": says(NO_LEVY)})
    used = ANALYST.check(data, Analysed(agreement=0.2, camp_of={"1": 1, "2": 2}, conflicts=list("abcd")))
    assert used.conflicts == ["a", "b", "c"]
    assert ANALYST.check(data, Analysed(agreement=0.2, camp_of={"1": 1})) is None
    assert ANALYST.rule(data) == Analysed()  # nobody reads in its place
    assert LEVY in ANALYST.prompt(data, "en")
