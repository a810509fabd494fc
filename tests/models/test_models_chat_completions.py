"""The ladder over real HTTP: what a server cannot do is found out once, remembered, and not learnt twice at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest
from pydantic import JsonValue

from enquete.models.chat_completions import FormatFallback, ResponseFormat, fallback_of, format_field, messages
from enquete.models.faults import Rejected, Unavailable
from enquete.models.parsing import compact, read_object
from enquete.models.server_profiles import Meaning, Verdict
from enquete.state.interview_context import Prompt
from tests.models.test_models_transport import ITEM, SCHEMA, ask, prompt
from tests.support.model_server import ModelServer


def formats(server: ModelServer) -> Counter[str]:
    return Counter(request.rung for request in server.requests)


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ({}, {"json_schema": 2}),
        ({"no_json_schema": 1.0}, {"json_schema": 1, "json_object": 2}),
        ({"no_json_schema": 1.0, "no_json_object": 1.0}, {"json_schema": 1, "json_object": 1, "prompt": 2}),
        ({"json_schema_500": 1.0}, {"json_schema": 3, "json_object": 2}),  # a 500 may pass: three attempts first
    ],
)
def test_what_a_server_cannot_do_is_found_out_once(faults: dict[str, float], expected: dict[str, int]) -> None:
    with ModelServer(faults=faults) as server:
        for question in ("first", "second"):
            answer = asyncio.run(ask(server, question))[0]
            assert set(read_object(answer.text) or {}) == {"a", "b"}
        assert formats(server) == expected


def test_256_refusals_at_once_step_down_once() -> None:
    with ModelServer(faults={"no_json_schema": 1.0}, latency=0.05) as server:
        answers = asyncio.run(ask(server, *map(str, range(256)), limit=256))
        assert len(answers) == 256
        assert formats(server)["prompt"] == 0
        assert formats(server)["json_object"] == 256


@pytest.mark.parametrize("field", ["temperature", "seed", "max_tokens", "max_completion_tokens"])
def test_a_rejected_parameter_is_dropped_and_stays_dropped(field: str) -> None:
    with ModelServer(faults={f"reject_{field}": 1.0}) as server:
        asyncio.run(ask(server, *map(str, range(8)), limit=8))
        asyncio.run(ask(server, "later"))
        asked = [request.body for request in server.requests]
    assert field not in asked[-1]
    assert {"temperature", "seed", "max_tokens", "max_completion_tokens"} - set(asked[-1]) == {field}
    assert sum(field in body for body in asked) <= 8
    assert {request.rung for request in server.requests} == {"json_schema"}


def test_limits_of_the_output_by_the_name_that_a_server_takes() -> None:
    faults = {"reject_max_tokens": 1.0, "reject_max_completion_tokens": 1.0}
    with ModelServer(faults=faults) as server, pytest.raises(Unavailable, match="max_completion_tokens") as caught:
        asyncio.run(ask(server))
    assert caught.value.outage  # a question of a few words is refused as well: nobody would be answered
    body = (
        fallback_of("https://api.openai.com/v1", "gpt-test")
        .form()
        .body(prompt(), model="gpt-test", temperature=1.0, seed=2)
    )
    assert body["max_completion_tokens"] == 500
    assert "max_tokens" not in body


def test_an_outage_or_one_odd_prompt_does_not_wear_the_ladder_down() -> None:
    # 500 on every format says nothing about any of them: after the outage the first is used again.
    with ModelServer(faults={"http_500": 1.0}) as server:
        with pytest.raises(Exception, match="answered 500"):
            asyncio.run(ask(server))
        server.faults = {}
        asyncio.run(ask(server))
        assert server.requests[-1].rung == "json_schema"
        server.faults = {"http_500": 1.0}
        with pytest.raises(Exception, match="asked 3 times"):  # a format that has worked is not to blame
            asyncio.run(ask(server))
    # The server dislikes one question; everybody else stays on the upper format.
    with ModelServer() as server:
        asyncio.run(ask(server, "fine"))
        server.faults = {"http_400": 1.0}
        with pytest.raises(Rejected, match="refused the request with 400: Bad request"):
            asyncio.run(ask(server, "odd"))
        server.faults = {}
        asyncio.run(ask(server, "fine again"))
        assert [request.rung for request in server.requests] == ["json_schema",
            *("json_schema", "json_object", "prompt"), "json_schema"]  # fmt: skip


def test_a_tried_format_is_kept_only_while_no_better_one_works() -> None:
    fallback = FormatFallback()
    tried = fallback.form(lowest=ResponseFormat.JSON_OBJECT)
    better = fallback.form()
    fallback.worked(better)
    fallback.worked(tried)
    assert fallback.form().reply_format is ResponseFormat.JSON_SCHEMA
    complaint = Verdict(Meaning.PARAMETER, parameter="response_format")
    fallback.after(better, complaint)
    fallback.after(better, complaint)
    assert fallback.form().reply_format is ResponseFormat.JSON_OBJECT


def test_the_prompt_suffices_on_every_format_and_a_schema_is_strict_where_it_can_be() -> None:
    asked = Prompt(
        "system", ({"role": "user", "content": "q1"}, {"role": "assistant", "content": "a1"}), compact(SCHEMA), 10
    )
    turns = messages(asked, ResponseFormat.JSON_SCHEMA)
    assert [role for role, _ in turns] == ["system", "user", "assistant", "user"]
    heading, schema = turns[-1][1].split("\n")
    assert heading == "JSON schema:"
    assert json.loads(schema) == SCHEMA
    assert messages(prompt("q"), ResponseFormat.PROMPT)[-1][1].startswith("q\n\nJSON schema:\n{")
    spoken = replace(prompt("q"), says_form=True)  # and the schema is sent beside it on the first format
    assert [messages(spoken, each)[-1][1] == "q" for each in ResponseFormat] == [True, False, False]
    fixed = format_field(ResponseFormat.JSON_SCHEMA, compact(SCHEMA))["response_format"]
    assert isinstance(fixed, dict)
    inner = fixed["json_schema"]
    assert isinstance(inner, dict)
    closed_item = {**ITEM, "additionalProperties": False}
    closed = {**SCHEMA, "properties": {"a": closed_item, "b": closed_item}, "additionalProperties": False}
    assert inner == {"name": "answer", "schema": closed, "strict": True}
    optional: dict[str, JsonValue] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}
    assert '"strict": false' in json.dumps(format_field(ResponseFormat.JSON_SCHEMA, compact(optional)))
    free: dict[str, JsonValue] = {"type": "object", "additionalProperties": {"type": "number"}}
    assert '"strict": false' in json.dumps(format_field(ResponseFormat.JSON_SCHEMA, compact(free)))
