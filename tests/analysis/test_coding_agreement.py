"""Oracles: Passonneau's weights by hand, the krippendorff package, hand derivation of α."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.analysis.agreement import coding_agreement, masi_distance

CODES = st.frozensets(st.sampled_from("abcd"), max_size=3)
STATEMENTS = st.lists(st.tuples(CODES, CODES), min_size=1, max_size=15)


def _codings(pairs):
    return ({f"s{i}": pair[which] for i, pair in enumerate(pairs)} for which in (0, 1))


def test_masi_by_hand():
    a, ab, bc, c = (frozenset(word) for word in ("a", "ab", "bc", "c"))
    assert masi_distance(ab, ab) == masi_distance(frozenset(), frozenset()) == 0
    assert masi_distance(a, ab) == pytest.approx(1 - 1 / 2 * 2 / 3)  # one within the other
    assert masi_distance(ab, bc) == pytest.approx(1 - 1 / 3 * 1 / 3)  # overlapping
    assert masi_distance(a, c) == masi_distance(a, frozenset()) == 1


def test_alpha_by_hand():
    # a|a, b|b, a|b: Dₒ = ⅓; six codings, three a and three b: Dₑ = 2·3·3/(6·5) = .6; α = 1 − 1/1.8 = 4/9
    first, second = {"1": ["a"], "2": ["b"], "3": ["a"]}, {"1": ["a"], "2": ["b"], "3": ["b"], "4": ["b"]}
    agreement = coding_agreement(first, second)
    assert agreement.alpha == pytest.approx(4 / 9)
    assert (agreement.n, agreement.n_first_only, agreement.n_second_only) == (3, 0, 1)
    assert agreement.identical_share == pytest.approx(2 / 3)
    assert [(t.theme, t.n_first, t.n_second, t.n_both) for t in agreement.themes] == [("a", 2, 1, 1), ("b", 1, 2, 1)]
    assert [t.alpha for t in agreement.themes] == pytest.approx([4 / 9, 4 / 9])


@given(STATEMENTS)
def test_alpha_over_sets_is_that_of_the_package_with_masi_distances(pairs):
    agreement = coding_agreement(*_codings(pairs))
    sets = sorted({codes for pair in pairs for codes in pair}, key=sorted)
    if len(sets) < 2:
        assert agreement.alpha is None
        return
    table = np.array([[masi_distance(a, b) for b in sets] for a in sets])
    data = np.array([[sets.index(pair[which]) for pair in pairs] for which in (0, 1)])
    expected = krippendorff.alpha(
        data,
        value_domain=list(range(len(sets))),
        level_of_measurement=lambda v1, v2, i1, i2, n_v, dtype: table[i1, i2].astype(dtype),
    )
    assert agreement.alpha == pytest.approx(expected)
    assert agreement.alpha <= 1
    turned = coding_agreement(*reversed(list(_codings(pairs))))
    assert turned.alpha == pytest.approx(agreement.alpha)


def test_with_one_theme_each_it_is_nominal_alpha():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, (2, 50))
    labels[1, :30] = labels[0, :30]
    first, second = ({str(i): [f"t{v}"] for i, v in enumerate(row)} for row in labels)
    assert coding_agreement(first, second).alpha == pytest.approx(
        krippendorff.alpha(labels, level_of_measurement="nominal")
    )


def test_nothing_to_tell_apart():
    assert coding_agreement({"1": ["a"]}, {"2": ["a"]}).reason == "no statement is coded in both"
    alike = coding_agreement({"1": ["a"], "2": ["a"]}, {"1": ["a"], "2": ["a"]})
    assert (alike.alpha, alike.reason) == (None, "every statement has the same themes in both")
    assert (alike.themes[0].alpha, alike.themes[0].reason) == (None, "given to every statement by both")
    assert coding_agreement({}, {}).identical_share is None
