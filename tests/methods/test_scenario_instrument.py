"""The shipped scenario instrument, instruments of one's own, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.instruments.load import load_instrument, load_shipped
from enquete.instruments.text import instrument_notices
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.methods.scenario.procedure import ScenarioRating
from enquete.state.asking import Asking
from enquete.state.errors import InstrumentError
from enquete.state.methodology import NoSettings, Plan
from tests.support.populations import BareContext

SHIPPED = load_shipped(ScenarioInstrument, "scenario")
OWN = """\
instrument_id: heat-2040
version: "1"
title: {de: Wärme 2040, en: Heat 2040}
topic: {de: Wärme, en: Heat}
language_default: de
instruction: {de: Bitte einschätzen., en: Please rate.}
dimensions:
  - {dimension_id: wunsch, label: {de: Wunsch, en: Wish}, scale: 5, role: desirability}
scenarios:
  - {scenario_id: grid, label: {de: Netz, en: Grid}, description: {de: Alle am Netz., en: All on the grid.}}
  - scenario_id: gas
    label_de: Gas
    label_en: Gas
    description_de: Es bleibt beim Gas.
    description_en: Gas stays.
"""


def edited(tmp_path: Path, old: str = "", new: str = "") -> ScenarioInstrument:
    assert old in OWN
    path = tmp_path / "my.yaml"
    path.write_text(OWN.replace(old, new, 1) if old else OWN, "utf-8")
    return load_instrument(ScenarioInstrument, path)


def test_four_scenarios_four_dimensions_on_seven_points_asked_as_paths() -> None:
    assert [s.scenario_id for s in SHIPPED.scenarios] == ["erholung", "kollaps", "festung_europa", "privatisierung"]
    assert [s.label.de for s in SHIPPED.scenarios] == ["Erholung", "Kollaps", "Festung Europa", "Privatisierung"]
    assert [d.dimension_id for d in SHIPPED.dimensions] == ["desirability", "plausibility", "impact", "fairness"]
    assert {
        (SHIPPED.scale_of(d.dimension_id).min, SHIPPED.scale_of(d.dimension_id).max) for d in SHIPPED.dimensions
    } == {(1, 7)}
    assert SHIPPED.open_question.en == "If you woke up in this 2040, what would you do?"
    assert SHIPPED.language_default == "de"
    items = SHIPPED.scenario_items("kollaps", "de")
    assert [item.id for item in items] == [
        "kollaps/desirability", "kollaps/plausibility", "kollaps/impact", "kollaps/fairness", "kollaps/open",
    ]  # fmt: skip
    assert [[o.value for o in item.options] for item in items[:4]] == [[1, 2, 3, 4, 5, 6, 7]] * 4
    assert (items[0].options[0].label, items[0].options[6].label) == (
        "überhaupt nicht wünschenswert", "äußerst wünschenswert")  # fmt: skip
    assert items[4].kind == "text"
    assert SHIPPED.introduction("kollaps", "de").endswith("Netzgehegen.")
    assert "Szenario „Kollaps“" in SHIPPED.introduction("kollaps", "de")


def test_an_instrument_of_ones_own_with_one_dimension_and_no_open_question(tmp_path: Path) -> None:
    mine = edited(tmp_path)
    assert [item.id for item in mine.scenario_items("gas", "en")] == ["gas/wunsch"]
    assert mine.scenario_items("gas", "en")[0].wording == "Wish"  # a dimension without a question asks its name
    assert [o.value for o in mine.scenario_items("gas", "en")[0].options] == [1, 2, 3, 4, 5]
    assert (mine.dimension_for("desirability"), mine.dimension_for("plausibility")) == ("wunsch", None)
    assert mine.introduction("grid", "en").endswith("Scenario “Grid”:\nAll on the grid.")
    assert instrument_notices(mine, "en") == ()


def test_scales_and_roles_of_ones_own(tmp_path: Path) -> None:
    assert edited(tmp_path, "scale: 5, ", "").scale_of("wunsch").max == 7
    more = "  - {dimension_id: desirability, label: {de: x, en: y}}\nscenarios:\n"
    assert edited(tmp_path, "scenarios:\n", more).dimension_for("desirability") == "wunsch"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("dimension_id: wunsch", "dimension_id: open", r"my\.yaml:8: .*'open' is taken by the open question"),
        ("role: desirability", "role: desire", r"my\.yaml:8: dimensions\[0\]\.role: is 'desire'; write 'desirability' "
            r"or"),
        ("scenario_id: gas", "scenario_id: grid", r"my\.yaml:11: .*'grid' is already the id of another scenario"),
        ("scenario_id: gas", "scenario_id: a/b", r"my\.yaml:11: scenarios\[1\]\.scenario_id: 'a/b' is no scenario id"),
    ],
)  # fmt: skip
def test_problems_name_file_and_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(InstrumentError, match=problem):
        edited(tmp_path, old, new)


def test_two_scenarios_one_dimension_and_one_role_are_the_bounds(tmp_path: Path) -> None:
    with pytest.raises(InstrumentError, match=r"my\.yaml:9: scenarios: has 1 entries; .* at least 2"):
        edited(tmp_path, OWN[OWN.index("  - scenario_id: gas") :])
    with pytest.raises(InstrumentError, match=r"my\.yaml:7: dimensions: has no entry"):
        edited(tmp_path, OWN[OWN.index("dimensions:") : OWN.index("scenarios:")], "dimensions: []\n")
    more = "  - {dimension_id: b, label: {de: x, en: y}, role: desirability}\nscenarios:\n"
    with pytest.raises(InstrumentError, match=r"my\.yaml:9: .*already the role of another dimension"):
        edited(tmp_path, "scenarios:\n", more)


def test_the_plan_counts_blocks_or_items(tmp_path: Path) -> None:
    def plan(instrument: ScenarioInstrument, asking: Asking) -> Plan:
        return ScenarioRating(instrument, NoSettings(), "de").plan(BareContext(10, asking))

    block, item = plan(SHIPPED, "block"), plan(SHIPPED, "item")
    assert block.calls["answer"] == (40, 120)  # 10 agents × 4 scenarios, 3 attempts
    assert item.calls["answer"] == (200, 600)  # × 5 questions
    assert block.rows == item.rows == (200, 200)
    assert plan(edited(tmp_path), "block").calls.keys() == {"answer"}  # nothing open, no themes
