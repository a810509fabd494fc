"""A chat completion as it came: where the answer is, why it ended, what the server counted.

A reply is reduced to what is stored (`ModelResponse`). What is no answer raises Trouble or Refused (faults.py). The
request is made in chat_completions.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from pydantic import JsonValue

from enquete.models.faults import SendCounts, Trouble, fault_of, mask
from enquete.models.parsing import clean_text, clean_value, read_finish_reason
from enquete.models.server_profiles import LONGEST_RETRY_AFTER_S, read_error
from enquete.state.interview_context import Prompt

LONGEST_PLACEHOLDER = 5
"""Letters. Servers that want no key are given so short a word ("none", "EMPTY"); it may well be one of an answer."""

LONGEST_NAME = 300
LONGEST_TOKEN = 40  # characters
HIDDEN_TOKENS = 50_000
"""What a server may read beside our text (templates, the schema, instructions of its own) and be believed."""
TOKENS_PER_CHARACTER = 4
"""At most: a character has four bytes, and tokenizers that know none of it take one token a byte."""
MOST_WRITTEN = 1_000_000
"""Tokens of one reply, thinking included: several times what any model writes at once."""
MOST_CHARACTERS_PER_TOKEN = 7.0
"""Of a prompt in an alphabet. Tokenizers in use read three to five characters at once."""
MOST_IDEOGRAPHS_PER_TOKEN = 3.0
FIRST_IDEOGRAPH = "\u2e80"
SHORTEST_MEASURED = 2000
"""Characters. Templates and rounding weigh too much in a shorter prompt to tell whether all of it was read."""


@dataclass(frozen=True)
class ModelResponse:
    """An answered request. Token counts are None when the server did not report them, or reported what cannot be
    (`unbelieved`), never 0.

    `finish`: stop, length, content_filter or refusal. `raw`: JSON of what was reported beside the text, for the audit:
    refusal, finish_reason, usage, where the answer stood if not in the content, and what was sent otherwise than asked
    for. `sends`, `timeouts`, `broken`: see SendCounts; they include this answer's own request. `booked`: tokens, read
    and written, of replies that could not be used. `only_thought`: the room ended before the answer began.
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
    unbelieved: bool = False
    cached_tokens: int = 0
    booked: tuple[int, int] = (0, 0)
    only_thought: bool = False


class ChatCompletion(NamedTuple):
    """A chat completion as a server sent it, of whatever types: the whole, its first choice, that one's message."""

    whole: dict[str, JsonValue]
    choice: dict[str, JsonValue]
    message: dict[str, JsonValue]


def read_completion(body: JsonValue, counts: SendCounts, key: str = "") -> ChatCompletion:
    """Find the answer in a body, whatever shape it has.

    Raises:
        Trouble: It holds no answer; what it says to have cost, or may have, is counted.
        Refused: It holds an error that no repetition would cure.
    """
    if isinstance(body, str):
        body = _parse_text(body)
    whole = body if isinstance(body, dict) else {}
    choices = whole.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None

    if _is_error(whole.get("error")) and not isinstance(choice, dict):
        _book(whole, counts)
        raise fault_of(read_error(body, key, 200), LONGEST_RETRY_AFTER_S)
    if choice is None and isinstance(whole.get("message"), dict):  # Ollama's own interface
        choice = whole
    message = _message_of(choice)
    if not isinstance(choice, dict) or message is None:
        return _without_answer(choices, whole, counts)

    failed = str(choice.get("finish_reason") or "").lower() == "error" or _is_error(choice.get("error"))
    if failed and not _text(message.get("content")).strip():  # of one that broke off, what is complete counts
        _book(whole, counts)
        told = read_error(choice.get("error"), key, 200)
        raise Trouble(f"broke off its reply{f': {told.message}' if told.message else ''}")
    return ChatCompletion(whole, choice, message)


def _parse_text(text: str) -> JsonValue:
    """JSON that goes by another name, or a stream of events that nobody asked for."""
    stripped = text.lstrip("\ufeff \r\n\t")
    if stripped.startswith(("data:", "event:", ": ", "id:")):
        return merge_events(stripped)
    try:
        body: JsonValue = json.loads(stripped)
    except (ValueError, RecursionError):
        return text
    return body


