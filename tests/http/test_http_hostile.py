"""Clients that mean no good, and files that do not answer: nothing is opened, nobody waits for another, SIGTERM ends
the server."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import BaseModel, ValidationError

from enquete.instruments.load import load_shipped
from enquete.interfaces import server_state as serving_module
from enquete.interfaces import views
from enquete.interfaces.mcp.tool_arguments import option_names
from enquete.interfaces.server_state import mask_of, on_signals
from enquete.interfaces.web.models import PostBody
from enquete.ledger.ledger import Ledger
from enquete.methods.registry import methodologies
from enquete.state.errors import InstrumentError, LedgerError, RunNotFound
from enquete.study import background
from enquete.study.background import NotInTime, run_in_thread
from enquete.study.tasks import PathSandbox
from tests.http.conftest import serving, settled, simulation
from tests.support.model_server import ModelServer
from tests.support.processes import environment

API = "/api/interview"
_watched: list[str] = []
_opened: list[str] = []


def _note(event: str, given: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and any(str(given[0]).startswith(each) for each in _watched):
        _opened.append(str(given[0]))


sys.addaudithook(_note)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[str]]:
    """What this process opens or lists below tmp_path/secret."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.yaml").write_text("password: hunter2\n", "utf-8")
    os.mkfifo(tmp_path / "secret" / "pipe.yaml")
    _watched.append(str(tmp_path / "secret"))
    _opened.clear()
    yield _opened
    _watched.clear()


def places(model: type[BaseModel]) -> list[str]:
    """Every setting, by name: what the model publishes."""
    return list(model.model_json_schema()["properties"])


def test_no_setting_of_any_methodology_is_a_path(tmp_path: Path, opened: list[str]) -> None:
    """Every field of every registered methodology's settings, as a text, in a list and in a mapping, past the bodies'
    own
    check: with a server's own_folder nothing is opened. No field is a Path either."""
    secret, own_folder = tmp_path / "secret", str(tmp_path / "instruments")
    texts = [str(secret / "key.yaml"), str(secret / "pipe.yaml"), str(secret / "key"), "../secret/key", str(secret)]
    walked = 0
    for name, methodology in methodologies().items():
        instrument = load_shipped(methodology.instrument, name)
        assert '"format": "path"' not in str(methodology.settings.model_json_schema()).replace("'", '"'), name
        for place in places(methodology.settings):
            for text in texts:
                for value in (text, [text], {text: text}):
                    walked += 1
                    with suppress(ValidationError, InstrumentError):
                        methodology.settings.model_validate(
                            {place: value},
                            context={
                                "language": "de",
                                "instrument": instrument,
                                "own_folder": own_folder,
                            },
                        )
    assert walked >= 100
    assert opened == []


@pytest.mark.parametrize(
    "value", ["/etc/passwd", "~/x", "../x", "a/../../b", "x.YAML", "C:/x", "\\\\host\\x", "file:x"]
)
def test_what_looks_like_a_file_is_refused_wherever_it_stands(value: str) -> None:
    for given in (value, [value], {"a": {"b": [value]}}, {value: 1}):
        with pytest.raises(ValidationError, match="can name no file"):
            PostBody(settings={"any": {"thing": given}})  # type: ignore[call-arg]
    if isinstance(value, str):
        with pytest.raises(ValidationError, match=r"instruments\.delphi"):
            PostBody(instruments={"delphi": value})  # type: ignore[call-arg]
    for settings in ({"model": "local:/etc/passwd"}, {"replicate_models": ["a", " local:x.gguf"]}):
        with pytest.raises(ValueError, match="name no file"):
            PostBody(**settings)
    assert PostBody(model="local")  # type: ignore[call-arg]
    assert PostBody(settings={"any": {"questions_model": "meta-llama/Llama-3.1-8B", "turns": 3}})  # type: ignore[call-arg]


