"""Page one's small figures: where a value lies on its scale, and none for numbers that lie on no scale."""

from __future__ import annotations

import re

import pytest
from enquete.reports.figures.strip import LEFT, RIGHT, Strip, draw, strip_of

from enquete.reports.key_findings import KeyFinding


def finding(**numbers: float) -> KeyFinding:
    return KeyFinding("a", "text", "position", 0.5, 9, 10, numbers=numbers)


@pytest.mark.parametrize(
    ("numbers", "strip"),
    [
        ({"mean": 4.0, "low": 3.5, "high": 4.5}, Strip(1, 5, ((4.0, 3.5, 4.5),))),
        ({"mean": 5.0, "mean_lowest": 1.0}, Strip(1, 5, ((5.0, None, None), (1.0, None, None)))),
        ({"change": -0.5, "low": -0.8, "high": -0.2}, Strip(-4, 4, ((-0.5, -0.8, -0.2),))),
        ({"share": 0.4, "low": 0.3, "high": 0.5}, Strip(0, 1, ((0.4, 0.3, 0.5),), True)),
        ({"agreed": 3, "themes": 4}, Strip(0, 1, ((0.75, None, None),), True)),
        ({"types": 3}, None),
    ],
)
def test_numbers_choose_their_scale(numbers: dict[str, float], strip: Strip | None) -> None:
    assert strip_of(finding(**numbers), (1.0, 5.0)) == strip


def test_a_value_stands_where_it_lies() -> None:
    drawn = draw(Strip(1, 5, ((3.0, 2.0, 4.0),)), "a < b", "de", plain=True)
    assert f'cx="{(LEFT + RIGHT) / 2:g}"' in drawn  # 3 is the middle of 1–5
    assert ">3,00<" in drawn
    assert "a &lt; b" in drawn
    assert re.findall(r"var\(", drawn) == []
