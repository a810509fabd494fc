"""Probabilities in place of answers: their mass at ends and midpoint, means, marginals, likeness."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.answers import read_answers
from enquete.analysis.quality import ExpectedAnswers, human_anchor, likeness, read_expected, variance_ratio
from tests.support.answer_frames import answer_frame

HALF = {"1": 0.5, "3": 0.25, "5": 0.25}


def rows(n: int = 2, shares: dict[str, float] | None = None) -> pd.DataFrame:
    """n agents, one item; all medians 2."""
    return answer_frame(np.full((n, 1), 2.0)).assign(distribution=json.dumps(shares or HALF))


def made(frame: pd.DataFrame) -> ExpectedAnswers:
    expected = read_expected(read_answers(frame), frame)
    assert expected is not None
    return expected


def test_mass_by_hand() -> None:
    """Of two agents 1, 0, ½, 0 and ½ answers a point."""
    expected = made(rows())
    assert expected.tables["i00"].tolist() == [1, 0, 0.5, 0, 0.5]


def test_a_refusal_has_no_mass() -> None:
    frame = rows()
    frame.loc[0, ["value", "status", "distribution"]] = [np.nan, "refused", ""]
    expected = made(frame)
    assert np.isnan(expected.mass[0, 0]).all()
    assert expected.tables["i00"].sum() == 1


def test_point_answers_have_none() -> None:
    frame = rows().assign(distribution="")
    assert read_expected(read_answers(frame), frame) is None
    assert read_expected(read_answers(frame), frame.drop(columns="distribution")) is None


@pytest.mark.parametrize("text", ["[1]", "{", '{"9": 1}', '{"1": -1, "2": 2}', '{"1": 0}'])
def test_what_is_no_distribution_is_named(text: str) -> None:
    frame = rows().assign(distribution=text)
    with pytest.raises(ValueError, match="participant 'agent:0000', item 'i00': distribution"):
        read_expected(read_answers(frame), frame)


def test_checks_take_the_mass() -> None:
    """SD of the mass √(Σp(k − 2.5)²·n/(n − 1)), Σ… = 2.75."""
    expected = made(rows(100))
    ratio = variance_ratio(expected.answers, {"i00": 1.0}, tables=expected.tables)
    assert ratio.value == pytest.approx(np.sqrt(2.75 * 100 / 99))
    likely = human_anchor(expected.answers, {"i00": {1: 2, 3: 1, 5: 1}}, tables=expected.tables)
    assert [diagnostic.value for diagnostic in likely] == pytest.approx([1, 1])


def test_likeness_of_two_arms() -> None:
    """The same: 1; nothing in common: 0."""
    assert likeness(made(rows()), made(rows())) == (pytest.approx(1), 2)
    assert likeness(made(rows(2, {"1": 1.0})), made(rows(2, {"5": 1.0}))) == (pytest.approx(0), 2)
