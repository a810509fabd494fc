"""Re-runs and replays: one methodology asked anew after its YAML was edited, and a run made again from its ledger."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

import enquete
from enquete.instruments.load import instrument_hash, load_instrument, load_shipped
from enquete.instruments.pack import pack_named
from enquete.ledger.folders import read_record
from enquete.methods.registry import methodologies
from enquete.reports.analyses import find
from enquete.reports.responses import responses
from enquete.reports.run_reading import open_run
from enquete.state.errors import RunMismatch, RunNotFound, SettingsError
from enquete.study.runs import compare
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import call_keys, personas, spent, stored_answers

pytestmark = pytest.mark.usefixtures("no_figures")

SHIPPED = pack_named().instruments
BOTH = ["scenario", "delphi"]
AGENTS = 5


@pytest.fixture
def edited(tmp_path: Path) -> str:
    """The Delphi instrument with at most three themes."""
    content = yaml.safe_load(SHIPPED["delphi"].read_text("utf-8"))
    content["max_themes"] = 3
    path = tmp_path / "delphi.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of scenario and Delphi, in German."""
    folder = tmp_path_factory.mktemp("finished")
    assert study(folder, methods=BOTH, language="de").status == "completed"
    return folder


@pytest.fixture
def base(finished: Path, tmp_path: Path) -> enquete.Run:
    """A copy of it in this test's own folder."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return enquete.load_run(tmp_path / f"personas_{AGENTS}.json", out=str(tmp_path / "out"))


def study(tmp_path: Path, *, by: Callable[..., enquete.Run] = enquete.conduct_interviews, **more: Any) -> enquete.Run:
    return by(personas(tmp_path, AGENTS), out=str(tmp_path / "out"), **more)


def test_one_methodology_is_asked_anew_and_the_report_covers_both(
    base: enquete.Run, tmp_path: Path, edited: str
) -> None:
    before, kept = stored_answers(base.folder), (base.path / "report.md").read_bytes()
    run = study(tmp_path, methods=["delphi"], rerun=True, instruments={"delphi": edited})
    assert run.status == "completed"
    assert run.run_id != base.run_id
    asked = run.responses.groupby("methodology")["run_id"].unique().to_dict()
    assert {name: list(ids) for name, ids in asked.items()} == {"scenario": [base.run_id], "delphi": [run.run_id]}
    assert {key[0] for key in call_keys(run.folder)} == {"delphi", "scenario"}
    assert run.spent["tokens"] == sum(
        row.counts["tokens"] for row in run.stages if row.methodology == "delphi"
    )  # what was taken over is not paid again
    assert f"{read_record(run.folder).instruments['delphi'].hash[:12]}" in run.report
    assert any("max_themes: " in flag for flag in run.flags)
    assert f"scenario: taken over from run {base.run_id}, not asked anew" in run.flags
    assert [row for row in stored_answers(run.folder) if row[0] == "scenario"] == [
        row for row in before if row[0] == "scenario"
    ]
    # the run that it goes back to is as it was; the new one is the canonical one of Delphi and the synthesis
    assert stored_answers(base.folder) == before
    assert (base.path / "report.md").read_bytes() == kept
    assert enquete.load_run(personas(tmp_path, AGENTS), out=str(tmp_path / "out")).run_id == run.run_id


@pytest.mark.usefixtures("base")
def test_a_rerun_that_was_interrupted_is_gone_on_with(tmp_path: Path, edited: str) -> None:
    asked = {"methods": ["delphi"], "rerun": True, "instruments": {"delphi": edited}, "confirm": True}
    asked["by"] = bare_runs.interview
    cut = study(tmp_path, budget_tokens=5000, **asked)
    assert cut.status == "paused"
    done = study(tmp_path, budget_tokens=10**7, **asked)
    assert done.run_id == cut.run_id
    assert done.status == "completed"


def test_a_rerun_asks_ones_own_instrument_again_unless_the_shipped_one_is_named(tmp_path: Path, edited: str) -> None:
    base = study(tmp_path, by=bare_runs.base_run, methods=["delphi"], instruments={"delphi": edited})
    runs = {"again": study(tmp_path, by=bare_runs.interview, methods=["delphi"], rerun=True)}
    shipped = {"delphi": "shipped"}
    runs["shipped"] = study(tmp_path, by=bare_runs.base_run, methods=["delphi"], rerun=True, instruments=shipped)
    runs["as shipped"] = study(tmp_path, by=bare_runs.interview, methods=["delphi"], rerun=True)
    assert f"delphi: asked anew with the instrument of run {base.run_id} (delphi.yaml)" in runs["again"].flags
    hashes = {name: read_record(run.folder).instruments["delphi"].hash for name, run in runs.items()}
    model = methodologies()["delphi"].instrument
    theirs, ours = (
        instrument_hash(load_instrument(model, Path(edited))),
        instrument_hash(load_shipped(model, "delphi")),
    )
    assert hashes == {"again": theirs, "shipped": ours, "as shipped": ours}


def test_a_rerun_of_a_rerun_names_who_asked_first(base: enquete.Run, tmp_path: Path) -> None:
    second = study(tmp_path, by=bare_runs.base_run, methods=["delphi"], rerun=True)
    third = study(tmp_path, by=bare_runs.interview, methods=["delphi"], rerun=True)
    assert len({base.run_id, second.run_id, third.run_id}) == 3
    assert third.record.carried == {"scenario": base.run_id}
    assert compare(second, third).changed.keys() <= {"run_id", "asked_at"}


def test_longitudinal_is_asked_anew_without_its_first_wave_being_taken_twice(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", 5)
    base = bare_runs.base_run(sim, methods=["longitudinal", "scenario"])
    run = bare_runs.interview(sim, methods=["scenario"], rerun=True)
    assert run.status == "completed"
    assert run.record.carried == {"longitudinal": base.run_id}
    with open_run(run.folder) as reading:
        analysis = find(reading, responses(reading)).results["longitudinal"]
    assert (analysis["kind"], analysis["pairs"]) == ("experience_effect", 5 * 14)
    again = bare_runs.interview(sim, methods=["longitudinal"], rerun=True)
    assert again.status == "completed"
    assert set(again.responses["phase"]) == {"T0", "T1"}


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"language": "en"}, r"language \(de there, en asked for\) differs"),
        ({"seed": 9}, "seed"),
        ({"respondent": "llm", "model": "m", "base_url": "http://h/v1"}, r"model \(synthetic there, m asked for\)"),
    ],
)
def test_what_would_not_belong_into_one_table_is_refused(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        study(tmp_path, methods=["delphi"], rerun=True, **given)


def test_there_must_be_something_to_go_back_to(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="no finished run"):
        study(tmp_path, methods=["delphi"], rerun=True)
    with pytest.raises(SettingsError, match="name what is to be asked"):
        study(tmp_path, rerun=True)
    with pytest.raises(RunNotFound, match="no finished run"):
        study(tmp_path, respondent="replay")


def test_an_unfinished_run_cannot_be_replayed(tmp_path: Path) -> None:
    run = study(tmp_path, by=bare_runs.interview, methods=["delphi"], budget_tokens=4000, confirm=True)
    with pytest.raises(RunMismatch, match="not finished"):
        study(tmp_path, respondent="replay", replay_of=run.run_id)


def test_a_run_of_a_model_is_replayed_without_a_network(tmp_path: Path) -> None:
    """With faults, so that repaired and failed calls are replayed too; the narrative is the model's own."""
    sim = mirofish_folder(tmp_path / "sim_1", 6)
    faults = {"http_500": 0.3, "bad_json": 0.1, "length_stop": 0.05}
    with ModelServer(faults=faults, seed=2, retry_after="0") as server:
        run = enquete.conduct_interviews(sim, methods=["longitudinal", "delphi"], model="m", base_url=server.base_url)
        asked = len(server.requests)
    again = enquete.conduct_interviews(sim, respondent="replay")  # the server is gone
    assert again.status == run.status
    comparison = compare(run, again)
    assert comparison.identical, comparison.changed
    assert comparison.rows == len(run.responses)
    assert asked > 40
    assert spent(again.folder) <= spent(run.folder)
    mark = run.run_id, again.run_id
    assert run.report.count("\n") == again.report.count("\n")
    assert again.report.replace(mark[1], mark[0]).split("## ")[1:2] == run.report.split("## ")[1:2]


def test_a_replay_of_a_run_that_made_no_such_call_says_so(base: enquete.Run, tmp_path: Path) -> None:
    with closing(sqlite3.connect(base.folder / "ledger.sqlite")) as connection:
        connection.execute("DELETE FROM calls WHERE id = (SELECT min(id) FROM calls)")
        connection.commit()
    again = study(tmp_path, by=bare_runs.interview, respondent="replay")
    assert again.status == "failed"
    assert "cannot be replayed" in again.note
