"""What a user hears when a model answers badly or not at all, or is about to be paid."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest

from enquete.interfaces.cli.run_commands import confirmed_request
from enquete.models.transport import HEALTH_PROBE
from tests.interfaces.conftest import Command
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("no_reports")

FEW = '[{"name": "Jürgen", "persona": "Fischer"}, {"name": "Åsa", "persona": "Anglerin"}]'


def few(folder: Path) -> Path:
    file = folder / "few.json"
    file.write_text(FEW, "utf-8")
    return file


def words(folder: Path, server: ModelServer) -> list[object]:
    return [
        "run", few(folder), "--out", "o", "--methods", "poll", "--model", "m", "--base-url", server.base_url,
    ]  # fmt: skip


def test_a_model_that_answers_is_named_and_never_called_synthetic(command: Command, tmp_path: Path) -> None:
    with ModelServer() as server:
        result = command(*words(tmp_path, server), "--quiet")
    assert result.code == 0
    assert "Answered by m, temperature 0.7." in result.out
    assert "SYNTHETIC" not in result.out


def test_when_every_call_fails_it_is_said_loudly(command: Command, tmp_path: Path) -> None:
    with ModelServer(faults={"http_401": 1.0}) as server:
        result = command(*words(tmp_path, server), "--quiet")
        as_json = command("status", few(tmp_path), "--out", "o", "--json")
    assert result.code == 1
    assert "failed" in result.out
    assert "enquete resume" in result.out
    assert (as_json.code, as_json.object["exit_code"], as_json.object["status"]) == (0, 0, "failed")


def test_spent_credit_pauses_the_run_and_the_servers_words_are_in_the_terminal(
    command: Command, tmp_path: Path
) -> None:
    with ModelServer(faults={"quota": 1.0}) as server:
        result = command(*words(tmp_path, server), "--quiet")
        server.faults = {}
        again = command("resume", few(tmp_path), "--out", "o", "--quiet")
    assert (result.code, again.code) == (3, 0)
    assert "refused the request with 429: You exceeded your current quota. No credit is left there" in result.out
    assert "Check LLM_" not in result.out


def test_a_run_without_one_usable_answer_is_invalid(command: Command, tmp_path: Path) -> None:
    with ModelServer(script=lambda body: "I would rather not use JSON.") as server:
        result = command(*words(tmp_path, server), "--quiet")
        as_json = command("status", few(tmp_path), "--out", "o", "--json")
    assert result.code == 1
    assert "RUN INVALID" in result.out
    assert as_json.object["valid"] is False


def test_before_a_model_is_paid_one_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The estimate is in the question; who agrees although it exceeds the cap has confirmed that."""
    with ModelServer() as server:
        request = {"model": "m", "base_url": server.base_url, "out": "o", "methods": ["poll"]}
        for typed, cap, answer in (
            ("n\n", None, None),
            ("\n", None, {}),
            ("\n", 500, None),
            ("y\n", 500, {"confirm": True}),
        ):
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
            asked = {**request, **({"budget_tokens": cap} if cap else {})}
            assert confirmed_request(str(few(tmp_path)), asked) == (None if answer is None else {**asked, **answer})
    err = capsys.readouterr().err
    assert "2 agents of few" in err
    assert "tokens, unknown USD" in err
    assert "fits the budget (cap 10,000,000 tokens)" in err
    assert "exceeds the budget (cap 500 tokens)" in err
    free = {"respondent": "synthetic", "out": "o"}
    assert confirmed_request(str(few(tmp_path)), free) == free


def test_an_unfinished_run_is_asked_about_by_what_is_left(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer() as server:
        assert command(*words(tmp_path, server), "--budget-tokens", "100", "--yes", "--quiet").code == 3
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
        request = {"model": "m", "base_url": server.base_url, "out": "o", "methods": ["poll"]}
        assert confirmed_request(str(few(tmp_path)), request) is None
        assert "unfinished" in capsys.readouterr().err
        assert command("resume", few(tmp_path), "--out", "o", "--budget-tokens", "100000", "--quiet").code == 0
        assert confirmed_request(str(few(tmp_path)), request) == request, (
            "a finished run is only shown: nothing to ask about"
        )


def test_what_failed_is_counted_and_asked_for_once_more(command: Command, tmp_path: Path) -> None:
    """A server that refuses every question, and then none: what failed is asked for once, and nothing else."""
    with ModelServer(faults={"http_400": 1.0}) as server:
        server.spared = HEALTH_PROBE.messages[0]["content"]  # or the run would pause: nobody would be answered
        failed = command(*words(tmp_path, server), "--json")
        server.faults = {}
        requests = len(server.requests)
        [retry] = [line for line in failed.object["next"] if "--retry-failed" in line]
        again = command(*shlex.split(retry)[1:], "--json")
        answered = [entry.key for entry in server.requests[requests:]]
    assert failed.object["failed_answers"] > 0
    assert again.code == 0, again.out
    assert again.object["failed_answers"] == 0
    assert again.object["stages"][0]["n_complete"] == 2
    assert len(answered) == len(set(answered)) == 2
