"""Who gets in, what gets in, and what never gets out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import SecretStr

from enquete.interfaces.server_state import (
    LARGEST_BODY,
    Mask,
    MaskingFormatter,
    ServerSettings,
    is_loopback,
    read_token,
)
from enquete.interfaces.web.security import SAFE_HEADERS
from enquete.state.errors import SettingsError
from tests.http.conftest import serving, settled, simulation

API = "/api/interview"
TOKEN = "0123456789abcdef0123456789abcdef"


def raw(client: httpx.Client, request: bytes) -> bytes:
    """The answer to bytes that no client library would send."""
    url = urlsplit(str(client.base_url))
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=60) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_another_host_is_refused_and_this_machine_answers_by_any_of_its_names(shared: httpx.Client) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "localhost@evil.example"):
        assert shared.get(f"{API}/any/status", headers={"Host": host}).status_code in (400, 421), host
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8642", "[::1]:8642", "localhost."):
        assert shared.get(f"{API}/any/status", headers={"Host": host}).status_code == 404, host


def test_hosts_twice_and_bodies_too_large_are_refused(shared: httpx.Client) -> None:
    answer = raw(shared, b"GET /docs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    assert answer.split(b" ")[1] in (b"400", b"421")
    large = b" " * (LARGEST_BODY + 1)
    for content in (large, iter([large[:1000], large[1000:]])):  # an iterator is sent in chunks, without a length
        answer = shared.post(f"{API}/any/pre", content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["details"]["type"]) == (413, "TooLarge")
    told = b"POST /api/interview/any/pre HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n"
    told += b"Connection: close\r\n\r\n"
    assert raw(shared, told).split(b" ")[1] == b"413"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1"])
def test_pages_of_other_origins_may_not_call(shared: httpx.Client, shared_root: Path, origin: str) -> None:
    folder = simulation(shared_root, "origin")
    answer = shared.post(f"{API}/origin/pre", headers={"Origin": origin})
    assert (answer.status_code, answer.json()["details"]["type"]) == (403, "WrongOrigin")
    assert not (folder / "interviews").exists()


def test_its_own_page_may_call(shared: httpx.Client) -> None:
    origin = str(shared.base_url).rstrip("/")
    assert shared.get(f"{API}/any/status", headers={"Origin": origin}).status_code == 404
    page = shared.get("/docs")
    assert page.status_code == 200
    assert "<script" not in page.text
    assert all(page.headers[name] == value for name, value in SAFE_HEADERS.items())


ALLOWED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server with a token, and an origin that may call it; with one simulation, `held`."""
    root = tmp_path_factory.mktemp("guarded")
    simulation(root, "held", agents=2)
    with serving(root, token=SecretStr(TOKEN), allow_origins=("https://app.example",)) as client:
        yield client


def test_a_named_origin_is_told_that_it_may(guarded: httpx.Client) -> None:
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    told = guarded.options(f"{API}/x/pre", headers=asked).headers["access-control-allow-origin"]
    assert told == "https://app.example"
    response = guarded.get(f"{API}/x/status", headers={"Origin": "https://app.example", **ALLOWED})
    assert (response.status_code, "X-Run-Id" in response.headers["access-control-expose-headers"]) == (404, True)


def test_no_path_without_the_token(guarded: httpx.Client) -> None:
    wrong = ("Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", f"Bearer {TOKEN.upper()}")
    for headers in ({}, *({"Authorization": header} for header in wrong)):
        for path in ("/docs", "/openapi.json", f"{API}/x/status", f"{API}/x/status?token={TOKEN}"):
            answer = guarded.get(path, headers=headers)
            assert answer.status_code == 401, headers
            assert answer.headers["www-authenticate"] == "Bearer"
            assert TOKEN not in answer.text
    assert guarded.get("/docs", headers=ALLOWED).status_code == 200


@pytest.mark.usefixtures("unreported")
def test_a_status_that_lies_ready_is_nobody_elses(guarded: httpx.Client) -> None:
    path = f"{API}/held/status"
    begun = guarded.post(f"{API}/held/pre", headers=ALLOWED).json()["data"]
    settled(guarded, "held", headers=ALLOWED)
    long_way, short_way = (guarded.get(f"{path}?task_id={begun['task_id']}", headers=ALLOWED) for _ in "ab")
    assert long_way.status_code == short_way.status_code == 200
    assert long_way.content == short_way.content
    assert {**long_way.headers, "date": ""} == {**short_way.headers, "date": ""}
    assert guarded.get(path, headers=ALLOWED).status_code == 200
    assert guarded.get(path).status_code == 401
    assert guarded.get(path, headers={**ALLOWED, "Host": "evil.example"}).status_code == 421
    assert guarded.get(path, headers={**ALLOWED, "Origin": "https://evil.example"}).status_code == 403
    assert guarded.post(path, headers=ALLOWED).status_code == 405


