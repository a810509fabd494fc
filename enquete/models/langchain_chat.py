"""Requests to models of any protocol that LangChain speaks: Anthropic's, Gemini's, Ollama's, and whoever has a package.

The request comes as the body of a chat completion and is translated: fields of the chat model (`FIELDS`), the form of
the reply (`_form_of_reply`). What comes back is told in the shape of a chat completion, so that everything above this
reads one shape. Requests go through `ainvoke`, so LangSmith and other callbacks hear of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import JsonValue

from enquete.models.chat_completions import CACHE_KEY
from enquete.models.faults import Refused, Trouble, connection_fault, fault_of, mask
from enquete.models.prices import OPENAI_URL
from enquete.models.server_profiles import (
    LONGEST_RETRY_AFTER_S,
    Meaning,
    PrefixCache,
    ServerError,
    Verdict,
    prefix_cache_of,
    read_error,
    understand,
)
from enquete.models.servers import Facts

FIELDS: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "seed": ("seed", "random_seed"),
    "max_tokens": ("max_tokens", "max_output_tokens", "num_predict", "max_completion_tokens"),
}
"""Fields of a request, and how chat models call them; the first that a model has is meant."""
NO_RETRIES: Mapping[str, int] = {"ChatGoogleGenerativeAI": 1}
"""Times that a package itself may try: whether another attempt may be paid for is the transport's decision."""
ANTHROPIC_URL = "https://api.anthropic.com"
ANSWER_TOOL = "answer"
COPIES = 64

ChatMaker = Callable[[str], BaseChatModel]


class LangChainChat:
    """All requests to chat models of one provider, or to one object. See `ChatService`."""

    def __init__(self, make: ChatMaker, key: str = "", longest_wait_s: float = LONGEST_RETRY_AFTER_S):
        """`make`: the chat model that a name stands for."""
        self._make = lru_cache(maxsize=COPIES)(make)
        self._adapted = lru_cache(maxsize=COPIES)(self._adapt)
        self._key = key
        self._longest_wait_s = min(longest_wait_s, LONGEST_RETRY_AFTER_S)

    async def complete(self, body: dict[str, JsonValue]) -> JsonValue:
        """See `ChatService.complete`."""
        fields = {name: body[name] for name in FIELDS if name in body}
        chat = self._adapted(str(body["model"]), tuple(fields.items()))
        options = _form_of_reply(chat, body.get("response_format"))
        if CACHE_KEY in body and _is_kind(chat, "BaseChatOpenAI"):
            options.setdefault("extra_body", {})[CACHE_KEY] = body[CACHE_KEY]
        try:
            message = await chat.ainvoke(_as_messages(chat, body), **options)
        except Exception as error:  # every package has its own; nothing of ours is called in here
            raise self._fault(error) from None
        return completion_of(message)

    async def facts(self, model: str, *, anew: bool = False) -> Facts | None:
        """See `ChatService.facts`: what LangChain's list of models says."""
        profile = getattr(self._make(model), "profile", None)
        context = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
        return Facts(context if isinstance(context, int) else None)

    async def count(self, text: str) -> int | None:
        """See `ChatService.count`."""
        return None

    def untaken(self, model: str) -> frozenset[str]:
        """See `ChatService.untaken`."""
        known = type(self._make(model)).model_fields
        return frozenset(name for name, own in FIELDS.items() if not any(each in known for each in own))

    def prefix_cache(self, model: str) -> PrefixCache:
        """See `ChatService.prefix_cache`. Anthropic reads tools, and with them the form of a reply, before all else."""
        chat = self._make(model)
        if _is_kind(chat, "ChatAnthropic"):
            return prefix_cache_of(ANTHROPIC_URL)
        if _is_kind(chat, "BaseChatOpenAI"):
            return prefix_cache_of(getattr(chat, "openai_api_base", None) or OPENAI_URL)
        return PrefixCache()

    async def aclose(self) -> None:
        """See `ChatService.aclose`: packages keep their connections themselves."""
        self._adapted.cache_clear()

    def _adapt(self, model: str, fields: tuple[tuple[str, JsonValue], ...]) -> BaseChatModel:
        """A copy of the chat model with the fields of a request, which does not try again by itself."""
        chat = self._make(model)
        known = type(chat).model_fields
        changes: dict[str, Any] = {}
        for name, value in fields:
            own_name = next((own for own in FIELDS[name] if own in known), None)
            if own_name is not None:
                changes[own_name] = value
        if "max_retries" in known:
            changes["max_retries"] = NO_RETRIES.get(type(chat).__name__, 0)
        copy = chat.model_copy(update=changes)
        _drop_clients(copy)
        return copy

    def _fault(self, error: BaseException) -> Trouble | Refused:
        status, headers, body = _said(error)
        if status:
            return fault_of(read_error(body, self._key, status, headers), self._longest_wait_s)
        if _is_of_the_connection(error):
            sent, words = connection_fault(error)
            return Trouble(mask(words, self._key), unreachable=not sent)
        told = ServerError(mask(" ".join(f"{type(error).__name__}: {error}".split())[:300], self._key))
        verdict = understand(told)
        return Refused(told, verdict)


def _drop_clients(chat: BaseChatModel) -> None:
    """Clients that were made for the original's settings, such as its number of retries, are made anew."""
    for name, made in vars(type(chat)).items():
        if type(made).__name__ == "cached_property":
            chat.__dict__.pop(name, None)
    client = getattr(chat, "root_async_client", None)
    if client is not None and hasattr(client, "with_options"):
        chat.__dict__["root_async_client"] = quiet = client.with_options(max_retries=0)
        chat.__dict__["async_client"] = quiet.chat.completions


