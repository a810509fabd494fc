"""What MiroFish's own 63 interview tests assert, against Enquete: docs/mirofish-tests.csv has a line for each, and here
is what no other test of ours asserted. Their files were read, not copied: what a test does here is in our own words.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

import enquete
from enquete.instruments.load import load_own
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.simulations.population import load_population
from enquete.state.errors import InstrumentError, SimulationError
from tests.http.conftest import serving, simulation
from tests.support.bare_runs import interview
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import personas

ROOT = Path(__file__).parents[1]
THEIRS = {
    "test_adapters": 7, "test_api_interview": 5, "test_base_interviewer": 8, "test_delphi": 4, "test_diversity": 3,
    "test_instrument_loader": 3, "test_lifecycle": 1, "test_llm_stub": 1, "test_longitudinal": 3, "test_models": 5,
    "test_orchestrator": 3, "test_scenario": 3, "test_simulation_hooks": 4, "test_storage": 4, "test_synthesizer": 2,
    "test_zep_writer": 5, "test_interview_pipeline": 2,
}  # fmt: skip
"""Tests of each file in its newest version under backend/tests of 666ghj/MiroFish and its forks (commits 895a5fba,
6e1489fe, 6a53c110 and earlier ones)."""


def test_each_of_their_tests_has_a_line_that_names_a_test_of_ours() -> None:
    with (ROOT / "docs" / "mirofish-tests.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert Counter(line["file"] for line in lines) == THEIRS
    assert len({(line["file"], line["test"]) for line in lines}) == sum(THEIRS.values()) == 63
    assert {line["here"] for line in lines} == {"same", "different"}  # none is missing
    assert all(line["asserts"] and (line["why"] or line["here"] == "same") for line in lines)
    for line in lines:
        file, _, name = line["ours"].partition("::")
        assert re.search(rf"^ *(?:async )?def {name}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE), line["ours"]


# --- whom they read -------------------------------------------------------------------------------------------------


def folder_of(path: Path, reddit: list[dict[str, object]], twitter: list[list[object]]) -> Path:
    path.mkdir()
    if reddit:
        (path / "reddit_profiles.json").write_text(json.dumps(reddit), "utf-8")
    if twitter:
        with (path / "twitter_profiles.csv").open("w", encoding="utf-8", newline="") as stream:
            head = ["user_id", "name", "username", "user_char", "description", "source_entity_uuid"]
            csv.writer(stream).writerows([head, *twitter])
    return path


def reader(number: int, name: str, uuid: str = "") -> dict[str, object]:
    ids = {"source_entity_uuid": uuid} if uuid else {}
    return {"user_id": number, "user_name": f"u{number}", "name": name, "persona": "p", "profession": "fisher", **ids}


def test_profiles_that_carry_uuids_name_their_agents(tmp_path: Path) -> None:
    """Without a configuration: of either platform, and an agent without a uuid beside those that have one."""
    rows = [reader(0, "Fischer Müller", "uuid-zero"), reader(1, "Ines", "uuid-one"), reader(2, "Amt")]
    mixed = load_population(folder_of(tmp_path / "reddit", rows, []))
    assert [(who.name, who.agent_id) for who in mixed.participants] == [("Fischer Müller", 0), ("Ines", 1), ("Amt", 2)]
    assert [who.id for who in mixed.participants[:2]] == ["agent:uuid-zero", "agent:uuid-one"]
    assert mixed.participants[2].id.startswith("agent:name:amt-")
    (warning,) = (issue.message for issue in mixed.issues if issue.severity == "warning")
    assert "1 of 3 agents have no entity uuid" in warning
    columns = [[0, "A0", "u0", "char", "desc", "uuid-zero"], [1, "A1", "u1", "char", "desc", ""]]
    told = load_population(folder_of(tmp_path / "twitter", [], columns))
    assert told.participants[0].id == "agent:uuid-zero"
    assert told.participants[1].id.startswith("agent:name:a1-")
    whole = load_population(folder_of(tmp_path / "whole", rows[:2], []))
    assert not [issue for issue in whole.issues if issue.severity == "warning"]


def test_two_uuids_of_one_agent_are_refused_and_agents_of_one_platform_appended(tmp_path: Path) -> None:
    agents = [reader(0, "A0", "reddit-zero")]
    with pytest.raises(SimulationError, match=r"'A0'.*source_entity_uuid"):
        load_population(folder_of(tmp_path / "two", agents, [[0, "A0", "u0", "char", "desc", "twitter-zero"]]))
    lines: list[list[object]] = [
        [0, "A0", "u0", "char", "desc", "reddit-zero"],
        [1, "A1", "u1", "char", "desc", "twitter-one"],
    ]
    joined = load_population(folder_of(tmp_path / "one", agents, lines))
    assert [who.id for who in joined.participants] == ["agent:reddit-zero", "agent:twitter-one"]


# --- what they refuse -----------------------------------------------------------------------------------------------

SURVEY = """
instrument_id: own
version: "1"
title: {{en: Own}}
topic: {{en: Harbour}}
language_default: en
items:
  - {{item_id: a, en: The harbour is loud., scale: {scale}}}
  - {{item_id: {second}, en: The harbour is needed., scale: 5}}
