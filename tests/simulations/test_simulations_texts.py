import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.instruments.text import fold
from enquete.simulations.sources import clean, clip, one_line, whole


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" a\x00b ", "a\\u0000b"), ("lone \ud800 surrogate", "lone ? surrogate"), (30, "30"), (True, ""), (None, ""),
        (["A", None, 2], "A, 2"), ({"a": 1}, ""),
    ],
)  # fmt: skip
def test_clean(value: object, text: str) -> None:
    assert clean(value) == text  # type: ignore[arg-type]


def test_a_number_too_long_to_print_holds_no_text() -> None:
    assert clean(10**5000) == ""


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3), (3.0, 3), ("3", 3), (" 3.0 ", 3), (True, None), (3.5, None), ("x", None), (float("nan"), None),
        (None, None),
    ],
)  # fmt: skip
def test_whole(value: object, number: int | None) -> None:
    assert whole(value) == number  # type: ignore[arg-type]


def test_names_compare_without_case_width_and_spacing() -> None:
    assert fold("  Bank  of ENGLAND ") == fold("Ｂank of England")  # the first letter of the second is full-width
    assert fold("Straße") == fold("STRASSE")
    assert fold("Halcourt") != fold("Halcourt Bank")


@given(st.text(), st.integers(0, 50))
def test_clip_holds_its_length(text: str, length: int) -> None:
    assert len(clip(text, length)) <= length
    assert "\n" not in one_line(text)
