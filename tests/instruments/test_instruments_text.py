"""Texts: the forms in which they may be written, fall-back, and notices."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from enquete.instruments.text import Part, Text, instrument_notices, reading


class Card(Part):
    """A part in the way of the diversity and scenario instruments: flat label and description."""

    inline_text = "label"

    label: Text
    description: Text | None = None


@pytest.mark.parametrize(
    "written",
    [{"label": {"de": "Kosten", "en": "Cost"}}, {"label_de": "Kosten", "label_en": "Cost"},
        {"de": "Kosten", "en": "Cost"}, {"label_de": "Kosten", "en": "Cost"}, {"de": "  Kosten\n", "en": "Cost"}],
)  # fmt: skip
def test_every_written_form_is_the_same_text(written: dict[str, object]) -> None:
    assert Card.model_validate(written) == Card(label=Text(de="Kosten", en="Cost"))


def test_plain_string_belongs_to_the_default_language() -> None:
    with reading({"language_default": "en"}):
        card = Card.model_validate({"label": "Cost", "description_de": "Was es kostet"})
        short = Card.model_validate("Cost")
    assert card == Card(label=Text(en="Cost"), description=Text(de="Was es kostet"))
    assert short.label == Text(en="Cost")


def test_texts_fall_back_both_ways_and_each_one_is_noticed() -> None:
    assert Text(de="Kosten").in_("en") == "Kosten"
    assert Text(en="Cost").in_("de") == "Cost"
    assert Text(de="Kosten", en="Cost").in_("en") == "Cost"
    card = Card(label=Text(de="Kosten", en="Cost"), description=Text(de="Was es kostet"))
    assert instrument_notices(card, "de") == ()
    assert instrument_notices(card, "en") == ("description: no English text, the German one is shown",)
    english = Card(label=Text(en="Cost"))
    assert instrument_notices(english, "de") == ("label: kein deutscher Text, gezeigt wird der englische",)


def test_one_text_is_one_however_written_and_dumped() -> None:
    assert Text.model_validate({"de": "Ma\u0308rkte"}) == Text(de="M\u00e4rkte")
    assert Card(label=Text(de="Kosten")).model_dump(exclude_none=True) == {"label": {"de": "Kosten"}}


@pytest.mark.parametrize(
    ("written", "message"),
    [({"label": {}}, "is empty"), ({"label": {"de": "  "}}, "is empty"),
        ({"label": {"de": None, "en": "Cost"}}, "is empty"), ({"label": {"de": "a\x07b"}}, "control character"),
        ({"label": {"de": "Kosten"}, "label_de": "Preis"}, "given twice, as label, label_de"),
        ({"label_de": "Kosten", "de": "Preis"}, "given twice, as label_de, de"),
        ({"label": {"de": ["Kosten"]}}, "should be a text")],
)  # fmt: skip
def test_texts_that_are_none(written: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Card.model_validate(written)


def test_declared_languages_are_all_required() -> None:
    with reading({"languages": ["de", "en"]}), pytest.raises(ValidationError) as caught:
        Card.model_validate({"label": "Kosten", "description": {"en": "What it costs"}})
    assert [error["loc"] for error in caught.value.errors()] == [("label", "en"), ("description", "de")]