def merge_events(stream: str) -> JsonValue:
    """Return the chat completion that a stream of server-sent events adds up to; the text itself where it is none."""
    whole: dict[str, JsonValue] = {}
    content, reasoning, arguments, finish = "", "", "", None
    seen = False
    for line in stream.splitlines():
        if not line.startswith("data:") or line[5:].strip() == "[DONE]":
            continue
        try:
            event = json.loads(line[5:])
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        whole |= {name: event[name] for name in ("model", "usage", "system_fingerprint", "error") if event.get(name)}
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        delta = _message_of(choice)
        if not isinstance(choice, dict) or delta is None:
            continue
        seen = True
        content += _text(delta.get("content"))
        reasoning += _text(delta.get("reasoning_content") or delta.get("reasoning"))
        arguments += _tool_arguments(delta)
        finish = choice.get("finish_reason") or finish
    if not seen:
        return whole if whole.get("error") else stream
    message: dict[str, JsonValue] = {"role": "assistant", "content": content, "reasoning_content": reasoning}
    if arguments:
        message["tool_calls"] = [{"type": "function", "function": {"name": "answer", "arguments": arguments}}]
    return whole | {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _is_error(error: JsonValue) -> bool:
    """Some servers send an empty error beside every answer."""
    if isinstance(error, dict):
        return bool(error.get("message") or error.get("code"))
    return bool(error)


def _message_of(choice: JsonValue) -> dict[str, JsonValue] | None:
    if not isinstance(choice, dict):
        return None
    for name in ("message", "delta"):
        message = choice.get(name)
        if isinstance(message, dict) and isinstance(message.get("content"), str | list | dict | None):
            return message
    if isinstance(choice.get("text"), str):  # a text completion
        return {"role": "assistant", "content": choice["text"]}
    return None


def _without_answer(choices: JsonValue, whole: dict[str, JsonValue], counts: SendCounts) -> ChatCompletion:
    if choices == []:  # the server answered, and says so: what it reports was used, and nothing else
        _book(whole, counts)
        raise Trouble("sent a chat completion without choices")
    counts.broken += 1
    raise Trouble("sent a body that is no chat completion")


def _book(whole: dict[str, JsonValue], counts: SendCounts) -> None:
    """Count what the server says that an unusable reply has cost; what it does not report was not delivered."""
    usage = whole.get("usage")
    read, written = (usage.get("prompt_tokens"), usage.get("completion_tokens")) if isinstance(usage, dict) else (0, 0)
    counts.booked_read += read if _is_count(read) else 0
    counts.booked_written += written if _is_count(written) else 0
    if not _is_count(read) or not read:
        counts.notes.append("a reply without an answer reported no tokens: its reservation was given back")


def _is_count(value: JsonValue) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_WRITTEN


def _text(content: JsonValue) -> str:
    """Of a text, a list of parts or an object; parts that are no text (thinking) are none of the answer."""
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    if not isinstance(content, list):
        return str(content or "")
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    texts = [
        part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in ("text", "output_text")
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _tool_arguments(message: dict[str, JsonValue]) -> str:
    """What a model gives to a tool that it was not offered is its answer."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, dict) else message.get("function_call")
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return _text(arguments) if isinstance(arguments, str | dict) else ""


def _thinking(message: dict[str, JsonValue]) -> str:
    for name in ("reasoning_content", "reasoning", "thinking"):
        if text := _text(message.get(name)):
            return text
    return ""


def find_answer(message: dict[str, JsonValue], finish: str) -> tuple[str, str]:
    """Return the answer and where it stood: "" for the content, else a tool's arguments or the reasoning.

    Some servers leave the content empty and put the JSON that was asked for elsewhere. What was thought until the room
    ended is no answer.
    """
    if (text := _text(message.get("content"))).strip():
        return text, ""
    if arguments := _tool_arguments(message):
        return arguments, "tool_calls"
    if finish in ("stop", "other") and (thought := _thinking(message)):
        return thought, "reasoning"
    return "", ""


def response_from(
    completion: ChatCompletion,
    prompt: Prompt,
    model: str,
    latency_ms: int,
    key: str,
    counts: SendCounts,
    deviations: dict[str, JsonValue] | None = None,
) -> ModelResponse:
    """Reduce a chat completion to what is stored. The key is masked, should a server have echoed it.

    Args:
        deviations: What was sent otherwise than asked for.
    """
    secret = "" if key.isalpha() and len(key) <= LONGEST_PLACEHOLDER else key

    def clean(value: object) -> str:
        return mask(clean_text(str(value or "")), secret)

    message = completion.message
    reason = str(completion.choice.get("finish_reason") or completion.choice.get("done_reason") or "")
    finish = read_finish_reason(reason)
    answer, stood_in = find_answer(message, finish)
    text, refusal = clean(answer), clean(message.get("refusal"))
    usage = clean_value(completion.whole.get("usage"))
    counted = _tokens(usage, prompt, len(text or refusal))
    input_tokens, output_tokens = counted or (None, None)

    raw: dict[str, JsonValue] = {"refusal": refusal or None, "finish_reason": reason or None, "usage": usage or None}
    if stood_in:
        raw["answer_in"] = stood_in
    if deviations:
        raw["sent"] = deviations
    if counts.notes:
        raw["notes"] = list(counts.notes)
    return ModelResponse(
        text=text or refusal,
        finish="refusal" if refusal else finish,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        model=clean(completion.whole.get("model") or model)[:LONGEST_NAME],
        fingerprint=clean(completion.whole.get("system_fingerprint"))[:LONGEST_NAME],
        latency_ms=latency_ms,
        raw=mask(json.dumps(raw, ensure_ascii=False), secret),
        sends=counts.sends,
        timeouts=counts.timeouts,
        broken=counts.broken + counts.probes,
        unbelieved=counted is None,
        cached_tokens=_cached(usage, input_tokens or 0),
        booked=(counts.booked_read, counts.booked_written),
        only_thought=finish == "length" and not text.strip() and not refusal,
    )


def refused_prompt(message: str, model: str, counts: SendCounts) -> ModelResponse:
    """A prompt that the server refused with an error: an answer about one agent, not a fault. It costs nothing."""
    raw = json.dumps({"refusal": message, "finish_reason": "content_filter", "usage": None}, ensure_ascii=False)
    return ModelResponse(
        "", "content_filter", 0, 0, model, "", 0, raw, counts.sends, counts.timeouts,
        counts.broken + counts.probes, booked=(counts.booked_read, counts.booked_written),
    )  # fmt: skip


def was_cut(prompt: Prompt, read: int | None) -> bool:
    """Return whether the server read far fewer tokens than the prompt has, however it counts them.

    Ollama answers a prompt beyond its window without a word, and reads the end of it alone.
    """
    text = "".join([prompt.system, *(message["content"] for message in prompt.messages)])
    if read is None or len(text) < SHORTEST_MEASURED:
        return False
    ideographs = sum(letter >= FIRST_IDEOGRAPH for letter in text)
    fewest = (len(text) - ideographs) / MOST_CHARACTERS_PER_TOKEN + ideographs / MOST_IDEOGRAPHS_PER_TOKEN
    return read < fewest


def _tokens(usage: JsonValue, prompt: Prompt, written: int) -> tuple[int | None, int | None] | None:
    """Reported counts, for a reply of `written` characters; None where they cannot be. A server that reports 0 for a
    prompt or a text that is there did not count."""
    if not usage:
        return None, None
    if not isinstance(usage, dict):
        return None
    given, made = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    asked = len(prompt.system) + sum(len(message["content"]) for message in prompt.messages)
    if not (
        _can_be(given, asked, TOKENS_PER_CHARACTER * asked + HIDDEN_TOKENS) and _can_be(made, written, MOST_WRITTEN)
    ):
        return None
    input_tokens = given or None
    return input_tokens, made if input_tokens and made >= bool(written) else None


def _cached(usage: JsonValue, read: int) -> int:
    """Of the prompt's tokens, those that the server says it had cached; 0 where it says nothing that can be."""
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    told = details.get("cached_tokens") if isinstance(details, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= read else 0


def _can_be(count: JsonValue, characters: int, most: int) -> TypeGuard[int]:
    """A 1 for a whole text is `true`, which the SDK takes for a number."""
    return isinstance(count, int) and 0 <= count <= most and (count != 1 or characters <= LONGEST_TOKEN)