"""


@pytest.mark.parametrize(
    ("scale", "second", "told"),
    [("5", "a", "'a'"), ("1", "b", "scale"), ("12", "b", "scale")],
    ids=["twice", "1", "12"],
)
def test_what_their_loader_and_models_refuse(tmp_path: Path, scale: str, second: str, told: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SURVEY.format(scale=scale, second=second), "utf-8")
    with pytest.raises(InstrumentError, match=told):
        load_own(LongitudinalInstrument, path)
    path.write_text(SURVEY.format(scale=2, second="b"), "utf-8")
    loaded, _ = load_own(LongitudinalInstrument, path)
    assert [item.item_id for item in loaded.items] == ["a", "b"]


def test_an_unknown_methodology_is_a_bad_request(tmp_path: Path) -> None:
    simulation(tmp_path, "sim_test", agents=1)
    with serving(tmp_path) as client:
        answer = client.post("/api/interview/sim_test/rerun", json={"subagent": "nonsense"})
    assert (answer.status_code, answer.json()["success"]) == (400, False)
    assert "nonsense" in answer.json()["error"]


# --- what goes on nevertheless --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("results_only")
def test_without_a_graph_the_run_goes_on_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = mirofish_folder(tmp_path / "sim_no_state", 1)
    (sim / "state.json").unlink()
    assert interview(sim, methods=["poll"]).status == "completed"  # no graph unless one is asked for
    monkeypatch.setenv("ZEP_API_KEY", "never used")
    run = enquete.conduct_interviews(sim, methods=["poll"], memory="zep-cloud", new=True)
    assert run.status == "completed"
    assert any("names a graph_id" in note for note in run.flags)


@pytest.mark.usefixtures("results_only")
def test_every_unusable_reply_is_in_the_audit_as_it_came(tmp_path: Path) -> None:
    """Replies of another shape, each its own: the questionnaire is asked three times."""
    wrong = ['{"wrong": "shape"}', '{"still": "wrong"}', "no JSON at all"]
    replies = iter(wrong)
    with ModelServer(script=lambda body: next(replies)) as server:
        run = enquete.conduct_interviews(
            personas(tmp_path, 1), out=str(tmp_path / "out"), methods=["longitudinal"], model="m",
            base_url=server.base_url,
        )  # fmt: skip
    (file,) = (tmp_path / "out").glob("*/T1/longitudinal/*/audit.jsonl")
    calls = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [call["response"] for call in calls] == wrong
    assert set(run.responses["status"]) == {"invalid"}  # no answer, and no bug
