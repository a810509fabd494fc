"""Each mode with a scripted discussion: what exactly everybody was shown, and what they were held to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enquete.methods.roundtable.modes import Violation, load_mode
from enquete.state.errors import InstrumentError
from tests.methods.roundtable.tables import Says, Table, hold, plainly

ROUND_1, NOW = "What was said in round 1", "What has been said in this round already"
STATISTICS = "How the group stood in the last round"


def voice(label: str, name: str, round: int, **sections: str) -> str:
    """One participant's words in one round, as `plainly` says them and others read them."""
    lines = [f"{label}: {name}topic{round}."]
    texts = {title: plainly(name, round, section).replace("\n", "\n  ") for section, title in sections.items()}
    lines += [f"{title}: {text}" for title, text in texts.items()]
    return "\n".join([*lines, f"Reasons: {name}reasoning{round}.", f"Key points: {name}key_points{round}."])


def voices(*parts: str) -> str:
    return "\n\n".join(parts)


def broken(table: Table, name: str, round: int) -> list[tuple[str, str, str]]:
    return [(fault.check, fault.expected, fault.actual) for fault in table.turn(name, round).response.violations]


def wherever(**texts: object) -> Says:
    """The same by item, whoever speaks and whenever, asked once more too."""
    return lambda name, round, item, again: texts.get(item)


# --- parallel ---------------------------------------------------------------------------------------------------------


def test_collaborative_everybody_reads_the_round_before_and_is_held_to_the_mode() -> None:
    table = hold("collaborative", 3)
    assert [table.shown(name, 1) for name in ("Ada", "Ben", "Cleo")] == [{}, {}, {}]
    assert table.shown("Ben", 2) == {
        ROUND_1: voices(
            voice("Ada (stance: yes, confidence: 0.5)", "Ada", 1, ideas="Ideas"),
            voice("Ben (you, stance: yes, confidence: 0.5)", "Ben", 1, ideas="Ideas"),
            voice("Cleo (stance: yes, confidence: 0.5)", "Cleo", 1, ideas="Ideas"),
        )
    }
    first = ["position", "stance", "ideas", "reasoning", "key_points", "citations", "confidence"]
    later = ["position", "stance", "agreements", "synthesis", "reasoning", "key_points", "citations", "confidence"]
    assert (table.asked("Ada", 1), table.asked("Ada", 2)) == (first, later)
    assert not any(turn.response.violations or turn.retried for turn in table.talk.turns)
    table = hold("collaborative", 2, wherever(agreements="We agree on one thing.", reasoning="Absurdly simple."))
    assert broken(table, "Ada", 1) == [("without", "–", "absurd")]
    assert broken(table, "Ada", 2) == [("at_least", "2", "1"), ("without", "–", "absurd")]


def test_expert_panel_everybody_is_told_a_perspective_which_the_summary_shows() -> None:
    table = hold("expert-panel", 5, lambda name, round, item, _: "What it costs." if item == "summary" else None)
    labels = ["technical", "economic", "ethical", "social", "technical"]
    for name, label in zip(("Ada", "Ben", "Cleo", "Dan", "Eve"), labels, strict=True):
        assert f"Your perspective in this group is: {label}." in table.told(name, 1)
    assert table.shown("Ben", 2)[ROUND_1].startswith("Ada (technical, confidence: 0.5): Adatopic1.\nAnalysis: ")
    assert broken(table, "Ben", 1) == []  # "cost" is a word of the economic perspective
    assert broken(table, "Ada", 1) == [("names_role", "technical, technical, feasib, engineering", "What it costs.")]
    assert "stance" not in table.asked("Ada", 1)


def test_expert_panel_perspectives_may_be_named_or_drawn() -> None:
    named = hold(
        "expert-panel", 3, perspectives="explicit", perspective_of="Ada: social; agent:cleo: ethical", rounds=1
    )
    assert [turn.role for turn in named.talk.turns] == ["social", "economic", "ethical"]  # Ben's goes by his place
    drawn = [hold("expert-panel", 5, perspectives="random") for _ in range(2)]
    roles = [[turn.role for turn in table.talk.turns] for table in drawn]
    assert roles[0] == roles[1]
    assert roles[0][:5] == roles[0][5:]  # the same in every round


