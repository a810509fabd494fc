"""The answer in four layers, and the argument table, of discussions made up here: no run. Expectations by hand from the
facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from enquete.methods.roundtable.agreement import action, conflicts, consensus_level, four_layers
from enquete.methods.roundtable.discussion import Discussion, RoundtableTurn, Weighed
from enquete.methods.roundtable.modes import Response, Stance, Violation, load_mode
from enquete.methods.roundtable.procedure import statements
from enquete.methods.roundtable.results import argument_rows
from enquete.respondents.rule_coder import CodedThemes, Theme

LEVY, NO_LEVY = "Introduce the carbon levy quickly", "Never introduce the carbon levy quickly"


def says(position: str, confidence: float = 0.9, stance: Stance = "", points: Sequence[str] = ()) -> Response:
    return Response(position=position, confidence=confidence, stance=stance, key_points=tuple(points))


def held(*rounds: Mapping[str, Response], exit: str = "max_rounds", unit: str = "group_01") -> Discussion:
    """Public rounds only; participants in the order of the first."""
    people = list(rounds[0])
    talk = Discussion(unit, participants=tuple(people))
    for number, spoken in enumerate(rounds, 1):
        for who, response in spoken.items():
            over = number == len(rounds) and who == people[-1]
            weighed = Weighed(should_exit=over, reason=exit if over else "") if who == people[-1] else None
            talk = talk.after(
                RoundtableTurn(turn=talk.number, participant=who, round=number, status="ok",
                    number=people.index(who) + 1,
                               response=response, weighed=weighed)
            )  # fmt: skip
    return talk


@pytest.mark.parametrize(
    ("level", "n_conflicts", "confidence", "expected"),
    [
        ("high", 2, 0.9, "verify"),  # more than one conflict
        ("high", 1, 0.55, "verify"),  # unsure, with a conflict
        ("high", 1, 0.9, "proceed"),
        ("high", 0, 0.55, "proceed"),  # unsure, without one
        ("high", 0, 0.45, "query_detail"),
        ("low", 0, 0.9, "query_detail"),
        ("medium", 0, None, "proceed"),  # nobody said how sure
    ],
)
def test_what_to_do(level: str, n_conflicts: int, confidence: float | None, expected: str) -> None:
    assert action(level, n_conflicts, confidence) == expected


def test_levels_begin_where_they_say() -> None:
    assert [consensus_level(score) for score in (0.7, 0.69, 0.4, 0.39, None)] == [
        "high", "medium", "medium", "low", "low",
    ]  # fmt: skip


OPEN, SUSPICIOUS, PLAYED = (load_mode(name) for name in ("adversarial", "collaborative", "devils-advocate"))
"""Modes in which unanimity is no sign; in which it is; in which stances are assigned."""


def voted(*stances: Stance, confidence: float = 0.7, words: str = "") -> dict[str, Response]:
    """Everybody in words of their own, that nobody shares, unless they are given."""
    said_by = zip(LETTERS, stances, strict=False)
    return {who: says(words or f"{who}one {who}two {who}three", confidence, stance) for who, stance in said_by}


LETTERS = "abcdefgh"


@pytest.mark.parametrize(
    ("stances", "level", "score", "expected", "stance", "holders"),
    [
        (("yes", "yes", "no", "no"), "low", 0.5, "verify", "", ""),  # a tie: nothing is decided
        (("yes", "yes", "yes", "no", "no"), "medium", 0.6, "verify", "yes", "abc"),  # two stand against it
        (("yes", "no", "yes", "yes", "yes"), "high", 0.8, "proceed", "yes", "acde"),
        (("no", "no", "no"), "high", 1.0, "proceed", "no", "abc"),  # in three ways of saying it
        (("neutral",) * 4, "low", 1.0, "query_detail", "neutral", "abcd"),  # of one mind that nothing is decided
        (("yes", "yes", "neutral", "neutral", "no"), "low", 0.4, "query_detail", "", ""),
        (("yes", "yes", "neutral", ""), "medium", 0.5, "verify", "yes", "ab"),  # no more than half
        (("yes", "", "", ""), "low", 0.25, "query_detail", "yes", "a"),  # who says nothing counts as a person, too
    ],
)
def test_stances_are_counted_by_people(
    stances: Sequence[Stance], level: str, score: float, expected: str, stance: str, holders: str
) -> None:
    decision = four_layers(held(voted(*stances)), "en", OPEN).decision
    assert (decision.consensus_level, decision.agreement_score, decision.action) == (level, score, expected)
    assert (decision.stance, "".join(decision.held_by), decision.basis) == (stance, holders, "stances")
    assert set(decision.held_by) | set(decision.not_held_by) == set(LETTERS[: len(stances)])


def test_equal_confidence_adds_nothing_and_words_do_not_outvote_stances() -> None:
    sure, apart = voted("yes", "yes", "no"), voted("yes", "yes", "no")
    apart["c"] = apart["c"].model_copy(update={"confidence": 0.1})
    scores = [four_layers(held(responses), "en", OPEN).decision.agreement_score for responses in (sure, apart)]
    assert scores == [pytest.approx(2 / 3)] * 2
    same_words = four_layers(held(voted("yes", "no", words=LEVY)), "en", OPEN)
    assert (same_words.decision.held_by, same_words.decision.action) == (
        (),
        "query_detail",
    )  # one against one, and sure


def test_groupthink_is_checked_before_anybody_goes_on() -> None:
    one_mind = held({who: says(LEVY, stance="yes") for who in "abc"})  # all sure, on one side, in the same words
    warned, trusted = (four_layers(one_mind, "en", mode) for mode in (SUSPICIOUS, OPEN))
    assert (warned.decision.consensus_level, warned.decision.action) == ("high", "verify")
    assert "sure of itself" in warned.evidence.groupthink_warning
    assert (trusted.decision.action, trusted.evidence.groupthink_warning) == ("proceed", "")


def test_words_alone_never_say_proceed() -> None:
    """ "Kept" and "abolished" share two of four words, ½ ≥ .35, and words cannot tell that they are opposites."""
    kept, abolished = "The carbon levy should be kept", "The carbon levy should be abolished"
    opposites = held({"a": says(kept), "b": says(abolished), "c": says(kept)})
    same = held({who: says(LEVY, 0.6) for who in "abc"})
    for talk in (opposites, same):
        layers = four_layers(talk, "en", OPEN)
        assert (layers.decision.basis, layers.decision.consensus_level, layers.decision.action) == (
            "words", "medium", "verify",
        )  # fmt: skip
        assert any("by their words alone" in hint for hint in layers.metadata.verification_hints)


def read_by_a_model(
    agreement: float, camps: Mapping[str, int], conflicts: Sequence[str] = (), groupthink: bool = False
) -> Discussion:
    talk = held({who: says(f"{LEVY} {who}", 0.7) for who in "abc"})
    reading = {
        "agreement": agreement, "camp_of": camps, "conflicts": list(conflicts), "groupthink": groupthink, "by": "judge",
    }  # fmt: skip
    last = talk.turns[-1]
    weighed = last.weighed.model_copy(update={"analysed": reading})
    return replace(talk, turns=(*talk.turns[:-1], last.model_copy(update={"weighed": weighed})))


def test_where_there_are_no_stances_a_models_reading_decides() -> None:
    alike = four_layers(read_by_a_model(0.9, {"1": 1, "2": 1, "3": 1}), "en", OPEN).decision
    assert (alike.basis, alike.agreement_score, alike.consensus_level, alike.action) == (
        "model", 0.9, "high", "proceed",
    )  # fmt: skip
    split = four_layers(read_by_a_model(0.5, {"1": 1, "2": 2, "3": 2}, ["kept or not", "when"]), "en", OPEN)
    assert (split.decision.held_by, split.decision.not_held_by) == (("b", "c"), ("a",))
    assert (split.decision.action, split.evidence.conflicts) == ("verify", ("kept or not", "when"))
    doubted = four_layers(read_by_a_model(0.9, {"1": 1, "2": 1, "3": 1}, groupthink=True), "en", SUSPICIOUS)
    assert (doubted.decision.action, bool(doubted.evidence.groupthink_warning)) == ("verify", True)


def test_where_stances_were_assigned_private_answers_decide() -> None:
    """In the group one plays yes and one no; privately both say no."""
    talk = held(voted("yes", "no"))
    silent = four_layers(talk, "en", PLAYED)
    assert (silent.decision.agreement_score, silent.decision.action) == (None, "query_detail")
    assert any("assigned" in hint for hint in silent.metadata.verification_hints)
    for number, (who, response) in enumerate(voted("no", "no").items(), 1):
        talk = talk.after(
            RoundtableTurn(turn=talk.number, participant=who, round=2, status="ok", number=number, response=response,
                private=True)
        )  # fmt: skip
    layers = four_layers(talk, "en", PLAYED)
    assert (layers.decision.stance, layers.decision.held_by, layers.decision.action) == ("no", ("a", "b"), "proceed")
    assert layers.evidence.conflicts == ()
    assert [heard.stance for heard in layers.agent_responses] == ["yes", "no"]  # as they were said to the group


def test_the_summary_names_what_was_decided() -> None:
    def told(*stances: Stance) -> str:
        return four_layers(held(voted(*stances)), "de", OPEN).evidence.consensus_summary

    assert told("yes", "yes", "no") == "2 von 3 sagen „ja“: aone atwo athree"
    assert told("yes", "no") == "Keine Seite ist die größte: die größten haben je 1 von 2."
    layers = four_layers(held({who: says(LEVY) for who in "abc"}, exit="consensus"), "en", OPEN)
    assert layers.evidence.consensus_summary == f"3 of 3 take this position: {LEVY}"
    assert (layers.metadata.exit_reason, layers.metadata.rounds) == ("consensus", 1)
    assert [response.number for response in layers.agent_responses] == [1, 2, 3]


def test_opponents_are_told_of_by_number_and_in_the_language() -> None:
    talk = held(
        {"a": says(LEVY, 0.5, "yes"), "b": says(NO_LEVY, 0.5, "no")},
        {"a": says(LEVY, 0.7, "yes"), "b": says(NO_LEVY, 0.3, "no")},
    )
    layers = four_layers(talk, "de", OPEN)
    assert layers.decision.action == "verify"  # one against one, mean confidence .5
    assert layers.evidence.conflicts == (f"1 gegen 2: „{LEVY}“ – „{NO_LEVY}“",)
    assert [agent.confidence_change for agent in layers.agent_responses] == [pytest.approx(0.2), pytest.approx(-0.2)]


def test_undecided_contradict_nobody_and_other_subjects_are_no_conflict() -> None:
    assert conflicts({"a": says(LEVY, stance="yes"), "b": says(NO_LEVY, stance="neutral")}) == []
    assert conflicts({"a": says(LEVY), "b": says("Never close schools")}) == []  # denies, but something else
    assert conflicts({"a": says(LEVY), "b": says(NO_LEVY)}) == [(("a",), ("b",))]


def test_hints_name_what_a_caller_should_look_at() -> None:
    broken = says(LEVY).model_copy(update={"violations": (Violation(check="stance", expected="no", actual="yes"),)})
    layers = four_layers(held({"a": broken, "b": says("")}), "en", OPEN)
    assert len(layers.metadata.verification_hints) == 5  # silent, violations, uncited, words, sure
    assert four_layers(Discussion("group_01"), "en", OPEN).evidence.consensus_summary == "Nobody took a position."


# --- arguments --------------------------------------------------------------------------------------------------------


def coded(*voices: str) -> CodedThemes:
    return CodedThemes(themes=[Theme(id="x1", label="Rebates", description="", statements=list(voices))], uncoded=[])


YES, NO = says(LEVY, stance="yes"), says(NO_LEVY, stance="no")
TALK = held(
    {"a": YES.model_copy(update={"key_points": ("rebates", "jobs")}),
        "b": NO.model_copy(update={"key_points": ("costs",)}),
        "c": YES.model_copy(update={"key_points": ("rebates",)})},
    {"a": YES, "b": NO.model_copy(update={"key_points": ("no rebates",)}), "c": YES},
)  # fmt: skip


def test_every_key_point_is_a_statement_or_the_position_where_there_is_none() -> None:
    ids = [statement.id for statement in statements([TALK])]
    said_by = ["a#1.1", "a#1.2", "b#2.1", "c#3.1", "a#4.1", "b#5.1", "c#6.1"]
    assert ids == [place.replace("#", "|group_01#") for place in said_by]


def test_who_raised_an_argument_and_who_answered_it() -> None:
    """At the same time a and c raise it, since neither heard the other, and b comes back to it from the other side; one
    after the other c has heard a."""
    themes = coded("a|group_01#1.1", "c|group_01#3.1", "b|group_01#5.1")
    (together,) = argument_rows(themes, [TALK], hear_one_another=False)
    assert together["raised"] == ["a", "c"]
    assert (together["answered"], together["took_up"], together["countered"]) == (1, [], ["b"])
    (in_turn,) = argument_rows(themes, [TALK], hear_one_another=True)
    assert in_turn["raised"] == ["a"]
    assert (in_turn["answered"], in_turn["took_up"], in_turn["countered"]) == (2, ["c"], ["b"])


def test_an_argument_of_another_group_is_none_of_this_one() -> None:
    assert argument_rows(coded("a|group_02#1.1"), [TALK], hear_one_another=False) == []
