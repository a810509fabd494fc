"""Deliberative reason and conformity: by hand on small tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from enquete.graphs.roundtable.movement import Reason, conformity, deliberative_reason


def table(**rows: str) -> dict[str, dict[str, float]]:
    return {who: {str(at): float(digit) for at, digit in enumerate(row)} for who, row in rows.items()}


def test_alike_in_both_or_opposed_in_both_is_reason_itself() -> None:
    """r_C = r_P = 1 for a and b, −1 with c: d = 0 for all pairs, index 2 · (1 − λ)/(1 − λ) − 1 = 1."""
    found = deliberative_reason(table(a="1234", b="1234", c="4321"), {"a": "xyz", "b": "xyz", "c": "zyx"})
    assert (found.index, found.adjusted, found.pairs) == (pytest.approx(1), pytest.approx(1), 3)


def test_one_pair_by_hand() -> None:
    """Ranks 1234 and 2143: Spearman 1 − 6·4/(4·15) = .6; options in reverse: −1; d = 1.6/√2 = 1.1314;
    index = 1 − 2d/(√2/2) = 1 − 3.2 = −2.2: below −1 where the two could not be further apart."""
    found = deliberative_reason(table(a="1234", b="2143"), {"a": "xyz", "b": "zyx"})
    assert found.index == pytest.approx(-2.2)
    assert found.adjusted == pytest.approx(-2.2)


def test_weak_pairs_count_down_in_the_adjusted_form_alone() -> None:
    """Considerations 12345 and 25314: Σd² = 1+9+0+9+1 = 20, r = 1 − 120/120 = 0; options 1234 and 2413: Σd² = 1+4+4+1 =
    10, r = 1 − 60/60 = 0. d = 0, index 1; the adjusted form has strength 0: 2 · (0 − λ)/(1 − λ) − 1 = −1.8284, λ = 1 −
    √2/2."""
    found = deliberative_reason(table(a="12345", b="25314"), {"a": "wxyz", "b": "ywzx"})
    assert found.index == pytest.approx(1)
    assert found.adjusted == pytest.approx(-2 * (1 - np.sqrt(0.5)) / np.sqrt(0.5) - 1)


def test_random_answers_have_a_positive_standard_index_and_a_lower_adjusted_one() -> None:
    """What the adjusted form is for (Veri 2026)."""
    draw = np.random.default_rng(1)
    people = [str(who) for who in range(30)]
    rated = {who: {str(item): float(draw.integers(1, 8)) for item in range(20)} for who in people}
    ranked = {who: [str(option) for option in draw.permutation(6)] for who in people}
    found = deliberative_reason(rated, ranked)
    assert found.index is not None
    assert found.adjusted is not None
    assert found.adjusted < found.index
    assert found.index > 0


TABLES = st.lists(
    st.tuples(st.lists(st.integers(1, 7), min_size=5, max_size=5), st.permutations("wxyz")), min_size=2, max_size=6
)


@settings(max_examples=50, deadline=None)
@given(answers=TABLES, data=st.data())
def test_the_order_of_people_does_not_matter_and_weak_pairs_only_take_away(
    answers: list[tuple[list[int], list[str]]], data: st.DataObject
) -> None:
    def reason(people: list[int]) -> Reason:
        rated = {str(who): {str(at): float(one) for at, one in enumerate(answers[who][0])} for who in people}
        return deliberative_reason(rated, {str(who): answers[who][1] for who in people})

    people = list(range(len(answers)))
    found, again = reason(people), reason(data.draw(st.permutations(people)))
    if found.index is None or found.adjusted is None:
        assert again.index is None
        return
    assert again.index == pytest.approx(found.index)
    assert again.adjusted == pytest.approx(found.adjusted)
    assert found.adjusted <= found.index + 1e-9
    assert found.index <= 1 + 1e-9


def test_against_scipys_spearman_pair_by_pair() -> None:
    """The formula of [niemeyer_2024] and [veri_2026] written out, with scipy.stats.spearmanr as the oracle of r."""
    draw = np.random.default_rng(7)
    rated = {str(who): {str(item): float(draw.integers(1, 8)) for item in range(8)} for who in range(6)}
    ranked = {who: [str(option) for option in draw.permutation(5)] for who in rated}
    terms = []
    for one, other in combinations(rated, 2):
        r_c = spearmanr(list(rated[one].values()), list(rated[other].values())).statistic
        r_p = spearmanr(*([ranked[who].index(str(option)) for option in range(5)] for who in (one, other))).statistic
        terms.append((1 - abs(r_c - r_p) / np.sqrt(2)) * min(1, max(abs(r_c), abs(r_p)) / 0.2))
    lowest = 1 - np.sqrt(0.5)
    expected = 2 * (np.mean(terms) - lowest) / (1 - lowest) - 1
    assert deliberative_reason(rated, ranked).adjusted == pytest.approx(expected)


def test_who_left_something_out_or_gave_one_value_is_counted_not_guessed() -> None:
    ranked = dict.fromkeys("abcd", "xyz")
    found = deliberative_reason(table(a="123", b="132", c="222", d="12"), ranked)
    assert (found.n, found.pairs, found.left_out) == (3, 1, 2)
    assert deliberative_reason({}, {}).adjusted is None


def test_conformity_by_hand() -> None:
    """a: 1 4 7 → 3 4 7, b: 7 4 3 → 7 4 3. One of six ratings changed, by 2 of the 6 points of the scale: 1/6 and 1/18.
    Its others' mean was 7: closer. SDs (n − 1) of two: |difference|/√2, so 6, 0, 4 → 4, 0, 4: ratios 2/3 and 1, mean
    5/6."""
    found = conformity(table(a="147", b="743"), table(a="347", b="743"), {"a": "g", "b": "g"}, (1, 7))
    assert found.changed == pytest.approx(1 / 6)
    assert found.mean_change == pytest.approx(1 / 18)
    assert found.toward_group == 1
    assert found.spread == pytest.approx(5 / 6)
    assert conformity({}, {}, {}, (1, 7)).changed is None
