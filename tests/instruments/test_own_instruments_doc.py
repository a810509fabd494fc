"""docs/own-instruments.md: its examples load, and what it shows as output is the output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from enquete.graphs.delphi.instrument import DelphiInstrument
from enquete.graphs.longitudinal.instrument import LongitudinalInstrument
from enquete.instruments.load import load_instrument
from enquete.instruments.text import Part, instrument_notices
from enquete.state.errors import InstrumentError

DOC = (Path(__file__).parents[2] / "docs" / "own-instruments.md").read_text("utf-8")


def fenced(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", DOC, re.DOTALL)
    assert found, mark
    return found[1]


@pytest.fixture
def my_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("my.yaml")


@pytest.mark.parametrize(
    ("example", "model"),
    [("longitudinal", LongitudinalInstrument), ("delphi", DelphiInstrument), ("human", LongitudinalInstrument)],
)
def test_examples_load_in_both_languages(example: str, model: type[BaseModel], my_yaml: Path) -> None:
    my_yaml.write_text(fenced(f"example: {example}"), "utf-8")
    instrument = load_instrument(model, my_yaml)
    assert instrument_notices(instrument, "de") == instrument_notices(instrument, "en") == ()


def test_the_shown_errors_are_the_real_ones(my_yaml: Path) -> None:
    my_yaml.write_text(fenced("example: wrong"), "utf-8")
    with pytest.raises(InstrumentError) as caught:
        load_instrument(LongitudinalInstrument, my_yaml)
    assert str(caught.value) == fenced("output: wrong").strip()


@pytest.mark.parametrize("model", [LongitudinalInstrument, DelphiInstrument])
def test_every_key_is_documented(model: type[Part]) -> None:
    for key in model.known_keys():
        assert f"`{key}`" in DOC, key
