"""LangSmith tracing is off unless ENQUETE_TRACING=1: an inherited variable must not export personas.

LANGSMITH_TRACING or LANGCHAIN_TRACING_V2, set for some other program of the user's, would otherwise send every
prompt to a third party. `untraced()` outranks both variables; langsmith asks its context before the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from langsmith.run_helpers import tracing_context


def tracing_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the user asked for tracing of Enquete itself."""
    return environ.get("ENQUETE_TRACING", "").strip().lower() in {"1", "true", "yes", "on"}


@contextmanager
def untraced(environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """No LangSmith tracing inside, whatever LANGSMITH_TRACING says, unless ENQUETE_TRACING=1.

    Put it around the start of a graph: tasks and graphs started inside inherit it.
    """
    if tracing_wanted(environ):
        yield
        return
    with tracing_context(enabled=False):
        yield