def _as_messages(chat: BaseChatModel, body: dict[str, JsonValue]) -> list[BaseMessage]:
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    turns = body["messages"]
    assert isinstance(turns, list)
    messages: list[BaseMessage] = []
    for turn in turns:
        assert isinstance(turn, dict)
        role, text = str(turn["role"]), str(turn["content"])
        if role == "system" and _is_kind(chat, "ChatAnthropic"):  # an agent's later questions share this beginning
            marked = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
            messages.append(SystemMessage([marked]))
        else:
            messages.append(kinds[role](text))
    return messages


def _form_of_reply(chat: BaseChatModel, asked: JsonValue) -> dict[str, Any]:
    """How each package is told the form of a reply. Raises Refused where it has no way: the prompt says it then."""
    if not isinstance(asked, dict):
        return {}
    described = asked.get("json_schema")
    schema = described.get("schema") if isinstance(described, dict) else None
    if _is_kind(chat, "BaseChatOpenAI"):
        return {"extra_body": {"response_format": asked}}
    if _is_kind(chat, "ChatOllama"):
        return {"format": schema or "json"}
    if _is_kind(chat, "ChatGoogleGenerativeAI"):
        return {"response_mime_type": "application/json", **({"response_json_schema": schema} if schema else {})}
    if _is_kind(chat, "ChatMistralAI"):
        return {"response_format": asked}
    if _is_kind(chat, "ChatAnthropic") and schema and not getattr(chat, "thinking", None):
        tool = {"name": ANSWER_TOOL, "description": "Your answers.", "input_schema": schema}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": ANSWER_TOOL}}
    told = ServerError(f"{type(chat).__name__} has no form of reply {asked.get('type')}")
    raise Refused(told, Verdict(Meaning.PARAMETER, parameter="response_format"))


def _is_kind(chat: BaseChatModel, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(chat).__mro__)


def completion_of(message: AIMessage) -> dict[str, JsonValue]:
    """Return a message in the shape of a chat completion."""
    told = message.response_metadata
    told_message: dict[str, JsonValue] = {"role": "assistant", "content": _content_of(message)}
    if thought := message.additional_kwargs.get("reasoning_content"):
        told_message["reasoning_content"] = str(thought)
    if arguments := _arguments_of(message):
        told_message["tool_calls"] = [{"function": {"name": ANSWER_TOOL, "arguments": arguments}}]
    completion: dict[str, JsonValue] = {
        "model": str(told.get("model_name") or told.get("model") or ""),
        "system_fingerprint": str(told.get("system_fingerprint") or ""),
        "choices": [{"index": 0, "message": told_message, "finish_reason": _reason_of(told)}],
    }
    if (used := message.usage_metadata) is not None:
        details = used.get("input_token_details") or {}
        completion["usage"] = {
            "prompt_tokens": used["input_tokens"],
            "completion_tokens": used["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": details.get("cache_read") or 0},
        }
    return completion


def _content_of(message: AIMessage) -> str:
    """The text that was written, without what was thought."""
    return str(message.text)


def _arguments_of(message: AIMessage) -> str:
    if message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    if message.invalid_tool_calls:  # broken off: its complete parts count
        return str(message.invalid_tool_calls[0].get("args") or "")
    return ""


def _reason_of(told: Mapping[str, Any]) -> str:
    feedback = told.get("prompt_feedback")
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):  # Gemini refused the prompt
        return "content_filter"
    reason = told.get("finish_reason") or told.get("stop_reason") or told.get("stopReason") or told.get("done_reason")
    return str(reason or "stop")


def _said(error: BaseException) -> tuple[int, Mapping[str, str], JsonValue]:
    """Status, headers and body of a server's reply, behind whatever the package made of it; 0 where there was none."""
    cause: BaseException | None = error
    while cause is not None:
        response = getattr(cause, "response", None)
        status = _status_of(cause, response)
        if status:
            headers = getattr(response, "headers", None)
            return status, headers if isinstance(headers, Mapping) else {}, _body_of(cause, response)
        cause = cause.__cause__ or (cause.__context__ if not cause.__suppress_context__ else None)
    return 0, {}, None


def _status_of(error: BaseException, response: Any) -> int:
    if isinstance(response, Mapping):  # botocore
        return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    for value in (getattr(error, "status_code", None), getattr(error, "code", None)):
        if isinstance(value, int) and 300 <= value < 600:
            return value
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) and status >= 300 else 0


def _body_of(error: BaseException, response: Any) -> JsonValue:
    if isinstance(response, Mapping):
        told = response.get("Error", {})
        return {"message": str(told.get("Message", "")), "code": str(told.get("Code", ""))}
    for value in (getattr(error, "body", None), getattr(error, "details", None)):
        if isinstance(value, dict | list) and value:
            return value
    try:
        body: JsonValue = json.loads(response.text)
    except Exception:  # no response, one that is not read, or no JSON
        return str(getattr(error, "error", None) or getattr(error, "message", None) or error)
    return body


_CONNECTION_WORDS = ("connect", "timeout", "network", "protocol", "read", "write", "endpoint")


def _is_of_the_connection(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        name = type(cause).__name__.lower()
        if isinstance(cause, OSError) or any(word in name for word in _CONNECTION_WORDS):
            return True
        cause = cause.__cause__
    return False
