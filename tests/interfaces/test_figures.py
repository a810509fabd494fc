"""Short numbers: what they round to, and that they never claim less than there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.interfaces.cli.terminal import counted, dollars, duration, money, short
from enquete.ledger.budget import rounded_up
from enquete.runs.estimate import Range

SIZES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1_200, "1.2k"), (999.6, "1.0k"), (12_300, "12k"), (999_600, "1.0M"), (3_400_000, "3.4M"),
     (9_960, "10k"), (12_000_000_000, "12G")],
)  # fmt: skip
def test_numbers_have_two_or_three_digits_that_count(value: float, text: str) -> None:
    assert short(value) == text


@given(st.floats(min_value=1, max_value=9e11))
def test_a_short_number_is_off_by_a_twentieth_at_most(value: float) -> None:
    """Rounding to a whole k from 9.95 on is 5% at most, and to a whole number from 1 on half of one."""
    text = short(value)
    unit = text[-1] if text[-1].isalpha() else ""
    assert abs(float(text.removesuffix(unit)) * SIZES[unit] - value) <= max(0.5, 0.055 * value)


@given(st.integers(min_value=1, max_value=10**12))
def test_rounded_up_is_never_less_and_a_tenth_more_at_most(value: int) -> None:
    assert value <= rounded_up(value) <= value * 1.1 + 1


def test_ranges_show_the_likely_figure_first_and_no_ends_that_say_nothing() -> None:
    assert counted(Range(low=31_000, likely=122_700, high=129_000)) == "123k (31k–129k)"
    assert counted(Range(low=30, likely=30, high=30)) == "30"
    assert money(Range(low=0.0031, likely=0.0532, high=1.5)) == "0.053 (0.0031–1.50)"
    assert money(None) == "unknown"
    assert dollars(1234.5) == "1,234.50"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 s"), (40, "40 s"), (180, "3 min"), (7800, "2 h 10 min"), (7200, "2 h")]
)
def test_times(seconds: float, text: str) -> None:
    assert duration(seconds) == text
