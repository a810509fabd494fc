"""Sentences that a reader of a draft took for positions, and those that she did not."""

from __future__ import annotations

import pytest

from enquete.simulations.discourse import alone, no_position
from enquete.state.asking import Spoken


@pytest.mark.parametrize(
    ("language", "sentence", "why"),
    [
        ("en", "The Bank of England should investigate.", ""),
        ("en", "Claims about rates must be grounded in verifiable data.", ""),
        ("en", "The bank remains committed to openness.", ""),  # no name before it: somebody may say it of any
        ("en", "Halcourt Bank remains committed to openness.", "what an organisation"),
        ("en", "The European Central Bank (ECB) underscores accurate claims.", "what an organisation"),
        ("en", "Adherence to Swiss rules underscores common efforts.", "an organisation about itself"),
        ("en", "Supervisors will go on to monitor such initiatives.", "leans"),
        ("en", "Regulators such as those of banks should step in.", ""),
        ("en", "Rates went from 12% to 25%.", "a fact"),
        ("de", "Das Haus begrüßt die Pläne.", "an organisation about itself"),
        ("de", "Die Station kostet zwei Millionen Euro im Jahr.", "a fact"),
        ("de", "Der Dienst muss nach zwölf Minuten da sein.", ""),
        ("de", "Mit solchen Plänen kommt niemand weiter.", "leans"),
    ],
)  # fmt: skip
def test_a_position_is_somebodys_to_share_or_reject(language: Spoken, sentence: str, why: str) -> None:
    reason = no_position(sentence, language)
    assert reason.startswith(why) if why else reason == ""


def test_what_is_conceded_before_it_is_left_out() -> None:
    assert alone("While costs are known, rules must be kept.") == "Rules must be kept."
