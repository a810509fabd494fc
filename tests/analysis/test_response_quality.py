"""Items alike, variance, profiles and human anchors by hand and against numpy and pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.quality import (
    alike,
    flat_items,
    human_anchor,
    likeness_jsd,
    likeness_w1,
    persona_flattening,
    variance_ratio,
)
from tests.support.answer_frames import table

EVEN = np.tile([1.0, 2, 3, 4, 5], 6)
TWO = np.tile([1.0, 5], 15)


def test_pairs_alike_by_hand() -> None:
    """Six at each of five points: 5·15/435 = 5/29; 15 and 15: 2·105/435 = 14/29; all at one: 1."""
    assert [alike(np.array(counts)) for counts in ([6] * 5, [15, 15], [0, 30])] == pytest.approx([5 / 29, 14 / 29, 1])


@pytest.mark.parametrize(("flat", "verdict"), [(0, "fine"), (1, "fine"), (2, "caution"), (3, "caution"), (4, "bad")])
def test_flat_items(flat: int, verdict: str) -> None:
    """24 of 30 give one answer: (24·23 + 6·5)/(30·29) = .67 of the pairs. Two camps of 15 are not alike (.48)."""
    most = np.repeat([4.0, 5.0], [24, 6])
    diagnostic = flat_items(table(np.column_stack([most] * flat + [EVEN, TWO, TWO, EVEN, EVEN][flat:])))
    assert (diagnostic.value, diagnostic.verdict, len(diagnostic.detail["flat"])) == (flat / 5, verdict, flat)  # type: ignore[arg-type]
    assert flat_items(table(np.column_stack([EVEN] * 5)[:6])).reason_code == "too_few_agents"
    assert flat_items(table(np.column_stack([EVEN] * 4))).reason_code == "too_few_items"


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1, "fine"), (0.6, "fine"), (0.599, "caution"), (0.3, "caution"), (0.29, "caution")]
)
def test_variance_ratio_at_its_bounds(ratio: float, verdict: str) -> None:
    sd = float(EVEN.std(ddof=1))
    diagnostic = variance_ratio(table(EVEN[:, None]), {"i00": sd / ratio})
    assert (diagnostic.value, diagnostic.verdict) == (pytest.approx(ratio), verdict)


def test_without_human_sds_they_are_only_shown() -> None:
    diagnostic = variance_ratio(table(np.column_stack([EVEN, TWO])))
    assert (diagnostic.value, diagnostic.reason_code) == (None, "no_human_sd")
    assert diagnostic.detail["sd"] == {"i00": pytest.approx(EVEN.std(ddof=1)), "i01": pytest.approx(TWO.std(ddof=1))}
    assert variance_ratio(table(EVEN[:19, None]), {"i00": 1}).reason_code == "too_few_items"


def test_wrong_human_figures_are_named() -> None:
    answers = table(EVEN[:, None])
    with pytest.raises(ValueError, match="human_sd names item 'x'; the answers hold i00"):
        variance_ratio(answers, {"x": 1})
    with pytest.raises(ValueError, match="'i00' is 0; a standard deviation above 0"):
        variance_ratio(answers, {"i00": 0})
    for shares, message in (
        ({6: 1.0}, "6 is not a point of its scale 1–5"),
        ({1: -1.0, 2: 3.0}, "0 or more"),
        ({}, "sum to 0"),
    ):
        with pytest.raises(ValueError, match=message):
            human_anchor(answers, {"i00": shares})


PROFILE = np.tile([1.0, 2, 4, 5, 3], 2)


def test_two_camps_by_hand() -> None:
    """Five agents with a profile, five with its reverse. Item means are 3, so r is 1 within types and −1 between: apart
    by 2.
    As answered: 20 pairs of r = 1, 25 of r = −1, mean −5/45."""
    check = persona_flattening(table([PROFILE] * 5 + [6 - PROFILE] * 5, types=[*"aaaaabbbbb"]))
    assert (check.value, check.verdict) == (pytest.approx(2), "fine")
    assert (check.detail["within_types"], check.detail["between_types"]) == (pytest.approx(1), pytest.approx(-1))
    assert check.detail["as_answered"] == pytest.approx(-5 / 45)


@pytest.mark.parametrize("types", ["a" * 10, "aaaaabbbbb"])
def test_copies_of_one_profile_are_one_respondent(types: str) -> None:
    diagnostic = persona_flattening(table([PROFILE] * 10, types=[*types]))
    assert (diagnostic.value, diagnostic.verdict, diagnostic.reason_code, diagnostic.n) == (0, "bad", "one_profile", 10)


def typed(spread: float, noise: float, apart: float, n: int = 40, m: int = 16) -> np.ndarray:
    """Item means of SD `spread`, four types apart by `apart`, agents of their own by `noise`, in points of 1–5."""
    rng = np.random.default_rng(7)
    means, types = rng.normal(0, spread, m), rng.normal(0, apart, (4, m))
    return np.clip(np.rint(3 + means + types[np.arange(n) % 4] + rng.normal(0, noise, (n, m))), 1, 5)


FOUR = [f"t{i % 4}" for i in range(40)]


def test_items_that_differ_in_mean_are_no_flattening() -> None:
    """As answered, profiles agree by more than .6, the bound before, because items differ; types are told apart all the
    same."""
    diagnostic = persona_flattening(table(typed(1.3, 0.5, 0.5), types=FOUR))
    assert float(diagnostic.detail["as_answered"]) > 0.6  # type: ignore[arg-type]
    assert diagnostic.verdict == "fine"


def test_one_profile_with_noise_is_flattening() -> None:
    diagnostic = persona_flattening(table(typed(1.3, 0.25, 0.0), types=FOUR))
    assert (diagnostic.verdict, diagnostic.reason_code) == ("bad", "one_profile")
    apart = persona_flattening(table(typed(0.3, 0.9, 0.0), types=FOUR))
    assert (apart.verdict, apart.reason_code) == ("information", "types_alike")


def test_without_a_second_type_nobody_can_be_told_apart() -> None:
    assert persona_flattening(table(typed(1.0, 0.8, 0.5))).reason_code == "one_type"
    each = persona_flattening(table(typed(1.0, 0.8, 0.5), types=[f"t{i}" for i in range(40)]))
    assert each.reason_code == "too_few_types"


def test_pairwise_correlations_are_those_of_pandas() -> None:
    """Oracle: pandas.DataFrame.corr(min_periods=10) over agents, with gaps; within types less between them."""
    rng = np.random.default_rng(4)
    x = rng.integers(1, 6, (14, 16)).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    upper = np.triu_indices(14, 1)
    types = np.arange(14) % 2
    same = types[upper[0]] == types[upper[1]]
    diagnostic = persona_flattening(table(x, types=[f"t{i}" for i in types]))
    r = pd.DataFrame(x.T).corr(min_periods=10).to_numpy()[upper]
    assert diagnostic.detail["as_answered"] == pytest.approx(np.nanmean(r))
    centred = pd.DataFrame((x - np.nanmean(x, axis=0)).T).corr(min_periods=10).to_numpy()[upper]
    assert diagnostic.value == pytest.approx(np.nanmean(centred[same]) - np.nanmean(centred[~same]))


def test_many_agents_are_sampled_by_seed() -> None:
    """5 000 pairs of 300 agents would do: the mean of the sample is within ±.01 of the mean of all."""
    rng = np.random.default_rng(5)
    x = np.clip(np.rint(rng.normal(3, 0.8, 12) + rng.normal(0, 1, (300, 12))), 1, 5)
    r = np.corrcoef(x)[np.triu_indices(300, 1)]
    types = [f"t{i % 3}" for i in range(300)]
    shares = [persona_flattening(table(x, types=types), seed=seed).detail["as_answered"] for seed in (0, 0, 1)]
    assert shares[0] == shares[1] != shares[2]
    assert shares == pytest.approx([r.mean()] * 3, abs=0.01)


def test_profiles_that_do_not_vary() -> None:
    diagnostic = persona_flattening(table(np.full((10, 10), 3)))
    assert (diagnostic.value, diagnostic.reason_code) == (None, "no_variation")
    assert persona_flattening(table(np.full((10, 9), 3))).reason_code == "too_few_items"
    assert persona_flattening(table(np.full((1, 12), 3))).reason_code == "too_few_agents"


def test_likeness_by_hand() -> None:
    """JSD of (1, 0) and (½, ½): m = (¾, ¼), ½·log₂(4/3) + ½(½·log₂(2/3) + ½·log₂ 2) = .3113. W₁ of all on 1 to an even
    spread over 1–5 is the mean distance 2."""
    sure, even = np.array([1.0, 0]), np.array([1.0, 1])
    assert likeness_jsd(sure, even) == pytest.approx(1 - 0.31128, abs=1e-5)
    assert (likeness_jsd(sure, sure), likeness_jsd(sure, sure[::-1])) == (pytest.approx(1), pytest.approx(0))
    assert likeness_w1(np.array([1.0, 0, 0, 0, 0]), np.ones(5)) == pytest.approx(1 - 2 / 4)
    assert likeness_w1(sure, sure[::-1]) == pytest.approx(0)


def test_an_anchor_must_beat_an_even_spread() -> None:
    simulated = table(np.repeat([2.0, 3, 4], 10)[:, None])
    near = human_anchor(simulated, {"i00": {2: 0.3, 3: 0.4, 4: 0.3}})
    assert [diagnostic.verdict for diagnostic in near] == ["fine", "fine"]
    far = human_anchor(simulated, {"i00": {1: 50, 5: 50}})
    assert [(diagnostic.verdict, diagnostic.reason_code) for diagnostic in far] == [
        ("caution", "no_nearer_than_even")
    ] * 2
    even = human_anchor(table(EVEN[:, None]), {"i00": {2: 1.0}})
    assert [diagnostic.value == pytest.approx(diagnostic.benchmark) for diagnostic in even] == [True, True]
    assert [diagnostic.verdict for diagnostic in even] == ["caution", "caution"]  # no nearer than even: it is even


def test_no_anchor_without_people() -> None:
    assert {diagnostic.reason_code for diagnostic in human_anchor(table(EVEN[:, None]))} == {"no_human_marginals"}
    assert {diagnostic.reason_code for diagnostic in human_anchor(table(EVEN[:9, None]), {"i00": {1: 1.0}})} == {
        "too_few_items"
    }
