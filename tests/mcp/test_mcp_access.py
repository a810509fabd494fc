"""Who may speak to the HTTP server, and what an id may reach."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from mcp_served import Served
from starlette.testclient import TestClient

from enquete.interfaces.cli import app as cli
from enquete.interfaces.mcp.server import http_app, make_server_state
from enquete.state.errors import RunNotFound, SettingsError, SimulationNotFound
from enquete.study.tasks import PathSandbox

pytestmark = pytest.mark.usefixtures("no_reports")

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
TOKEN = "a-long-and-random-token"


def post(url: str, **headers: str) -> int:
    return httpx.post(url, json=PING, headers=ACCEPT | headers).status_code


def test_a_page_of_another_site_and_a_request_that_is_too_large_are_refused(served: Served) -> None:
    assert post(served.url, Host="evil.example") == 421
    assert post(served.url, Origin="https://evil.example") == 403
    assert post(served.url, Origin="http://localhost:6274") not in (401, 403, 421)
    big = {**PING, "params": {"x": "y" * 1_100_000}}
    assert httpx.post(served.url, json=big, headers=ACCEPT).status_code == 413


def test_another_address_needs_a_long_token_without_which_nothing_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server_state = make_server_state(tmp_path)
    with pytest.raises(SettingsError, match="ENQUETE_TOKEN"):
        http_app(server_state, "0.0.0.0", [])
    monkeypatch.setenv("ENQUETE_TOKEN", "short")
    with pytest.raises(SettingsError, match="at least 16") as refused:
        http_app(server_state, "0.0.0.0", [])
    assert "'short'" not in str(refused.value)
    monkeypatch.setenv("ENQUETE_TOKEN", TOKEN)
    with TestClient(
        http_app(make_server_state(tmp_path), "0.0.0.0", ["study.example"]), base_url="http://study.example"
    ) as client:
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Authorization": "Bearer é"}):
            sent = {name: value.encode() for name, value in wrong.items()}
            refused = client.post("/mcp", json=PING, headers={**{k: v.encode() for k, v in ACCEPT.items()}, **sent})
            assert refused.status_code == 401
            assert TOKEN not in refused.text
        right = client.post("/mcp", json=PING, headers=ACCEPT | {"Authorization": f"Bearer {TOKEN}"})
        assert right.status_code not in (401, 403, 421)
        elsewhere = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
        assert client.post("/mcp", json=PING, headers=ACCEPT | elsewhere).status_code == 421


@pytest.mark.parametrize(
    "sim_id", ["", ".", "..", "../x", "/etc", "a/b", "a\\b", "C:x", "x\0y", "~", "linked", "y" * 300]
)
def test_no_id_leaves_the_root(served: Served, tmp_path: Path, sim_id: str) -> None:
    """`linked` is a symlink to a simulation outside."""
    root = tmp_path / "root"
    (root / "simulations").mkdir(parents=True)
    (root / "simulations" / "linked").symlink_to(served.root / "simulations" / served.finished)
    with pytest.raises(SimulationNotFound) as refused:
        PathSandbox(root).simulation(sim_id)
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize("token", ["", "run_", "run_x/../..", "sim_finished", "run_x.y.z", "run_x\n", "../run_x"])
def test_a_token_names_a_run_and_no_path(served: Served, token: str) -> None:
    with pytest.raises(RunNotFound):
        PathSandbox(served.root).require_token(token)
    with pytest.raises(RunNotFound):
        PathSandbox(served.root).run(served.finished, token)


def test_the_command_refuses_what_cannot_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["mcp", "--root", str(tmp_path / "missing")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert cli.run(["mcp", "--root", str(tmp_path), "--http", "--host", "0.0.0.0"]) == 2
    assert "ENQUETE_TOKEN" in capsys.readouterr().err
