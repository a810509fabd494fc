"""The model server itself: deterministic answers that fit their schema, faults at their rate, a log that survives."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer
from tests.support.schema_filler import fill, schema_in_prompt, sentence
from tests.support.server_faults import Draw, spoil

ROOT = Path(__file__).parents[2]
ITEM = {"type": "object", "properties": {"value": {"type": "integer", "minimum": 1, "maximum": 5}}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"Mood": {"enum": ["calm", "angry"]}},
    "properties": {
        "scale": {"type": "integer", "minimum": -3, "maximum": 3},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "odd": {"type": "integer", "exclusiveMinimum": 10, "exclusiveMaximum": 12},
        "choice": {"type": "integer", "enum": [1, 3, 5]},
        "mood": {"$ref": "#/$defs/Mood"},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 12}]},
        "either": {"type": ["number", "null"]},
        "themes": {"type": "array", "minItems": 2, "maxItems": 4, "items": {"type": "string"}},
        "ranks": {
            "type": "array",
            "minItems": 3,
            "maxItems": 3,
            "uniqueItems": True,
            "items": {"enum": ["x", "y", "z"]},
        },
        "yes": {"type": "boolean"},
        "fixed": {"const": "v1"},
        "items": {"type": "object", "properties": {"a": ITEM, "b": ITEM}},
    },
}


def post(server: ModelServer | str, body: dict[str, Any]) -> dict[str, Any]:
    url = server if isinstance(server, str) else server.base_url
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        reply: dict[str, Any] = json.load(response)
    return reply


def body(question: str = "q", schema: dict[str, Any] = SCHEMA, system: str = "s") -> dict[str, Any]:
    text = f"{question}\n\nJSON schema:\n{json.dumps(schema)}"
    return {"model": "m", "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}]}


def answer(server: ModelServer, asked: dict[str, Any]) -> Any:
    return json.loads(post(server, asked)["choices"][0]["message"]["content"])


@pytest.mark.parametrize("who", [f"agent {number}" for number in range(40)])
def test_values_fit_their_schema(who: str) -> None:
    made = fill(SCHEMA, who)
    assert -3 <= made["scale"] <= 3
    assert 0 <= made["share"] <= 1
    assert made["odd"] == 11
    assert made["choice"] in (1, 3, 5)
    assert made["mood"] in ("calm", "angry")
    assert isinstance(made["maybe"], str)
    assert len(made["maybe"]) <= 12
    assert isinstance(made["either"], float)
    assert 2 <= len(made["themes"]) <= 4
    assert sorted(made["ranks"]) == ["x", "y", "z"]
    assert isinstance(made["yes"], bool)
    assert made["fixed"] == "v1"
    assert 1 <= made["items"]["a"]["value"] <= 5


def test_the_answer_depends_on_who_and_what_only() -> None:
    """However it is asked: by response_format or in the prompt, alone or beside other items, again or first."""
    half = {**SCHEMA, "properties": {"scale": SCHEMA["properties"]["scale"]}}
    by_format = body("other words") | {
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}}
    }
    with ModelServer(seed=5) as server:
        first = answer(server, body())
        assert answer(server, body()) == answer(server, by_format) == first
        assert answer(server, body(schema=half)) == {"scale": first["scale"]}
        assert answer(server, body(system="somebody else")) != first
        assert server.repeated() == {server.requests[0].key: 2}
    with ModelServer(seed=6) as server:
        assert answer(server, body()) != first


def test_sentences_do_not_repeat() -> None:
    assert len({sentence(number * 7919) for number in range(20_000)}) == 20_000


def test_a_script_and_prose_without_a_schema() -> None:
    plain = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    with ModelServer(script=lambda asked: "scripted" if len(asked["messages"]) == 2 else None) as server:
        assert post(server, body())["choices"][0]["message"]["content"] == "scripted"
        assert post(server, plain)["choices"][0]["message"]["content"].endswith(".")
    assert schema_in_prompt("JSON schema:\nnot json") is None


def test_faults_come_at_their_rate_and_are_drawn_anew_for_a_retry() -> None:
    hits = [Draw(1, f"{n}", 0, {"http_500": 0.2}).hit("http_500") for n in range(4000)]
    assert 0.17 < sum(hits) / 4000 < 0.23  # binomial: 0.2 ± 4.7 standard errors
    again = [Draw(1, f"{n}", 1, {"http_500": 0.2}).hit("http_500") for n in range(4000) if hits[n]]
    assert 0.1 < sum(again) / len(again) < 0.3
    assert not Draw(1, "x", 0, {"http_500": 0.0}).hit("http_500")
    assert Draw(1, "x", 0, {"http_500": 1.0}).hit("http_500")


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("wrong_keys", '{"question_0": {"v": 1}, "question_1": {"v": 2}}'),
        ("missing_items", '{"a": {"v": 1}}'),
        ("out_of_range", '{"a": {"v": 1999}, "b": {"v": 2999}}'),
        ("wrong_types", '{"a": {"v": "1"}, "b": {"v": "2"}}'),
    ],
)
def test_what_faults_do(fault: str, text: str) -> None:
    good = '{"a": {"v": 1}, "b": {"v": 2}}'
    assert spoil(good, Draw(0, "x", 0, {fault: 1.0})) == (text, [fault], False)
    wrapped = f'{{"answers": {good}}}'
    if fault == "missing_items":
        assert spoil(wrapped, Draw(0, "x", 0, {fault: 1.0}))[0] == f'{{"answers": {text}}}'


def test_a_misspelt_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="no fault 'http_5000'"):
        ModelServer(faults={"http_5000": 0.1})
    with pytest.raises(ValueError, match="not within"):
        ModelServer(faults={"http_500": 20})


def test_as_a_process_with_a_log(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, "-m", "tests.support.model_server", "--log", str(log), "--faults", '{"code_fence": 1}']
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert "```json" in post(url, body())["choices"][0]["message"]["content"]
        (line,) = log.read_text().splitlines()
        with urllib.request.urlopen(url.replace("/v1", "/log"), timeout=60) as response:
            summary = json.load(response)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert json.loads(line)["faults"] == ["code_fence"]
    assert (summary["requests"], summary["repeated"], summary["faults"]) == (1, 0, {"code_fence": 1})
