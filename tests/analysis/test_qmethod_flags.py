"""Flags: cases by hand at 24 statements, where 1.96/√24 = .400."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from enquete.analysis.qmethod import FlagEdits, automatic_flags, edited, threshold

LOADINGS = np.array([[0.7, 0.2], [0.39, 0.1], [0.6, 0.7], [-0.8, 0.1], [0.5, 0.5], [0.41, -0.1]])
FLAGS = [[True, False], [False, False], [False, True], [True, False], [False, False], [True, False]]


def test_threshold_by_hand() -> None:
    assert threshold(24) == pytest.approx(0.400, abs=5e-4)
    assert threshold(33) == pytest.approx(0.341, abs=5e-4)


def test_flags_by_hand() -> None:
    """Below .4; at l² = the other l² (.5, .5); negative: as good as positive."""
    assert automatic_flags(LOADINGS, 24).tolist() == FLAGS


@given(arrays(float, (5, 3), elements=st.floats(-1, 1)))
def test_at_most_one_flag_a_person_whatever_the_signs(loadings: np.ndarray) -> None:
    flags = automatic_flags(loadings, 24)
    assert (flags.sum(axis=1) <= 1).all()
    assert (flags == automatic_flags(-loadings, 24)).all()


def test_changes_by_hand() -> None:
    rows = [0, 2, 3, 5, 6, 9]
    flags = edited(np.array(FLAGS), FlagEdits(add=[(6, 1)], remove=[(0, 0)]), rows)
    assert flags[0].tolist() == [False, False]
    assert flags[4].tolist() == [False, True]
    assert (flags[[1, 2, 3, 5]] == np.array(FLAGS)[[1, 2, 3, 5]]).all()


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (FlagEdits(add=[(1, 0)]), "sort 1 is not among the 6 analysed"),
        (FlagEdits(add=[(0, 2)]), "factors are 0 … 1"), (FlagEdits(add=[(0, 0)]), "is already set"),
        (FlagEdits(remove=[(2, 0)]), "is not set"), (FlagEdits(add=[(0, 1)], remove=[(0, 1)]), "added and removed"),
    ],
)  # fmt: skip
def test_changes_that_do_not_fit_are_refused(edits: FlagEdits, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        edited(np.array(FLAGS), edits, [0, 2, 3, 5, 6, 9])
