"""Words of texts: what is counted, what is shared, which side is taken. All expectations by hand from the rules."""

from __future__ import annotations

import pytest

from enquete.analysis.vocabulary import content_words, denies, jaccard


def test_short_words_and_stop_words_carry_nothing() -> None:
    assert content_words("We should ban the big trawlers now") == {"trawlers"}  # "ban", "big", "now": three letters
    assert content_words("Wir sollten die Kutter nicht verbieten") == {"kutter", "verbieten"}
    assert content_words("The system should not fire their mill workers") == {"system", "fire", "mill", "workers"}


def test_jaccard_is_shared_over_all() -> None:
    one, other = frozenset({"quota", "harbour", "price"}), frozenset({"quota", "price", "subsidy", "boats"})
    assert jaccard(one, other) == pytest.approx(2 / 5)
    assert jaccard(frozenset(), frozenset()) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The levy should come soon", False),
        ("The levy should not come soon", True),
        ("No, the levy must never come", True),  # the opening repeats what the sentence says
        ("I am not against the levy", False),  # two negations
        ("It isn't fair", True),
        ("It is not only fair but cheap", False),
        ("Die Abgabe darf nicht kommen", True),
        ("Ich bin gegen die Abgabe", True),
        ("Nein, die Abgabe soll kein Mensch zahlen", True),
        ("Ich lehne die Abgabe ab", True),
        ("Die Abgabe nützt nicht nur den Häfen", False),
    ],
)
def test_a_statement_denies_by_an_odd_number_of_negations(text: str, expected: bool) -> None:
    assert denies(text) is expected
