"""Slow and small servers: what they say of themselves, how long they are waited for, and that nobody is asked twice.

Times are scaled: what takes a laptop minutes takes this server tenths of a second, with time-outs as short. No
assertion is about
the clock: what counts is how often the server was asked, and how many at once.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from enquete.models.chat_replies import ModelResponse
from enquete.models.chat_services import with_patience
from enquete.models.servers import (
    CUT,
    PATIENT,
    SLOWEST_READING,
    SLOWEST_WRITING,
    Facts,
    Limiter,
    Speed,
    facts_of,
    fitted,
    shortened,
)
from enquete.models.transport import Transport
from enquete.state.errors import ModelRejected
from enquete.state.interview_context import Prompt
from tests.support import bare_runs
from tests.support.small_server import SmallServer
from tests.support.studies import personas, rows

pytestmark = pytest.mark.anyio

PROMPT = Prompt("You are Ada.", ({"role": "user", "content": "x" * 3989},), "", 500)  # 4,000 characters and one
LLAMA: dict[str, Any] = {"default_generation_settings": {"n_ctx": 8192, "params": {}}, "total_slots": 2}


@pytest.mark.parametrize(
    ("bodies", "facts"),
    [
        ((LLAMA, {"data": [{"id": "other", "meta": {"n_ctx_train": 131072}}]}, None, None),
         Facts(8192, 2, True, "llama.cpp")),
        ((None, {"data": [{"id": "a"}, {"id": "m", "max_model_len": 4096, "owned_by": "vllm"}]}, None, None),
         Facts(4096, None, False, "vllm")),
        ((None, {"data": [{"id": "m", "context_window": 131072}]}, None, None), Facts(131072)),  # Groq
        ((None, {"data": []}, {"data": [{"id": "m", "max_context_length": 9, "loaded_context_length": 4}]}, None),
         Facts(4, None, True, "lm-studio")),
        ((None, None, None, {"models": [{"name": "m", "context_length": 4096}]}), Facts(4096, None, True, "ollama")),
        ((None, None, None, {"models": []}), Facts(None, None, True, "ollama")),  # no model is loaded yet
        ((None, {"data": [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}]}, None, None), Facts()),
        ((["no"], {"data": "no"}, {"data": [1, None]}, "no"), Facts(None, None, True, "lm-studio")),
        (({"default_generation_settings": {"n_ctx": True}, "total_slots": -1}, 5, None, None),
         Facts(None, None, True, "llama.cpp")),
        ((None, None, None, None), Facts()),
    ],
)  # fmt: skip
def test_what_servers_say(bodies: tuple[Any, Any, Any, Any], facts: Facts) -> None:
    assert facts_of("m", *bodies) == facts


def test_patience_grows_with_what_a_server_took() -> None:
    speed = Speed()
    assert speed.patience(PROMPT, 120, small=False) == 120
    speed.note(PROMPT, 30, None)
    assert speed.patience(PROMPT, 120, small=False) == 120  # 3 × 30 s are less
    speed.note(PROMPT, 100, None)
    assert speed.patience(PROMPT, 120, small=False) == PATIENT * 100
    twice = replace(PROMPT, system="x" * (4000 + len(PROMPT.system) - 2))
    assert speed.patience(twice, 120, small=False) == pytest.approx(PATIENT * 200, rel=0.001)
    assert speed.patience(PROMPT, 5000, small=False) == 5000  # never less than was asked for
    # 1,000 tokens by four characters each, and a reply of 500.
    assert Speed().patience(PROMPT, 120, small=True) == 1000 / SLOWEST_READING + 500 / SLOWEST_WRITING
    speed = Speed()
    assert speed.tokens(PROMPT) == 1000
    speed.note(PROMPT, 1, 2000)
    speed.note(PROMPT, 1, 1500)
    assert speed.tokens(PROMPT) == 2000


def test_what_fits_a_context_and_what_gives_way_in_which_order() -> None:
    # First the room for the reply, down to half of it; a question is never cut.
    assert fitted(PROMPT, None, 10**6) is PROMPT
    assert fitted(PROMPT, 1500, 1000) is PROMPT
    assert fitted(PROMPT, 1499, 1000) == replace(PROMPT, max_output_tokens=499)
    assert fitted(PROMPT, 1250, 1000) == replace(PROMPT, max_output_tokens=250)
    assert fitted(PROMPT, 1249, 1000) is None
    assert fitted(replace(PROMPT, max_output_tokens=100), 1063, 1000) is None  # nor to less than 64
    memory, persona = "memory " * 100, "persona " * 100
    whole = Prompt(f"Rules.\n{persona}\n{memory}", (), "", 64, (memory, persona))
    assert shortened(whole, 0) is whole
    some = shortened(whole, 300).system
    assert (some.count("persona"), some.count(CUT)) == (100, 1)
    assert 300 <= len(whole.system) - len(some) < 300 + len("memory ") + len(CUT)
    most = shortened(whole, 10_000).system
    assert most.startswith("Rules.\npersona ")
    assert most.count(CUT) == 2
    assert min(most.count("persona"), most.count("memory")) >= 24  # 200 characters of each


async def test_a_time_out_looks_again_when_it_is_due() -> None:
    """Patience grows twice while the answer is waited for, and no further: three looks, then the end."""
    given = [0.01, 0.02, 0.03, 0.03]
    looks = iter(given)
    with pytest.raises(TimeoutError):
        await with_patience(asyncio.sleep(60), lambda: next(looks))
    assert next(looks, None) is None


def send(server: SmallServer, *prompts: Prompt, timeout_s: float = 60) -> list[ModelResponse]:
    async def work() -> list[ModelResponse]:
        transport = Transport(
            server.base_url, SecretStr("k"), limiter=Limiter(32), timeout_s=timeout_s, backoff_s=0.01, patience_s=0
        )
        try:
            asked = (transport.send(prompt, model="test-model", temperature=0, seed=1) for prompt in prompts)
            return await asyncio.gather(*asked)
        finally:
            await transport.aclose()

    return asyncio.run(work())


def questions(number: int) -> list[Prompt]:
    return [replace(PROMPT, system=f"You are number {n}.") for n in range(number)]


def test_requests_wait_here_for_a_slot_and_are_waited_for(tmp_path: Path) -> None:
    """Reading takes twice the time-out. Two at a time, none asked twice, and asked only once what it is."""
    with SmallServer(slots=2, reading=5000) as server:
        answers = send(server, *questions(6), timeout_s=0.1)
        assert (len(server.requests), server.max_in_flight, server.repeated()) == (6, 2, {})
        assert sorted(server.asked) == ["/api/ps", "/api/v0/models", "/props", "/v1/models"]
    assert {(answer.sends, answer.timeouts) for answer in answers} == {(1, 0)}


def test_a_server_that_says_nothing_is_measured() -> None:
    """One slot, unknown: the first answer tells how long the next ones may take; they come to wait here, one by one."""
    with SmallServer(slots=1, reading=5000, says=False) as server:  # .2 s each
        send(server, *questions(1))
        answers = send(server, *questions(6)[1:], timeout_s=0.3)
        answers += send(server, *questions(11)[6:], timeout_s=0.3)
        assert server.repeated() == {}
        assert max(request.in_flight for request in server.requests[-5:]) < 5
    assert {(answer.sends, answer.timeouts) for answer in answers} == {(1, 0)}


def test_what_does_not_fit_is_told_before_anybody_is_asked_and_a_reply_has_the_room_that_is_left() -> None:
    with SmallServer(context=1000) as server:
        with pytest.raises(ModelRejected, match=r"context of 1,000 tokens; this question has about 1,000") as caught:
            send(server, PROMPT)
        assert caught.value.fatal  # nobody's question fits
        with pytest.raises(ModelRejected) as caught:
            send(server, replace(PROMPT, system="x" * 4000, messages=({"role": "user", "content": "Why?"},)))
        assert not caught.value.fatal  # it is this agent's memories
        assert server.requests == []
    with SmallServer(context=1300) as server:
        send(server, PROMPT)
        assert [request.body["max_tokens"] for request in server.requests] == [300]


def test_a_question_too_long_is_asked_in_its_short_form_and_counted(tmp_path: Path) -> None:
    people = [
        {"name": f"Person {i}", "persona": "Works at the bank. " * n, "type": "staff"} for i, n in enumerate((9, 999))
    ]
    (tmp_path / "people.json").write_text(json.dumps(people))
    with SmallServer(context=6000) as server:
        run = bare_runs.interview(
            tmp_path / "people.json", model="test-model", base_url=server.base_url, methods=["longitudinal"],
            out=str(tmp_path / "out"),
        )  # fmt: skip
    assert run.status == "completed"
    sent = rows(run.folder, "SELECT text FROM texts WHERE hash IN (SELECT system_hash FROM calls)")
    assert sorted(CUT in text for (text,) in sent) == [False, True]
    assert rows(run.folder, "SELECT sum(value) FROM counters WHERE name='shortened'") == [
        (1,)
    ]  # what the report counts


def test_five_agents_on_a_laptop(tmp_path: Path) -> None:
    """Questions of 3,000 tokens and more take six times the time-out to read: the run of the issue, in tenths of
    seconds."""
    with SmallServer(slots=2, reading=5000, writing=2000) as server:
        run = bare_runs.interview(
            personas(tmp_path, 5), model="test-model", base_url=server.base_url, methods=["longitudinal"],
            out=str(tmp_path / "out"), timeout_s=0.1,
        )  # fmt: skip
        assert (run.status, server.repeated()) == ("completed", {})
        assert server.max_in_flight <= 2
    assert rows(run.folder, "SELECT DISTINCT status, sends, allowance FROM calls") == [("settled", 1, 0)]
