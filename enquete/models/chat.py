"""langchain's model: it builds the client whose connections every request goes over (wire.py), and is used whole where tracing
is asked for. Imported with the first request: it takes a tenth of a second."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import JsonValue, SecretStr

from enquete.models.wire import TIMEOUT, BoundedClient

_COMPLETION = "completion"


class Chat(ChatOpenAI):
    """Hands the completion on as it came, its usage to nobody else: langchain adds it up, and would lose an answer whose usage
    is text or a list."""

    async def complete(self, messages: list[BaseMessage], body: dict[str, JsonValue]) -> JsonValue:
        """The same as a line's (wire.py), with langchain's callbacks and LangSmith's tracing around it."""
        result = await self.agenerate([messages], extra_body=body)
        told = [one.generation_info or {} for one in result.generations[0]]
        completion: JsonValue = told[0][_COMPLETION] if told else {"choices": []}
        return completion

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        completion: Any = response
        if isinstance(response, openai.BaseModel):
            completion, response.usage = response.model_dump(warnings=False), None  # type: ignore[attr-defined]
        result = super()._create_chat_result(response, generation_info)
        for generation in result.generations[:1]:
            generation.generation_info = {**(generation.generation_info or {}), _COMPLETION: completion}
        return result


def chat_of(model: str, base_url: str, api_key: SecretStr, http: BoundedClient) -> Chat:
    """`api_key`: not None, or OPENAI_API_KEY would be taken from the environment and sent to any server."""
    return Chat(
        model=model,
        base_url=base_url,
        api_key=api_key,
        http_async_client=http,
        # Never sent over; langchain would make one, and read the trusted certificates for it.
        http_client=httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False),
        max_retries=0,  # retries are ours: they must let go of the concurrency slot
        timeout=TIMEOUT,
        use_responses_api=False,
        openai_proxy="",  # OPENAI_PROXY excludes an own client; HTTPS_PROXY is honoured
        cache=False,
    )
