"""Whatever the findings are, a page is small and nothing is lost but the ends of long texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.interfaces.mcp.paging import (
    ENTRY_CHARS,
    PAGE_CHARS,
    NoSuchPart,
    entries,
    pages_of,
    report_sections,
    require_page,
    require_section,
    text_pages,
)
from enquete.interfaces.mcp.results import MAX_RESULT_CHARS

SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=20)
FINDINGS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=12), inner, max_size=8)
)


def scalars(value: Any) -> int:
    """An empty list or mapping counts as one."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return sum(scalars(each) for each in inner) if inner else 1


@settings(max_examples=40)
@given(FINDINGS, st.integers(1, 40))
def test_pages_are_small_and_lose_nothing(value: Any, times: int) -> None:
    whole = [value] * times
    pages = pages_of(list(entries(whole)))
    assert sum(scalars(entry.value) for page in pages for entry in page) == scalars(whole)
    for page in pages:
        assert len(json.dumps([entry.model_dump() for entry in page], ensure_ascii=False)) <= MAX_RESULT_CHARS


def test_numbers_stay_together_and_long_texts_are_cut() -> None:
    # "NNN": N, twice a number of up to three digits: at most 11 characters with braces, so well over 150 an entry.
    parts = list(entries({"draws": list(range(1000))}))
    assert parts[0].path.startswith("draws[0:")
    assert len(parts) < 10
    assert [n for entry in parts for n in entry.value] == list(range(1000))  # type: ignore[union-attr]
    (entry,) = entries("x" * (ENTRY_CHARS + 1))
    assert str(entry.value).endswith(f"({ENTRY_CHARS + 1} characters; whole in the resource)")


@given(st.text(max_size=50), st.integers(1, 1000))
def test_pages_of_a_text_together_are_the_text(line: str, times: int) -> None:
    text = (line + "\n") * times
    pages = text_pages(text)
    assert "".join(pages) == text
    assert all(len(page) <= PAGE_CHARS for page in pages)


def test_sections_go_by_headings_and_what_there_is_not_is_refused() -> None:
    assert report_sections("# T\n\nA\n## B\n### C\nx\n") == {"beginning": "# T\n\nA\n", "B": "## B\n### C\nx\n"}
    assert require_section(" Limits ", ["limits", "data"]) == "limits"
    with pytest.raises(NoSuchPart, match="'x' is none of limits, data"):
        require_section("x", ["limits", "data"])
    with pytest.raises(NoSuchPart, match="3 is none; there are pages 1 to 2"):
        require_page(3, 2)