def test_delphi_hides_names_keeps_numbers_and_counts_the_last_round_alone() -> None:
    sure = {"Ada": (0.2, 0.3, 0.9), "Ben": (0.4, 0.5, 0.9), "Cleo": (0.9, 1.0, 0.9)}

    def says(name: str, round: int, item: str, again: bool) -> object:
        stances = {"Ada": "no", "Ben": "yes", "Cleo": "yes" if round == 1 else "neutral"}
        return {"confidence": sure[name][round - 1], "stance": stances[name]}.get(item)

    table = hold("delphi", 3, says, rounds=3)
    numbers = {turn.participant: turn.number for turn in table.talk.turns}
    assert sorted(numbers.values()) == [1, 2, 3]
    assert all(turn.number == numbers[turn.participant] for turn in table.talk.turns)
    ada, ben, cleo = (f"Participant {numbers[f'agent:{name}']}" for name in ("ada", "ben", "cleo"))
    shown = table.shown("Ben", 2)
    assert shown == {
        ROUND_1: voices(
            voice(f"{ada} (stance: no, confidence: 0.2)", "Ada", 1),
            voice(f"{ben} (you, stance: yes, confidence: 0.4)", "Ben", 1),
            voice(f"{cleo} (stance: yes, confidence: 0.9)", "Cleo", 1),
        ),
        # By hand: of .2, .4, .9 the median is .4, the quartiles (type 7) are .3 and .65.
        STATISTICS: "stance: yes 2, no 1\nconfidence: median 0.4, IQR 0.35, n 3",
    }
    last = table.shown("Ben", 3)
    assert list(last) == [ROUND_1, "What was said in round 2", STATISTICS]
    assert last[ROUND_1] == shown[ROUND_1]
    # Of .3, .5, 1 the median is .5, the quartiles are .4 and .75: nothing of round 1 is in it.
    assert last[STATISTICS] == "stance: yes 1, undecided 1, no 1\nconfidence: median 0.5, IQR 0.35, n 3"
    assert last["What was said in round 2"].startswith(
        f"{ada} (stance: no, confidence: 0.3): Adatopic2.\nWhat has changed: "
    )


def test_red_attacks_from_even_places_and_blue_answers_every_attack_of_the_last_round() -> None:
    def says(name: str, round: int, item: str, again: bool) -> object:
        if item == "problems":
            return "\n".join(f"- {name} problem {n}" for n in range(5))
        if item == "answers":
            return "\n".join(f"- answer {n}" for n in range(10 if again or name == "Dan" else 9))
        return None

    table = hold("red-team-blue-team", 4, says)
    assert [turn.role for turn in table.talk.turns[:4]] == ["red", "blue", "red", "blue"]
    assert "problems" in table.asked("Ada", 1)
    assert ["solutions" in table.asked("Ben", n) for n in (1, 2)] == [True, True]
    assert ["answers" in table.asked("Ben", n) for n in (1, 2)] == [False, True]
    # Ada and Cleo named five problems each: nine answers are one too few, and ten the second time are enough.
    ben = table.turn("Ben", 2)
    assert ben.slips == (Violation(check="answers_all", expected="10", actual="9", part="answers"),)
    assert (ben.retried, ben.response.violations) == (True, ())
    assert table.turn("Dan", 2).retried is False


def test_red_proposes_nothing() -> None:
    table = hold(
        "red-team-blue-team", 2, wherever(problems="1. One. 2. Two.", reasoning="A solution is near."), rounds=1
    )
    assert broken(table, "Ada", 1) == [("at_least", "5", "2"), ("without", "–", "solution")]
    assert broken(table, "Ben", 1) == []


# --- sequential -------------------------------------------------------------------------------------------------------


