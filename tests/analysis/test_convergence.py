"""Expected numbers are derived by hand beside each test."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.panel import (
    converge,
    describe,
    is_consensus,
    is_disagreement,
    is_polarised,
    is_split,
    rank_consensus,
)


def series(**ratings):
    return pd.Series(ratings, dtype=float)


def test_convergence_by_hand():
    first = series(a=1, b=2, c=3, d=4, e=5, gone=3)
    second = series(a=3, b=2, c=3, d=5, e=3, new=1)
    convergence = converge(first, second)  # M = 3 over all six first ratings
    assert (convergence.n_paired, convergence.n_first_only, convergence.n_second_only) == (5, 1, 1)
    assert (convergence.iqr_first, convergence.iqr_second, convergence.delta_iqr) == (2, 0, -2)  # 1 2 3 4 5 → 2 3 3 3 5
    assert (convergence.n_off_median, convergence.n_moved, convergence.n_toward, convergence.n_away) == (4, 3, 2, 1)
    assert convergence.share_toward == 0.5


def test_the_median_that_was_shown_can_be_given():
    first, second = series(a=1, b=2), series(a=2, b=2)
    assert converge(first, second, median=5).n_toward == 1
    assert converge(first, second, median=1).n_away == 1


def test_nobody_in_both_rounds():
    convergence = converge(series(a=1), series(b=2, c=np.nan))
    assert (convergence.n_paired, convergence.n_first_only, convergence.n_second_only) == (0, 1, 1)
    assert {convergence.iqr_first, convergence.delta_iqr, convergence.share_toward} == {None}


def test_all_at_the_median_have_nowhere_to_move():
    assert converge(series(a=3, b=3), series(a=3, b=4)).share_toward is None


def test_doubled_participant_is_refused():
    with pytest.raises(ValueError, match="second round: participant 'a' occurs more than once"):
        converge(series(a=1), pd.Series([1.0, 2.0], index=["a", "a"]))


@pytest.mark.parametrize(
    ("counts", "split"),
    [
        ([0, 10, 0, 10, 0], True),
        ([0, 13, 0, 12, 0], True),  # A is .2, not below
        ([0, 11, 3, 11, 0], True),  # η² by hand: 11·14/25²·(53/14 − 2)²/.88 = .893
        ([0, 9, 7, 9, 0], False),  # 9·16/25²·(57/16 − 2)²/.72 = .78
        ([0, 17, 0, 8, 0], False),  # 8 of 25 are less than a third: some hold out
        ([0, 0, 10, 10, 0], False),  # neighbours
        ([5, 5, 5, 5, 5], False),
        ([1, 5, 8, 5, 1], False),
        ([8, 4, 1, 4, 8], True),
        ([0, 0, 10, 0, 10, 0, 0], True),
        ([0, 0, 0, 0, 10, 0, 10, 0, 0, 0, 0], False),  # two of ten points apart, both about the middle
    ],
)
def test_a_half_half_split_is_called_a_split(counts: list[int], split: bool) -> None:
    assert is_split(counts) == split


def test_split_on_two_and_four_is_no_matter_of_the_iqr():
    def of(*counts: int):
        return describe(np.repeat(np.arange(1, 6), counts), 1, 5)

    assert of(0, 13, 0, 12, 0).iqr == 2
    assert is_disagreement(of(0, 13, 0, 12, 0))
    assert is_disagreement(of(8, 0, 2, 8, 2), polarised_below=-1)  # IQR 3
    assert not is_disagreement(of(0, 10, 10, 0, 0))
    assert not is_disagreement(of(0, 0, 0, 0, 0))
    assert is_polarised(of(10, 0, 0, 0, 10))
    assert is_polarised(of(0, 0, 0, 0, 0)) is None


def test_consensus_label():
    assert [is_consensus(value) for value in (0, 1, 1.25, None)] == [True, True, False, False]


def test_consensus_is_ranked_by_iqr_then_importance():
    table = pd.DataFrame({"iqr": [1, 0, 1, 2, np.nan, 1], "median": [4, 3, 5, 5, 5, 4]}, index=list("dbcaef"))
    ranked = rank_consensus(table)
    assert ranked.index.tolist() == ["b", "c", "d", "f"]  # d and f are equal: by id
    assert ranked[["rank", "rank_to"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 4], [3, 4]]
    assert rank_consensus(table[::-1]).index.tolist() == ranked.index.tolist()


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20))
def test_counts_add_up_whatever_the_order(pairs):
    first = pd.Series({f"p{i}": float(a) for i, (a, _) in enumerate(pairs)})
    second = pd.Series({f"p{i}": float(b) for i, (_, b) in enumerate(pairs)})
    convergence = converge(first, second)
    assert convergence.n_toward + convergence.n_away <= convergence.n_moved <= convergence.n_paired
    assert convergence.n_toward <= convergence.n_off_median
    assert converge(first[::-1], second) == convergence
