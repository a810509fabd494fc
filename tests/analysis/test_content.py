"""Texts and rows without content: what is found of the bad, and that nothing good is taken for bad."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.coherence import contentless
from enquete.analysis.content import one_valued, text_note
from tests.support.contents import HELD_OUT, TEXTS, Text


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: f"{case.note or 'good'}: {case.text[:30]}")
def test_each_text_gets_the_note_that_a_reader_would_give(case: Text) -> None:
    assert text_note(case.text, case.language, case.beside) == case.note


def test_texts_that_the_rules_were_not_made_on() -> None:
    """Written before they were tried: every note is right, and at least eight in ten of the bad are found."""
    noted = [(bool(text_note(case.text, case.language, case.beside)), bool(case.note)) for case in HELD_OUT]
    assert [given for given, bad in noted if not bad].count(True) == 0
    assert noted.count((True, True)) / sum(bad for _, bad in noted) >= 0.8


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([1] * 15, True),
        ([1] * 14 + [2], True),  # .93
        ([1] * 12 + [2] * 3, False),  # .80: no person of 568 has more than .70
        ([3] * 7, True),
        ([3] * 6, False),  # too short to say
        ([3] * 7 + [np.nan] * 8, True),
        ([], False),
    ],
)
def test_a_row_of_one_value(row: list[float], expected: bool) -> None:
    assert one_valued(np.array(row, dtype=float)) is expected


def table(**agents: list[str]) -> pd.DataFrame:
    """Two texts an agent, by their notes; a note of one_value stands on a row without text."""
    rows = [
        (who, f"i{place}", "ok", "" if note == "one_value" else "said", note)
        for who, notes in agents.items()
        for place, note in enumerate(notes)
    ]
    return pd.DataFrame(rows, columns=["participant", "item", "status", "text", "content"])


def test_agents_who_say_nothing_are_counted_at_any_number() -> None:
    diagnostic = contentless(table(a=["one_value", "one_value"]))
    assert (diagnostic.value, diagnostic.verdict, diagnostic.n) == (1.0, "bad", 1)
    # By hand: of a, b, c, d and e two say nothing: a row of one value, and one of two texts; .40 is above .25
    five = contentless(table(a=["one_value", ""], b=["no_sentence", ""], c=["", ""], d=["", ""], e=["", ""]))
    assert (five.value, five.verdict, five.reason_code) == (0.4, "bad", "above")
    assert five.detail["without_content"] == ["a", "b"]
    assert five.detail["by_note"] == {"one_value": 1, "no_sentence": 1}
    assert five.detail["by_item"] == {"i0": 2}
    four = contentless(table(a=["one_value", ""], b=["", ""], c=["", ""], d=["", ""]))
    assert four.verdict == "caution"
    assert contentless(table(a=["", ""])).verdict == "fine"


def test_a_comment_left_empty_is_none_for_the_agent() -> None:
    """Four agents with five answers each, of which one in words says nothing for two of them."""
    frame = table(a=[""] * 4 + ["no_sentence"], b=[""] * 4 + ["no_sentence"], c=[""] * 5, d=[""] * 5)
    frame.loc[~frame["item"].eq("i4"), "text"] = ""
    agents = contentless(frame)
    assert (agents.value, agents.n, agents.verdict) == (0.0, 4, "fine")
