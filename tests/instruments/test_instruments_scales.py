"""Scales: coherence, built-in scales, numbers of points."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from enquete.instruments.scales import AGREEMENT, AMOUNT, NAMED_SCALES, Scale, builtin_scale
from enquete.instruments.text import Text

ENDS = {1: {"de": "wenig", "en": "little"}, 3: {"de": "viel", "en": "much"}}


def test_options_cover_all_points_and_a_scale_survives_json() -> None:
    options = Scale.model_validate({"min": 1, "max": 3, "labels": ENDS}).options("en")
    assert [(option.value, option.label) for option in options] == [(1, "little"), (2, ""), (3, "much")]
    scale = Scale(min=0, max=2, labels={0: Text(de="nein", en="no"), 2: Text(de="ja", en="yes")})
    assert Scale.model_validate_json(scale.model_dump_json()) == scale
    scale = builtin_scale("10", AMOUNT)
    assert (scale.min, scale.max) == (1, 10)
    assert [option.label for option in scale.options("de")] == ["sehr gering", *[""] * 8, "sehr hoch"]


@pytest.mark.parametrize(("name", "points"), [("likert5", 5), ("likert7", 7), ("importance5", 5), ("plausibility5", 5)])
def test_named_scales_label_every_point_distinctly_in_both_languages(name: str, points: int) -> None:
    scale = NAMED_SCALES[name]
    assert scale.points == tuple(range(1, points + 1))
    for language in ("de", "en"):
        labels = [option.label for option in scale.options(language)]
        assert all(labels)
        assert len(set(labels)) == points


@pytest.mark.parametrize("name", ["1", "12", "0", "-3", "05", "5.0", "likert", ""])
def test_no_scale_of_that_name(name: str) -> None:
    assert builtin_scale(name, AGREEMENT) is None


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"min": 3, "max": 3, "labels": ENDS}, "min 3 must be smaller than max 3"),
        ({"min": 1, "max": 12, "labels": ENDS}, "12 points; a scale has 2 to 11"),
        ({"min": 1, "max": 4, "labels": ENDS}, "no label for 4; both ends need one"),
        ({"min": 1, "max": 2, "labels": ENDS}, "labels for 3, but the scale runs from 1 to 2; no label for 2"),
        ({"min": 1, "max": 3, "labels": {}}, "no label for 1 and 3"),
        ({"min": 1, "max": 3, "labels": ["wenig", "mittel", "viel"]}, "one line for each labelled point"),
        ({"min": 1.5, "max": 3, "labels": ENDS}, "int"),
    ],
)
def test_incoherent_scales(written: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Scale.model_validate(written)
