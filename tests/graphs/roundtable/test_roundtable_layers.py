"""The answer in four layers, and the argument table, of discussions made up here: no run. Expectations by hand from the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn, Weighed
from enquete.graphs.roundtable.layers import action, conflicts, consensus_level, four_layers
from enquete.graphs.roundtable.measures.arguments import argument_table, for_movement, statements
from enquete.graphs.roundtable.responses import Response, Stance, Violation
from enquete.respondents.themes.coded import CodedThemes, Theme

LEVY, NO_LEVY = "Introduce the carbon levy quickly", "Never introduce the carbon levy quickly"


def said(position: str, confidence: float = 0.9, stance: Stance = "", points: Sequence[str] = ()) -> Response:
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
                RoundtableTurn(turn=talk.number, participant=who, round=number, status="ok", number=people.index(who) + 1,
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
    assert action(level, n_conflicts, confidence) == expected  # type: ignore[arg-type]


def test_levels_begin_where_they_say() -> None:
    assert [consensus_level(score) for score in (0.7, 0.69, 0.4, 0.39, None)] == [
        "high",
        "medium",
        "medium",
        "low",
        "low",
    ]


def test_a_group_of_one_mind_is_high_and_warned_of() -> None:
    """All three signs of groupthink; one cluster and equal confidence: agreement 1."""
    found = four_layers(held({who: said(LEVY, points=["rebates"]) for who in "abc"}, exit="consensus"), "en")
    assert (found.decision.consensus_level, found.decision.agreement_score, found.decision.action) == (
        "high",
        1,
        "proceed",
    )
    assert "sure of itself" in found.evidence.groupthink_warning
    assert found.evidence.consensus_summary == f"3 of 3 take this position: {LEVY}"
    assert (found.metadata.exit_reason, found.metadata.rounds) == ("consensus", 1)
    assert [one.number for one in found.agent_responses] == [1, 2, 3]
    quiet = four_layers(held({who: said(LEVY) for who in "abc"}), "en", suspicious=False)
    assert quiet.evidence.groupthink_warning == ""


def test_opponents_are_told_of_by_number_and_in_the_language() -> None:
    talk = held(
        {"a": said(LEVY, 0.5, "yes"), "b": said(NO_LEVY, 0.5, "no")},
        {"a": said(LEVY, 0.7, "yes"), "b": said(NO_LEVY, 0.3, "no")},
    )
    found = four_layers(talk, "de")
    assert found.decision.action == "verify"  # one conflict, mean confidence .5
    assert found.evidence.conflicts == (f"1 gegen 2: „{LEVY}“ – „{NO_LEVY}“",)
    assert [one.confidence_change for one in found.agent_responses] == [pytest.approx(0.2), pytest.approx(-0.2)]


def test_undecided_contradict_nobody_and_other_subjects_are_no_conflict() -> None:
    assert conflicts({"a": said(LEVY, stance="yes"), "b": said(NO_LEVY, stance="neutral")}) == []
    assert conflicts({"a": said(LEVY), "b": said("Never close schools")}) == []  # denies, but something else
    assert conflicts({"a": said(LEVY), "b": said(NO_LEVY)}) == [(("a",), ("b",))]


def test_hints_name_what_a_caller_should_look_at() -> None:
    broken = said(LEVY).model_copy(update={"violations": (Violation(check="stance", expected="no", actual="yes"),)})
    found = four_layers(held({"a": broken, "b": said("")}), "en")
    assert len(found.metadata.verification_hints) == 4  # silent, violations, uncited, sure
    assert four_layers(Discussion("group_01"), "en").evidence.consensus_summary == "Nobody took a position."


# --- arguments ----------------------------------------------------------------------------------------------------------


def coded(*voices: str) -> CodedThemes:
    return CodedThemes(themes=[Theme(id="x1", label="Rebates", description="", statements=list(voices))], uncoded=[])


YES, NO = said(LEVY, stance="yes"), said(NO_LEVY, stance="no")
TALK = held(
    {
        "a": YES.model_copy(update={"key_points": ("rebates", "jobs")}),
        "b": NO.model_copy(update={"key_points": ("costs",)}),
        "c": YES.model_copy(update={"key_points": ("rebates",)}),
    },
    {"a": YES, "b": NO.model_copy(update={"key_points": ("no rebates",)}), "c": YES},
)


def test_every_key_point_is_a_statement_or_the_position_where_there_is_none() -> None:
    ids = [one.id for one in statements([TALK])]
    said_by = ["a#1.1", "a#1.2", "b#2.1", "c#3.1", "a#4.1", "b#5.1", "c#6.1"]
    assert ids == [one.replace("#", "|group_01#") for one in said_by]


def test_who_raised_an_argument_and_who_answered_it() -> None:
    """At the same time a and c raise it, since neither heard the other, and b comes back to it from the other side; one after
    the other c has heard a."""
    themes = coded("a|group_01#1.1", "c|group_01#3.1", "b|group_01#5.1")
    (together,) = argument_table(themes, [TALK], [])
    assert together.raised == ("a", "c")
    assert [(one.participant, one.how) for one in together.answered] == [("b", "countered")]
    (in_turn,) = argument_table(themes, [TALK], ["group_01"])
    assert in_turn.raised == ("a",)
    assert [(one.participant, one.how) for one in in_turn.answered] == [("c", "took_up"), ("b", "countered")]
    assert for_movement(themes)[0].voices == {"a", "b", "c"}


def test_an_argument_of_another_group_is_none_of_this_one() -> None:
    assert argument_table(coded("a|group_02#1.1"), [TALK], []) == []
