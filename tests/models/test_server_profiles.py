"""The table of what servers say: each row by a reply as it was seen, in the shapes that replies come in."""

from __future__ import annotations

from typing import Any

import pytest

from enquete.models.server_profiles import (
    Meaning,
    read_error,
    server_profiles,
    thinking_off,
    understand,
)


def told(words: str, code: str | int = "", **more: Any) -> dict[str, Any]:
    return {"error": {"message": words, "code": code, **more}}


@pytest.mark.parametrize(
    ("status", "body", "means"),
    [
        (400, told("The response was filtered", "content_filter"), "prompt_refused"),
        (400, told("Your request was rejected", "content_policy_violation"), "prompt_refused"),
        (400, told("Content Exists Risk"), "prompt_refused"),
        (400, told("Output data may contain inappropriate content."), "prompt_refused"),
        (403, told("flagged", metadata={"flagged_input": "…"}), "prompt_refused"),
        (400, told("系统检测到输入可能包含不安全内容", "1301"), "prompt_refused"),
        (429, told("You exceeded your current quota", "insufficient_quota"), "no_credit"),
        (400, told("Access denied", "Arrearage"), "no_credit"),
        (429, told("余额不足或无可用资源包,请充值。", "1113"), "no_credit"),
        (402, told("Insufficient Balance"), "no_credit"),
        (400, told("Your credit balance is too low to access the Anthropic API."), "no_credit"),
        (400, told("ExceededBudget: over budget", type="budget_exceeded"), "no_credit"),
        (400, [told("API key not valid. Please pass a valid API key.")], "key_wrong"),
        (401, told("Incorrect API key provided: ***"), "key_wrong"),
        (401, None, "key_wrong"),
        (403, told("Forbidden"), "key_wrong"),
        (403, "<!DOCTYPE html><html></html>", "unclear"),
        (404, told("The model `x` does not exist", "model_not_found"), "model_missing"),
        (404, {"error": "model 'llama9' not found, try pulling it first"}, "model_missing"),
        (400, told("model `x` does not exist"), "model_missing"),
        (404, "404: Not Found", "wrong_url"),
        (405, None, "wrong_url"),
        (429, told("Rate limit reached"), "too_many"),
        (429, "Too many requests", "too_many"),
        (529, told("Overloaded"), "too_many"),
        (500, None, "overloaded"),
        (503, "<html>Bad gateway</html>", "overloaded"),
        (200, told("Provider returned error", 502), "overloaded"),
        (200, told("Rate limit exceeded", 429), "too_many"),
        (200, told("Insufficient credits", 402), "no_credit"),
        (413, told("too large"), "context_too_long"),
        (400, told("System role not supported"), "no_system_role"),
        (400, told("The flux is not aligned."), "unclear"),
        (400, "", "unclear"),
    ],
)  # fmt: skip
def test_what_a_reply_means(status: int, body: Any, means: str) -> None:
    assert understand(read_error(body, "sk-test", status)).means == Meaning(means)


@pytest.mark.parametrize(
    ("status", "words", "parameter", "limit"),
    [
        (400, "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead.", "max_tokens", None),
        (400, "'temperature' does not support 0.7 with this model", "temperature", None),
        (422, "body.seed: Extra inputs are not permitted", "seed", None),
        (400, 'Invalid JSON payload received. Unknown name "seed": Cannot find field.', "seed", None),
        (400, "Invalid schema for response_format 'answer'", "response_format", None),
        (404, "No endpoints found that can handle the requested parameters.", "response_format", None),
        (501, "Not implemented", "response_format", None),
        (415, "unsupported media", "response_format", None),
        (400, "max_tokens is too large: 1024. This model supports at most 512 completion tokens.", "max_tokens", 512),
        (400, "Range of max_tokens should be [1, 8192]", "max_tokens", 8192),
        (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "max_tokens", 8192),
        (400, "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens", "max_tokens", 8192),
        (400, "temperature: must be between 0 and 1", "temperature", 1),
    ],
)
def test_which_parameter_is_meant_and_how_much_of_it_is_taken(
    status: int, words: str, parameter: str, limit: float | None
) -> None:
    verdict = understand(read_error(told(words), "", status))
    assert (verdict.means, verdict.parameter, verdict.limit) == (Meaning.PARAMETER, parameter, limit)


@pytest.mark.parametrize(
    ("status", "body", "context"),
    [
        (400, told("This model's maximum context length is 8,192 tokens. However, you requested 9000 tokens."), 8192),
        (400, told("'max_tokens' is too large: 900. This model's maximum context length is 512 tokens."), 512),
        (400, {"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it",
                         "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}}, 4096),
        (400, {"error": "Trying to keep the first 4821 tokens when context the overflows. However, the model is loaded "
                        "with context length of only 4096 tokens, which is not enough."}, 4096),
        (400, told("prompt is too long: 210000 tokens > 200000 maximum"), 200000),
        (400, [told("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")],
         1048576),
        (400, told("Range of input length should be [1, 30720]"), 30720),
        (429, told("Request too large for gpt on tokens per min (TPM): Limit 10000, Requested 12000."), 10000),
        (400, told("Input is too long for requested model."), None),
    ],
)  # fmt: skip
def test_how_many_tokens_there_may_be(status: int, body: Any, context: int | None) -> None:
    verdict = understand(read_error(body, "", status))
    assert (verdict.means, verdict.context) == (Meaning.CONTEXT_TOO_LONG, context)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (told("Rate limit reached. Please try again in 1.2s."), 1.2),
        (told("Please try again in 20ms."), 0.02),
        (told("Please retry after 7 seconds."), 7.0),
        ([told("Resource exhausted", details=[{"@type": "RetryInfo", "retryDelay": "34s"}])], 34.0),
        (told("Please try again in 10m."), 60.0),
        (told("Slow down"), None),
    ],
)
def test_when_to_come_back_in_words(body: Any, seconds: float | None) -> None:
    assert read_error(body, "", 429).retry_after == seconds


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no"}}, "no"), ({"message": "no", "code": 3}, "no"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "extra", "input": {"secret": 1}}]}, "body.seed: extra"),
        ({"error": "no"}, "no"), ("<html><body>502</body></html>", "an HTML page"), ("x" * 999, "x" * 300), (None, ""),
        ({"error": {"message": "bad key abcdefgh"}}, "bad key ***"), ([{"error": {"message": "no"}}], "no"),
    ],
)  # fmt: skip
def test_error_bodies_of_every_shape_are_read(body: Any, message: str) -> None:
    assert read_error(body, "abcdefgh").message == message


def test_the_table_is_whole_and_names_where_each_row_was_seen() -> None:
    table = server_profiles()
    assert {row.means for row in table.replies} == set(Meaning)
    assert all(row.server for row in table.replies)
    unconditional = [row for row in table.replies if not (row.status or row.code or row.words or row.param or row.has)]
    assert unconditional == []
    assert thinking_off("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "") == {"enable_thinking": False}
    assert thinking_off("http://localhost:1/v1", "ollama") == {"reasoning_effort": "none"}
    assert thinking_off("http://localhost:1/v1", "") is None
