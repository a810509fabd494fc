"""Servers as they are: the oddities of public issue threads, each in a whole run over real HTTP, with the right result.

Where each was seen: /models/server_profiles.yaml names the server. Five agents of whom only Berta Brandt's prompt is
ever refused, four items each: 20 answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import enquete
from enquete.interfaces.cli.summary import headline
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.odd_server import Oddity, OddServer, as_events, content_of, prompt_of, with_message
from tests.support.studies import rows

Answer = Callable[[], dict[str, Any]]
NAMES = ("Anton Adler", "Berta Brandt", "Carla Conrad", "Dirk Dahl", "Emma Ernst")
TARGET = "Berta Brandt"
INSTRUMENT = """
instrument_id: harbour
version: "1"
title: Harbour
topic: Harbour
language_default: en
languages: [en]
items:
  - {item_id: fair, en: Harbour fees are fair.}
  - {item_id: need, en: The harbour is needed.}
  - {item_id: loud, en: The harbour is too loud., reverse_coded: true}
  - {item_id: fish, en: There is enough fresh fish at the harbour.}
"""


def interview(tmp_path: Path, server: ModelServer, **more: Any) -> enquete.Run:
    people = tmp_path / "people.json"
    if not people.exists():
        people.write_text(json.dumps([{"name": name, "persona": f"{name} lives here."} for name in NAMES]), "utf-8")
    instrument = tmp_path / "harbour.yaml"
    instrument.write_text(INSTRUMENT, "utf-8")
    more = {"patience_s": 5, "budget_tokens": 10**7, **more}
    return bare_runs.interview(
        people, out=str(tmp_path / "out"), base_url=server.base_url, model="m", respondent="llm", language="en",
        methods=["longitudinal"], instruments={"longitudinal": str(instrument)}, **more,
    )  # fmt: skip


def statuses(run: enquete.Run) -> Counter[str]:
    return Counter(dict(rows(run.folder, "SELECT status, count(*) FROM answers GROUP BY status")))


def is_target(body: dict[str, Any]) -> bool:
    return TARGET in prompt_of(body)


# --- one prompt is refused -------------------------------------------------------------------------------------------


def openrouter_moderation(body: dict[str, Any], number: int, answer: Answer) -> Any:
    metadata = {"reasons": ["violence"], "flagged_input": "…", "provider_name": "X"}
    told = {"error": {"code": 403, "message": "Input was flagged by moderation", "metadata": metadata}}
    return (403, told) if is_target(body) else answer()


def dashscope_filter(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "Input data may contain inappropriate content."
    told = {"error": {"code": "data_inspection_failed", "param": None, "message": words, "type": "x"}, "id": "x"}
    return (400, told) if is_target(body) else answer()


def deepseek_risk(body: dict[str, Any], number: int, answer: Answer) -> Any:
    told = {"error": {"message": "Content Exists Risk", "type": "invalid_request_error", "code": "x"}}
    return (400, told) if is_target(body) else answer()


def gemini_prohibited(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return with_message(answer(), "PROHIBITED_CONTENT") if is_target(body) else answer()


@pytest.mark.parametrize("oddity", [openrouter_moderation, dashscope_filter, deepseek_risk, gemini_prohibited])
def test_one_refused_prompt_is_one_refused_agent(oddity: Oddity, tmp_path: Path) -> None:
    with OddServer(oddity) as server:
        run = interview(tmp_path, server)
        refused = [request for request in server.requests if is_target(request.body)]
    assert run.status == "completed"
    assert statuses(run) == {"ok": 16, "refused": 4}
    assert not rows(run.folder, "SELECT 1 FROM answers WHERE status = 'failed'")  # so nothing is offered to be retried
    if oddity is not gemini_prohibited:  # an error: nothing was delivered, and nothing is counted
        assert len(refused) == 1
        counted = "SELECT input_tokens + output_tokens + allowance FROM calls WHERE finish = 'content_filter'"
        assert rows(run.folder, counted) == [(0,)]


# --- what stops or pauses the run, in the server's words -------------------------------------------------------------


def gemini_key(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "API key not valid. Please pass a valid API key."
    return 400, [{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}]


def openrouter_no_credit(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return {"error": {"code": 402, "message": "Insufficient credits. Add more using https://example.org"}}


def dashscope_arrears(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "Access denied, please make sure your account is in good standing."
    return 400, {"error": {"code": "Arrearage", "param": None, "message": words, "type": "Arrearage"}}


def moonshot_no_balance(body: dict[str, Any], number: int, answer: Answer) -> Any:
    told = {"message": "Your account is suspended, please check your plan", "type": "exceeded_current_quota_error"}
    return 429, {"error": told}


def cloudflare_page(body: dict[str, Any], number: int, answer: Answer) -> Any:
    page = "<!DOCTYPE html><html><title>Just a moment...</title></html>"
    return web.Response(status=403, text=page, content_type="text/html")


def unheard_of(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return 400, {"error": {"message": "The flux is not aligned."}}


@pytest.mark.parametrize(
    ("oddity", "status", "words"),
    [
        (gemini_key, "failed", "API key not valid. Please pass a valid API key. Check LLM_API_KEY"),
        (openrouter_no_credit, "paused", "402: Insufficient credits. Add more using https://example.org. No credit is"),
        (dashscope_arrears, "paused", "please make sure your account is in good standing. No credit is left there"),
        (moonshot_no_balance, "paused", "with 429: Your account is suspended, please check your plan. No credit"),
        (cloudflare_page, "paused", "with 403: an HTML page. It is unclear what would help"),
        (unheard_of, "paused", "with 400: The flux is not aligned. It is unclear what would help"),
    ],
)  # fmt: skip
def test_what_befalls_everybody_stops_the_run_at_once(oddity: Oddity, status: str, words: str, tmp_path: Path) -> None:
    with OddServer(oddity) as server:
        run = interview(tmp_path, server)
        asked = len(server.requests)
    assert run.status == status
    assert words in (run.note or "")
    assert "LLM_MODEL_NAME" not in (run.note or "")
    assert run.spent.get("tokens", 0) == 0
    assert statuses(run) == {}
    assert asked <= 20  # five agents begin side by side; what is unclear is tried in three forms, and in few words


def litellm_budget(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "Budget has been exceeded! Current cost: 10.1, Max budget: 10.0"
    told = {"error": {"message": words, "type": "budget_exceeded", "param": None, "code": "400"}}
    return (400, told) if number > 3 else answer()


def test_a_budget_that_is_spent_halfway_pauses_and_the_rest_is_asked_later(tmp_path: Path) -> None:
    with OddServer(litellm_budget) as server:
        run = interview(tmp_path, server)
    assert (run.status, statuses(run)) == ("paused", {"ok": 12})
    assert "Budget has been exceeded! Current cost: 10.1, Max budget: 10.0" in (run.note or "")


# --- a parameter -----------------------------------------------------------------------------------------------------


def gemini_seed(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
    told = [{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}]
    return (400, told) if "seed" in body else answer()


def gpt5(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) is supported."
    told = {"error": {"message": words, "type": "invalid_request_error", "param": "temperature", "code": "x"}}
    return (400, told) if body.get("temperature", 1) != 1 else answer()


def few_output_tokens(body: dict[str, Any], number: int, answer: Answer) -> Any:
    asked = body.get("max_tokens") or body.get("max_completion_tokens") or 0
    words = f"max_tokens is too large: {asked}. This model supports at most 512 completion tokens, whereas you …"
    told = {"error": {"message": words, "type": "invalid_request_error", "param": "max_tokens", "code": "x"}}
    return (400, told) if asked > 512 else answer()


def no_system_role(body: dict[str, Any], number: int, answer: Answer) -> Any:
    told = {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}
    return (400, told) if any(turn["role"] == "system" for turn in body["messages"]) else answer()


def no_thinking(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "parameter.enable_thinking must be set to false for non-streaming calls"
    told = {"error": {"code": "invalid_parameter_error", "param": None, "message": words}}
    return answer() if body.get("enable_thinking") is False else (400, told)


def stream_only(body: dict[str, Any], number: int, answer: Answer) -> Any:
    words = "This model only support stream mode, please enable the stream parameter to access the model."
    told = {"error": {"code": "invalid_parameter_error", "param": None, "message": words}}
    return as_events(answer()) if body.get("stream") else (400, told)


@pytest.mark.parametrize(
    ("oddity", "sent"),
    [
        (gemini_seed, {"seed": None}),
        (gpt5, {"temperature": None}),
        (few_output_tokens, {"max_tokens": 512}),
        (no_system_role, {"system": None}),
        (no_thinking, {"enable_thinking": False}),
        (stream_only, {"stream": True, "stream_options": {"include_usage": True}}),
    ],
)
def test_a_parameter_is_put_as_the_server_takes_it_and_recorded(
    oddity: Oddity, sent: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with OddServer(oddity) as server:
        run = interview(tmp_path, server)
        asked = len(server.requests)
    assert statuses(run) == {"ok": 20}
    assert 6 <= asked <= 10  # those that begin side by side are refused, and nobody later
    recorded = [json.loads(raw).get("sent") for (raw,) in rows(run.folder, "SELECT raw FROM calls")]
    assert recorded == [sent] * 5
    told = {
        "temperature": "does not take temperature", "max_tokens": "takes a max_tokens of at most 512",
        "system": "takes no system message", "enable_thinking": "enable_thinking: false", "stream": "stream: true",
        "seed": "does not take seed",
    }  # fmt: skip
    assert any(told[next(iter(sent))] in message for message in caplog.messages)


def test_what_was_really_sent_is_said_wherever_the_temperature_is(tmp_path: Path) -> None:
    """Terminal, account, report, table, codebook and the instruments' file: not "temperature 0.7" (gpt-5's refusal)."""
    people = tmp_path / "people.json"
    people.write_text(json.dumps([{"name": name, "persona": f"{name} lives here."} for name in NAMES]), "utf-8")
    (tmp_path / "harbour.yaml").write_text(INSTRUMENT, "utf-8")
    with OddServer(gpt5) as server:
        run = enquete.conduct_interviews(
            people, out=str(tmp_path / "out"), base_url=server.base_url, model="m", respondent="llm", language="en",
            methods=["longitudinal"], instruments={"longitudinal": str(tmp_path / "harbour.yaml")}, temperature=0.7,
            budget_tokens=10**7,
        )  # fmt: skip
    assert run.status == "completed", run.note
    assert run.sent_otherwise == {"m": {"temperature": None}}
    told = "Answered by m, at its server's default temperature: the model does not take 0.7."
    assert told in "\n".join(headline(run))
    written = {path.name: path for path in sorted((tmp_path / "out").rglob("*"))}
    account = json.loads(written["account.json"].read_text("utf-8"))
    used = json.loads(written["instruments_used.json"].read_text("utf-8"))
    (arm,) = account["arms"]
    assert (arm["temperature"], arm["sent"]) == (None, "temperature: left out")
    assert used["sent_otherwise"] == {"m": {"temperature": None}}
    frame = run.responses
    assert frame["temperature"].isna().all()
    assert "The model does not take temperature 0.7" in written["appendix.md"].read_text("utf-8")


# --- where the answer is ---------------------------------------------------------------------------------------------


def in_reasoning(body: dict[str, Any], number: int, answer: Answer) -> Any:
    completion = answer()
    return with_message(completion, content=None, reasoning_content=content_of(completion), tool_calls=[])


def in_a_tool_call(body: dict[str, Any], number: int, answer: Answer) -> Any:
    completion = answer()
    call = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": content_of(completion)}}
    return with_message(completion, "tool_calls", content=None, tool_calls=[call])


def in_parts(body: dict[str, Any], number: int, answer: Answer) -> Any:
    completion = answer()
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": content_of(completion)}]
    return with_message(completion, content=parts)


def as_an_object(body: dict[str, Any], number: int, answer: Answer) -> Any:
    completion = answer()
    return with_message(completion, content=json.loads(content_of(completion)))


def as_a_stream(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return as_events(answer())


def as_plain_text(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return web.Response(text=json.dumps(answer()), content_type="text/plain")


def with_an_empty_error(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return answer() | {"error": {"message": "", "type": "", "param": "", "code": None}}


def as_a_text_completion(body: dict[str, Any], number: int, answer: Answer) -> Any:
    completion = answer()
    return {**completion, "choices": [{"index": 0, "text": content_of(completion), "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("oddity", "stood_in"),
    [
        (in_reasoning, "reasoning"), (in_a_tool_call, "tool_calls"), (in_parts, None), (as_an_object, None),
        (as_a_stream, None), (as_plain_text, None), (with_an_empty_error, None), (as_a_text_completion, None),
    ],
)  # fmt: skip
def test_the_answer_is_looked_for_where_it_is(oddity: Oddity, stood_in: str | None, tmp_path: Path) -> None:
    with OddServer(oddity) as server:
        run = interview(tmp_path, server)
        assert len(server.requests) == 5
    assert statuses(run) == {"ok": 20}
    told = {json.loads(raw).get("answer_in") for (raw,) in rows(run.folder, "SELECT raw FROM calls")}
    assert told == {stood_in}
    estimated = "SELECT count(*) FROM calls WHERE input_tokens = 0 OR output_tokens = 0 OR allowance > 0"
    assert rows(run.folder, estimated) == [(0,)]


# --- replies that are none -------------------------------------------------------------------------------------------


def first_of_each_agent(oddity: Oddity) -> Oddity:
    """The oddity for the first reply to each agent; the next is whole."""
    seen: set[str] = set()

    def once(body: dict[str, Any], number: int, answer: Answer) -> Any:
        who = next(name for name in NAMES if name in prompt_of(body))
        if who in seen:
            return answer()
        seen.add(who)
        return oddity(body, number, answer)

    return once


def broken_off(body: dict[str, Any], number: int, answer: Answer) -> Any:
    choice = {
        "index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "error",
        "error": {"code": 502, "message": "Upstream idle timeout"},
    }  # fmt: skip
    return answer() | {"choices": [choice], "usage": {"prompt_tokens": 11, "completion_tokens": 3}}


def broken_off_unreported(body: dict[str, Any], number: int, answer: Answer) -> Any:
    """Of a reply that holds something, what is complete counts: tests/study/test_broken_replies.py."""
    nothing = with_message(answer(), "error", content="")
    return nothing | {"usage": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}}


@pytest.mark.parametrize(("oddity", "booked"), [(broken_off, 14), (broken_off_unreported, 0)])
def test_a_broken_reply_is_the_servers_fault_and_costs_what_it_reports(
    oddity: Oddity, booked: int, tmp_path: Path
) -> None:
    with OddServer(first_of_each_agent(oddity)) as server:
        run = interview(tmp_path, server)
    assert statuses(run) == {"ok": 20}
    assert rows(run.folder, "SELECT sum(sends), sum(allowance) FROM calls") == [(10, 5 * booked)]
    noted = [note for (raw,) in rows(run.folder, "SELECT raw FROM calls") for note in json.loads(raw).get("notes", [])]
    assert len(noted) == (0 if booked else 5)


def all_room_for_thinking(body: dict[str, Any], number: int, answer: Answer) -> Any:
    room = body.get("max_tokens") or body.get("max_completion_tokens") or 0
    if room >= 6000:
        return answer()
    thinking = with_message(answer(), "length", content="", reasoning="Okay, the user wants me to answer. " * 40)
    return thinking | {"usage": {"prompt_tokens": 300, "completion_tokens": room, "total_tokens": 300 + room}}


def test_room_spent_on_thinking_is_said_and_more_is_given(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with OddServer(all_room_for_thinking) as server:
        run = interview(tmp_path, server)
    assert statuses(run) == {"ok": 20}
    assert any("spends the room of its replies on thinking" in message for message in caplog.messages)
    lost = len(server.requests) - 5
    assert 1 <= lost <= 5  # those that began side by side
    assert rows(run.folder, "SELECT sum(allowance) FROM calls") == [(lost * (300 + 1024),)]  # as reported


def local_thinker(body: dict[str, Any], number: int, answer: Answer) -> Any:
    if (body.get("chat_template_kwargs") or {}).get("enable_thinking") is False:
        return answer()
    return with_message(answer(), "length", content="", reasoning_content="Hm. " * 99)


def test_thinking_is_left_out_where_it_is_known_how(tmp_path: Path) -> None:
    props = {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 2}
    with OddServer(local_thinker, {"/props": lambda: props}) as server:
        run = interview(tmp_path, server)
    assert statuses(run) == {"ok": 20}
    assert {json.loads(raw)["sent"]["chat_template_kwargs"]["enable_thinking"] for (raw,) in rows(
        run.folder, "SELECT raw FROM calls")} == {False}  # fmt: skip


def waits_in_milliseconds(body: dict[str, Any], number: int, answer: Answer) -> Any:
    return 429, {"error": {"message": "Rate limit reached. Please try again in 20ms."}}


def test_later_in_words_is_waited_for(tmp_path: Path) -> None:
    with OddServer(first_of_each_agent(waits_in_milliseconds)) as server:
        run = interview(tmp_path, server)
    assert statuses(run) == {"ok": 20}


# --- contexts --------------------------------------------------------------------------------------------------------


def long_people(tmp_path: Path) -> None:
    people = [
        {"name": name, "persona": f"{name}. " + "Lives at the harbour and has much to say. " * 600} for name in NAMES
    ]
    (tmp_path / "people.json").write_text(json.dumps(people), "utf-8")


@pytest.mark.parametrize("says_its_window", [True, False])
def test_a_prompt_that_was_cut_in_silence_is_asked_again_shortened(
    says_its_window: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ollama with a window of 4,096 tokens: longer prompts lose their front, and prompt_tokens alone tells."""
    is_loaded: list[bool] = []

    def ollama(body: dict[str, Any], number: int, answer: Answer) -> Any:
        is_loaded.append(True)
        tokens = len(prompt_of(body)) // 4
        read = tokens if tokens <= 4096 else 4096 // 2 + 2
        return answer() | {"usage": {"prompt_tokens": read, "completion_tokens": 40, "total_tokens": read + 40}}

    def loaded() -> Any:
        models = [{"name": "m", "model": "m", "context_length": 4096}]
        return {"models": models if is_loaded and says_its_window else []}

    long_people(tmp_path)
    with OddServer(ollama, {"/api/ps": loaded}) as server:
        run = interview(tmp_path, server)
        lengths = [len(prompt_of(request.body)) // 4 for request in server.requests]
    assert statuses(run) == {"ok": 20}
    assert sum(length > 4096 for length in lengths) <= 5  # those that began side by side
    assert [length <= 4096 for length in lengths[-5:]] == [True] * 5
    assert any("read 2,050 tokens of a prompt that is longer" in message for message in caplog.messages)
    assert rows(run.folder, "SELECT sum(value) FROM counters WHERE name = 'shortened'") == [(5,)]


@pytest.mark.parametrize(
    "told",
    [
        {"error": {"message": "This model's maximum context length is 4096 tokens. However, you requested 9000."}},
        {"error": {"code": 400, "message": "the request exceeds the available context size", "n_ctx": 4096,
                   "type": "exceed_context_size_error"}},
        {"error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with "
                  "context length of only 4096 tokens"},
        {"error": {"message": "Input is too long for requested model."}},
    ],
)  # fmt: skip
def test_a_context_is_learnt_from_the_servers_words(told: dict[str, Any], tmp_path: Path) -> None:
    def refuses(body: dict[str, Any], number: int, answer: Answer) -> Any:
        room = body.get("max_tokens") or 0
        return (400, told) if len(prompt_of(body)) // 4 + room > 4096 else answer()

    long_people(tmp_path)
    with OddServer(refuses) as server:
        run = interview(tmp_path, server)
    assert run.status == "completed", run.note
    assert statuses(run) == {"ok": 20}
    assert rows(run.folder, "SELECT sum(allowance) FROM calls") == [(0,)]
