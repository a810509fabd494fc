"""The medians of the others, by hand and by the definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.feedback import medians_of_others

SEED = 20261124


def test_medians_of_the_others_by_hand() -> None:
    """1 2 3 4 5: without the own rating 3.5, 3.5, 3, 2.5, 2.5; who did not rate has none, and who is alone neither."""
    ratings = pd.DataFrame({"a": [1, 2, 3, 4, 5, np.nan], "b": [4, *[np.nan] * 5]}, dtype=float)
    medians = medians_of_others(ratings)
    assert medians["a"].tolist() == pytest.approx([3.5, 3.5, 3, 2.5, 2.5, np.nan], nan_ok=True)
    assert medians["b"].isna().all()


def test_medians_of_the_others_by_the_definition() -> None:
    rng = np.random.default_rng(SEED)
    for n in (2, 3, 8, 21):
        x = rng.integers(1, 6, (n, 3)).astype(float)
        x[rng.random(x.shape) < 0.2] = np.nan
        expected = [
            [np.nanmedian(rest) if (rest := np.delete(x[:, item], agent))[~np.isnan(rest)].size else np.nan
             for item in range(3)]
            for agent in range(n)
        ]  # fmt: skip
        found = medians_of_others(pd.DataFrame(x)).to_numpy()
        known = ~np.isnan(x)
        assert found[known] == pytest.approx(np.array(expected)[known], nan_ok=True)
        assert np.isnan(found[~known]).all()
