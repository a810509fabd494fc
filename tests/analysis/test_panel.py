"""Oracles: hand-made panels that agree, settle or split; the functions it puts together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.change import holm
from enquete.analysis.panel import describe, panel_measures, stability

AGREED, SPLIT, MOVED = [4, 4, 4, 5, 4, 4], [2, 2, 2, 4, 4, 4], [1, 1, 2, 4, 5, 5]


def _table(**columns):
    return pd.DataFrame(columns, [f"p{i}" for i in range(6)]).astype(float)


def test_consensus_stability_and_polarisation_are_three_answers():
    rounds = {2: _table(a=AGREED, s=SPLIT, m=MOVED), 3: _table(a=AGREED, s=SPLIT, m=AGREED)}
    measures = {
        (measure.item, measure.round): measure for measure in panel_measures(rounds, dict.fromkeys("asm", (1, 5)))
    }
    last = {
        item: (measures[item, 3].consensus, measures[item, 3].stability.stable, measures[item, 3].polarised)
        for item in "asm"
    }
    assert last == {"a": (True, True, False), "s": (False, True, True), "m": (True, False, False)}
    assert measures["s", 3].spread.agreement == pytest.approx(1 / 6)  # half and half on 2 and 4: see test_dispersion
    assert measures["a", 2].stability is None


def test_parts_are_those_of_their_modules_and_p_is_corrected_within_the_round():
    rng = np.random.default_rng(0)
    one, two = (pd.DataFrame(rng.integers(1, 6, (20, 3)), columns=list("xyz")).astype(float) for _ in range(2))
    measures = panel_measures({1: one, 2: two}, dict.fromkeys("xyz", (1, 5)))[3:]
    assert measures[0].spread == describe(two["x"], 1, 5)
    assert measures[0].stability == stability(one["x"], two["x"], 1, 5)
    assert [each.p_holm for each in measures] == holm([each.stability.wilcoxon.p for each in measures])


def test_items_without_ratings_or_a_round_before_and_a_missing_scale():
    first, second = _table(a=AGREED), _table(a=[np.nan] * 6, new=SPLIT)
    gone, new = panel_measures({1: first, 2: second}, {"a": (1, 5), "new": (1, 5)})[1:]
    assert (gone.spread.n, gone.consensus, gone.polarised, gone.stability.n_paired) == (0, None, None, 0)
    assert (new.stability, new.p_holm) == (None, None)
    with pytest.raises(ValueError, match="round 1: item 'a' has no scale; known: 'b'"):
        panel_measures({1: first}, {"b": (1, 5)})
