"""The checker of the narrative, with texts that try to get past it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.graphs.delphi.across import HELD
from enquete.graphs.longitudinal import across
from enquete.reports.crossing.checking import Narrative, Paragraph, figures, problems, readings
from enquete.reports.crossing.claims import Claim, Group
from enquete.reports.crossing.sentences import sentence

IDS = ("r/main/longitudinal/T1//0/0/agent:1/a", "r/main/longitudinal/T0//0/0/agent:1/a")
OTHER = "r/main/delphi/T1//3/0/agent:2/b"
KNOWN = frozenset({*IDS, OTHER})


def claim(**changes) -> Claim:
    """Drift of two archetypes: 0.5349 of 5 agents, −0.1 of 2 of 3; 7 of 8 agents in all."""
    groups = (Group("archetype:A", 5, 5, 0.5349), Group("Kleinfischer 12", 2, 3, -0.1))
    values = {
        "id": "drift_by_archetype", "template": "drift_by_archetype/differs", "methods": ("longitudinal", "diversity"),
        "groups": groups, "shown": "mean", "n": 7, "n_total": 8, "answer_ids": IDS, "n_answers": 1234, "rests_on": ("x",),
        "text": across.DRIFT.differs,
        "called": {"archetype:A": "archetype A"},
    }  # fmt: skip
    return Claim(**{**values, **changes})


SHARES = claim(
    id="hold_outs_by_type",
    template="hold_outs_by_type/differs",
    groups=(Group("A", 3, 3, 2 / 3, 2), Group("B", 8, 8, 0.125, 1)),
    shown="share",
    facts={"holding_out": 3, "raters": 11, "held": 4},
    text=HELD.differs,
)


def wrong(text: str, *, language="de", claims=(), cited=("drift_by_archetype",), answers=IDS[:1]) -> list[str]:
    paragraph = Paragraph(text=text, claim_ids=list(cited), answer_ids=list(answers))
    return problems(Narrative(paragraphs=[paragraph]), [claim(), SHARES, *claims], KNOWN, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Archetyp A bewegt sich am stärksten, um 0,53 Skalenpunkte (5 von 5).", "de"),
        ("Archetyp A bewegt sich um 0.53 Punkte.", "de"),
        ("Archetype A moved by 0.53 points, 7 of 8 agents.", "en"),
        ("Archetype A moved by 0,53 points.", "en"),
        ("Genauer: 0,535 oder 0,5349.", "de"),  # more decimals than printed, rounded rightly
        ("Bei „Kleinfischer 12“ sind es −0,10, also fast nichts.", "de"),  # 12 is part of the name; −0.1 printed −0,10
        ("Bei Kleinfischer 12 sind es -0,1.", "de"),
        ("Zwischen T0 und T1 bewegt sich wenig; zwei Gruppen, ein Drittel, kaum jemand.", "de"),  # words are left alone
        ("Keine Zahl.", "de"),
        ("The change is 0.53.", "en"),  # a full stop after a figure
    ],
)
def test_figures_of_the_claims_pass(text, language):
    assert wrong(text, language=language) == []


@pytest.mark.parametrize(
    "text",
    [
        "Archetyp A bewegt sich um 0,54 Skalenpunkte.",  # changed
        "Archetyp A bewegt sich um 0,5 Skalenpunkte.",  # rounder than printed
        "Archetyp A bewegt sich um 0,5348.",  # more exact, and not the value
        "Archetyp A bewegt sich um 5,3.",
        "Archetyp A bewegt sich um 53 %.",  # a mean is no share
        "5 % der Agenten.",  # a count is no share
        "5 Prozent der Agenten.",
        "Bei Kleinfischer 12 sind es 0,10.",  # the sign is lost
        "Bei Kleinfischer 13 sind es −0,10.",  # another name
        "Es waren 12 Agenten.",  # a figure that stands in a name only
        "Fast die Hälfte, ½ der Agenten.",
        "Das sind 5² Agenten.",
        "Das sind 5e3 Agenten.",
        "Im Jahr 2040 wird alles anders.",
        "Das wirkte 2fach.",
        "Siehe R2D2.",
        "Es waren ９ Agenten.",  # a full-width digit
    ],
)
def test_other_figures_are_refused(text):
    assert wrong(text)


def test_shares_are_read_in_per_cent_and_as_fractions():
    # 2/3 is printed 67 %; 0.125 is printed 12 % (Python rounds half to even, as the report does)
    cited = ("hold_outs_by_type",)
    for fine in ("67 %", "67%", "67 Prozent", "66,7 %", "0,67", "66.67 per cent", "12 %", "12,5 %", "3 von 4"):
        assert wrong(f"Es sind {fine}.", cited=cited) == [], fine
    for bad in ("66 %", "13 %", "67", "0,66", "67 Prozentpunkte", "6,7 %", "3 %"):
        assert wrong(f"Es sind {bad}.", cited=cited), bad


def test_a_figure_must_belong_to_a_claim_that_the_paragraph_cites():
    assert wrong("Es sind 67 %.")
    assert wrong("Es sind 67 %.", cited=("drift_by_archetype", "hold_outs_by_type")) == []


def test_thousands_are_read_as_both_languages_write_them():
    large = claim(id="large", n=1234, n_total=12345)
    for text in ("1.234 von 12.345", "1,234 of 12,345", "1234 von 12345", "1 234 von 12 345", "1\u202f234"):
        assert wrong(text, claims=[large], cited=("large",)) == [], text
    assert wrong("1.235 Agenten", claims=[large], cited=("large",))
    assert sorted(readings("1.234")) == [(1.234, 3), (1234.0, 0)]
    assert list(readings("1.234,5")) == [(1234.5, 1)]
    assert list(readings("1,234.5")) == [(1234.5, 1)]


def test_answers_must_exist_and_belong_to_a_cited_claim():
    assert "does not exist" in wrong("Nichts.", answers=["r/main/longitudinal/T1//0/0/agent:9/a"])[0]
    assert "belongs to none" in wrong("Nichts.", answers=[OTHER])[0]
    assert wrong("Nichts.", answers=[IDS[0].upper()])


def test_a_text_that_cites_nothing_is_refused():
    assert "paragraph 1: cites no answer" in wrong("Nichts.", answers=[])
    assert "paragraph 1: cites no claim" in wrong("Nichts.", cited=())
    assert "claim 'invented' does not exist" in wrong("Nichts.", cited=("invented",))[0]
    assert problems(Narrative(paragraphs=[]), [claim()], KNOWN, "de") == ["the text is empty"]
    empty = Paragraph(text=" ", claim_ids=["drift_by_archetype"], answer_ids=[IDS[0]])
    assert problems(Narrative(paragraphs=[empty]), [claim()], KNOWN, "de")


def test_an_invented_quotation_is_refused_and_a_name_in_quotation_marks_is_not():
    assert "nobody is quoted" in wrong("Einer sagte: „Das Meer gehört uns.“")[0]
    assert wrong("Die Gruppe „Kleinfischer 12“ bewegt sich kaum.") == []


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("one", [claim(), SHARES, claim(template="drift_by_archetype/same")])
def test_the_claims_own_sentences_pass(one, language):
    assert list(figures(sentence(one, language), [one], language)) == []


@given(st.floats(-99, 99, allow_nan=False), st.integers(0, 10_000))
def test_what_is_printed_is_always_found_again(value, count):
    one = claim(groups=(Group("A", count, count, value), Group("B", 1, 1, 0.0)), n=count, n_total=count)
    for language in ("de", "en"):
        for number in one.numbers().values():
            assert list(figures(f"Es sind {number.printed(language)}.", [one], language)) == []


@given(st.floats(0, 1), st.integers(-300, 300))
def test_a_share_that_is_off_by_a_per_cent_or_more_is_refused(value, off):
    printed = round(100 * value)
    groups = (Group("A", 1, 1, value), Group("B", 1, 1, value))
    one = claim(id="hold_outs_by_type", groups=groups, shown="share")
    text = f"Es sind {printed + off} %."
    if printed + off >= 0:
        assert (list(figures(text, [one], "de")) == []) == (float(f"{100 * value:.0f}") == printed + off)
