"""What no library expects of a server, over raw sockets: bounded, typed, asked again, and never sent elsewhere."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from enquete.models.chat_replies import MOST_WRITTEN, ModelResponse
from enquete.models.faults import Rejected, Unavailable
from enquete.models.openai_chat import LARGE_AT_ONCE, MOST_BYTES, SMALL_BYTES
from enquete.models.servers import Limiter
from enquete.models.transport import Transport
from enquete.state.errors import ModelError
from enquete.state.interview_context import Prompt
from tests.support.raw_server import RawServer, Replies, bomb, completion, endless, reply

PROMPT = Prompt("You are Ada, a baker of bread.", ({"role": "user", "content": "How are you, and why?"},), "", 100)
GOOD = completion('{"a": 1}')
HEAD = b"HTTP/1.1 200 OK\r\n"


def ask(url: str, times: int = 1) -> list[ModelResponse | BaseException]:
    async def all_of_them() -> list[ModelResponse | BaseException]:
        transport = Transport(
            url, SecretStr("sk-test-0123456789"), limiter=Limiter(256), timeout_s=60, backoff_s=0.001, patience_s=0
        )
        try:
            sends = (transport.send(PROMPT, model="m", temperature=0, seed=1) for _ in range(times))
            return await asyncio.gather(*sends, return_exceptions=True)
        finally:
            await transport.aclose()

    return asyncio.run(all_of_them())


def told(replies: Replies, kind: type[ModelError] = Unavailable) -> ModelError:
    with RawServer(replies) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, kind), got
    return got


def nested(key: bytes, levels: int) -> bytes:
    return GOOD[:-1] + b', "' + key + b'": ' + b'{"a":' * levels + b"1" + b"}" * (levels + 1)


BROKEN: dict[str, list[bytes]] = {
    "no HTTP": [b"SSH-2.0-OpenSSH_9\r\n\r\n"],
    "status in words": [b"HTTP/1.1 fine OK\r\n\r\n"],
    "status of five digits": [b"HTTP/1.1 99999 OK\r\n\r\n"],
    "reason that is no text": [b"HTTP/1.1 200 \xff\xed\xa0\x80\r\nContent-Length: 2\r\n\r\n{}"],
    "header without colon": [HEAD + b"nonsense\r\n\r\n"],
    "header with NUL": [HEAD + b"X: a\0b\r\n\r\n"],
    "header of 100 kB": [HEAD + b"X: " + b"a" * 100_000 + b"\r\n\r\n"],
    "a thousand headers": [HEAD, *(b"X-%d: a\r\n" % n for n in range(1000)), b"\r\n"],
    "two lengths": [HEAD + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n{}"],
    "chunks without size": [HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n"],
    "unknown transfer": [HEAD + b"Transfer-Encoding: wat\r\n\r\n{}"],
    "gzip that is none": reply(b"{}", "200 OK", "Content-Encoding: gzip"),
    "seven packings": reply(b"{}", "200 OK", "Content-Encoding: gzip,gzip,gzip,gzip,gzip,gzip,gzip"),
    "lists without end": reply(b"[" * 200_000),
    "objects without end": reply(nested(b"x", 50_000)),
    "a number of 5000 digits": reply(GOOD[:-1] + b', "x": ' + b"9" * 5000 + b"}"),
    "no UTF-8": reply(b'{"choices": "\xff\xfe"}'),
    "choices in words": reply(completion("", choices="abc")),
    "message of null": reply(completion("", choices=[{"message": None}])),
    "content that is a number": reply(completion(5)),  # type: ignore[arg-type]  # what is tested
    "a bare null": reply(b"null"),
    "nobody's status": reply(GOOD, "000 OK"),
    "nothing changed": [b"HTTP/1.1 304 Not Modified\r\n\r\n"],
    "another protocol": [b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxxxx"],
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_reply_is_typed_and_asked_again(fault: str) -> None:
    """Three attempts, then a fault with a name; and one broken reply before a good one is forgotten."""
    error = told(lambda _: BROKEN[fault])
    assert isinstance(error, Unavailable)
    assert error.sends >= 3
    with RawServer(lambda n: BROKEN[fault] if n == 0 else reply(GOOD)) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, ModelResponse), got
    assert (got.text, got.sends) == ('{"a": 1}', 2)


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"error":' * 50_000, b"\xff\xfe", b'{"error": {"message": [[[]]]}}']
)
@pytest.mark.parametrize("status", ["500 Oops", "400 Oops", "401 Oops"])
def test_an_error_of_any_body_is_an_error(status: str, body: bytes) -> None:
    with RawServer(lambda _: reply(body, status)) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, Rejected if status.startswith("401") else Unavailable)
    assert len(str(got)) < 1000


def heavy(name: str, megabytes: int) -> Iterable[bytes]:
    """A body of so many megabytes, as sent or as unpacked."""
    failed: Iterator[bytes] = (piece.replace(b"200 OK", b"500 No") for piece in endless(megabytes))
    made = {"plain": endless(megabytes), "chunked": endless(megabytes, chunked=True), "failed": failed}
    return made[name] if name in made else bomb(megabytes, 3 if name == "three layers" else 1)


def assert_bounded(name: str, megabytes: int, times: int) -> float:
    """Every request gives up at the limit; peak of Python's memory in MB: what may be read of each and the large ones'
    rest."""
    with RawServer(lambda _: heavy(name, megabytes)) as server:
        tracemalloc.start()
        got = ask(server.base_url, times)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert all(isinstance(outcome, Unavailable) for outcome in got), got
    # at once, one whose connection was shut may say that instead
    named = ["more than 4 MB" in str(outcome) for outcome in got]
    assert all(named) if times == 1 else sum(named) > times / 2, got
    # Of a body in pieces of 1 MB up to one piece is held beside what was read.
    assert peak < times * (SMALL_BYTES + 3 * 2**20) + LARGE_AT_ONCE * 2 * MOST_BYTES + 2**25
    return peak / 2**20


@pytest.mark.parametrize("name", ["plain", "chunked", "failed", "bomb", "three layers"])
def test_a_body_is_read_up_to_its_limit(name: str) -> None:
    assert_bounded(name, 60, 1)


@pytest.mark.chaos
@pytest.mark.parametrize("name", ["plain", "chunked", "failed", "bomb", "three layers"])
@pytest.mark.parametrize("megabytes", [1000])
def test_gigabytes_at_once(name: str, megabytes: int) -> None:
    print(f"{name} {megabytes} MB, 8 at once: peak {assert_bounded(name, megabytes, 8):.0f} MB")


def test_the_same_server_may_send_a_request_on_and_a_long_answer_is_read() -> None:
    text = json.dumps({"a": "x" * 3_000_000})
    with RawServer(lambda _: reply(completion(text))) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, ModelResponse)
    assert got.text == text
    # 307 keeps the question; one that goes round in circles is told.
    there = reply(b"", "307 There", "Location: /v1/other", "Connection: close")
    with RawServer(lambda n: there if n == 0 else reply(GOOD)) as server:
        (got,) = ask(server.base_url)
        assert isinstance(got, ModelResponse)
        assert len(server.requests) == 2
        assert server.requests[0] == server.requests[1]
    assert "again and again" in str(told(lambda _: there))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_is_sent_to_another_origin(status: int) -> None:
    """Moved for good is told at once with the setting; moved for now is asked again here. The persona goes nowhere."""
    with RawServer(lambda _: reply(GOOD)) as thief:
        where = f"Location: {thief.base_url}/chat/completions"
        got = told(lambda _: reply(b"", f"{status} Moved", where), ModelError)  # type: ignore[type-abstract]
        assert thief.requests == []
    assert "redirects to http://127.0.0.1/v1/chat/completions" in str(got)
    for_good = status in (301, 308)
    assert isinstance(got, Rejected if for_good else Unavailable)
    assert ("LLM_BASE_URL" in str(got), got.sends) == ((True, 1) if for_good else (False, 3))


def usage_of(given: Any, made: Any) -> dict[str, Any]:
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given}


@pytest.mark.parametrize("odd", [10**30, 10**12, "many", [1, 2], True, -5, 1.5, {"a": 1}, MOST_WRITTEN + 1])
def test_a_usage_that_cannot_be_loses_no_answer_and_counts_nothing(odd: Any) -> None:
    text = '{"a": "a reply of more than forty characters in all"}'
    for usage in (usage_of(odd, odd), usage_of(50, odd), odd if not isinstance(odd, dict) else [odd]):
        with RawServer(lambda _, usage=usage: reply(completion(text, usage=usage))) as server:  # type: ignore[misc]
            (got,) = ask(server.base_url)
        assert isinstance(got, ModelResponse), got
        assert (got.text, got.sends, got.unbelieved) == (text, 1, True)
        assert got.input_tokens is got.output_tokens is None


@pytest.mark.parametrize("usage", [None, [], {}, usage_of(0, 0), usage_of(float("nan"), 5), {"total_tokens": 5}])
def test_a_usage_that_is_missing_is_no_lie(usage: Any) -> None:
    with RawServer(lambda _: reply(completion("{}", usage=usage))) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, ModelResponse)
    assert (got.input_tokens, got.output_tokens, got.unbelieved) == (None, None, False)


@pytest.mark.parametrize("details", ["x", [1], 5, True, {"cached_tokens": "x"}])
def test_odd_details_of_a_usage_change_nothing(details: Any) -> None:
    usage = {**usage_of(50, 5), "prompt_tokens_details": details, "completion_tokens_details": details}
    with RawServer(lambda _: reply(completion("{}", usage=usage, service_tier="flex"))) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, ModelResponse)
    assert (got.input_tokens, got.output_tokens, got.unbelieved) == (50, 5, False)


@pytest.mark.parametrize(("told", "taken"), [(30, 30), (50, 50), (51, 0), (-1, 0), ("x", 0), (None, 0)])
def test_what_the_server_had_in_its_cache_is_believed_up_to_the_prompt(told: Any, taken: int) -> None:
    usage = {**usage_of(50, 5), "prompt_tokens_details": {"cached_tokens": told}}
    with RawServer(lambda _: reply(completion("{}", usage=usage))) as server:
        (got,) = ask(server.base_url)
    assert isinstance(got, ModelResponse)
    assert (got.input_tokens, got.cached_tokens) == (50, taken)
