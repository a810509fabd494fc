"""Every fault through the transport over real HTTP: what is retried, what is told, what is counted, what is kept
secret."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from pydantic import JsonValue, SecretStr

from enquete.models.chat_replies import ModelResponse
from enquete.models.faults import Rejected, Unavailable
from enquete.models.parsing import compact, looks_like_refusal, read_object
from enquete.models.server_profiles import read_retry_after
from enquete.models.servers import Limiter
from enquete.models.transport import Transport
from enquete.state.errors import ModelRejected, ModelUnavailable, SettingsError
from enquete.state.interview_context import Prompt
from tests.support.model_server import ModelServer

ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdef"
ITEM: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"value": {"type": "integer", "minimum": 1, "maximum": 7}, "reason": {"type": "string"}},
    "required": ["value", "reason"],
}
SCHEMA: dict[str, JsonValue] = {"type": "object", "properties": {"a": ITEM, "b": ITEM}, "required": ["a", "b"]}


def prompt(question: str = "How do you feel about it?", tokens: int = 500) -> Prompt:
    return Prompt("You are Ada, a baker.", ({"role": "user", "content": question},), compact(SCHEMA), tokens)


async def ask(server: ModelServer | str, *questions: str, limit: int = 32, **options: float) -> list[ModelResponse]:
    url = server if isinstance(server, str) else server.base_url
    transport = Transport(
        url, SecretStr(KEY), limiter=Limiter(limit), timeout_s=options.get("timeout_s", 5),
        attempts=int(options.get("attempts", 3)), backoff_s=options.get("backoff_s", 0.01),
        patience_s=options.get("patience_s", 0),
    )  # fmt: skip
    try:
        sends = (transport.send(prompt(text), model="test-model", temperature=0.7, seed=1) for text in questions or "?")
        return await asyncio.gather(*sends)
    finally:
        await transport.aclose()


def ask_once(server: ModelServer | str, *, timeout_s: float = 5) -> ModelResponse:
    return asyncio.run(ask(server, timeout_s=timeout_s))[0]


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    caplog.set_level(logging.DEBUG)
    yield caplog
    assert KEY not in caplog.text


def test_a_good_answer() -> None:
    with ModelServer() as server:
        answer = ask_once(server)
        asked = server.requests[0]
    assert (answer.finish, answer.sends, answer.timeouts, answer.broken) == ("stop", 1, 0, 0)
    assert (answer.model, answer.fingerprint) == ("test-model", "fp_test")
    assert answer.input_tokens is not None
    assert answer.output_tokens == len(answer.text.encode()) // 4  # the server's rule
    assert set(read_object(answer.text) or {}) == {"a", "b"}
    raw = json.loads(answer.raw)
    assert (raw["finish_reason"], raw["refusal"]) == ("stop", None)
    assert raw["usage"]["completion_tokens"] == answer.output_tokens
    assert asked.authorization == f"Bearer {KEY}"
    assert (asked.body["temperature"], asked.body["seed"], asked.body["max_tokens"]) == (0.7, 1, 500)


@pytest.mark.parametrize(
    ("fault", "sends", "timeouts", "broken", "words"),
    [
        ("timeout", 3, 3, 0, "did not answer within 0.6 s"),
        ("disconnect", 3, 0, 3, "broke the connection"),
        ("html_body", 3, 0, 3, "no chat completion"),
        ("no_choices", 3, 0, 0, "without choices"),
        ("http_500", 9, 0, 0, "answered 500"),  # three attempts in each format, as none has ever worked
    ],
)
def test_faults_that_outlive_the_retries_and_a_run_without_patience(
    fault: str, sends: int, timeouts: int, broken: int, words: str, logs: pytest.LogCaptureFixture
) -> None:
    with ModelServer(faults={fault: 1.0}) as server:
        with pytest.raises(ModelUnavailable, match=words) as caught:
            ask_once(server, timeout_s=0.6 if fault == "timeout" else 5)
        assert len(server.requests) == sends
    error = caught.value
    assert isinstance(error, Unavailable)
    assert (error.sends, error.timeouts, error.broken) == (sends, timeouts, broken)
    assert not error.outage  # one request alone proves nothing about the server
    assert KEY not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("fault", ["disconnect", "http_500", "http_503_retry_after", "http_429", "html_body"])
def test_a_passing_fault_is_retried(fault: str) -> None:
    with ModelServer(faults={fault: 0.4}) as server:
        answers = asyncio.run(ask(server, *map(str, range(12)), attempts=9, patience_s=5))
        assert all(set(read_object(answer.text) or {}) == {"a", "b"} for answer in answers)
        assert sum(answer.sends for answer in answers) == len(server.requests) >= 12
        assert server.count(fault) == len(server.requests) - 12
        assert {request.rung for request in server.requests} == {"json_schema"}


@pytest.mark.parametrize(
    ("fault", "setting", "words"),
    [
        ("http_401", "LLM_API_KEY", r"provided: \*\*\*. Check LLM_API_KEY"),
        ("http_404_model", "LLM_MODEL_NAME", "does not offer 'test-model'"),
    ],
)  # fmt: skip
def test_rejections_name_the_setting(fault: str, setting: str, words: str, logs: pytest.LogCaptureFixture) -> None:
    with ModelServer(faults={fault: 1.0}) as server, pytest.raises(ModelRejected, match=words) as caught:
        ask_once(server)
    error = caught.value
    assert isinstance(error, Rejected)
    assert (error.setting, error.fatal) == (setting, bool(setting))
    assert error.sends == 1
    assert KEY not in "".join(traceback.format_exception(error))
    assert KEY not in repr(vars(error))


@pytest.mark.parametrize(
    ("fault", "sends", "words"),
    [
        ("quota", 1, "You exceeded your current quota. No credit is left there"),
        ("http_400", 3, "refused the request with 400: Bad request. It is unclear what would help"),  # in every format
    ],
)
def test_what_befalls_everybody_pauses_the_run_and_is_quoted(fault: str, sends: int, words: str) -> None:
    with ModelServer(faults={fault: 1.0}) as server, pytest.raises(ModelUnavailable, match=words) as caught:
        ask_once(server)
    assert caught.value.outage
    assert (caught.value.sends, caught.value.booked) == (sends, (0, 0))
    assert server.count() == sends + (fault == "http_400")  # and a question of a few words tells whose fault it is


def test_a_wrong_path_points_to_the_base_url_and_an_unreachable_server_was_never_sent_to() -> None:
    with ModelServer() as server, pytest.raises(ModelRejected, match="LLM_BASE_URL"):
        ask_once(server.base_url + "/chat/completions")
    with pytest.raises(ModelUnavailable, match="could not be reached") as caught:
        ask_once("http://127.0.0.1:1/v1")
    assert isinstance(caught.value, Unavailable)
    assert caught.value.outage
    assert (caught.value.timeouts, caught.value.broken) == (0, 0)


@pytest.mark.parametrize(
    "url", ["http://user:pass-word@host/v1", "host/v1", "ftp://host", "https://host/v1?key=pass-word"]
)
def test_a_base_url_that_is_none_is_refused_without_repeating_a_password(url: str) -> None:
    with pytest.raises(SettingsError, match="LLM_BASE_URL") as caught:
        Transport(url, None, limiter=Limiter(1))
    assert "pass-word" not in str(caught.value)


def _values(answer: ModelResponse) -> dict[str, JsonValue]:
    read = read_object(answer.text) or {}
    return {name: part["value"] for name, part in read.items() if isinstance(part, dict)}


@pytest.mark.parametrize("fault", ["missing_usage", "slow", "ignore_max_tokens"])  # texts: test_models_parsing.py
def test_odd_answers_are_still_answers(fault: str) -> None:
    with ModelServer() as server:
        good = ask_once(server)
    with ModelServer(faults={fault: 1.0}, slow_s=0.05) as server:
        odd = ask_once(server)
    values = [_values(answer) for answer in (good, odd)]
    assert values[0] == values[1]
    assert odd.finish == "stop"
    if fault == "missing_usage":
        assert (odd.input_tokens, odd.output_tokens) == (None, None)
        assert json.loads(odd.raw)["usage"] is None


def test_endings() -> None:
    endings = {}
    for fault in ("length_stop", "refusal", "refusal_prose", "content_filter", "content_filter_400"):
        with ModelServer(faults={fault: 1.0}) as server:
            endings[fault] = ask_once(server)
            assert len(server.requests) == 1
    assert endings["length_stop"].finish == "length"
    assert endings["length_stop"].output_tokens is not None  # paid and reported, though it cannot be parsed
    assert endings["refusal"].finish == "refusal"
    assert looks_like_refusal(endings["refusal"].text)
    assert endings["refusal_prose"].finish == "stop"
    assert looks_like_refusal(endings["refusal_prose"].text)
    assert endings["content_filter"].finish == endings["content_filter_400"].finish == "content_filter"


def test_what_is_longer_than_allowed_ends_by_length_and_one_transport_serves_several_loops() -> None:
    with ModelServer() as server:
        transport_prompt = prompt(tokens=8)

        async def main() -> ModelResponse:
            transport = Transport(server.base_url, None, limiter=Limiter(1))
            try:
                return await transport.send(transport_prompt, model="m", temperature=0, seed=0)
            finally:
                await transport.aclose()

        answer = asyncio.run(main())
        assert server.requests[0].authorization == "Bearer none"
    assert (answer.finish, answer.output_tokens) == ("length", 8)
    with ModelServer() as server:
        transport = Transport(server.base_url, SecretStr(KEY), limiter=Limiter(4))

        async def main() -> ModelResponse:
            try:
                return await transport.send(prompt(), model="m", temperature=0, seed=0)
            finally:
                await transport.aclose()

        assert asyncio.run(main()).text == asyncio.run(main()).text


def test_retry_after_is_waited_for_by_everybody_without_holding_a_slot() -> None:
    """One slot: the 429 is told to wait 0.3 s; the other question, asked meanwhile, must wait as well."""
    with ModelServer(faults={"http_429": 1.0}, retry_after="0.3") as server:

        async def main() -> tuple[float, list[int]]:
            limiter = Limiter(1)
            transport = Transport(server.base_url, SecretStr(KEY), limiter=limiter, backoff_s=0.01)
            held: list[int] = []
            first = asyncio.create_task(transport.send(prompt("1"), model="m", temperature=0, seed=0))
            await asyncio.to_thread(server.wait_for, 1)
            server.faults = {}
            await asyncio.sleep(0.05)
            held.append(limiter.held)
            started = time.monotonic()
            await transport.send(prompt("2"), model="m", temperature=0, seed=0)
            waited = time.monotonic() - started
            await first
            await transport.aclose()
            return waited, held

        waited, held = asyncio.run(main())
        assert held == [0]
        assert waited >= 0.2
        assert server.requests[1].time - server.requests[0].time >= 0.28


def test_the_limit_holds_and_the_clock_starts_with_the_slot() -> None:
    with ModelServer(latency=0.05) as server:
        answers = asyncio.run(ask(server, *map(str, range(80)), limit=4, timeout_s=0.75))
        assert server.max_in_flight == 4
    assert all(answer.timeouts == 0 for answer in answers)  # 80 × 0.05 s / 4 is longer than the time-out


def test_an_echoed_key_is_masked_and_text_that_is_no_utf8_is_stored() -> None:
    with ModelServer(script=lambda body: json.dumps({"a": f"your key is {KEY}"})) as server:
        answer = ask_once(server)
    assert KEY not in repr(answer)
    assert "your key is ***" in answer.text
    with ModelServer(script=lambda body: '{"a": "\ud800 \x00"}') as server:

        async def main() -> ModelResponse:
            return (await ask(server, "lone \ud83d surrogate \x00"))[0]

        answer = asyncio.run(main())
    answer.raw.encode()
    answer.text.encode()


@pytest.mark.parametrize(
    ("key", "shown"),
    [("hunter-two", "***"), ("sk-1", "***"), ("geheim", "***"), ("none", "none"), ("EMPTY", "EMPTY"), ("x", "x")],
)
def test_a_short_key_is_masked_too_unless_it_is_a_word_for_none(key: str, shown: str) -> None:
    with ModelServer(script=lambda body: json.dumps({"a": f"your key is {key}."})) as server:

        async def main() -> ModelResponse:
            transport = Transport(server.base_url, SecretStr(key), limiter=Limiter(1))
            try:
                return await transport.send(prompt(), model="m", temperature=0, seed=0)
            finally:
                await transport.aclose()

        assert f"your key is {shown}." in asyncio.run(main()).text


SEND = """
import sys
from tests.models.test_models_transport import ask_once
from langchain_core.tracers.langchain import wait_for_all_tracers
print(ask_once(sys.argv[1]).text)
wait_for_all_tracers()
"""


@pytest.mark.parametrize("is_on", [False, True])
def test_langsmith_sees_a_request_where_it_is_switched_on_and_the_answer_is_the_same(is_on: bool) -> None:
    """A server stands in for LangSmith and counts what is exported."""
    with ModelServer() as server, ModelServer() as langsmith:
        switched = {
            "LANGSMITH_TRACING": "true" if is_on else "false", "LANGSMITH_API_KEY": "ls-test",
            "LANGSMITH_ENDPOINT": langsmith.base_url,
        }  # fmt: skip
        command = [sys.executable, "-c", SEND, server.base_url]
        told = subprocess.run(
            command, env=os.environ | switched, cwd=ROOT, check=True, timeout=60, capture_output=True, text=True
        )
        assert told.stdout.strip() == ask_once(server).text
        assert [request.body for request in server.requests[:1]] == [request.body for request in server.requests[1:]]
        assert (langsmith.other_requests > 0) == is_on


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0), ({"retry-after": "0.5"}, 0.5), ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "900"}, 60.0), ({"retry-after": "soon"}, None), ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None), ({}, None), ({"retry-after-ms": "1200", "retry-after": "2"}, 1.2),
    ],
)  # fmt: skip
def test_retry_after_in_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_retry_after_as_a_date() -> None:
    now = datetime.now(UTC)

    def read(when: datetime) -> float | None:
        return read_retry_after({"retry-after": format_datetime(when, usegmt=True)})

    assert 8 < (read(now + timedelta(seconds=10)) or 0) <= 10
    assert read(now - timedelta(hours=1)) == 0
    assert read(now + timedelta(days=1)) == 60
