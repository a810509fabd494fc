"""Packs: what each ships fits together, a topic is answered by its own pack alone, and a whole study of one holds no
other's words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import enquete
from enquete.demo import demo_population
from enquete.instruments.load import load_shipped
from enquete.instruments.pack import NEUTRAL, names_of_types, pack_named, pack_on, packs
from enquete.instruments.text import Text, texts_of
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.longitudinal.procedure import planted
from enquete.methods.registry import dotted_paths, methodologies
from enquete.runs.draft_record import choose_methods
from enquete.state.asking import Language
from enquete.state.errors import SettingsError
from enquete.state.request import parse_request

CODE = Path(enquete.__file__).parent
FISH = re.compile(r"(?<!miro)fish|fisch|dorsch|hering|\bcod\b|trawl|ostsee|baltic|angler|hafen|harbour")
STATISTICIAN = re.compile(r"\bFisher\b|\bfisher_exact\b")


def test_no_python_file_knows_the_topic_of_a_pack() -> None:
    for file in CODE.rglob("*.py"):
        text = STATISTICIAN.sub("", file.read_text("utf-8")).lower()
        assert not (match := FISH.search(text)), (file, text[: match.start()].count("\n") + 1)


@pytest.mark.parametrize("name", packs())
def test_what_a_pack_ships_is_whole(name: str) -> None:
    pack = pack_named(name)
    for method in pack.instruments:
        methodology = methodologies()[method]
        instrument = load_shipped(methodology.instrument, method, name)
        settings = methodology.settings.model_validate({}, context={"language": "en", "instrument": instrument})
        methodology.synthetic(instrument, settings)
        assert instrument.languages == ("de", "en")
        assert method == "laddering" or pack_on(instrument.topic) is pack
        assert {text.de for _, text in texts_of(instrument) if text.de == text.en} <= {"Laddering", "Promenade"}
    for kind in pack.types.values():
        assert len(kind.voice["de"]) == len(kind.voice["en"]) > 0


def test_packs_are_data_on_the_very_topic_alone(tmp_path: Path) -> None:
    assert pack_on(Text(de="Die autofreie Hauptstraße")).name == "high_street"
    assert pack_on(Text(de="Die autofreie Hauptstraße in Wien")).name == NEUTRAL
    assert pack_on(Text(en="Cod in literature")).name == NEUTRAL
    assert pack_named().default
    assert [name for name in packs() if pack_named(name).default] == [pack_named().name]
    with pytest.raises(SettingsError, match="has no demo population"):
        demo_population(tmp_path, completed=False, pack="oat_drink")
    topic = Text(de="Zukunft der deutschen Fischerei", en="The future of German fisheries")
    named = names_of_types([topic], "de")
    assert (named["SmallScaleFisher"], named["Regulator"]) == ("Küstenfischerei", "Aufsicht")
    assert "SmallScaleFisher" not in names_of_types([Text(de="Etwas anderes")], "de")


def test_own_instruments_are_asked_alone_and_a_mixture_is_said() -> None:
    def chosen(**asked: object) -> list[str]:
        return list(choose_methods(parse_request(**asked), dotted_paths(), ()))

    files = {"delphi": "my.yaml"}
    assert chosen(instruments=files) == ["delphi"]
    assert chosen(instruments=files, methods=["scenario", "delphi"]) == ["scenario", "delphi"]
    assert chosen(instruments={"delphi": "shipped"}) == chosen()
    assert chosen(pack="oat_drink") == ["laddering"]
    with pytest.raises(SettingsError, match="say what this run asks: methods="):
        chosen(instruments=files, pack="high_street")
    with pytest.raises(SettingsError, match=r"'high_stret' does not ship; did you mean 'high_street'\?"):
        chosen(pack="high_stret")


@pytest.mark.parametrize("language", [pytest.param("de", marks=pytest.mark.soak), "en"])
def test_a_study_of_the_high_street_holds_no_fish(tmp_path: Path, language: Language) -> None:
    sim = demo_population(tmp_path, completed=True, pack="high_street")
    everything = list(pack_named("high_street").instruments)
    run = enquete.conduct_interviews(
        sim, language=language, methods=everything, pack="high_street", settings={"laddering": {"turns": 2}}, sample=4
    )
    assert (run.status, set(run.responses["methodology"])) == ("completed", {*everything})
    written = [file for folder in run.path.parent.parent.parent.rglob(run.run_id) for file in folder.rglob("*")]
    texts = {file: file.read_text("utf-8") for file in written if file.suffix in (".md", ".json", ".jsonl", ".csv")}
    assert len(texts) > 10
    for file, text in texts.items():
        assert not (match := FISH.search(text)), (file, text[max(match.start() - 80, 0) :][:200])
    instrument = load_shipped(LongitudinalInstrument, "longitudinal", "high_street")
    truth = planted(instrument)
    drifting = {
        family for family in instrument.families if any(truth.change(kind, family) for kind in truth.pack.types)
    }
    assert drifting == {"trade", "process"}


@pytest.mark.parametrize("name", [name for name in packs() if (pack_named(name).folder / "demo" / "agents").is_dir()])
def test_every_stakeholder_type_of_a_demo_has_a_name_in_both_languages(name: str) -> None:
    agents = pack_named(name).folder / "demo" / "agents"
    kinds = {agent["type"] for file in agents.iterdir() for agent in yaml.safe_load(file.read_text("utf-8"))}
    called = pack_named(name).called
    assert {kind for kind in kinds if called.get(kind, {}).keys() < {"de", "en"}} == set()
