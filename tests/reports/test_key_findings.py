"""Which findings open a report: tested ones before positions, positions before nulls, and every methodology once."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.reports import declarations as d
from enquete.reports.findings import ON_PAGE_ONE, ORDER, KeyFinding, leading, ranked
from tests.support.charts import results
from tests.support.tables import findings


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


# --- what would have been found, where nothing was -----------------------------------------------------------------

SUBJECT = d.reference("item", "Item", to="items")
ITEMS = d.Table(
    name="items", title="Items", key=("item",), label="label", columns=(d.text("item", "id"), d.text("label", "Item"))
)


def nothing_found(rows: list[tuple[float | None, tuple[float | None, float | None]]], *, share: bool = False) -> Any:
    """The null of a question: (difference that would have been found, ends of the scale) by row, of which the first has
    the least p, .4, and the most answers. It is the only question of the page, so that its level is all of .05."""
    table = d.Table(
        name="tests", title="T", key=("item",),
        columns=(
            d.reference("item", "Item", to="items"), d.integer("n", "n"), d.integer("n_total", "N"), d.p_value("p"),
            d.adjusted_p(), *d.detectable("found", share=share),
        ),
    )  # fmt: skip
    question = d.Finding(
        name="any", table="tests", p="p", within="given", says="{item}", null="nothing ({tests}, {p}, {n}); {power}"
    )
    declared = d.Presentation(tables=(ITEMS, table), findings=(question,))
    tests = [
        {"item": f"i{place}", "n": 20 - place, "n_total": 20, "p": 0.4 + place / 100, **d.on_scale(size, ends)}
        for place, (size, ends) in enumerate(rows)
    ]
    (null,) = findings(declared, results(declared, {"tests": tests}, {}).analysis).values()
    return null


ONE_TO_FIVE, PERCENT, NO_ENDS = (1, 5), (0, 100), (None, None)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(0.4, ONE_TO_FIVE)], "a difference of 0.40 points would have been found four times in five"),
        # 1.02 of .4 is found for sure, 1.02 of 1.2 in .61: Φ(3.84·1.02/1.2 − 3) = Φ(.27); four in five on average
        ([(0.4, ONE_TO_FIVE), (1.2, ONE_TO_FIVE)],
         "a difference of 1.02 points on one of them, whichever, would have been found four times in five"),
        # .4 of 4 and 26.8 of 100: 10% and 26.8% of what the scale is wide
        ([(0.4, ONE_TO_FIVE), (26.8, PERCENT)],
         "a difference of 23% of the scale on one of them, whichever, would have been found four times in five"),
        ([(1.2, ONE_TO_FIVE), (4.07, ONE_TO_FIVE)],
         "a difference of 1.20 points would have been found four times in five on 1 only"),
        ([(4.0, ONE_TO_FIVE), (100.0, PERCENT)],
         "no difference, however large, would have been found four times in five"),
        ([(31.0, NO_ENDS)], "a difference of 31.00 would have been found four times in five"),
        ([(31.0, NO_ENDS), (0.4, ONE_TO_FIVE)], "what would have been found on each is in the table"),
    ],
)  # fmt: skip
def test_what_would_have_been_found_holds_for_whichever_row_that_was_tested(rows: Any, told: str) -> None:
    null = nothing_found(rows)
    assert null.text == f"Nothing ({len(rows)}, p = 0.40, {21 - len(rows)}); {told}"
    assert (null.kind, null.n, null.p) == ("null", 21 - len(rows), 0.4)


def test_who_answered_may_be_a_fact_of_all_rows() -> None:
    table = d.Table(
        name="tests", title="T", key=("item",), columns=(d.text("item", "i"), d.p_value("p"), d.adjusted_p())
    )
    finding = d.Finding(name="any", table="tests", p="p", says="{item}", null="nothing of {tests} (n = {n})")
    declared = d.Presentation(tables=(table,), facts=(d.integer("n"), d.integer("n_total")), findings=(finding,))
    told = results(declared, {"tests": [{"item": "a", "p": 0.4}]}, {"n": 7, "n_total": 9})
    assert findings(declared, told.analysis)["any"].text == "Nothing of 1 (n = 7)"


def test_of_shares_it_is_said_in_percentage_points() -> None:
    assert nothing_found([(0.42, (0, 1)), (0.58, (0, 1))], share=True).text.endswith(
        "a difference of 51 percentage points on one of them, whichever, would have been found four times in five"
    )


@given(st.lists(st.lists(st.integers(0, 1), min_size=12, max_size=12), min_size=1, max_size=3))
def test_of_answers_on_a_scale_nothing_wider_than_it_would_have_been_found(columns: list[list[int]]) -> None:
    values = pd.DataFrame(columns, columns=[f"p{n}" for n in range(12)]).T.astype(float)
    groups = pd.Series(["a"] * 6 + ["b"] * 6, index=values.index)
    tests = d.compared(values, groups, "item", ends=dict.fromkeys(values, (0, 1)))["group_tests"]
    assert not (tests[d.DETECTABLE] >= 1).any()  # of twelve, .5 and .5 of whom said 1, it would take 1.07
    assert tests[d.DETECTABLE].equals(tests[d.DETECTABLE_SHARE])
