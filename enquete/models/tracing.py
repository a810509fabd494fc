"""LangSmith tracing, which nobody gets who did not ask for it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Awaitable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langsmith.run_helpers import trace, tracing_context

if TYPE_CHECKING:
    import httpx2


def tracing_wanted() -> bool:
    """Whether the user asked for tracing of Enquete itself."""
    return os.environ.get("ENQUETE_TRACING", "").strip().lower() in {"1", "true", "yes", "on"}


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """No LangSmith tracing inside, unless ENQUETE_TRACING=1: an inherited variable must not export personas.

    LANGSMITH_TRACING or LANGCHAIN_TRACING_V2, set for some other program of the user's, would otherwise send every
    prompt to a third party; langsmith asks its context before the environment. Put it around the start of a graph:
    tasks and graphs started inside inherit it.
    """
    if tracing_wanted():
        yield
        return
    with tracing_context(enabled=False):
        yield


async def traced(sending: Awaitable[httpx2.Response], body: Mapping[str, Any]) -> httpx2.Response:
    """A request to a model as LangSmith shows one, where its own variables switch that on."""
    model, inputs = body["model"], {"messages": body["messages"]}
    async with trace(model, "llm", inputs=inputs, metadata={"ls_model_name": model}) as run:
        response = await sending
        with contextlib.suppress(ValueError, RecursionError):
            told = json.loads(response.content)
            run.end(outputs=told if isinstance(told, dict) else {"output": told})
    return response
