"""From tidy rows to tables, and every way the rows can be wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.answers import aligned, read_answers
from tests.support.answer_frames import answer_frame, table


def test_values_count_only_where_the_status_carries_an_answer() -> None:
    answers = table([[1, 2], [3, 4]], statuses=[["ok", "invalid"], ["repaired", "not_reached"]])
    assert np.array_equal(answers.value, [[1, np.nan], [3, np.nan]], equal_nan=True)


def test_points_are_those_of_a_five_point_scale_and_rekeying_turns_them() -> None:
    """By hand: 0, 3, 10 on 0–10 (midpoint 5, stretched by 4/10) are −2, −.8, 2."""
    answers = table([[0, 3], [10, 3]], low=0, high=10, reverse=[1])
    assert answers.centred == pytest.approx(np.array([[-2, -0.8], [2, -0.8]]))
    assert answers.rekeyed == pytest.approx(np.array([[-2, 0.8], [2, 0.8]]))
    assert answers.points.tolist() == [11, 11]


def test_the_place_of_an_answer_among_the_options_shown() -> None:
    orders = [["[1, 2, 3]", "[3, 2, 1]"], ["", "[2, 3, 1]"]]
    answers = table([[1, 1], [2, np.nan]], high=3, option_orders=orders)
    assert np.array_equal(answers.chosen, [[0, 2], [np.nan, np.nan]], equal_nan=True)
    assert answers.option_order[1, 0] == -1
    rows = answer_frame([[2]], high=3)
    for shown in ([3, 2, 1], (3, 2, 1)):
        assert read_answers(rows.assign(option_order=pd.Series([shown]))).chosen.tolist() == [[1.0]]


def test_open_questions_and_absent_columns() -> None:
    rows = answer_frame([[1, 2]]).drop(columns=["family", "reverse_keyed", "item_position", "option_order"])
    rows.loc[1, ["scale_min", "scale_max"]] = np.nan
    answers = read_answers(rows)
    assert (answers.items.tolist(), answers.families.tolist(), answers.reverse.tolist()) == (["i00"], [""], [False])
    assert np.isnan(answers.position).all()
    empty = dict.fromkeys(("family", "block", "option_order", "item_position"), np.nan)
    assert read_answers(rows.assign(**empty)).families.tolist() == [""]
    assert read_answers(rows.iloc[:0]).value.shape == (0, 0)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("value", 6, "item 'i00', value 6: is not a point of the item's scale 1–5"),
        ("value", 2.5, "value 2.5: is not a point"),
        ("status", "fine", "status 'fine': has an unknown status; known are ok"),
        ("scale_max", 1, "needs scale_max > scale_min"),
        ("scale_max", 7, "differs between the item's rows"),
        ("stakeholder_type", "trader", "stakeholder_type 'trader': has two"),
        ("item", "i01", "agent:0000', item 'i01': answered twice"),
        ("option_order", "[2, 3]", "not among the options shown"),
        ("option_order", "[1, 2", "not a JSON list"),
    ],
)
def test_wrong_rows_are_named(column: str, value: object, message: str) -> None:
    rows = answer_frame([[1, 2], [3, 4]])
    rows[column] = rows[column].astype(object)
    rows.loc[1 if column == "stakeholder_type" else 0, column] = value
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        read_answers(rows)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match=r"lack the column\(s\) status; needed are participant"):
        read_answers(answer_frame([[1]]).drop(columns="status"))


def test_aligned_keeps_what_all_hold() -> None:
    one, other = table([[1, 2], [3, np.nan], [5, 5]]), table([[2, 2], [3, 3]])
    both = aligned([one, other])
    assert both.counts == {"answers": 3, "agents": 2, "items": 2}
    assert np.array_equal(both.values[1], [[-1, -1], [0, np.nan]], equal_nan=True)
    with pytest.raises(ValueError, match="item 'i00' has another scale"):
        aligned([one, table([[1, 2]], high=7)])
