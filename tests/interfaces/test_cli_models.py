"""What a user hears when a model answers badly or not at all, or is about to be paid."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from enquete.interfaces.running import agreed
from tests.interfaces.conftest import Command
from tests.support.model_server import ModelServer

FEW = '[{"name": "Jürgen", "persona": "Fischer"}, {"name": "Åsa", "persona": "Anglerin"}]'


def few(folder: Path) -> Path:
    file = folder / "few.json"
    file.write_text(FEW, "utf-8")
    return file


def words(folder: Path, server: ModelServer) -> list[object]:
    return [
        "run",
        few(folder),
        "--out",
        "o",
        "--methods",
        "longitudinal",
        "--model",
        "m",
        "--base-url",
        server.base_url,
    ]


def test_a_model_that_answers_is_named_and_never_called_synthetic(command: Command, tmp_path: Path) -> None:
    with ModelServer() as server:
        said = command(*words(tmp_path, server), "--quiet")
    assert said.code == 0
    assert "Answered by m, temperature 0.7." in said.out
    assert "SYNTHETIC" not in said.out


@pytest.mark.parametrize("fault", ["http_401", "http_404_model", "quota"])
def test_when_every_call_fails_it_is_said_loudly(command: Command, tmp_path: Path, fault: str) -> None:
    with ModelServer(faults={fault: 1.0}) as server:
        said = command(*words(tmp_path, server), "--quiet")
        as_json = command("status", few(tmp_path), "--out", "o", "--json")
    assert said.code == 1
    assert "failed" in said.out
    assert "enquete resume" in said.out
    assert (as_json.code, as_json.object["exit_code"], as_json.object["status"]) == (0, 0, "failed")


def test_a_run_without_one_usable_answer_is_invalid(command: Command, tmp_path: Path) -> None:
    with ModelServer(script=lambda body: "I would rather not use JSON.") as server:
        said = command(*words(tmp_path, server), "--quiet")
        as_json = command("status", few(tmp_path), "--out", "o", "--json")
    assert said.code == 1
    assert "RUN INVALID" in said.out
    assert as_json.object["valid"] is False


def test_before_a_model_is_paid_one_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = {"model": "m", "base_url": "http://127.0.0.1:1/v1", "budget_tokens": 5000}
    for typed, answer in (("n\n", False), ("y\n", True)):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert agreed(str(few(tmp_path)), request) is answer
    asked = capsys.readouterr().err
    assert "2 agents of few" in asked
    assert "5,000 tokens" in asked
    assert agreed(str(few(tmp_path)), {"respondent": "synthetic"})
