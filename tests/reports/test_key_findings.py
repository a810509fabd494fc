"""Which findings open a report: tested ones before positions, positions before nulls, and every methodology once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from enquete.reports.findings import ON_PAGE_ONE, ORDER, KeyFinding, leading, ranked


def finding(name: str, kind: Any = "position", size: float = 0.5, p: float | None = None) -> KeyFinding:
    return KeyFinding(id=name, text=name, kind=kind, size=size, n=9, n_total=10, p=p)


def test_what_was_tested_comes_first_and_a_null_last() -> None:
    null, place, small, large = (
        finding("null", "null"), finding("place"), finding("small", "difference", 0.1),
        finding("large", "difference", 0.4),
    )  # fmt: skip
    assert [one.id for one in ranked([null, place, small, large])] == ["large", "small", "place", "null"]


def test_of_equal_size_the_surer_comes_first() -> None:
    sure, less = finding("sure", "difference", 0.3, 0.001), finding("less", "difference", 0.3, 0.04)
    assert [one.id for one in ranked([less, sure])] == ["sure", "less"]


def test_every_methodology_speaks_once_before_any_speaks_twice() -> None:
    one = [finding("a1", "difference"), finding("a2", "difference"), finding("a3", "null")]
    found = leading({"a": one, "b": [finding("b1", "null")], "c": []})
    assert [each.id for each in found] == ["a1", "b1", "a2", "a3"]  # a further null last


@given(st.lists(st.lists(st.tuples(st.sampled_from(list(ORDER)), st.floats(0, 1)), max_size=4), max_size=6))
def test_page_one_is_short(drawn: list[list[tuple[Any, float]]]) -> None:
    stated = {
        str(m): [finding(f"{m}.{i}", kind, size) for i, (kind, size) in enumerate(own)] for m, own in enumerate(drawn)
    }
    assert len(leading(stated)) <= ON_PAGE_ONE
