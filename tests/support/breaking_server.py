"""A model server whose first reply to each question breaks off in the middle of a number or a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

from tests.support.model_server import ModelServer
from tests.support.server_faults import Draw

BROKEN_TEXT = "I would vote"
WHOLE_TEXT = "I would vote against it, because the fees are not fair to small boats."


class BreakingServer(ModelServer):
    """`breaks_off` makes the broken reply of the whole one; it ends with `finish`, and the next reply is whole."""

    def __init__(self, breaks_off: Callable[[str], str], finish: str):
        super().__init__()
        self.breaks_off, self.finish = breaks_off, finish
        self.broken = 0

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def _completion(self, body: dict[str, Any], text: str, cut: bool, around: list[str], draw: Draw) -> dict[str, Any]:
        is_first = "Your last reply broke off" not in json.dumps(body) and "was too long" not in json.dumps(body)
        broken = self.breaks_off(text) if is_first else text
        completion = super()._completion(body, broken, cut, around, draw)
        if broken != text:
            self.broken += 1
            completion["choices"][0]["finish_reason"] = self.finish
        return completion


def break_last_text(reply: str) -> str:
    """The reply up to the middle of its last text; as it is where its last value is no text."""
    try:
        value = json.loads(reply)
    except ValueError:
        return reply
    if not _replace_last(value):
        return reply
    broken = json.dumps(value)
    return broken[: broken.rindex(BROKEN_TEXT) + len(BROKEN_TEXT)]


def _replace_last(value: Any) -> bool:
    """Put a text of one sentence in place of the last value, wherever that is inside; False where it is no text."""
    key = list(value)[-1] if isinstance(value, dict) and value else len(value) - 1 if isinstance(value, list) else None
    if key is None or key == -1:
        return False
    if isinstance(value[key], str):
        value[key] = WHOLE_TEXT
        return True
    return _replace_last(value[key])
