"""Models of other protocols in whole runs: Anthropic, Gemini, Ollama by `provider:name`, any chat model as an object.

A small server speaks the protocols (tests/support/provider_server.py); what is asked, counted and told is the same as
of an OpenAI-compatible one.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.models.langchain_chat import completion_of
from enquete.models.prices import Prices
from enquete.state.errors import SettingsError
from enquete.state.model_names import bare_name, label_chat_model, provider_of
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.provider_server import Asked, ProviderServer, Refusal
from tests.support.studies import personas, rows

pytest.importorskip("langchain")
pytestmark = pytest.mark.filterwarnings("default")  # the packages' own
KEYS = {"ANTHROPIC_API_KEY": "key-of-claude", "GOOGLE_API_KEY": "key-of-gemini"}
PROVIDED = [
    ("anthropic:claude-test", "langchain_anthropic"), ("google_genai:gemini-2.5-flash", "langchain_google_genai"),
    ("ollama:llama3.2:3b", "langchain_ollama"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def run_poll(tmp_path: Path, model: Any, agents: int = 2, **more: Any) -> enquete.Run:
    more = {"methods": ["longitudinal"], "language": "en", "budget_tokens": 10**7, **more}
    return bare_runs.interview(
        personas(tmp_path, agents), out=str(tmp_path / "out"), model=model, respondent="llm", **more
    )


def statuses(run: enquete.Run) -> Counter[str]:
    return Counter(dict(rows(run.folder, "SELECT status, count(*) FROM answers GROUP BY status")))


@pytest.mark.parametrize(("model", "package"), PROVIDED)
def test_a_provider_answers_a_run(model: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    with ProviderServer() as server:
        run = run_poll(tmp_path, model, base_url=server.root)
    assert run.status == "completed", run.note
    assert statuses(run) == {"ok": 30}  # two agents, fifteen items each
    assert {asked.model for asked in server.requests} == {bare_name(model)}
    assert all(asked.schema for asked in server.requests)  # each protocol's own way of naming the form
    counted = rows(run.folder, "SELECT sum(input_tokens), sum(sends) FROM calls")
    assert counted == [(sum(asked.read for asked in server.requests), len(server.requests))]
    assert [row[0] for row in rows(run.folder, "SELECT DISTINCT model FROM calls")] == [model]


def test_what_is_sent_to_each_protocol(tmp_path: Path) -> None:
    asked: dict[str, Asked] = {}
    for model, package in PROVIDED:
        pytest.importorskip(package)
        with ProviderServer() as server:
            (tmp_path / package).mkdir()
            run_poll(tmp_path / package, model, agents=1, base_url=server.root, temperature=0.3)
            asked[server.requests[0].protocol] = server.requests[0]
    claude, gemini, llama = asked["anthropic"], asked["gemini"], asked["ollama"]
    assert claude.headers["authorization"] == "Bearer key-of-claude"  # x-api-key at Anthropic's own address
    assert gemini.headers["x-goog-api-key"] == "key-of-gemini"
    assert claude.body["temperature"] == 0.3
    assert claude.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert claude.body["tool_choice"] == {"type": "tool", "name": "answer"}
    assert gemini.body["generationConfig"]["temperature"] == 0.3
    assert gemini.body["generationConfig"]["responseMimeType"] == "application/json"
    assert gemini.body["generationConfig"]["maxOutputTokens"] == claude.body["max_tokens"] > 500
    assert (llama.body["options"]["temperature"], llama.body["options"]["seed"]) == (0.3, 0)
    assert llama.body["options"]["num_predict"] == claude.body["max_tokens"]


def _claude(status: int, kind: str, words: str) -> Refusal:
    return status, {"type": "error", "error": {"type": kind, "message": words}}, {}


@pytest.mark.parametrize(
    ("refusal", "status", "words"),
    [
        (_claude(401, "authentication_error", "invalid x-api-key"), "failed", "Check ANTHROPIC_API_KEY"),
        (_claude(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."), "paused",
         "Your credit balance is too low"),
        (_claude(404, "not_found_error", "model: claude-sonnet-4-5"), "failed", "model: claude-sonnet-4-5"),
    ],
)  # fmt: skip
def test_what_a_provider_says_is_understood_and_quoted(
    refusal: Refusal, status: str, words: str, tmp_path: Path
) -> None:
    pytest.importorskip("langchain_anthropic")
    with ProviderServer(lambda asked, number: refusal) as server:
        run = run_poll(tmp_path, "anthropic:claude-test", base_url=server.root)
    assert (run.status, words in (run.note or "")) == (status, True), run.note
    assert run.spent.get("tokens", 0) == 0
    assert not any(key in (run.note or "") for key in KEYS.values())


def test_a_busy_provider_is_asked_again_by_us_alone(tmp_path: Path) -> None:
    """Its package would try by itself, unseen by the budget."""
    pytest.importorskip("langchain_anthropic")

    def busy(asked: Asked, number: int) -> Refusal | None:
        return _claude(529, "overloaded_error", "Overloaded") if number % 2 else None

    with ProviderServer(busy) as server:
        run = run_poll(tmp_path, "anthropic:claude-test", base_url=server.root)
    assert statuses(run) == {"ok": 30}
    assert rows(run.folder, "SELECT sum(sends) FROM calls") == [(len(server.requests),)]


def test_a_prompt_that_gemini_blocks_is_one_refused_agent(tmp_path: Path) -> None:
    pytest.importorskip("langchain_google_genai")

    def blocked(asked: Asked, number: int) -> Refusal | None:
        body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
        return (200, body, {}) if "Person 1" in asked.system else None

    with ProviderServer(blocked) as server:
        run = run_poll(tmp_path, "google_genai:gemini-2.5-flash", base_url=server.root)
    assert run.status == "completed"
    assert statuses(run) == {"ok": 15, "refused": 15}


def test_openai_may_be_named_as_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As users of init_chat_model write it; the server gets the bare name."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    with ModelServer() as own:
        run = run_poll(tmp_path, "openai:gpt-test", base_url=own.base_url)
        assert own.count() == 2
    assert run.status == "completed", run.note
    assert statuses(run) == {"ok": 30}
    assert [row[0] for row in rows(run.folder, "SELECT DISTINCT model FROM calls")] == ["openai:gpt-test"]


def test_four_protocols_in_one_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat each at one table, the interviewer at the OpenAI-compatible server."""
    for _, package in PROVIDED:
        pytest.importorskip(package)
    monkeypatch.setenv("LLM_API_KEY", "key-of-openai")
    with ProviderServer() as server, ModelServer() as own:
        names = ["Person 0", "Person 1", "Person 2", "Person 3"]
        models = ["own-7b", *(model for model, _ in PROVIDED)]
        seats = [{"name": "Person 0", "model": "own-7b"}]
        for name, model in zip(names[1:], models[1:], strict=True):
            seats.append({"name": name, "model": model, "base_url": server.root})
        run = run_poll(
            tmp_path, "own-7b", agents=4, base_url=own.base_url, methods=["roundtable"],
            settings={"roundtable": {"seats": seats, "rounds": 1, "size": 4}},
        )  # fmt: skip
    assert run.status == "completed", run.note
    assert {asked.protocol for asked in server.requests} == {"anthropic", "gemini", "ollama"}
    assert own.count() > 0
    filed = {row[0].partition(" (")[0] for row in rows(run.folder, "SELECT DISTINCT model FROM calls")}
    assert filed == set(models)


