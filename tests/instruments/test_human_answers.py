"""`human:` in an instrument: what is known of people's answers, checked like the rest and part of the hash."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from enquete.instruments.instrument import Instrument
from enquete.instruments.load import instrument_hash, load_instrument, load_shipped
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.state.errors import InstrumentError

LONG = """\
instrument_id: x
version: "1"
title: X
topic: X
language_default: en
instruction: Please.
families: {f: F}
items:
  - item_id: a
    family: f
    en: A?
    human: HUMAN
"""


def load(tmp_path: Path, model: type[BaseModel], text: str) -> Any:
    path = tmp_path / "my.yaml"
    path.write_text(text, "utf-8")
    return load_instrument(model, path)


def test_people_s_answers_by_item_are_part_of_the_hash(tmp_path: Path) -> None:
    text = LONG.replace("HUMAN", "{source: A survey, sd: 1.1, marginals: {1: 0.2, 3: 0.5, 5: 0.3}}")
    made = load(tmp_path, LongitudinalInstrument, text)
    (human,) = made.human_answers().values()
    assert (human.sd, human.marginals, human.source) == (1.1, {1: 0.2, 3: 0.5, 5: 0.3}, "A survey")
    again = LongitudinalInstrument.model_validate(made.model_dump(mode="json", exclude_none=True))
    assert again == made  # as a run's record keeps it
    plain = load(tmp_path, LongitudinalInstrument, LONG.replace("    human: HUMAN\n", ""))
    with_sd = load(tmp_path, LongitudinalInstrument, LONG.replace("HUMAN", "{source: A survey, sd: 1.1}"))
    assert instrument_hash(plain) != instrument_hash(with_sd)
    assert "human" not in str(plain.model_dump(mode="json", exclude_none=True))


@pytest.mark.parametrize(
    ("human", "message"),
    [
        ("{sd: 1.1}", "my.yaml:12: items[0].human.source: is missing"),
        ("{source: S}", "my.yaml:12: items[0].human: holds neither `sd` nor `marginals`"),
        ("{source: S, sd: 0}", "my.yaml:12: items[0].human.sd: is 0; must be greater than 0"),
        ("{source: S, sd: 3}", "my.yaml:12: items[0].human: sd is 3; on a scale from 1 to 5 it is at most 2.83"),
        ("{source: S, sd: wide}", "my.yaml:12: items[0].human.sd: is 'wide'; write a number"),
        ("{source: S, marginals: {1: 0.5, 7: 0.5}}", "marginals for 7, but the scale runs from 1 to 5"),
        ("{source: S, marginals: {1: 0.5, 2: 0.4}}", "human.marginals: sums to 0.9; shares sum to 1"),
        ("{source: S, marginals: {1: 0}}", "human.marginals: sums to 0; write how many people"),
        ("{source: S, marginals: {1: -1, 2: 3}}", "must be greater than or equal to 0"),
        ("{source: S, mean: 3}", "human.mean: is no known key"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_field(tmp_path: Path, human: str, message: str) -> None:
    with pytest.raises(InstrumentError, match=re.escape(message)):
        load(tmp_path, LongitudinalInstrument, LONG.replace("HUMAN", human))


@pytest.mark.parametrize("marginals", ["{1: 12, 5: 38}", "{1: 33.3, 2: 66.6}", "{1: 0.333, 2: 0.667}"])
def test_counts_per_cent_and_shares(tmp_path: Path, marginals: str) -> None:
    text = LONG.replace("HUMAN", f"{{source: S, marginals: {marginals}}}")
    assert load(tmp_path, LongitudinalInstrument, text).human_answers()["a"].sd is None


def shipped(name: str, model: type[BaseModel]) -> dict[str, Any]:
    return load_shipped(model, name).model_dump(mode="json", exclude_none=True)


def test_an_axis_and_a_scenario_by_dimension(tmp_path: Path) -> None:
    axes = shipped("diversity", DiversityInstrument)
    axes["likert_axes"][0]["human"] = {"source": "S", "marginals": {7: 1}}
    name = axes["likert_axes"][0]["axis_id"]
    assert set(load(tmp_path, DiversityInstrument, yaml.safe_dump(axes)).human_answers()) == {name}

    futures = shipped("scenario", ScenarioInstrument)
    first, dimension = futures["scenarios"][0], futures["dimensions"][0]["dimension_id"]
    first["human"] = {dimension: {"source": "S", "sd": 1.5}}
    answers = load(tmp_path, ScenarioInstrument, yaml.safe_dump(futures)).human_answers()
    assert set(answers) == {f"{first['scenario_id']}/{dimension}"}

    first["human"] = {dimension: {"source": "S", "sd": 9}}
    with pytest.raises(InstrumentError, match=f"{dimension}: sd is 9; on a scale from 1 to 7 it is at most 4.24"):
        load(tmp_path, ScenarioInstrument, yaml.safe_dump(futures))
    first["human"] = {"beauty": {"source": "S", "sd": 1}}
    with pytest.raises(InstrumentError, match=r"scenarios\[0\]\.human: 'beauty' is no dimension; .*Known: "):
        load(tmp_path, ScenarioInstrument, yaml.safe_dump(futures))


@pytest.mark.parametrize(
    ("name", "model"),
    [("longitudinal", LongitudinalInstrument), ("diversity", DiversityInstrument), ("scenario", ScenarioInstrument)],
)
def test_shipped_instruments_invent_no_people(name: str, model: type[Instrument]) -> None:
    assert load_shipped(model, name).human_answers() == {}
