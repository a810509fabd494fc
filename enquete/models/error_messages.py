"""What is said when a request is given up: which server, what it did, which setting to look at. Never the key."""

from __future__ import annotations

from enquete.models.faults import Refused, Rejected, Said, Setting, Tally, Trouble, Unavailable, blamed_setting
from enquete.models.retry_state import Request
from enquete.models.serving import fitted, with_schema


def without_room(server: str, tally: Tally) -> Unavailable:
    """It may have been billed already, and the budget has no room for another send."""
    error = Unavailable(f"The model server {server} did not answer, and the budget has no room to ask again.", tally)
    error.short = True
    return error


def too_long(server: str, request: Request, context: int, tokens: int, tally: Tally) -> Rejected:
    """It was not sent. Where nobody's question would fit, whoever answers, the run stops."""
    prompt = request.prompt
    rest = tokens * (1 - len(prompt.system) / with_schema(prompt))
    setting: Setting = "LLM_MODEL_NAME" if fitted(prompt, context, round(rest)) is None else ""
    words = (
        f"The model server {server} gives {request.model!r} a context of {context:,} tokens; this question has about {tokens:,} and "
        f"its reply up to {prompt.max_output_tokens:,}. Start the server with a larger context (llama.cpp: -c, for all slots "
        "together; Ollama: OLLAMA_CONTEXT_LENGTH), ask fewer items at once, or shorten personas and memories (digest_chars)."
    )
    return Rejected(words, tally, 0, setting)


def halted(server: str, tally: Tally) -> Unavailable:
    """The run was paused while this request waited; nothing says that the server would not answer it."""
    error = Unavailable(f"The run was paused before the model server {server} was asked (again).", tally)
    error.short = True
    return error


def unavailable(server: str, trouble: Trouble | None, model: str, tally: Tally) -> Unavailable:
    """A request that failed alone."""
    return Unavailable(f"{_told(server, trouble, model, tally)}.", tally, trouble.status if trouble else None)


def outage(server: str, trouble: Trouble | None, model: str, tally: Tally, patience_s: float) -> Unavailable:
    """The server is away, or takes nothing: the last trouble, and for how long it was waited for."""
    told = _told(server, trouble, model, tally)
    words = f"{told}; no request has got through for {patience_s:g} s (ENQUETE_PATIENCE_S)."
    error = Unavailable(words, tally, trouble.status if trouble else None)
    error.outage = True
    return error


def waiting(server: str, away_s: float, did: str, patience_s: float) -> str:
    """While it is away: what it did, and how long it is waited for still."""
    why = f": it {did}" if did else ""
    left = max(0.0, patience_s - away_s)
    return f"the model server {server} has not answered for {away_s:.0f} s{why}; it is waited for, {left:.0f} s left"


def unordered(server: str, did: str, patience_s: float) -> Unavailable:
    """Nothing is bought yet, and the server has been away for as long as the run is patient."""
    return paused(
        f"The model server {server} {did}; no batch could be ordered for {patience_s:g} s (ENQUETE_PATIENCE_S)."
    )


def paused(words: str) -> Unavailable:
    """What stops a batch would stop the next one too: the run pauses with these words."""
    error = Unavailable(words, Tally())
    error.outage = True
    return error


def _told(server: str, trouble: Trouble | None, model: str, tally: Tally) -> str:
    times = "once" if tally.sends == 1 else f"{tally.sends} times"
    did = trouble.message if trouble else "is not answering"
    return f"The model server {server} {did} (model {model!r}, asked {times})"


def rejected(server: str, refused: Refused, model: str, tally: Tally) -> Rejected:
    """A refusal for good, with the setting to look at."""
    setting = blamed_setting(refused.status, Said(refused.message, "", refused.code))
    advice = {
        "LLM_API_KEY": "Check LLM_API_KEY (or OPENAI_API_KEY): it must be a key of this server with credit left.",
        "LLM_MODEL_NAME": f"Check LLM_MODEL_NAME: this server does not offer {model!r} to this key.",
        "LLM_BASE_URL": "Check LLM_BASE_URL: it usually ends in /v1 and is not the full path of an endpoint.",
        "": f"Check LLM_MODEL_NAME ({model!r}) and the size of the prompt against what this server accepts.",
    }[setting]
    words = (
        f"The model server {server} refused the request with {refused.status}: {refused.message or 'no reason given'}"
    )
    return Rejected(f"{words.rstrip('.')}. {advice}", tally, refused.status, setting)