def test_an_object_of_any_class_answers_and_goes_on_in_the_same_study(tmp_path: Path) -> None:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from tests.support.schema_filler import fill, schema_in_prompt

    calls: list[float | None] = []

    class HandMade(BaseChatModel):
        """Without form of reply, seed or usage: the prompt alone says what is wanted."""

        temperature: float | None = 0.2

        @property
        def _llm_type(self) -> str:
            return "hand-made"

        def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
            calls.append(self.temperature)
            text = str(messages[-1].content)
            schema = schema_in_prompt(text)
            assert schema is not None
            answer = json.dumps(fill(schema, str(messages[0].content), text))
            return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])

    run = run_poll(tmp_path, HandMade())
    assert run.status == "completed", run.note
    assert statuses(run) == {"ok": 30}
    assert set(calls) == {0.2}  # its own, as none was asked for
    assert run.record.main.temperature == 0.2
    again = run_poll(tmp_path, HandMade())
    assert (again.run_id, len(calls)) == (run.run_id, 2)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("mistralai:mistral-small", "needs a key: set MISTRAL_API_KEY in the environment or in .env"),
        ("xai:grok-4", r"needs a key: set XAI_API_KEY"),
        ("ibm:granite", r"needs a key: set WATSONX_APIKEY"),
    ],
)
def test_a_missing_key_is_one_sentence(model: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=words):
        run_poll(tmp_path, model)


def test_a_missing_package_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XAI_API_KEY", "k")
    with pytest.raises(SettingsError, match="'xai:grok-4' needs a package: pip install langchain langchain-xai"):
        run_poll(tmp_path, "xai:grok-4")


def test_names_of_ollamas_models_are_no_providers() -> None:
    assert provider_of("llama3.2:3b") == provider_of("ft:gpt-4o:org::x") == provider_of("anthropic:") == ""
    assert provider_of("google:gemini-2.5-flash") == "google_genai"
    assert bare_name("ollama:llama3.2:3b") == "llama3.2:3b"


def test_a_provider_has_its_own_prices() -> None:
    """Whatever server is named for other models. Oracle: genai-prices' list for the provider's own address."""
    prices = Prices()
    asked = prices.of("anthropic:claude-sonnet-4-5", "http://localhost:8080/v1")
    assert asked == prices.of("claude-sonnet-4-5", "https://api.anthropic.com")
    assert asked is not None


def test_a_label_tells_objects_apart_by_their_parameters() -> None:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    def label(**more: Any) -> str:
        return label_chat_model(ChatOpenAI(model="gpt-x", api_key=SecretStr("sk-secret"), **more))

    assert label(temperature=0.1) == label(temperature=0.1) != label(temperature=0.2)
    assert label().startswith("object:ChatOpenAI:gpt-x:")
    assert bare_name(label()) == "gpt-x"


def test_a_reply_that_was_broken_off_keeps_its_complete_parts() -> None:
    from langchain_core.messages import AIMessage

    message = AIMessage(
        "", invalid_tool_calls=[{"name": "answer", "args": '{"a": 1, "b": ', "id": "1", "error": None}],
        response_metadata={"stop_reason": "max_tokens"},
    )  # fmt: skip
    choice: Any = completion_of(message)["choices"]
    assert choice[0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": 1, "b": '
    assert choice[0]["finish_reason"] == "max_tokens"
