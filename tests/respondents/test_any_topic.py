"""The synthetic respondent on a topic that no pack knows: what is planted is drawn from the instrument, words are on
the topic."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import enquete.methods.delphi.procedure as delphi
import enquete.methods.diversity.procedure as diversity
import enquete.methods.longitudinal.procedure as longitudinal
import enquete.methods.scenario.procedure as scenario
from enquete.analysis.panel import describe, is_disagreement
from enquete.instruments.load import load_shipped, validate_instrument
from enquete.instruments.pack import NEUTRAL, pack_named
from enquete.instruments.source import read_source
from enquete.instruments.text import Text
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.delphi.procedure import planted as panel
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.diversity.procedure import planted as sorters
from enquete.methods.laddering.settings import LadderingSettings
from enquete.methods.laddering.synthetic import ground_truth
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.longitudinal.procedure import CHANGE, planted
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.methods.scenario.procedure import planted as futures
from enquete.state.asking import Block, BlockKey, Item, Option, Participant

DATA = Path(__file__).parents[1] / "data"
DOCUMENT = (Path(__file__).parents[2] / "docs" / "own-instruments.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"<!-- example: (\w+) -->\n```yaml\n(.*?)```", DOCUMENT, re.S))
KINDS = ("Tenant", "Landlord", "Plumber", "Utility", "Council")
TOPIC = Text(de="Wärmewende in der Stadt", en="The heat transition in the city")


def people(n: int, digest: str | None = None) -> list[Participant]:
    return [
        Participant(id=f"a{i}", name=f"N{i}", stakeholder_type=KINDS[i % 5], persona=f"P{i}", digest=digest)
        for i in range(n)
    ]


def block(
    who: Participant, items: tuple[Item, ...], *, method: str = "longitudinal", phase: str = "T1", round_: int = 0
):
    return Block(key=BlockKey("r", "main", method, phase, "", round_, 0, who.id, "x"), instruction="", items=items)


def test_families_drift_by_turns_and_controls_do_not() -> None:
    instrument = validate_instrument(LongitudinalInstrument, read_source("x", EXAMPLES["longitudinal"].encode()))
    truth = planted(instrument)
    assert truth.pack.name == NEUTRAL
    moved = {family: truth.change("other:tenant", family) for family in ("cost", "pace")}
    assert sorted(map(abs, moved.values())) == [0, CHANGE]
    (control,) = (item for item in instrument.block_items("de") if item.id == "library")
    for who in people(9, "posts"):
        before, after = (truth._meant(who, "library", truth.items["library"], phase, 0) for phase in ("T0", "T1"))
        assert before == after
        assert truth(who, block(who, (control,)), "de", 0)[0].value is not None
    comment = instrument.block_items("en")[-1]
    comments = " ".join(truth(who, block(who, (comment,)), "en", 0)[0].text for who in people(9, "posts"))
    assert "Cost" in comments
    assert "Pace" in comments


@pytest.mark.parametrize("kinds", [1, 5])
def test_sorts_are_of_four_kinds_whoever_sorts(kinds: int) -> None:
    values = load_shipped(DiversityInstrument, "diversity").model_dump(mode="json", exclude_none=True)
    truth = sorters(DiversityInstrument.model_validate(values | {"topic": {"de": "Anderes", "en": "Something else"}}))
    crowd = [replace(who, stakeholder_type=KINDS[i % kinds]) for i, who in enumerate(people(80))]
    assert len(Counter(truth.archetype_of(who) for who in crowd)) == 4


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_panel_has_camps_and_speaks_of_the_topic(language) -> None:
    instrument = validate_instrument(DelphiInstrument, read_source("x", (DATA / "heat_delphi.yaml").read_bytes()))
    truth = panel(instrument)
    (question,) = instrument.question_items(language)
    texts = " ".join(
        truth(who, block(who, (question,), method="delphi", round_=1), language, 0)[0].text for who in people(60)
    )
    assert instrument.topic.in_(language) in texts
    for name, theme in truth.truth.themes.items():
        assert all(truth.truth.recognised(claim) == name for claim in theme.claims[language])
        options = tuple(Option(value=v, label="") for v in range(1, 6))
        item = Item(id=f"theme:{name}/importance", kind="scale", wording=theme.claims[language][0], options=options)
        for kinds in (1, 5):  # also where all are of one type
            crowd = [replace(who, stakeholder_type=KINDS[i % kinds]) for i, who in enumerate(people(60))]
            rated = [truth(who, block(who, (item,), method="delphi", round_=2), language, 0)[0].value for who in crowd]
            description = describe(rated, 1, 5)
            assert is_disagreement(description) == theme.polarised, name


def test_futures_are_wished_for_more_and_less() -> None:
    values = load_shipped(ScenarioInstrument, "scenario").model_dump(mode="json", exclude_none=True)
    for number, future in enumerate(values["scenarios"]):
        future |= {"scenario_id": f"s{number}", "label": {"de": f"Zukunft {number}", "en": f"Future {number}"}}
    instrument = ScenarioInstrument.model_validate(values | {"topic": {"de": "Anderes", "en": "Something else"}})
    truth = futures(instrument)
    means = {}
    for future in instrument.scenarios:
        items = instrument.scenario_items(future.scenario_id, "en")
        answers = [truth(who, block(who, items, method="scenario"), "en", 0) for who in people(40)]
        means[future.scenario_id] = np.mean([given[0].value for given in answers])
        assert all(future.label.in_("en") in given[-1].text for given in answers)
    assert max(means.values()) - min(means.values()) > 1.5  # of seven points


def test_an_interview_begins_with_what_it_is_about() -> None:
    concept = LadderingSettings().topic.model_copy(update={"topic": TOPIC})
    for method in ("means_end_chain", "critical_incident", "jobs_to_be_done", "customer_journey", "repertory_grid"):
        begins = [chain.thoughts[0].en[0] for chain in ground_truth(concept).carried(people(1)[0], method, 0)]
        assert len(set(begins)) == 3
        assert set(begins) <= {element.label.in_("en") for element in concept.elements.values()}


def test_both_languages_of_every_pack_say_as_much_and_the_document_what_is_planted() -> None:
    def uneven(node: object, at: str) -> list[str]:
        if isinstance(node, dict):
            if set(node) >= {"de", "en"} and isinstance(node["de"], list) and len(node["de"]) != len(node["en"]):
                return [at]
            return [bad for key, value in node.items() for bad in uneven(value, f"{at}/{key}")]
        return (
            [bad for number, value in enumerate(node) for bad in uneven(value, f"{at}/{number}")]
            if isinstance(node, list)
            else []
        )

    folder = Path(__file__).parents[2] / "enquete" / "instruments" / "packs"
    files = [*folder.glob("*/truth/*.yaml"), *folder.glob("*/pack.yaml")]
    assert len(files) > 10
    assert not [bad for file in files for bad in uneven(yaml.safe_load(file.read_text("utf-8")), file.name)]
    page = " ".join((Path(__file__).parents[2] / "docs" / "synthetic-respondent.md").read_text("utf-8").split())
    for number, at in (
        (longitudinal.UNNAMED_RANGE, "positions within ±{}"),
        (CHANGE, "move by {}"),
        (longitudinal.PERSON_SD, "{} (agent and family)"),
        (longitudinal.NOISE, "{} (noise of the occasion)"),
        (diversity.NOISE, "standard deviation {} columns;"),
        (diversity.AXIS_NOISE, "archetype's place plus {}"),
        (pack_named(NEUTRAL).truth("diversity", diversity.DiversityTruth).loyalty, "on the type (share {})"),
        (delphi.CONSENSUAL_SD, "around one position (standard deviation {})"),
        (scenario.SHARED_RANGE, "on every dimension within ±{}"),
        (scenario.TYPE_RANGE, "types within ±{}"),
        (scenario.PERSON_SD, "on the item (standard deviation {})"),
    ):
        assert at.format(number) in page, at
