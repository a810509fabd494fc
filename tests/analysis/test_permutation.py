"""Oracles: itertools.permutations, Fisher's lady tasting tea."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.inference import enumerable, n_relabellings, permutation_p


def test_lady_tasting_tea():
    # Fisher 1935: 4 of 8 cups; all named right has probability 1/70, three of four or more 17/70
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    assert n_relabellings(truth) == 70
    all_right = permutation_p(truth, lambda guess: (guess @ truth).astype(float))
    assert (all_right.p, all_right.method, all_right.relabellings) == (pytest.approx(1 / 70), "exact permutation", 70)
    three = permutation_p([1, 1, 1, 0, 1, 0, 0, 0], lambda guess: (guess @ truth).astype(float))
    assert three.p == pytest.approx(17 / 70)


@given(st.lists(st.integers(0, 2), min_size=2, max_size=6))
def test_enumeration_is_every_different_order(labels):
    seen = []
    permutation_p(labels, lambda every: (seen.append(every), every[:, 0].astype(float))[1])
    assert len(seen) == 2  # the data, then every relabelling
    assert {tuple(row) for row in seen[1].tolist()} == set(permutations(labels))
    assert len(seen[1]) == n_relabellings(labels)


def test_random_relabellings_never_give_zero_and_agree_with_enumeration():
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    observed = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    drawn = permutation_p(observed, lambda guess: (guess @ truth).astype(float), exact_up_to=1)
    assert (drawn.method, drawn.relabellings) == ("random permutation", 1999)  # p is far above .05: no more are drawn
    assert drawn.p == pytest.approx(17 / 70, abs=0.03)
    x = np.arange(60.0)
    extreme = permutation_p(np.arange(60) >= 30, lambda labels: labels @ x)
    assert (extreme.p, extreme.relabellings) == (pytest.approx(1 / 20_000), 19_999)


def test_long_lists_are_not_enumerated_although_there_are_few_relabellings():
    one_apart = np.arange(5000) == 0
    assert n_relabellings(one_apart) == 5000
    assert not enumerable(one_apart)
