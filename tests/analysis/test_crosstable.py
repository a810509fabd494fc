"""Oracles: the associations it puts together; Holm and BH over the table; planted and null tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.association import cramers_v, cross_table, epsilon_squared, spearman
from enquete.analysis.change import benjamini_hochberg, holm

KINDS = {"archetype": "categorical", "factor": "categorical", "drift": "numeric", "held_out": "numeric"}


def _findings(n=60, seed=0):
    rng = np.random.default_rng(seed)
    archetype = rng.choice(list("ABC"), n)
    return pd.DataFrame(
        {
            "archetype": archetype,
            "factor": rng.choice(["1", "2", None], n),
            "drift": (archetype == "A") * 2.0 + rng.normal(size=n),  # the one planted association
            "held_out": rng.integers(0, 4, n),
        },
        [f"a{i}" for i in range(n)],
    )


def test_kinds_choose_the_measure_and_p_is_corrected_over_the_whole_table():
    f = _findings()
    pairs = {(pair.first, pair.second): pair for pair in cross_table(f, KINDS)}
    assert len(pairs) == 6
    assert pairs["archetype", "factor"].association == cramers_v(f["archetype"], f["factor"])
    assert pairs["archetype", "drift"].association == epsilon_squared(f["drift"], f["archetype"])
    assert pairs["drift", "held_out"].association == spearman(f["drift"], f["held_out"].astype(float))
    p = [pair.association.p for pair in pairs.values()]
    assert [pair.p_holm for pair in pairs.values()] == holm(p)
    assert [pair.p_bh for pair in pairs.values()] == benjamini_hochberg(p)
    assert pairs["archetype", "factor"].association.n_missing == int(f["factor"].isna().sum())


def test_planted_association_is_found_and_no_other():
    pairs = [(pair.first, pair.second) for pair in cross_table(_findings(), KINDS) if pair.p_holm < 0.05]
    assert pairs == [("archetype", "drift")]


def test_pairs_can_be_named_and_an_empty_table_has_no_p():
    (only,) = cross_table(_findings(), KINDS, pairs=[("drift", "archetype")])
    assert (only.first, only.association.measure, only.p_bh) == ("drift", "epsilon_squared", only.association.p)
    assert all(pair.p_holm is None and pair.association.reason for pair in cross_table(_findings(2), KINDS))


def test_bad_findings_are_named():
    f = _findings(5)
    with pytest.raises(ValueError, match="finding 'drift': kind must be 'categorical' or 'numeric', not 'number'"):
        cross_table(f, {**KINDS, "drift": "number"})
    with pytest.raises(ValueError, match="finding 'archetype' is said to be numeric but holds no numbers"):
        cross_table(f, {**KINDS, "archetype": "numeric"})
    with pytest.raises(ValueError, match="finding 'mood' is not in the table; known: 'archetype', 'factor'"):
        cross_table(f, KINDS, pairs=[("mood", "drift")])
