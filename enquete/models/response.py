"""What came back, reduced to what is stored: text, why it ended, reported usage, who answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enquete.models.cleaning import clean_text
from enquete.models.faults import Tally, mask

if TYPE_CHECKING:
    from langchain_core.outputs import ChatResult

LONG_KEY = 12
"""Characters. Shorter keys are placeholders ("ollama", "EMPTY") that may well be words of an answer."""

_FINISH = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "refusal",
}


@dataclass(frozen=True)
class Response:
    """An answered request. Token counts are None when the server did not report them, never 0.

    `finish`: stop, length, content_filter or refusal. `raw`: JSON of content, refusal, finish_reason and usage as
    reported, for the audit. `sends`, `timeouts`, `broken`: see Tally; they include this answer's own request.
    """

    text: str
    finish: str
    input_tokens: int | None
    output_tokens: int | None
    model: str
    fingerprint: str
    latency_ms: int
    raw: str
    sends: int = 1
    timeouts: int = 0
    broken: int = 0


def response_from(result: ChatResult, model: str, latency_ms: int, key: str) -> Response:
    """`result` has at least one generation. The key is masked, should a server have echoed it."""
    generation = result.generations[0]
    output = result.llm_output or {}
    secret = key if len(key) >= LONG_KEY else ""
    text = mask(clean_text(str(generation.message.text)), secret)
    refusal = mask(clean_text(str(generation.message.additional_kwargs.get("refusal") or "")), secret)
    reason = str((generation.generation_info or {}).get("finish_reason") or "")
    usage = output.get("token_usage")
    usage = usage if isinstance(usage, Mapping) else {}
    input_tokens, output_tokens = _tokens(usage, bool(text or refusal))
    raw = {"content": text, "refusal": refusal or None, "finish_reason": reason or None, "usage": usage or None}
    return Response(
        text=text or refusal,
        finish="refusal" if refusal else _FINISH.get(reason.lower(), "stop"),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        model=mask(clean_text(str(output.get("model_name") or model)), secret),
        fingerprint=mask(clean_text(str(output.get("system_fingerprint") or "")), secret),
        latency_ms=latency_ms,
        raw=mask(json.dumps(raw, ensure_ascii=False, default=str), secret),
    )


def filtered(message: str, model: str, tally: Tally) -> Response:
    """A prompt that the server's content filter refused with an error: an answer about one agent, not a fault."""
    raw = json.dumps({"content": "", "refusal": message, "finish_reason": "content_filter", "usage": None})
    counts = (tally.sends, tally.timeouts, tally.broken)
    return Response("", "content_filter", None, None, model, "", 0, raw, *counts)


def _tokens(usage: Mapping[str, object], has_text: bool) -> tuple[int | None, int | None]:
    """Reported counts. A server that reports 0 for a prompt or a text that is there did not count."""
    given, made = usage.get("prompt_tokens"), usage.get("completion_tokens")
    input_tokens = given if isinstance(given, int) and given > 0 else None
    least = 1 if has_text else 0
    output_tokens = made if isinstance(made, int) and made >= least and input_tokens is not None else None
    return input_tokens, output_tokens
