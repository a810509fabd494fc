"""Oracles: hand-made panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.holdouts import dissent_by_panelist, hold_outs

RATINGS = st.lists(st.one_of(st.integers(1, 5), st.none()), min_size=1, max_size=20)


def _round(values):
    return pd.Series(values, [f"p{i}" for i in range(len(values))], dtype=float)


def test_who_is_two_points_off_the_median_and_who_stayed():
    # median of 4 4 4 1 2 is 4; p3 and p4 are 3 and 2 below; p3 stood at 2 before, p4 at 4: only p3 stayed
    found = hold_outs(_round([4, 4, 4, 1, 2, np.nan]), before=_round([4, 4, 4, 2, 4, 1]))
    assert (found.median, found.n_rated, found.n_missing) == (4, 5, 1)
    assert (found.below, found.above, found.stayed) == (("p3", "p4"), (), ("p3",))
    assert (found.share, found.mean_gap) == (pytest.approx(0.4), pytest.approx(1.0))


def test_changing_sides_is_not_staying_and_the_median_shown_counts():
    found = hold_outs(_round([5, 3, 1]), before=_round([1, 3, 1]), median=3)
    assert (found.below, found.above, found.stayed) == (("p2",), ("p0",), ("p2",))
    assert hold_outs(_round([5, 3, 1]), median=4, distance=1).below == ("p1", "p2")


@given(RATINGS)
def test_hold_outs_are_the_dissent_of_panelists(values):
    ratings = _round([np.nan if v is None else v for v in values])
    found = hold_outs(ratings)
    table = dissent_by_panelist(ratings.to_frame("t"))
    assert set(found.below) | set(found.above) == set(table.index[table["n_held_out"] > 0])
    assert found.stayed == ()  # no round before is named
    assert found.n_rated == table["n_items"].sum()
    assert hold_outs(6 - ratings).below == found.above  # scale turned round


def test_dissent_by_hand():
    ratings = pd.DataFrame({"a": [5, 5, 2], "b": [3, 3, np.nan]}, ["x", "y", "z"]).reindex(["x", "y", "z", "w"])
    found = dissent_by_panelist(ratings)  # medians 5 and 3
    assert found.loc["z"].tolist() == [1, 1, 1, 3]
    assert found.loc["x"].tolist() == [2, 0, 0, 0]
    assert found.loc["w", "n_items"] == 0
    assert np.isnan(found.loc["w", "share"])
    assert np.isnan(found.loc["w", "mean_gap"])


def test_nobody_and_bad_input():
    nobody = hold_outs(_round([np.nan]))
    assert (nobody.median, nobody.share, nobody.mean_gap, nobody.n_missing) == (None, None, None, 1)
    with pytest.raises(ValueError, match="above 0 scale points, not 0"):
        hold_outs(_round([1]), distance=0)
    with pytest.raises(ValueError, match="before ratings: participant 'p' occurs more than once"):
        hold_outs(_round([1]), before=pd.Series([1.0, 2], ["p", "p"]))
