"""The diversity instrument: the shipped file, the forms a grid may have, and errors with their line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enquete.instruments.load import load_instrument, load_shipped
from enquete.instruments.text import instrument_notices
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.state.errors import InstrumentError

SHIPPED = load_shipped(DiversityInstrument, "diversity")
SMALL = """\
instrument_id: small
version: "1"
title: {de: Klein, en: Small}
topic: {de: Etwas, en: Something}
language_default: de
instructions:
  sort: {de: Bitte sortieren., en: Please sort.}
  axes: {de: Bitte einordnen., en: Please place yourself.}
distribution: [1, 2, 1]
statements:
  - {statement_id: a, label_de: A ist gut., label_en: A is good.}
  - {statement_id: b, de: B ist gut., en: B is good.}
  - {statement_id: c, label: {de: C ist gut., en: C is good.}}
  - {statement_id: d, label: D ist gut.}
likert_axes:
  - {axis_id: x, label_de: X, label_en: The X, low: {de: wenig, en: little}, high: {de: viel, en: much}}
"""


def load(tmp_path: Path, text: str) -> DiversityInstrument:
    path = tmp_path / "my.yaml"
    path.write_text(text, "utf-8")
    return load_instrument(DiversityInstrument, path)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(InstrumentError) as caught:
        load(tmp_path, text)
    return [re.sub(r"^.*my\.yaml", "my.yaml", line) for line in caught.value.problems]


def test_the_shipped_sort_and_axes_label_only_the_poles() -> None:
    assert SHIPPED.distribution == {-3: 2, -2: 3, -1: 4, 0: 6, 1: 4, 2: 3, 3: 2}
    assert (len(SHIPPED.statements), len(SHIPPED.likert_axes)) == (24, 6)
    assert [axis.axis_id for axis in SHIPPED.likert_axes] == [
        "preservation_extraction", "local_eu", "science_tradition", "individual_collective", "short_long_term",
        "market_regulation",
    ]  # fmt: skip
    assert {axis.points for axis in SHIPPED.likert_axes} == {7}
    assert SHIPPED.language_default == "de"
    item = SHIPPED.sort_items("en")[0]
    assert [option.value for option in item.options] == [-3, -2, -1, 0, 1, 2, 3]
    assert [bool(option.label) for option in item.options] == [True, *[False] * 5, True]
    axis = SHIPPED.axis_items("de")[0]
    assert [(o.value, o.label) for o in axis.options if o.label] == [
        (1, "das Meer vor allem bewahren"), (7, "das Meer vor allem nutzen")]  # fmt: skip
    assert not axis.confidence


def test_texts_in_any_form_and_what_falls_back(tmp_path: Path) -> None:
    sort = load(tmp_path, SMALL)
    assert sort.distribution == {-1: 1, 0: 2, 1: 1}
    assert [s.label.in_("en") for s in sort.statements] == ["A is good.", "B is good.", "C is good.", "D ist gut."]
    assert instrument_notices(sort, "en") == ("statements[3].label: no English text, the German one is shown",)
    assert sort.sort_items("de")[0].options[0].label == "entspricht meiner Sicht am wenigsten"
    assert sort.statement("a").brief("de") == "A ist gut"


def test_an_uneven_grid_with_named_columns(tmp_path: Path) -> None:
    instrument = load(tmp_path, SMALL.replace("[1, 2, 1]", "{1: 1, -2: 1, -1: 2}"))
    assert list(instrument.distribution.items()) == [(-2, 1), (-1, 2), (1, 1)]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[1, 2, 1]", "[1, 3, 1]", "my.yaml:9: distribution: has 5 places for 4 statements; their numbers must "
         "be equal"),
        ("[1, 2, 1]", "[2, 2]", "my.yaml:9: distribution: has 2 columns, so none of them is 0; name the columns, such "
         "as {-2: 3, -1: 5, 1: 5, 2: 3}"),
        ("[1, 2, 1]", "[4]", "my.yaml:9: distribution: has 1 columns; a grid has 2 to 13"),
        ("[1, 2, 1]", "[]", "my.yaml:9: distribution: has no column; write one number of places for each column, such "
         "as [2, 3, 4, 6, 4, 3, 2]"),
        ("[1, 2, 1]", "7", "my.yaml:9: distribution: is 7; write one number of places for each column, such as "
         "[2, 3, 4, 6, 4, 3, 2]"),
        ("[1, 2, 1]", "{-1: 0, 0: 3, 1: 1}", "my.yaml:9: distribution[-1]: is 0; must be greater than or equal to 1"),
        ("[1, 2, 1]", "{-1: 1, 0: two, 1: 1}", "my.yaml:9: distribution[0]: is 'two'; write a whole number"),
        ("statement_id: b", "statement_id: a", "my.yaml:12: statements[1].statement_id: 'a' is already the id of "
         "another statement; every statement needs its own"),
        ("axis_id: x", "axis_id: a", "my.yaml:16: likert_axes[0].axis_id: 'a' is already the id of a statement; every "
         "statement and axis needs its own"),
        (", high: {de: viel, en: much}", "", "my.yaml:16: likert_axes[0].high: is missing"),
        ("language_default: de", "language_default: de\nlanguages: [de, en]",
            "my.yaml:15: statements[3].label.en: is missing; "
         "`languages` promises every text in de and en"),
    ],
)  # fmt: skip
def test_errors_name_line_field_and_what_would_be_right(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert problem in problems(tmp_path, SMALL.replace(old, new))


def test_too_few_statements(tmp_path: Path) -> None:
    text = re.sub(r"statements:\n(  - .*\n){4}", "statements: []\n", SMALL)
    assert "my.yaml:10: statements: has no entry; at least 3 are needed" in problems(tmp_path, text)
