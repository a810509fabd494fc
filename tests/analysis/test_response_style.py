"""Response styles by hand, at their bounds, and their invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from enquete.analysis.answers import read_answers
from enquete.analysis.coherence import (
    acquiescence,
    acquiescence_by_agent,
    extreme_style,
    longest_allowed,
    longest_runs,
    midpoint_style,
    position_share,
    straightlining,
    style,
)
from tests.support.answer_frames import answer_frame, table

LIKERT = hnp.arrays(np.float64, (12, 10), elements=st.sampled_from([1.0, 2, 3, 4, 5, np.nan]))


def shares(hits: int, hit: float, other: float) -> np.ndarray:
    """Ten agents × ten items with so many answers of `hit`."""
    return np.where(np.arange(100) < hits, hit, other).reshape(10, 10)


# --- acquiescence ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forward", "reversed_", "value", "verdict"),
    [
        (4, 2, 0, "fine"), (4, 3, 0.5, "fine"), (4, 4, 1, "caution"), (5, 4, 1.5, "caution"), (2, 3, -0.5, "fine"),
        (1, 2, -1.5, "caution"),
    ],
)  # fmt: skip
def test_agreeing_to_both_sides(forward: int, reversed_: int, value: float, verdict: str) -> None:
    """By hand: (forward − 3 + reversed − 3)/2."""
    diagnostic = acquiescence(table(np.tile([forward, reversed_], (10, 3)), reverse=[1, 3, 5]))
    assert (diagnostic.value, diagnostic.verdict) == (value, verdict)


def test_only_balanced_families_count_by_their_pairs() -> None:
    """By hand: a has two pairs, (2 + 0)/2 = 1; b one pair (three forward), (0 + −2)/2 = −1; c is keyed one way: (2·1 −
    1)/3."""
    families = [*"aaaa", *"bbbb", *"cc"]
    row = [5, 5, 3, 3, 3, 3, 3, 1, 5, 5]
    diagnostic = acquiescence(table([row] * 10, reverse=[2, 3, 7], families=families))
    assert diagnostic.value == pytest.approx(1 / 3)
    assert (diagnostic.detail["pairs"], diagnostic.detail["families"]) == (3, ["a", "b"])


def test_an_agent_without_reversed_answers_has_no_value() -> None:
    by_agent, pairs = acquiescence_by_agent(table([[5, np.nan], [4, 4]], reverse=[1]))
    assert (by_agent.isna().tolist(), by_agent.iloc[1], pairs) == ([True, False], 1.0, {"f": 1})
    assert acquiescence(table(np.full((10, 6), 4))).reason_code == "one_keying"
    assert acquiescence(table(np.full((10, 4), 4), reverse=[0, 1])).reason_code == "too_few_pairs"


@given(LIKERT)
def test_reversing_the_scale_flips_acquiescence_alone(x: np.ndarray) -> None:
    plain, turned = (table(v, reverse=[1, 3, 5, 7]) for v in (x, 6 - x))
    one, other = acquiescence(plain).value, acquiescence(turned).value
    assert (one is None and other is None) or one == pytest.approx(-other)  # type: ignore[operator]
    assert extreme_style(plain).value == extreme_style(turned).value
    assert midpoint_style(plain).value == midpoint_style(turned).value
    assert straightlining(plain).value == straightlining(turned).value


@given(LIKERT, st.randoms(use_true_random=False))
def test_names_and_row_order_do_not_matter(x: np.ndarray, random: object) -> None:
    rows = answer_frame(x, reverse=[1, 3, 5])
    names = sorted(set(rows["participant"]))
    random.shuffle(names)  # type: ignore[attr-defined]
    renamed = rows.assign(participant=rows["participant"].map(dict(zip(sorted(names), names, strict=True))))
    before, after = style(read_answers(rows)), style(read_answers(renamed.sample(frac=1, random_state=0)))
    for one, other in zip(before, after, strict=True):
        assert (other.verdict, other.n) == (one.verdict, one.n)
        assert other.value == pytest.approx(one.value)


# --- ends and midpoint -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "verdict"),
    [(21, "fine"), (4, "fine"), (3, "caution"), (0, "caution"), (60, "fine"), (61, "caution"), (81, "bad")],
)
def test_ends_beyond_what_people_s_panels_have(hits: int, verdict: str) -> None:
    """Bounds: .04 and .60; bad above .80."""
    diagnostic = extreme_style(table(shares(hits, 5, 3)))
    assert (diagnostic.value, diagnostic.verdict) == (hits / 100, verdict)


@pytest.mark.parametrize(
    ("hits", "verdict"), [(11, "fine"), (1, "fine"), (0, "caution"), (50, "fine"), (51, "caution"), (76, "bad")]
)
def test_midpoint_beyond_what_people_s_panels_have(hits: int, verdict: str) -> None:
    diagnostic = midpoint_style(table(shares(hits, 3, 2)))
    assert (diagnostic.value, diagnostic.verdict) == (hits / 100, verdict)


def test_other_scales() -> None:
    """On seven points people use the ends as often; even scales have no midpoint, and on four points ends are half of
    them."""
    five, seven = extreme_style(table(shares(20, 5, 3))), extreme_style(table(shares(20, 7, 4), high=7))
    assert (seven.threshold, seven.verdict) == (five.threshold, "fine")
    assert midpoint_style(table(shares(20, 2, 3), high=6)).reason_code == "no_midpoint"
    assert extreme_style(table(shares(20, 1, 2), high=4)).reason_code == "short_scales"
    assert extreme_style(table(np.full((10, 9), 3))).reason_code == "too_few_answers"


# --- straight lines --------------------------------------------------------------------------------------------------


def run_of(length: int, n_items: int = 25) -> np.ndarray:
    """So many threes, then 1 and 5 in turn."""
    return np.array([3.0] * length + [1.0 if i % 2 else 5.0 for i in range(n_items - length)])


@pytest.mark.parametrize(("n_items", "limit"), [(25, 7), (100, 8), (400, 9)])
def test_the_limit_grows_by_one_with_four_times_the_items(n_items: int, limit: float) -> None:
    """By hand: 7 + ln(L/25)/ln 4."""
    assert longest_allowed(n_items) == pytest.approx(limit)


@pytest.mark.parametrize(("flagged", "verdict"), [(0, "fine"), (3, "fine"), (4, "caution"), (5, "caution"), (6, "bad")])
def test_seven_of_25_is_allowed_eight_is_not(flagged: int, verdict: str) -> None:
    """Exact binomial, by hand: of ten at .10 P(X ≥ 3) = .070, P(X ≥ 4) = .013; at .30 P(X ≥ 6) = .047 is already
    sure."""
    diagnostic = straightlining(table([run_of(8 if a < flagged else 7) for a in range(10)]))
    assert (diagnostic.value, diagnostic.verdict) == (flagged / 10, verdict)
    assert (diagnostic.detail["n_flagged"], diagnostic.detail["longest"]) == (flagged, 8 if flagged else 7)


def test_the_order_shown_counts_and_gaps_and_blocks_break_a_run() -> None:
    """By hand: 3 1 3 1 3 shown as 3 3 3 1 1 has a run of three; a gap in 3 3 – 3 leaves two."""
    runs = longest_runs(table([[3, 1, 3, 1, 3]], positions=[[1, 4, 2, 5, 3]]))
    assert runs is not None
    assert runs["run"].tolist() == [3]
    gap = longest_runs(table([[3, 3, np.nan, 3]]))
    assert gap is not None
    assert gap["run"].tolist() == [2]
    rows = answer_frame([[3, 3, 3, 3, 3]], positions=[[1, 2, 3, 1, 2]])
    blocks = longest_runs(read_answers(rows.assign(block=list("aaabb"))))
    assert blocks is not None
    assert blocks.to_numpy().tolist() == [[3, 3]]
    assert straightlining(read_answers(rows)).reason_code == "position_unclear"


def test_a_line_is_a_line_of_places_where_option_orders_are_known() -> None:
    """By hand: always the first of options shown in turn upwards and downwards reads 1 3 1 3."""
    turns = [["[1, 2, 3]", "[3, 2, 1]"] * 2] * 2
    runs = longest_runs(table([[1, 3, 1, 3], [1, 1, 1, 1]], high=3, option_orders=turns))
    assert runs is not None
    assert runs["run"].tolist() == [4, 1]


def test_short_instruments_have_no_lines() -> None:
    assert straightlining(table(np.full((10, 9), 3))).reason_code == "too_few_items"
    assert straightlining(table(np.full((4, 10), 3))).reason_code == "too_few_agents"
    assert straightlining(table(np.empty((9, 0)))).reason_code == "too_few_items"


# --- places of options -----------------------------------------------------------------------------------------------

UP, DOWN = "[1, 2, 3, 4, 5]", "[5, 4, 3, 2, 1]"
HALVES = np.where(np.arange(20)[:, None] < 10, UP, DOWN)


def placed(share_first: float) -> np.ndarray:
    """Twenty agents × ten items; that share of either half picks the first option shown, the rest 2 and 4 evenly."""
    first = np.where(np.arange(20)[:, None] < 10, 1.0, 5.0)
    rank = np.broadcast_to((np.arange(20) % 10)[:, None], (20, 10))
    return np.where(rank < 10 * share_first, first, np.where(rank % 2, 2.0, 4.0))


@pytest.mark.parametrize(
    ("share", "value", "verdict"), [(0, 0, "fine"), (0.2, 0.1, "fine"), (0.3, 0.15, "caution"), (0.6, 0.3, "caution")]
)
def test_a_preference_for_the_first_option(share: float, value: float, verdict: str) -> None:
    """By hand: 1 and 5 each have half the share s, so s/2 are expected first, and s are found: the excess is s/2."""
    diagnostic = position_share(table(placed(share), option_orders=HALVES))
    assert (diagnostic.value, diagnostic.verdict) == (pytest.approx(value), verdict)
    assert diagnostic.detail["one_in_k"] == pytest.approx(0.2)


def test_avoiding_the_ends_is_no_preference_for_a_place() -> None:
    """Nobody chooses an end: 0 first against 1/5, but 0 is what the marginals give."""
    assert position_share(table(placed(0), option_orders=HALVES)).verdict == "fine"


def test_a_fixed_order_says_nothing_of_places() -> None:
    diagnostic = position_share(table(placed(0.3), option_orders=UP))
    assert (diagnostic.verdict, diagnostic.reason_code) == ("not computed", "option_order_not_varied")
    assert position_share(table(placed(0.3))).reason_code == "no_option_order"