def test_adversarial_everybody_reads_the_earlier_answers_and_is_held_to_the_mode() -> None:
    table = hold("adversarial", 3)
    titles = {"steel_man": "The other side at its strongest", "weaknesses": "Weaknesses"}
    ada, ben, cleo = (
        voice(f"{name} (stance: yes, confidence: 0.5)", name, 1, **titles) for name in ("Ada", "Ben", "Cleo")
    )
    assert table.shown("Ada", 1) == {}
    assert table.shown("Ben", 1) == {NOW: ada}
    assert table.shown("Cleo", 1) == {NOW: voices(ada, ben)}
    mine = voice("Ben (you, stance: yes, confidence: 0.5)", "Ben", 1, **titles)
    again = voice("Ada (stance: yes, confidence: 0.5)", "Ada", 2, **titles)
    assert table.shown("Ben", 2) == {ROUND_1: voices(ada, mine, cleo), NOW: again}
    table = hold(
        "adversarial", 2, wherever(weaknesses="One; two", steel_man="nothing", reasoning="Maybe so."), rounds=1
    )
    assert broken(table, "Ada", 1) == [("at_least", "1", "0"), ("at_least", "3", "2"), ("without", "–", "maybe")]


def test_socratic_wants_three_questions_and_more_of_them_than_statements() -> None:
    asked = {"questions": "Why? Since when?\nFor whom?", "reasoning": "Nobody knows. Nobody asks."}
    table = hold("socratic", 2, lambda name, round, item, again: asked.get(item) if name == "Ada" else None, rounds=1)
    # Ada: three questions; her position and two sentences of reasons are three statements.
    assert broken(table, "Ada", 1) == [("questions", "≥ 4 ?", "3 ?, 3 .")]
    assert broken(table, "Ben", 1) == [("questions", "≥ 6 ?", "0 ?, 5 .")]
    fine = hold("socratic", 2, wherever(questions="Why? Since when?\nFor whom?"), rounds=1)
    assert broken(fine, "Ada", 1) == []  # three against two


@pytest.mark.parametrize(("n", "split"), [(2, "po"), (3, "poe"), (4, "poee"), (5, "ppooe"), (6, "ppooee")], ids=str)
def test_devils_advocate_splits_the_group(n: int, split: str) -> None:
    table = hold("devils-advocate", n, rounds=1)
    assert "".join(turn.role[0] for turn in table.talk.turns) == split


def test_devils_advocate_asks_once_more_for_the_stance_of_the_part_and_then_keeps_what_is_said() -> None:
    """Ben argues no and says yes; asked once more he does so again. Cleo, who weighs, gives in."""

    def says(name: str, round: int, item: str, again: bool) -> object:
        return "neutral" if item == "stance" and name == "Cleo" and again else None

    table = hold("devils-advocate", 3, says, rounds=1)
    ada, ben, cleo = (table.turn(name, 1) for name in ("Ada", "Ben", "Cleo"))
    wrong = Violation(check="stance", expected="no", actual="yes", part="stance")
    assert (ada.retried, ada.slips) == (False, ())
    assert (ben.response.stance, ben.slips, ben.response.violations) == ("yes", (wrong,), (wrong,))
    assert (cleo.response.stance, cleo.response.violations) == ("neutral", ())
    assert [slip.expected for slip in cleo.slips] == ["neutral"]
    asked = [block for block in table.interview_context.blocks if block.key.participant == "agent:ben"]
    assert [block.key.part for block in asked] == ["turn", "again"]
    assert "Your part asks for the stance no, not yes." in asked[1].instruction
    assert dict(asked[1].quoted)["Your answer"].startswith("Bentopic1.")
    assert dict(asked[1].quoted)[NOW] == dict(asked[0].quoted)[NOW]
    assert "Ben (opposition, stance: yes, confidence: 0.5)" in table.shown("Cleo", 1)[NOW]  # nothing was rewritten


# --- of every mode ----------------------------------------------------------------------------------------------------


def test_confidence_is_clamped_kept_raw_and_marked() -> None:
    sure = {"Ada": 1.3, "Ben": 80, "Cleo": -0.2}
    table = hold("collaborative", 3, lambda name, _, item, __: sure[name] if item == "confidence" else None, rounds=1)
    responses = [table.turn(name, 1).response for name in ("Ada", "Ben", "Cleo")]
    assert [(reply.confidence, reply.raw_confidence) for reply in responses] == [(1.0, 1.3), (0.8, 80.0), (0.0, -0.2)]
    assert [response.violations[0].actual for response in responses] == ["1.3", "80", "-0.2"]