def test_files_of_the_servers_own_folder_can_be_named_and_nothing_else(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from enquete.instruments.load import shipped

    source = Path(sys.modules["enquete"].__file__ or "").parent / "instruments" / "packs"
    concept = next(source.glob(f"*/concepts/{shipped('concepts')[0]}.yaml")).read_text("utf-8")
    (tmp_path / "instruments" / "concepts").mkdir(parents=True)
    (tmp_path / "instruments" / "concepts" / "ours.yaml").write_text(concept, "utf-8")
    os.mkfifo(tmp_path / "instruments" / "concepts" / "stuck.yaml")
    simulation(tmp_path, "sim", "completed", agents=2)
    with ModelServer() as model:
        monkeypatch.setenv("LLM_BASE_URL", model.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "test")
        with serving(tmp_path) as client:

            def asked(concept: str) -> httpx.Response:
                settings = {"laddering": {"concept": concept, "turns": 1}}
                body = {"methods": ["laddering"], "settings": settings, "budget_tokens": 1}
                return client.post(f"{API}/sim/post", json=body)

            assert asked("ours").json()["details"]["type"] == "OverBudget"  # it was read
            started = time.monotonic()
            refused = [asked(name) for name in ("stuck", "other", "secret/key", str(tmp_path / "secret" / "key.yaml"))]
            assert time.monotonic() - started < 20
    assert [answer.status_code for answer in refused] == [400, 400, 400, 422]
    assert "a named pipe" in refused[0].text
    assert "ours" in refused[1].text
    assert opened == []
    assert not {"own_folder", "root", "out", "base_url", "store", "key_variable", "executor"} & set(option_names())


def test_a_request_that_hangs_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than Python's own pool has threads, on simulations whose folder never answers."""
    release, look = threading.Event(), PathSandbox.simulation

    def hanging(self: PathSandbox, sim_id: str) -> Path:
        if sim_id.startswith("gone"):
            release.wait(60)
        return look(self, sim_id)

    monkeypatch.setattr(PathSandbox, "simulation", hanging)
    simulation(tmp_path, "sound")
    paths = [f"{API}/gone{n}/{path}" for n in range(10) for path in ("status", "results/delphi", "export.csv")]
    with serving(tmp_path) as client:

        def stuck(path: str) -> None:
            client.post(path) if path.endswith("post") else client.get(path)

        threads = [threading.Thread(target=stuck, args=(path,)) for path in [*paths, f"{API}/gone/post"] * 2]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        started = time.monotonic()
        task = client.post(f"{API}/sound/pre").json()["data"]["task_id"]
        assert settled(client, "sound", task).json()["data"]["status"] == "completed"
        assert time.monotonic() - started < 20
        release.set()
        for thread in threads:
            thread.join()


def test_work_that_hangs_is_given_up_and_no_more_is_begun_than_can_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MOST_HANGING", 2)
    release = threading.Event()

    async def ask() -> list[str]:
        answers = []
        for _ in range(3):
            with pytest.raises(NotInTime) as told:
                await run_in_thread(lambda: release.wait(30), within_s=0.05)
            answers.append(str(told.value))
        release.set()
        await asyncio.sleep(0.1)
        return [*answers, await run_in_thread(lambda: "again")]

    assert asyncio.run(ask()) == [*["files did not answer within 0.05 s"] * 2, asked_too_much(2), "again"]


def asked_too_much(hanging: int) -> str:
    return f"{hanging} earlier requests still wait for files that do not answer"


def test_a_server_that_hangs_is_left_by_a_signal_in_its_grace(tmp_path: Path) -> None:
    """Its main thread waits for a pipe that nobody writes to; so would its event loop."""
    os.mkfifo(tmp_path / "pipe")
    program = (
        f"from {on_signals.__module__} import on_signals\n"
        f"with on_signals(lambda: None, 0.5):\n    print('up', flush=True)\n    open({str(tmp_path / 'pipe')!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment())
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 130
    assert time.monotonic() - started < 5
    process.stdout.close()


def connected(client: httpx.Client) -> socket.socket:
    url = urlsplit(str(client.base_url))
    return socket.create_connection((url.hostname or "", url.port or 0), timeout=60)


WHOLE = b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n"


def until_the_end(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def sent_before_the_end(connection: socket.socket, drop: bytes, every_s: float) -> int:
    """How often it can be sent until the server has had enough."""
    for sent in range(200):
        try:
            connection.sendall(drop)
        except OSError:
            return sent
        time.sleep(every_s)
    return 200


def test_a_head_that_does_not_come_or_does_not_end_ends_the_connection(
    shared: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(shared) as connection:
        connection.sendall(WHOLE[:-2])
        assert sent_before_the_end(connection, b"X-A: " + b"y" * 8000 + b"\r\n", 0.005) < 100
    # Nothing at all, half a head, half a second one on a connection that was answered, one drop after another.
    monkeypatch.setattr(serving_module, "HEADERS_WITHIN_S", 0.4)
    for begun in (b"", WHOLE[:20], b"POST /x HTTP/1.1\r\nHost: localhost\r\nX-A:"):
        with connected(shared) as connection:
            connection.sendall(begun)
            started = time.monotonic()
            assert until_the_end(connection) == b""
            assert 0.2 < time.monotonic() - started < 5
    with connected(shared) as connection:
        connection.sendall(WHOLE)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(WHOLE[:20])
        started = time.monotonic()
        until_the_end(connection)
        assert time.monotonic() - started < 5
    with connected(shared) as connection:
        connection.sendall(WHOLE[:-2])
        assert sent_before_the_end(connection, b"X-A: 1\r\n", 0.05) < 60


def test_a_slow_answer_is_not_taken_for_a_slow_head(shared: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_module, "HEADERS_WITHIN_S", 0.2)
    with connected(shared) as connection:
        connection.sendall(b"POST /api/interview/nobody/pre HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{")
        time.sleep(0.6)
        connection.sendall(b"}")
        assert connection.recv(65536).startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("name", ["LLM_API_KEY", "OPENAI_API_KEY", "ZEP_API_KEY"])
def test_a_key_is_masked_and_a_placeholder_of_a_local_server_is_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """LLM_API_KEY hides OPENAI_API_KEY from use, not from sight. The placeholders are those of the manuals of vLLM
    (EMPTY), Ollama, LM Studio and llama.cpp: a server starts with them, and ordinary words stay readable."""
    monkeypatch.setenv("LLM_API_KEY", "the-first-key")
    for key in ("abc123", "k" * 4000):
        monkeypatch.setenv(name, key)
        assert mask_of(tmp_path)(f"told {key}!") == "told ***!"
    for placeholder in ("x", "EMPTY", "ollama", "lm-studio", "sk-no-key-required"):
        monkeypatch.setenv(name, placeholder)
        assert mask_of(tmp_path)(f"told {placeholder}!") == f"told {placeholder}!"


def test_what_changes_under_the_reader_is_read_again_and_a_run_only_just_begun_is_no_server_error(
    tmp_path: Path,
) -> None:
    left = [OSError("replaced"), LedgerError("half")]

    def read() -> str:
        if left:
            raise left.pop()
        return "read"

    assert views.retry_read(read) == "read"
    with pytest.raises(LedgerError, match="damage"):
        views.retry_read(raising(lambda: LedgerError("damage")))
    # Its ledger is there before its record: for 20 ms on an idle machine, and every poll of them got a 500.
    simulation(tmp_path, "sim")
    folder = tmp_path / "simulations" / "sim" / "interviews" / "runs" / "run_20260101T000000_abcdef"
    folder.mkdir(parents=True)

    async def create() -> None:
        await Ledger(folder / "ledger.sqlite", folder.name, create=True).close()

    asyncio.run(create())
    with serving(tmp_path) as client:
        answer = client.get(f"{API}/sim/status", params={"task_id": folder.name})
    assert (answer.status_code, answer.json()["details"]["type"]) == (404, "RunNotFound")
    assert re.search("only just being begun", answer.text)
    with pytest.raises(RunNotFound):
        views.retry_read(lambda: PathSandbox(tmp_path).run("sim", folder.name))


def raising(error: Callable[[], Exception]) -> Callable[[], None]:
    def read() -> None:
        raise error()

    return read
