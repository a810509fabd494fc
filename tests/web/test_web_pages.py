"""Pages in this process, without a socket: who gets in, what is shown as it was said, in which language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from enquete.interfaces.server_state import ServerSettings
from enquete.interfaces.web.application import make_app
from enquete.interfaces.web.security import COOKIE
from tests.support.populations import mirofish_folder

TOKEN = "0123456789abcdef0123456789abcdef"
OWN = {"Origin": "http://127.0.0.1"}
HOSTILE = "<script>alert(1)</script> \u202e“&\x1b[31m"


@contextmanager
def browsing(root: Path, token: str = "") -> Iterator[TestClient]:
    settings = ServerSettings(root=root, token=SecretStr(token) if token else None)
    with TestClient(make_app(settings), base_url=OWN["Origin"], follow_redirects=False) as client:
        yield client


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One simulation, whose topic is hostile."""
    root = tmp_path_factory.mktemp("root")
    folder = mirofish_folder(root / "simulations" / "sim_a", 3, status="completed")
    config = folder / "simulation_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "simulation_requirement": HOSTILE}))
    return root


@pytest.fixture(scope="module")
def client(root: Path) -> Iterator[TestClient]:
    with browsing(root) as client:
        yield client


def test_what_others_wrote_is_text_and_a_page_runs_only_scripts_of_this_server(client: TestClient) -> None:
    page = client.get("/").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\u202e“&amp;\\u001b[31m" in page
    assert not re.search(r"<script(?! src=)", page)
    policy = client.get("/").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/").text):
        answer = client.get(address)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)
    assert client.get("/static/0/web.css").headers["cache-control"] == "no-store"
    assert client.get("/static/0/../pages.py").status_code == 404
    answer = client.post("/api/interview/sim_a/pre", headers={"Origin": "https://app.example:8443"})
    assert "--allow-origin https://app.example:8443 " in answer.json()["error"]


def test_the_language_is_chosen_once(root: Path) -> None:
    with browsing(root) as client:
        assert '<html lang="en">' in client.get("/").text
        assert '<html lang="de">' in client.get("/", headers={"Accept-Language": "fr, de-AT;q=0.8"}).text
        assert '<html lang="de">' in client.get("/?lang=de").text
        assert "Simulationen" in client.get("/").text
        assert '<html lang="en">' in client.get("/?lang=en").text


@pytest.mark.parametrize(
    "path", ["/nothing", "/runs/sim_a/run_x/", "/runs/none/run_x/", "http://127.0.0.1//evil.example"]
)
def test_what_is_not_there_is_told_on_a_page(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<a href="/">' in answer.text
    assert not re.search(r"""(?:href|src|action)="(?!\?|/(?!/)|#|data:,)""", answer.text)


def test_a_browser_signs_in_with_the_token_and_out_again(root: Path) -> None:
    with browsing(root, TOKEN) as client:
        assert client.get("/runs/a/b/").headers["location"] == "/sign-in?next=/runs/a/b/"
        assert client.get("/api/interview/sim_a/status").status_code == 401
        assert client.post("/sign-in", data={"token": TOKEN[1:]}, headers=OWN).status_code == 401
        entered = client.post("/sign-in", data={"token": TOKEN, "next": "//evil.example"}, headers=OWN)
        assert entered.headers["location"] == "/"
        cookie = entered.headers["set-cookie"]
        assert all(word in cookie for word in (COOKIE, "HttpOnly", "SameSite=strict"))
        assert TOKEN not in cookie
        assert client.get("/").status_code == client.get("/docs").status_code == 200
        assert client.post("/sign-out").status_code == 403  # from where?
        assert client.post("/sign-out", headers=OWN).headers["location"] == "/sign-in"
        assert client.get("/").status_code == 303
