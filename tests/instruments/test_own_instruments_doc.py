"""docs/own-instruments.md: its examples load, every key is there, and what is wrong in a file is told as it
promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from enquete.instruments.load import load_instrument
from enquete.instruments.text import Part, instrument_notices
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.state.errors import InstrumentError

DATA = Path(__file__).parents[1] / "data"
DOCS = Path(__file__).parents[2] / "docs"
ELSEWHERE = {
    "instrument_id",
    "version",
    "title",
    "topic",
    "language_default",
    "languages",
    "item_order",
    "scales",
    "primary",
    "confidence",
}
"""Keys of every instrument, which own-instruments.md documents for all."""


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text("utf-8")


def fenced(name: str, mark: str) -> str:
    match = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", page(name), re.DOTALL)
    assert match, mark
    return match[1]


WRONG = """\
instrument_id: heat-transition
version: 1.0
title: {de: Wärmewende}
topic: {de: Wärmewende, en: Heat transition}
language_default: de
languages: [de, en]
instruction: {de: Bitte zustimmen oder ablehnen., en: Please agree or disagree.}
families:
  cost: {de: Kosten, en: Cost}
items:
  - item_id: cost_worth
    family: costs
    scale: likret5
    de: Der Umstieg lohnt sich.
    en: The switch pays off.
  - item_id: no
    family: cost
    reverse_code: true
    de: Der Umstieg kostet zu viel.
    en: The switch costs too much.
"""
SAID = """\
my.yaml:2: version: YAML reads 1.0 as the number 1.0; for a text put it in quotes: '1.0'
my.yaml:3: title.en: is missing; `languages` promises every text in de and en
my.yaml:12: items[0].family: 'costs' is no family; did you mean 'cost'? Known: cost
my.yaml:13: items[0].scale: 'likret5' is no scale; did you mean 'likert5'? Known: \
likert5, likert7, importance5, plausibility5, or 2 to 11 for that many points
my.yaml:16: items[1].item_id: YAML reads no as false; for a text put it in quotes: 'no'
my.yaml:18: items[1].reverse_code: is no known key; did you mean 'reverse_coded'? Known: \
item_id, de, en, family, scale, reverse_coded, control, human
"""


@pytest.fixture
def my_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("my.yaml")


@pytest.mark.parametrize(
    ("example", "model"),
    [
        (fenced("own-instruments", "example: longitudinal"), LongitudinalInstrument),
        ((DATA / "heat_delphi.yaml").read_text("utf-8"), DelphiInstrument),
        (fenced("scenario", "example: scenario"), ScenarioInstrument),
        (fenced("diversity", "example: diversity"), DiversityInstrument),
    ],
    ids=("longitudinal", "delphi", "scenario", "diversity"),
)
def test_examples_load_in_both_languages(example: str, model: type[BaseModel], my_yaml: Path) -> None:
    my_yaml.write_text(example, "utf-8")
    instrument = load_instrument(model, my_yaml)
    assert instrument_notices(instrument, "de") == instrument_notices(instrument, "en") == ()


def test_all_problems_are_told_at_once_with_their_lines(my_yaml: Path) -> None:
    my_yaml.write_text(WRONG, "utf-8")
    with pytest.raises(InstrumentError) as caught:
        load_instrument(LongitudinalInstrument, my_yaml)
    assert str(caught.value) == SAID.strip()


@pytest.mark.parametrize(
    ("name", "model", "more", "elsewhere"),
    [("own-instruments", LongitudinalInstrument, (), set()), ("own-instruments", DelphiInstrument, (), set()),
        ("scenario", ScenarioInstrument, ("scenario_id", "dimension_id", "role"), ELSEWHERE),
        ("diversity", DiversityInstrument, (), ELSEWHERE)],
)  # fmt: skip
def test_every_key_is_documented(name: str, model: type[Part], more: tuple[str, ...], elsewhere: set[str]) -> None:
    for key in {*model.known_keys(), *more} - elsewhere:
        assert f"`{key}`" in page(name) or f".{key}`" in page(name), key
