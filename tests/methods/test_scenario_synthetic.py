"""The synthetic respondents of the scenario study against their documented truth."""

from __future__ import annotations

import random
import re

import pytest

from enquete.analysis.agreement import friedman
from enquete.instruments.load import load_shipped
from enquete.instruments.pack import NEUTRAL, pack_named
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.methods.scenario.procedure import SHARED_RANGE, TYPE_RANGE, ScenarioTruth, planted
from enquete.state.asking import Block, BlockKey, Item, Language, Participant
from tests.methods.planted_people import KINDS as NINE

INSTRUMENT = load_shipped(ScenarioInstrument, "scenario")
TRUTH = planted(INSTRUMENT).truth
GENERAL = pack_named(NEUTRAL).truth("scenario", ScenarioTruth)
SCENARIOS = [s.scenario_id for s in INSTRUMENT.scenarios]
TYPES = (
    "small_scale", "industrial", "angler", "ngo", "scientist", "administration", "processor", "consumer",
    "municipality",
)  # fmt: skip
KINDS = dict(zip(TYPES, NINE, strict=True))
INTERESTS = {
    "small_scale": {"erholung": 1, "privatisierung": -1}, "industrial": {"privatisierung": 1},
    "ngo": {"festung_europa": 1}, "angler": {"festung_europa": -1},
}  # fmt: skip


def people(kind: str, n: int) -> list[Participant]:
    return [
        Participant(id=f"agent:{kind}{i}", name=f"{kind} {i}", stakeholder_type=kind, persona=f"P{i}") for i in range(n)
    ]


def block(who: Participant, scenario: str, items: tuple[Item, ...], language: Language = "de") -> Block:
    key = BlockKey("run", "main", "scenario", "T1", "", 0, 0, who.id, scenario)
    return Block(key=key, instruction=INSTRUMENT.introduction(scenario, language), items=items)


def ask(
    who: Participant, scenario: str, seed: int, language: Language = "de", instrument: ScenarioInstrument = INSTRUMENT
):
    items = instrument.scenario_items(scenario, language)
    return {a.item.rpartition("/")[2]: a for a in planted(instrument)(who, block(who, scenario, items), language, seed)}


@pytest.mark.parametrize("kind", KINDS)
def test_planted_positions_are_recovered_by_type(kind: str) -> None:
    for scenario, sign in INTERESTS.get(kind, {}).items():
        assert TRUTH.position(scenario, kind, "desirability") * sign > 0
    # 60 agents: the standard error of a mean is 0.25·3/√60 ≈ 0.10 points before rounding and cutting at the ends
    for scenario in SCENARIOS:
        given = [ask(who, scenario, seed=3) for who in people(KINDS[kind], 60)]
        for dimension in TRUTH.dimensions:
            mean = sum(answers[dimension].value for answers in given) / len(given)
            truth = 4 + 3 * TRUTH.position(scenario, kind, dimension)
            # near the ends the deviations are cut off, which pulls the mean inwards
            assert mean == pytest.approx(truth, abs=0.55), (scenario, dimension)


def test_the_planted_order_of_the_scenarios_is_recovered() -> None:
    population = [who for kind in KINDS.values() for who in people(kind, 6)]
    for seed in range(3):
        wish = [[ask(who, scenario, seed)["desirability"].value for scenario in SCENARIOS] for who in population]
        ranks = dict(zip(SCENARIOS, friedman(wish).mean_ranks, strict=True))
        assert sorted(ranks, key=ranks.__getitem__) == ["kollaps", "privatisierung", "festung_europa", "erholung"]
        assert friedman(wish).w > 0.5


@pytest.mark.parametrize("language", ["de", "en"])
def test_words_fit_the_number_in_every_phrasing(language: Language) -> None:
    given: dict[tuple[str, bool], set[str]] = {}
    for who in (who for kind in KINDS.values() for who in people(kind, 12)):
        for scenario in SCENARIOS:
            answers = ask(who, scenario, 5, language)
            wish = answers["desirability"].value
            if wish != 4:
                given.setdefault((scenario, wish > 4), set()).add(answers["open"].text)
    for (scenario, wished), texts in given.items():
        right, wrong = (TRUTH.reactions[scenario].on(side)[language] for side in (wished, not wished))
        assert all(any(sentence in text for sentence in right) for text in texts)
        assert not any(sentence in text for text in texts for sentence in wrong)
    assert len({text for texts in given.values() for text in texts}) > 100
    assert not re.search(r"synthe|planted|seed|−?\d\.\d", " ".join(t for texts in given.values() for t in texts), re.I)


def test_an_item_gets_the_same_answer_alone_in_a_block_and_under_any_arm() -> None:
    (who,) = people("Küstenfischer", 1)
    truth = planted(INSTRUMENT)
    items = INSTRUMENT.scenario_items("kollaps", "de")
    together = {a.item: a for a in truth(who, block(who, "kollaps", items), "de", 9)}
    for item in random.Random(1).sample(items, len(items)):
        assert truth(who, block(who, "kollaps", (item,)), "de", 9) == (together[item.id],)
    assert truth(who, block(who, "kollaps", items), "de", 10) != tuple(together.values())


def test_scenarios_are_recognised_by_id_or_name_in_either_language() -> None:
    assert [TRUTH.recognised(s.scenario_id) for s in INSTRUMENT.scenarios] == SCENARIOS
    assert [TRUTH.recognised(s.label.in_("en")) for s in INSTRUMENT.scenarios] == SCENARIOS
    assert TRUTH.recognised("grid Alle am Netz") is None


def test_an_unknown_scenario_type_and_dimension_get_a_stable_position_and_neutral_words() -> None:
    values = INSTRUMENT.model_dump(mode="json", exclude_none=True)
    values["scenarios"][0] |= {"scenario_id": "grid", "label": {"de": "Netz", "en": "Grid"}}
    values["dimensions"][0]["role"] = "desirability"
    values["dimensions"][0]["dimension_id"] = "wunsch"
    instrument = ScenarioInstrument.model_validate(values)
    banker = Participant(id="a", name="B", stakeholder_type="Bankkaufmann", persona="Arbeitet in Kassel.")
    first = {a.item: a for a in planted(instrument)(banker, Block(
        key=BlockKey("r", "main", "scenario", "T1", "", 0, 0, "a", "grid"), instruction="",
        items=instrument.scenario_items("grid", "de")), "de", 1)}  # fmt: skip
    text = first["grid/open"].text
    side = first["grid/wunsch"].value >= 4
    reactions, actions = (table["any"].on(side)["de"] for table in (GENERAL.reactions, GENERAL.actions))
    assert any(text.startswith(sentence.replace("{about}", "Netz")) for sentence in reactions)
    assert any(text.endswith(sentence) for sentence in actions)
    centre = planted(instrument).centre("other:bank", "grid", "cost")
    assert centre == planted(instrument).centre("other:bank", "grid", "cost")
    assert abs(centre) <= SHARED_RANGE + TYPE_RANGE
