"""The shipped Delphi instrument, and the items it makes of themes."""

from __future__ import annotations

import pytest

from enquete.instruments.load import load_shipped
from enquete.instruments.text import Text
from enquete.methods.delphi.instrument import DelphiDimension, DelphiInstrument
from enquete.state.asking import Language

SHIPPED = load_shipped(DelphiInstrument, "delphi")
THEMES = [("9f3a", "Fangquoten", "Streit um die Verteilung"), ("b1", "Klima", "")]


def test_four_questions_two_dimensions_three_rounds() -> None:
    assert [question.question_id for question in SHIPPED.questions] == [
        "drivers", "risks", "measures", "responsibility",
    ]  # fmt: skip
    assert [dimension.dimension_id for dimension in SHIPPED.dimensions] == ["importance", "plausibility"]
    assert (SHIPPED.rounds, SHIPPED.max_themes) == (3, 15)
    items = SHIPPED.question_items("en")
    assert [item.kind for item in items] == ["text"] * 4
    assert items[0].wording == "Which developments will shape German fisheries most between now and 2040?"


@pytest.mark.parametrize("reason", [False, True])
def test_rating_items(reason: bool) -> None:
    items = SHIPPED.rating_items(THEMES, "de", reason=reason)
    assert [item.id for item in items] == [
        "theme:9f3a/importance", "theme:9f3a/plausibility", "theme:b1/importance", "theme:b1/plausibility",
    ]  # fmt: skip
    assert {(item.kind, item.reason, len(item.options)) for item in items} == {("scale", reason, 5)}
    assert items[0].wording.startswith("Thema „[9f3a]“: Wie wichtig")
    assert items[0].about == "[9f3a] Fangquoten. Streit um die Verteilung"
    assert items[2].wording.startswith("Thema „[b1]“: Wie wichtig")
    assert items[1].options[4].label == "sehr plausibel"


@pytest.mark.parametrize(("label", "description"), [("{theme}", "{description}"), ("{0} {} }{", "\\1\\g<0>\\n %s")])
@pytest.mark.parametrize("language", ["de", "en"])
def test_a_theme_is_inserted_as_it_is(label: str, description: str, language: Language) -> None:
    """Labels come from a model: braces and backslashes in them mean nothing."""
    wording = SHIPPED.dimension("importance").about(label, description, language)
    before, between, after = {"de": ("Thema „", "“ (", "): Wie "), "en": ("Theme “", "” (", "): How ")}[language]
    assert wording.startswith(before + label + between + description + after)


def test_later_rounds_use_the_instruction_of_revision() -> None:
    assert SHIPPED.instruction(1, "en").startswith("This first round")
    assert SHIPPED.instruction(2, "en").startswith("Themes have been formed")
    assert SHIPPED.instruction(3, "en") == SHIPPED.instruction(5, "en") == SHIPPED.instructions.round3.en


def test_amounts_and_dimensions_without_description() -> None:
    values = SHIPPED.model_dump(mode="json")
    values["dimensions"][0]["scale"] = 7
    instrument = DelphiInstrument.model_validate(values)
    options = instrument.rating_items(THEMES, "en")[0].options
    assert (len(options), options[0].label, options[6].label) == (7, "very low", "very high")
    assert instrument.scale_of("importance").max == 7
    dimension = DelphiDimension(dimension_id="x", wording=Text(de="Wie teuer ist {theme}?"), scale="likert5")
    assert dimension.about("Klima", "egal", "en") == "Wie teuer ist Klima?"
