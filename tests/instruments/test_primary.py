"""Primary questions as files and requests name them."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.instruments.load import load_instrument
from enquete.instruments.primary import parse_primary
from enquete.methods.registry import methodologies
from enquete.state.errors import InputError, SettingsError

QUESTIONS = {"longitudinal": ("drift", "groups"), "poll": ("groups",)}
POLL = "questions:\n  - question_id: q1\n    wording: How are you?\n    options: [fine, not so fine]\n"


def test_a_request_names_questions_with_their_parts() -> None:
    assert parse_primary([], QUESTIONS) == {}
    assert parse_primary(["longitudinal.drift=2.5", "poll.groups"], QUESTIONS) == {
        "longitudinal": {"drift": 2.5}, "poll": {"groups": 1.0},
    }  # fmt: skip


@pytest.mark.parametrize(("named", "message"), [
    ("drift", r"'drift' is not taken; write METHOD.QUESTION"),
    ("delphi.groups", r"'delphi' is not among the methodologies of this run, longitudinal, poll"),
    ("longitudinal.mood", r"longitudinal tests no question 'mood'; there are: longitudinal.drift, longitudinal.groups"),
    ("poll.groups=much", r"'much' is no part of the error rate; write a number above 0"),
    ("poll.groups=0", r"'0' is no part of the error rate"),
    ("poll.groups=nan", r"'nan' is no part of the error rate"),
])  # fmt: skip
def test_what_a_request_cannot_name_says_what_there_is(named: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse_primary([named], QUESTIONS)
    with pytest.raises(SettingsError, match=r"longitudinal.drift is named twice"):
        parse_primary(["longitudinal.drift", "longitudinal.drift=2"], QUESTIONS)


@pytest.mark.parametrize(("said", "read"), [
    ("groups", {"groups": 1.0}), ("[groups]", {"groups": 1.0}), ("{groups: 3}", {"groups": 3.0}), ("[]", {}),
])  # fmt: skip
def test_an_instrument_names_them_as_a_word_a_list_or_parts(said: str, read: dict[str, float], tmp_path: Any) -> None:
    instrument = poll(tmp_path, f"primary: {said}\n")
    assert instrument.primary == read
    assert ("primary" in instrument.model_dump(mode="json")) == bool(read)  # an instrument without has the hash it had


@pytest.mark.parametrize(("said", "message"), [
    ("mood", "'mood' is no question that is tested"), ("{groups: -1}", "groups: -1 is no part"), ("7", "7 names no"),
    ("[1]", "1 is no question"),
])  # fmt: skip
def test_an_error_in_an_instrument_names_the_line(said: str, message: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match=message) as raised:
        poll(tmp_path, f"primary: {said}\n")
    assert "primary" in str(raised.value)
    assert "line 1" in str(raised.value) or ":1" in str(raised.value)


def test_an_instrument_may_name_what_its_methodology_tests_and_nothing_else() -> None:
    """The names are said where no analysis is imported; findings that test are the other end."""
    for methodology in methodologies().values():
        presentation = methodology.evaluation().presentation
        assert sorted(methodology.instrument.questions_tested) == sorted(presentation.questions), methodology.name
        assert set(presentation.primary) <= set(presentation.questions)
        assert presentation.primary, f"{methodology.name} has no primary question by default"


def poll(folder: Any, head: str) -> Any:
    file = folder / "poll.yaml"
    file.write_text(head + POLL, "utf-8")
    return load_instrument(methodologies()["poll"].instrument, file)
