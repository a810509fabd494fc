import json
from pathlib import Path

from enquete.simulations.check import check
from tests.simulations.conftest import Folder


def test_real_run(data: Path) -> None:
    report = check("sim_683e8059ab27", data)
    assert (report.agents, report.actions, report.agents_with_memory) == (7, 355, 7)
    assert report.types == {"Regulator": 3, "Bank": 2, "Executive": 1, "Customer": 1}
    assert report.platforms == {"twitter": 7, "reddit": 7}
    assert report.missing == ("twitter_simulation.db", "reddit_simulation.db")
    assert report.ok
    assert report.completed
    assert [source.exposure for source in report.memory] == [False, False]
    assert json.loads(report.model_dump_json())["sim_id"] == "sim_683e8059ab27"


def test_both_languages(data: Path) -> None:
    report = check(data / "sim_oasisreal0001")
    assert "Erinnerung (reddit): Datenbank, mit angezeigten Beiträgen" in report.render("de")
    assert "Memory (reddit): database, with the posts agents were shown" in report.render()


def test_personas(data: Path) -> None:
    report = check(data / "oasis_user_data_36.json")
    assert (report.kind, report.agents, report.memory, report.missing) == ("personas", 36, (), ())
    assert "36" in report.render("de")


def test_what_does_not_match_is_reported_not_raised(folder: Folder) -> None:
    path = folder(config=["Ann", "Bob"], reddit=["Ann", "Someone Else"])
    (path / "state.json").write_text('{"entities_count": 3}')
    report = check(path)
    assert not report.ok
    assert "Error: reddit_profiles.json: entry 1" in report.render("en")
    assert "entities_count is 3, but 2 agents were found" in report.render("en")
    assert "Befragung nicht möglich" in report.render("de")
