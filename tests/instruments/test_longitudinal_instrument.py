"""The shipped longitudinal instrument, and what an instrument says of its items."""

from __future__ import annotations

from collections import Counter

import pytest

from enquete.instruments.load import load_shipped
from enquete.instruments.text import texts_of
from enquete.methods.longitudinal.instrument import LongitudinalInstrument


@pytest.fixture(scope="module")
def shipped() -> LongitudinalInstrument:
    return load_shipped(LongitudinalInstrument, "longitudinal")


def test_fourteen_five_point_items_in_four_families_asked_in_order_with_a_comment(
    shipped: LongitudinalInstrument,
) -> None:
    sizes = Counter(item.family for item in shipped.items)
    assert len(shipped.items) == 14
    assert list(shipped.families) == ["stock", "governance", "market", "climate"]
    assert set(sizes) == set(shipped.families)
    assert set(sizes.values()) == {3, 4}
    assert all(shipped.scale_of(item.item_id).points == (1, 2, 3, 4, 5) for item in shipped.items)
    reverse = [item.item_id for item in shipped.items if shipped.reverse_coded(item.item_id)]
    assert len(reverse) == 5
    assert {shipped.family_of(item_id) for item_id in reverse} == set(shipped.families)
    *closed, comment = shipped.block_items("de")
    assert [item.id for item in closed] == [item.item_id for item in shipped.items]
    assert {(item.kind, item.confidence, item.minimum, item.maximum) for item in closed} == {("scale", True, 1, 5)}
    assert all([option.value for option in item.options] == [1, 2, 3, 4, 5] for item in closed)
    assert (comment.id, comment.kind, comment.confidence) == ("comment", "text", False)
    german, english = shipped.block_items("de")[0], shipped.block_items("en")[0]
    assert german.wording.startswith("Der Dorschbestand")
    assert english.wording.startswith("The western Baltic cod")
    assert (german.options[0].label, german.options[-1].label) == ("lehne stark ab", "stimme stark zu")
    assert (english.options[0].label, english.options[-1].label) == ("strongly disagree", "strongly agree")


def test_wordings_address_nobody_as_du_or_sie(shipped: LongitudinalInstrument) -> None:
    german = " ".join(text.de or "" for _, text in texts_of(shipped)).split()
    assert not {"du", "Du", "dich", "dein", "deine", "Ihnen", "Ihre", "Ihr", "Ihrer"} & set(german)


def test_own_scale_number_of_points_and_no_comment() -> None:
    instrument = LongitudinalInstrument.model_validate(
        {
            "instrument_id": "x",
            "version": "1",
            "title": "Titel",
            "topic": "Thema",
            "language_default": "de",
            "instruction": "Bitte",
            "scales": {"mine": {"min": -1, "max": 1, "labels": {-1: "dagegen", 1: "dafür"}}},
            "families": {"f": "Familie"},
            "items": [
                {"item_id": "a", "de": "A", "family": "f", "scale": 10},
                {"item_id": "b", "de": "B", "family": "f", "scale": "mine", "control": True},
                {"item_id": "c", "de": "C", "family": "f"},
            ],
        }
    )
    ten, mine, default = instrument.block_items("de")
    assert [option.value for option in ten.options] == list(range(1, 11))
    assert (ten.options[0].label, ten.options[4].label, ten.options[9].label) == (
        "lehne stark ab", "", "stimme stark zu",
    )  # fmt: skip
    assert [(option.value, option.label) for option in mine.options] == [(-1, "dagegen"), (0, ""), (1, "dafür")]
    assert len(default.options) == 5
    assert set(instrument.scales) == {"10", "likert5", "mine"}
    assert instrument.item("b").control
