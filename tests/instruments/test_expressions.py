"""Conditions: whatever is written either is refused with a sentence or holds or not, and nothing of it is executed."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from enquete.instruments.expressions import ExpressionError, expression

SOUP = {
    "name": "Tomato  Soup", "shifts": 2.0, "count": "7", "nights?": False, "troubles": ["staff"],
    "site": {"town": "Ulm"}, "stages": [{"key": "mixing", "minutes": 5.0, "stages": [{"key": "stirring"}]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("name", True),
        ("nights?", False),
        ("known(nights?)", True),
        ("missing", False),
        ('name == "tomato soup"', True),
        ('name != "tomato soup"', False),
        ('"soup" in name and "staff" in troubles and "oven" not in troubles', True),
        ('name in ("bread", "Tomato Soup") and name not in ["bread"]', True),
        ("shifts == 2 and shifts < 3 and not shifts > 2", True),
        ("count == 7 and count >= 6.5", True),  # a field of that name
        ("missing < 1 or missing >= 1", False),
        ('missing == ""', True),
        ("count(stages) >= 1 and not count(stages) >= 2", True),
        ("site.town", True),
        ("every(stages, key)", True),
        ("every(stages, minutes)", False),  # the nested one has none
        ("every(missing, key)", False),
    ],
)
def test_what_holds(text: str, holds: bool) -> None:
    assert expression(text).holds(SOUP) is holds


def test_what_is_lacking_is_named_by_its_path() -> None:
    lacking = expression("missing and name and every(stages, minutes) and known(site.street)").lacking(SOUP)
    assert lacking == [("missing",), ("stages", "mixing", "stages", "stirring", "minutes"), ("site", "street")]


@given(st.text(max_size=60) | st.text(alphabet="abt \"'()[]=<>!,.+-?0123456789andornotincountevery", max_size=40))
@example("AÀ")
@example("_7")
@example("(" * 300)
def test_no_text_does_anything_but_hold_or_be_refused(text: str) -> None:
    try:
        written = expression(text)
    except ExpressionError as error:
        refused = str(error)
    else:
        assert written.holds({"a": "1", "b": ["x"]}) in (True, False)
        assert all(isinstance(path, tuple) for path in written.lacking({"a": "1", "b": ["x"]}))
        return
    assert repr(text) in refused