def test_another_address_needs_a_token_that_is_not_weak_and_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "studies.example"):
        with pytest.raises(SettingsError, match="token"):
            ServerSettings(root=Path(), host=host)
    assert ServerSettings(root=Path(), host="0.0.0.0", token=SecretStr(TOKEN)).hosts == {"localhost", "127.0.0.1",
        "::1"}  # fmt: skip
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    (tmp_path / "token").write_text("hunter2\n", "utf-8")
    with pytest.raises(SettingsError, match="at least 16") as refused:
        read_token(tmp_path / "token")
    assert "hunter2" not in str(refused.value)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_token(tmp_path / "missing")
    monkeypatch.setenv("ENQUETE_TOKEN", TOKEN)
    token = read_token(None)
    assert token is not None
    assert token.get_secret_value() == TOKEN
    assert TOKEN not in repr(ServerSettings(root=tmp_path, token=token))


@pytest.mark.parametrize(
    "sim_id", ["..", "%2e%2e", "..%2f..%2fetc", "%2Fetc%2Fpasswd", "sims%00", "a%5Cb", "%2e%2e%2f", "~root", "C%3A"]
)
def test_no_path_leads_out_of_the_root(shared: httpx.Client, sim_id: str) -> None:
    for line in (f"GET {API}/{sim_id}/status", f"GET {API}/{sim_id}/export.csv", f"POST {API}/{sim_id}/pre"):
        answer = raw(
            shared, f"{line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        assert answer.split(b" ")[1] in (b"404", b"405"), answer


def test_links_out_of_the_root_are_refused(shared: httpx.Client, shared_root: Path, tmp_path: Path) -> None:
    outside = simulation(tmp_path, "outside", "completed")
    (shared_root / "simulations" / "linked").symlink_to(outside, target_is_directory=True)
    assert shared.get(f"{API}/linked/status").status_code == 404
    for number, name in enumerate(("interviews", "reddit/more", "notes.json")):
        folder = simulation(shared_root, f"linking{number}")
        (folder / name).symlink_to(tmp_path)
        answer = shared.post(f"{API}/linking{number}/pre")
        assert (answer.status_code, answer.json()["details"]["type"]) == (403, "OutsideRoot")
        assert str(tmp_path) not in answer.text
    assert not list(tmp_path.rglob("runs"))


@pytest.mark.usefixtures("no_pictures")
def test_a_cell_that_a_spreadsheet_would_run_is_neutralised(shared: httpx.Client, shared_root: Path) -> None:
    folder = simulation(shared_root, "formula")
    for file in (folder / "simulation_config.json", folder / "reddit_profiles.json"):
        file.write_text(file.read_text("utf-8").replace("Agent 1", "=HYPERLINK(1)"), "utf-8")
    task = shared.post(f"{API}/formula/pre").json()["data"]["task_id"]
    assert settled(shared, "formula", task).json()["data"]["status"] == "completed"
    table = shared.get(f"{API}/formula/export.csv").text
    assert ",'=HYPERLINK(1)," in table
    assert ",=HYPERLINK" not in table


def test_secrets_are_masked_in_answers_and_logs(tmp_path: Path) -> None:
    import logging

    mask = Mask(["sk-verysecret"], tmp_path)
    assert mask(f"{tmp_path}/simulations: sk-verysecret") == "ROOT/simulations: ***"
    try:
        raise ValueError("the server said sk-verysecret")
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.ERROR, "", 0, "key %s", ("sk-verysecret",), (type(error), error, error.__traceback__)
        )
    text = MaskingFormatter(mask.secrets_only).format(record)
    assert "sk-verysecret" not in text
    assert "Traceback" in text


def test_more_requests_than_the_server_takes_are_told_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path, most_requests=0) as client:
        answer = client.get("/docs")
        assert (answer.status_code, answer.json()["details"]["type"], answer.headers["retry-after"]) == (503, "Busy",
            "1")  # fmt: skip
