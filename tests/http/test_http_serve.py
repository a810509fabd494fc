"""`enquete serve` as a process of its own: what it says, what it refuses, how it stops."""

from __future__ import annotations

import re
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

import enquete
from enquete.interfaces.cli import app as cli
from enquete.interfaces.views import GOING_ON
from tests.http.conftest import serving, simulation
from tests.support.processes import Forked

SECRET = "0123456789abcdef-the-token"
KEY = "sk-the-key-of-a-model-server"


def test_it_serves_until_sigterm_pauses_what_goes_on_and_tells_no_secret(tmp_path: Path) -> None:
    simulation(tmp_path, "served", agents=20)
    process = Forked(["serve", "--root", tmp_path, "--port", 0], ENQUETE_TOKEN=SECRET, LLM_API_KEY=KEY)
    line = process.stderr.readline()
    url = re.search(r"on (http://\S+)", line)
    assert url, line
    with httpx.Client(base_url=url[1], headers={"Authorization": f"Bearer {SECRET}"}, timeout=240) as client:
        task = client.post("/api/interview/served/pre", json={"respondent": "synthetic"}).json()["data"]["task_id"]
        assert client.get("/api/interview/served/status").json()["data"]["task_id"] == task
        answers = [client.get(path, headers={"Authorization": f"Bearer {KEY}"}).text for path in ("/docs", "/x")]
        process.send_signal(signal.SIGTERM)
        code, out, err = process.ended()
    assert code == 0
    assert re.search(r"run_\S+ of served: (paused|completed)", err)
    for text in (line, out, err, *answers, *(file.read_text("utf-8", "ignore") for file in tmp_path.rglob("*.json"))):
        assert SECRET not in text
        assert KEY not in text


def test_wrong_options_are_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, message in (
            (("--host", "0.0.0.0"), "--host 0.0.0.0: other machines could reach the server, so it needs a token"),
            (("--host", "0.0.0.0", "--token-file", "missing"), "--token-file missing: cannot be read"),
            (("--watch", "elsewhere"), "--watch elsewhere: --root names another folder"),
            (("--port", port), f"--port {port}: "),
            (("--allow-origin", "app.example"), "SCHEME://HOST[:PORT] is expected"),
        ):
            assert cli.run(["serve", "--root", str(tmp_path), *words]) == 2
            assert message in capsys.readouterr().err.splitlines()[-1]


def test_it_does_not_wait_for_a_model_server_that_is_away_once_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens on the discard port. Without patience no run is begun there."""
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL_NAME", "test")
    simulation(tmp_path, "away")
    with serving(tmp_path) as client:
        refused = client.post("/api/interview/away/pre")
        assert refused.status_code == 502
        assert "could not be reached" in refused.json()["error"]
        assert not (tmp_path / "simulations" / "away" / "interviews").exists()
        monkeypatch.setenv("ENQUETE_PATIENCE_S", "600")
        client.post("/api/interview/away/pre")
        deadline = time.monotonic() + 60
        while "has not answered for" not in (status := client.get("/api/interview/away/status").json()["data"])["note"]:
            assert (status["status"] in GOING_ON, time.monotonic() < deadline) == (True, True), status
            time.sleep(0.2)
        stopping = time.monotonic()
    assert time.monotonic() - stopping < 20
    run = enquete.load_run("away", root=str(tmp_path))
    assert (run.status, run.note[:17]) == ("paused", "paused on request")
