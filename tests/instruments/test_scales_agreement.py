"""Whether people may be said to agree, by the words at the ends of a scale."""

from __future__ import annotations

import pytest

from enquete.instruments.scales import AGREEMENT, AMOUNT, NAMED_SCALES, Scale, builtin_scale


@pytest.mark.parametrize(
    ("low", "high", "is_agreement"),
    [
        ("strongly disagree", "strongly agree", True),
        ("do not agree at all", "agree completely", True),
        ("stimme gar nicht zu", "stimme voll zu", True),
        ("lehne stark ab", "stimme stark zu", True),
        ("Ablehnung", "Zustimmung", True),
        ("much worse", "much better", False),
        ("strongly agree", "strongly disagree", False),  # more is less agreement
        ("very low", "very high", False),
    ],
)
def test_a_scale_is_of_agreement_where_its_ends_say_so(low: str, high: str, is_agreement: bool) -> None:
    language = "de" if low[0] in "slA" and ("ab" in low or "stimme" in low or "Abl" in low) else "en"
    labels = {1: {language: low}, 5: {language: high}}
    assert Scale.model_validate({"min": 1, "max": 5, "labels": labels}).measures_agreement is is_agreement


def test_of_the_built_in_scales_those_of_agreement_are() -> None:
    named = {name for name, scale in NAMED_SCALES.items() if scale.measures_agreement}
    assert named == {"likert5", "likert7"}
    seven, amount = builtin_scale("7", AGREEMENT), builtin_scale("7", AMOUNT)
    assert seven is not None
    assert seven.measures_agreement
    assert amount is not None
    assert not amount.measures_agreement
