"""Whether a model's server is there, told before anything is asked: over real HTTP, with what servers, proxies and web
pages answer."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

import enquete
from enquete.models.local_model import LocalModel
from enquete.models.reachability import WITHIN_S, Absence, absence
from enquete.runs.model_server import telling
from enquete.state.errors import ModelRejected, ModelUnavailable
from enquete.state.settings import Weights
from enquete.study import start
from tests.support.bare_runs import interview, resume
from tests.support.model_server import ModelServer
from tests.support.raw_server import RawServer, reply
from tests.support.studies import personas

CLOSED = "http://127.0.0.1:9/v1"  # discard: nobody listens there
KEY = "sk-0123456789"
PAGE = b"<!DOCTYPE html><html>Open WebUI</html>"


def absence_at(url: str) -> Absence | None:
    return asyncio.run(absence(url, SecretStr(KEY)))


def told(message: str, status: str) -> list[bytes]:
    return reply(json.dumps({"error": {"message": message}}).encode(), status)


def test_a_server_that_lists_its_models_is_there_and_is_asked_nothing_that_costs() -> None:
    with ModelServer() as server:
        assert absence_at(server.base_url) is None
        assert server.count() == 0


@pytest.mark.parametrize(
    ("url", "did"),
    [
        (CLOSED, "could not be reached (Connect call failed ('127.0.0.1', 9))"),
        ("http://nowhere.invalid/v1", "could not be reached ("),  # RFC 2606: no such name, ever
    ],
)
def test_where_nobody_answers_it_is_said_what_happened(url: str, did: str) -> None:
    fault = absence_at(url)
    assert fault is not None
    assert fault.did.startswith(did)
    assert fault == Absence(fault.did)  # neither loading nor a setting that is wrong


def test_one_that_takes_connections_and_says_nothing_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        fault = absence_at(f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        took = time.monotonic() - began
    assert fault == Absence(f"did not answer GET …/models within {WITHIN_S:g} s")
    assert WITHIN_S <= took < WITHIN_S + 10  # loaded machines


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (told("Loading model", "503 Service Unavailable"),  # llama.cpp
         Absence("is there and answers 503: Loading model", loading=True)),
        (reply(PAGE, "502 Bad Gateway"), Absence("answered GET …/models with 502: an HTML page")),
        (told(f"Incorrect API key provided: {KEY}.", "401 Unauthorized"),
         Absence("answered GET …/models with 401: Incorrect API key provided: ***", wrong_key=True)),
        (told("Missing scopes: api.model.read", "401 Unauthorized"), None),  # may answer questions all the same
        (told("slow down", "429 Too Many Requests"), None),
        (told("no list today", "500 Internal Server Error"), None),
        (reply(b'{"data": []}'), None),
    ],
)  # fmt: skip
def test_what_the_list_of_models_answers(listed: list[bytes], expected: Absence | None) -> None:
    with RawServer(lambda _: reply(b"{}"), listed) as server:
        assert absence_at(server.base_url) == expected
        assert server.requests == []


@pytest.mark.parametrize(
    ("listed", "endpoint", "wrong"),
    [
        (reply(b"", "404 Not Found"), told("messages: field required", "422 Unprocessable"), False),  # it has no list
        (reply(b"", "405 Method Not Allowed"), told("model '' not found", "404 Not Found"), False),
        (reply(b"404 page not found", "404 Not Found"), reply(b"404 page not found", "404 Not Found"), True),
        (reply(PAGE), reply(PAGE), True),
        (reply(PAGE), reply(b"", "405 Method Not Allowed"), True),
        (reply(PAGE), told("model is required", "400 Bad Request"), False),
    ],
)
def test_without_a_list_the_endpoint_is_asked_without_a_question(
    listed: Iterable[bytes], endpoint: list[bytes], wrong: bool
) -> None:
    with RawServer(lambda _: endpoint, listed) as server:
        fault = absence_at(server.base_url)
        assert server.requests == [b"{}"]
    assert (fault is not None and fault.wrong_url) == wrong


def test_a_dead_server_or_a_wrong_path_begins_no_run_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        enquete.conduct_interviews(personas(tmp_path, 2), out=tmp_path / "o", model="m", base_url=CLOSED)
    assert str(caught.value).startswith(f"The model server {CLOSED} could not be reached (")
    assert "model 'm'" in str(caught.value)
    assert "patience_s=600" in str(caught.value)
    assert not (tmp_path / "o").exists()
    people = personas(tmp_path, 2)
    with ModelServer() as server:
        url = server.base_url.removesuffix("/v1")
        with pytest.raises(ModelRejected, match=r"404.*Check LLM_BASE_URL: it usually ends in /v1"):
            enquete.conduct_interviews(people, out=tmp_path / "o", model="m", base_url=url, patience_s=60)


def test_with_patience_it_is_waited_for_and_the_time_left_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attempts are over after some three seconds; from then on it is said again and again how long is left, and the
    clock runs down. An address of its own: how long a server has been silent is known to the whole process."""
    monkeypatch.setattr(start, "telling", partial(telling, every_s=0.05))
    heard: list[str] = []
    with caplog.at_level(logging.WARNING, "enquete"):
        run = enquete.conduct_interviews(
            personas(tmp_path, 2), out=tmp_path / "o", methods=["longitudinal"], model="m", patience_s=4,
            base_url="http://127.0.0.1:13/v1", progress=lambda event: heard.append(str(event.get("fault", ""))),
        )  # fmt: skip
    assert run.status == "paused"
    assert "It is waited for, 4 s at most (ENQUETE_PATIENCE_S)." in caplog.text
    left = [int(words.split("waited for, ")[1].split()[0]) for words in heard if words]
    assert left
    assert left == sorted(left, reverse=True)
    assert all(0 <= seconds < 4 for seconds in left)


def test_a_replay_and_the_synthetic_respondent_need_no_server(tmp_path: Path) -> None:
    people = personas(tmp_path, 2)
    with ModelServer() as server:
        asked = {"out": tmp_path / "o", "methods": ["longitudinal"], "base_url": server.base_url}
        run = interview(people, model="m", **asked)
    replayed = interview(people, respondent="replay", replay_of=run.run_id, out=tmp_path / "o")
    computed = interview(people, respondent="synthetic", new=True, **asked)
    once_more = resume(run.run_id, sim=people, out=tmp_path / "o", fresh=True)
    assert [run.status for run in (replayed, computed, once_more)] == ["completed"] * 3


def test_a_local_model_says_that_it_is_being_loaded(tmp_path: Path) -> None:
    """The file is none, so it never is; what counts is what is said until the process has ended."""
    model = LocalModel(Weights(name="tiny", sha256="0" * 64), tmp_path / "none.gguf", 512, pytest.fail)

    async def main() -> list[str]:
        waits = [model.waits_for]
        starting = asyncio.create_task(model.fit(None, "m"))  # type: ignore[arg-type]  # it does not come to the prompt
        while not starting.done():
            await asyncio.sleep(0.05)
            waits.append(model.waits_for)
        await asyncio.gather(starting, return_exceptions=True)
        await model.aclose()
        return [*waits, model.waits_for]

    first, *meanwhile, last = asyncio.run(main())
    assert (first, last) == ("", "")
    assert any(words.startswith("the local model tiny is being loaded, for ") for words in meanwhile)
