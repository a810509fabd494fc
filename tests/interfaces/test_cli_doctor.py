"""`enquete doctor` and the formats of `enquete export`: what is there, what is missing, where files are; never a
key."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from enquete.interfaces.cli import doctor
from enquete.state.settings import Environment
from tests.interfaces.conftest import REPOSITORY, SIM_ID, Command
from tests.support.model_server import ModelServer

KEY = "sk-very-secret-123"


def test_everything_needed_is_there_and_nothing_is_left_behind(command: Command, uploads: Path) -> None:
    before = sorted(uploads.rglob("*"))
    result = command("doctor", "--root", uploads, "--json")
    assert sorted(uploads.rglob("*")) == before
    assert (result.code, result.object["ok"]) == (0, True)
    checks = {check["name"]: check for check in result.object["checks"]}
    assert checks["root"]["text"].endswith("readable, 1 simulations")
    assert checks["results"]["verdict"] == checks["sqlite"]["verdict"] == checks["pandas"]["verdict"] == "ok"
    assert "synthetic respondent" in checks["server"]["text"]


def test_settings_are_shown_with_their_origin_and_keys_are_not(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("LLM_MODEL_NAME=llama\nZEP_API_KEY=zep-secret\nENQUETE_LANGUAGE=en\n", "utf-8")
    monkeypatch.setenv("LLM_API_KEY", KEY)
    monkeypatch.setenv("ENQUETE_LANGUAGE", "de")
    result = command("doctor")
    assert "LLM_API_KEY: set, from the environment" in result.out
    assert "LLM_MODEL_NAME = llama, from .env" in result.out
    assert "ENQUETE_LANGUAGE = de, from the environment" in result.out  # the environment beats .env
    assert KEY not in result.out + result.err
    assert "zep-secret" not in result.out + result.err
    page = (REPOSITORY / "docs" / "deployment.md").read_text("utf-8")
    for name in Environment.variables():
        assert name in result.out
        assert f"`{name}`" in page


def test_a_server_that_answers_is_reachable_and_asked_for_no_more_than_its_models(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_API_KEY", KEY)
        result = command("doctor")
        assert server.requests == []
    assert result.code == 0
    assert f"✓ {server.base_url}: reachable" in result.out
    assert KEY not in result.out + result.err


def test_several_servers_are_no_base_url(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer() as server:
        monkeypatch.setenv("LLM_API_KEY", KEY)
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        assert f"✓ {server.base_url}: reachable" in command("doctor").out
        monkeypatch.setenv("LLM_BASE_URL", f"{server.base_url},http://user:hush@127.0.0.1:9/v1")
        result = command("doctor")
    assert result.code == 1
    assert KEY not in result.out + result.err
    assert "hush" not in result.out + result.err


@pytest.mark.parametrize("url", ["file:///etc/passwd", "nonsense", "http://[::1"])
def test_what_is_no_address_is_missing_and_no_crash(
    command: Command, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("LLM_BASE_URL", url)
    result = command("doctor")
    assert result.code == 1
    assert "look at LLM_BASE_URL" in result.out


def test_a_missing_root_and_a_wrong_setting_say_what_to_do(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENQUETE_CONCURRENCY", "many")
    result = command("doctor", "--root", "nowhere")
    assert result.code == 1
    assert "nowhere: no such folder; name another with --root or ENQUETE_ROOT" in result.out
    assert "ENQUETE_CONCURRENCY: 'many' is not taken" in result.out


def test_a_missing_root_a_wrong_setting_and_results_that_cannot_be_written(
    command: Command, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("LANG", "de_DE.UTF-8")
        assert "Alles Nötige ist da." in command("doctor").out
    blocked = uploads / "file"
    blocked.write_text("", "utf-8")
    assert command("doctor", "--root", uploads, "--out", blocked).code == 0  # its folder can be written to
    monkeypatch.setattr(doctor, "LEAST_SQLITE", (99,))
    result = command("doctor", "--root", uploads)
    assert result.code == 1
    assert f"SQLite {sqlite3.sqlite_version}: 3.37 or newer is needed" in result.out


def test_export_writes_everything_or_the_data_in_other_formats(
    command: Command, finished: Path, tmp_path: Path
) -> None:
    told = command("export", SIM_ID, "--root", finished, "--format", "csv,parquet", "--wide", "--json").object
    packages = {"csv/datapackage.json", "csv/agents.csv", "parquet/poll/wide_T1.parquet"}
    assert packages <= set(told["files"])
    assert "csv/all_responses.csv" not in told["files"]
    assert all((Path(told["path"]) / file).is_file() for file in told["files"])
    long = command("export", SIM_ID, "--root", finished, "--format", "sav", "--long", "--to", tmp_path / "d", "--json")
    assert (tmp_path / "d" / "sav" / "all_responses.sav").is_file()
    assert not any("wide" in file for file in long.object["files"])
    every = command("export", SIM_ID, "--root", finished, "--json").object
    named = {"report.md", "report.html", "associations.json", "health.json", "exports/codebook.json",
        "exports/codebook.md", "exports/agents.csv", "exports/all_responses.csv", "exports/items.csv",
        "exports/episodes.jsonl"}  # fmt: skip
    assert named <= set(every["files"])
    assert any(file.startswith("../../T1/poll/") for file in every["files"])
    assert all((Path(every["path"]) / file).is_file() for file in every["files"])
    assert not (Path(every["path"]) / "exports" / "csv").exists()  # it agreed with an earlier state of the run


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--format", "spss"], "format: 'spss' is none; there are csv, parquet, sav, xlsx"),
        (["--wide"], "--wide says how data are written: name formats, too"),
        (["--format", "csv", "--figures", "png"], "--figures belongs to an export without --format"),
        (["--format", "csv", "--language", "xx"], "language: 'xx' is none; there are de, en"),
    ],
)
def test_an_export_that_cannot_be_is_refused(command: Command, finished: Path, words: list[str], says: str) -> None:
    result = command("export", SIM_ID, "--root", finished, *words)
    assert (result.code, says in result.err) == (2, True), result.err
