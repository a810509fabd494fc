"""langchain's model, used whole where tracing is asked for. Imported then: it takes a tenth of a second, and a TLS context of its own."""

from __future__ import annotations

from typing import Any

import openai
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import JsonValue

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
