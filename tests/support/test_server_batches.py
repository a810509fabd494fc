"""The model server's Batch API, as OpenAI's own client reads it: what is bought, when, and where it is found again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types import Batch

from tests.support.model_server import ModelServer
from tests.support.server_batches import ENDPOINT

RUN = {"run_id": "run_1"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def client(server: ModelServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0, timeout=10) as made:
        yield made


def body(name: str, model: str = "m") -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "system", "content": name}, {"role": "user", "content": "q"}]}


def lines(*names: str, model: str = "m") -> bytes:
    asked = [{"custom_id": n, "method": "POST", "url": ENDPOINT, "body": body(n, model)} for n in names]
    return "".join(json.dumps(line) + "\n" for line in asked).encode()


def order(client: openai.OpenAI, content: bytes) -> Batch:
    file = client.files.create(file=("round.jsonl", content), purpose="batch")
    return client.batches.create(input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", metadata=dict(RUN))


def ask_until_refused(client: openai.OpenAI) -> None:
    """The doors close in their own time."""
    while True:
        client.models.list()


def lines_of(client: openai.OpenAI, file: str | None) -> dict[str, Any]:
    """By custom_id, what the lines of one of a batch's files hold."""
    text = client.files.content(file).text if file else ""
    return {line["custom_id"]: line["response"] or line["error"] for line in map(json.loads, text.splitlines())}


def test_a_batch_answers_what_the_same_requests_get_one_by_one(server: ModelServer, client: openai.OpenAI) -> None:
    batch = order(client, lines("ada", "bob"))
    assert (batch.status, server.count()) == ("validating", 0)
    done = client.batches.retrieve(batch.id)
    assert (done.status, done.metadata, done.error_file_id) == ("completed", RUN, None)
    came = lines_of(client, done.output_file_id)
    assert list(came) == ["ada", "bob"]
    assert server.repeated() == {}
    for name, response in came.items():
        alone = client.chat.completions.create(**body(name))
        assert response["body"]["choices"][0]["message"]["content"] == alone.choices[0].message.content
        assert alone.usage
        assert response["body"]["usage"] == alone.usage.model_dump(exclude_none=True)


def test_polls_move_it_on_and_nothing_else(server: ModelServer, client: openai.OpenAI) -> None:
    """Two of five lines a poll: 2, 4, 5, so the third ends it. While it is held, polls do nothing."""
    server.batches.a_poll, server.batches.held = 2, True
    batch = order(client, lines(*"abcde"))
    assert client.batches.retrieve(batch.id).status == "validating"
    server.batches.held = False
    seen = [client.batches.retrieve(batch.id) for _ in range(3)]
    assert [(job.status, job.request_counts and job.request_counts.completed) for job in seen] == [
        ("in_progress", 2),
        ("in_progress", 4),
        ("completed", 5),
    ]
    assert client.batches.retrieve(batch.id).status == "completed"
    assert server.count() == 5


def test_what_expires_was_not_bought(server: ModelServer, client: openai.OpenAI) -> None:
    server.batches.expires_after = 2
    late = client.batches.retrieve(order(client, lines(*"abc")).id)
    assert late.status == "expired"
    assert list(lines_of(client, late.output_file_id)) == ["a", "b"]
    assert lines_of(client, late.error_file_id)["c"]["code"] == "batch_expired"
    assert server.count() == 2
    assert client.batches.retrieve(order(client, lines("c")).id).status == "completed"  # only that one expires


def test_a_failed_line_is_answered_when_it_is_asked_again(server: ModelServer, client: openai.OpenAI) -> None:
    server.batches.fails = lambda name, time: name == "b" and time == 0
    first = client.batches.retrieve(order(client, lines("a", "b")).id)
    assert first.status == "completed"
    assert lines_of(client, first.error_file_id)["b"]["status_code"] == 500
    again = client.batches.retrieve(order(client, lines("b")).id)
    assert list(lines_of(client, again.output_file_id)) == ["b"]
    assert (server.count(), server.repeated()) == (2, {})


def test_a_line_refused_for_its_form_says_why(server: ModelServer, client: openai.OpenAI) -> None:
    server.faults = {"http_400": 1.0}
    done = client.batches.retrieve(order(client, lines("a")).id)
    refused = lines_of(client, done.error_file_id)["a"]
    assert (refused["status_code"], refused["body"]["error"]["message"]) == (400, "Bad request")


def test_a_batch_whose_creation_was_never_acknowledged_is_listed_by_its_run(
    server: ModelServer, client: openai.OpenAI
) -> None:
    """In pages of one, the newest first."""
    first = order(client, lines("a"))
    server.batches.loses_reply = True
    with pytest.raises(openai.APIConnectionError):
        order(client, lines("b"))
    listed = [(batch.id, batch.metadata) for batch in client.batches.list(limit=1)]
    assert listed == [("batch_2", RUN), (first.id, RUN)]


def test_a_server_that_comes_back_still_has_it(server: ModelServer, client: openai.OpenAI) -> None:
    batch = order(client, lines("a"))
    server.vanish()
    with pytest.raises(openai.APIConnectionError):
        ask_until_refused(client)
    server.come_back()
    patient = client.with_options(max_retries=10)
    assert patient.batches.retrieve(batch.id).status == "completed"
    assert server.count() == 1


def test_cancelled_on_request(server: ModelServer, client: openai.OpenAI) -> None:
    server.batches.a_poll = 1
    batch = order(client, lines("a", "b"))
    client.batches.retrieve(batch.id)
    assert client.batches.cancel(batch.id).status == "cancelling"
    ended = client.batches.retrieve(batch.id)
    assert ended.status == "cancelled"
    assert list(lines_of(client, ended.output_file_id)) == ["a"]
    assert lines_of(client, ended.error_file_id)["b"]["code"] == "batch_cancelled"
    with pytest.raises(openai.ConflictError, match="cancelled"):
        client.batches.cancel(batch.id)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no json\n", "invalid_json_line"),
        (lines("a", "a"), "duplicate_custom_id"),
        (lines("a") + lines("b", model="n"), "mismatched_model"),
        (b"", "empty_file"),
    ],
)
def test_an_input_file_that_cannot_be_taken_fails_as_a_whole(
    server: ModelServer, client: openai.OpenAI, content: bytes, code: str
) -> None:
    failed = order(client, content)
    assert failed.status == "failed"
    assert failed.errors
    assert failed.errors.data
    assert failed.errors.data[0].code == code
    assert server.count() == 0