def test_a_section_that_is_left_out_is_asked_for_once_more() -> None:
    table = hold(
        "collaborative", 2, lambda name, round, item, again: "" if item == "ideas" and not again else None, rounds=1
    )
    ada = table.turn("Ada", 1)
    assert ada.slips == (Violation(check="required", expected="1", actual="0", part="ideas"),)
    assert ada.response.violations == ()
    assert (
        '"Ideas" is to be filled in.'
        in next(b for b in table.interview_context.blocks if b.key.part == "again").instruction
    )


def test_who_says_nothing_at_all_breaks_no_rule() -> None:
    silent = lambda name, _, item, __: "" if name == "Ada" and item not in ("confidence", "stance") else None  # noqa: E731
    table = hold("socratic", 2, silent, rounds=1)
    assert (table.turn("Ada", 1).answer, table.turn("Ada", 1).retried) == ("", False)


def test_all_layers_are_in_the_language_of_the_run() -> None:
    table = hold("devils-advocate", 2, language="de", rounds=1)
    told = table.told("Ben", 1)
    anchor, contract, structure, verification = (
        "In dieser Runde vertreten Sie das Nein", "Bleiben Sie in Ihrer Rolle", "Füllen Sie jeden Teil",
        "Prüfen Sie Ihre Antwort",
    )  # fmt: skip
    places = [told.index(text) for text in (anchor, contract, structure, verification)]
    assert places == sorted(places)
    assert "- Alles gehört zur Frage." in told
    assert "- Meine Haltung ist die, die meine Rolle verlangt." in told
    case = plainly("Ada", 1, "case").replace("\n", "\n  ")
    assert table.shown("Ben", 1) == {
        "Was in dieser Runde schon gesagt wurde": "Ada (Befürworter, Haltung: ja, Sicherheit: 0.5): Adatopic1.\n"
        + f"Argumente: {case}\nBegründung: Adareasoning1.\nKernpunkte: Adakey_points1."
    }


BUZZ = """
id: buzz
version: "1.0"
title: Buzz group
language_default: en
order: sequential
groupthink: true
stance: false
context: [anonymous]
assign: alternate
roles:
  asker: {label: asker, anchor: You ask.}
  teller: {label: teller, anchor: You tell.}
contract: Be brief.
sections:
  wish: {title: Wish, ask: what you wish for, rounds: first, roles: [teller]}
verification: [I was brief.]
checks:
  - {check: at_least, section: wish, least: 4, roles: [teller], rounds: first}
"""


def test_an_eighth_mode_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "buzz.yaml").write_text(BUZZ, "utf-8")
    table = hold(str(tmp_path / "buzz.yaml"), 2)
    assert table.talk.mode == "buzz"
    ada = table.turn("Ada", 1)
    assert table.shown("Ben", 1) == {NOW: voice(f"Participant {ada.number} (confidence: 0.5)", "Ada", 1)}
    assert [("wish" in table.asked(name, n)) for name in ("Ada", "Ben") for n in (1, 2)] == [False, False, True, False]
    assert broken(table, "Ben", 1) == [("at_least", "4", "3")]
    assert "You tell.\n\nBe brief." in table.told("Ben", 1)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("context: [anonymous]", "context: [anonymus]", "'anonymus' is no context processor; did you mean 'anonymous'"),
        ("check: at_least", "check: at_most", "'at_most' is no check"),
        ("assign: alternate", "assign: split", "names 2; to split a group takes 3"),
        ("section: wish, least", "section: wishes, least", "checks.section: 'wishes' is not defined here"),
        ("roles: [teller]}\nverification", "roles: [teler]}\nverification",
            "sections.wish.roles: 'teler' is not defined here"),
    ],
)  # fmt: skip
def test_a_mode_that_names_what_is_not_there_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in BUZZ
    (tmp_path / "buzz.yaml").write_text(BUZZ.replace(old, new), "utf-8")
    with pytest.raises(InstrumentError, match=re.escape(says)):
        load_mode(str(tmp_path / "buzz.yaml"))
