"""How an interview by a model goes on after a reply that is broken, partial, refused or cut, through a real ledger."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.ledger.budget import Budget
from enquete.ledger.ledger import Ledger
from enquete.models.metered_model import MeteredModel, Terms, input_bound
from enquete.respondents.kinds import worded
from enquete.respondents.llm import LLMRespondent, compose
from enquete.state.asking import ATTEMPTS, Block, BlockKey, Item, Option, Reply
from enquete.state.errors import ModelRejected, ModelUnavailable
from enquete.state.interview_context import Prompt
from tests.support.ledgers import RUN, Outcome, ScriptedSender, opened, response
from tests.support.populations import participants
from tests.support.studies import rows

(WHO,) = participants(1)
A, B, C = (
    Item(id=name, kind="scale", wording=f"{name}?", options=tuple(Option(value=n, label="") for n in range(1, 6)))
    for name in "abc"
)
T = Item(id="t", kind="text", wording="t?")
KEY = BlockKey(RUN, "main", "longitudinal", "T0", "", 0, 0, WHO.id, "items")
BLOCK = Block(key=KEY, instruction="Please answer.", items=(A, B, C, T), shown=("c", "a", "t", "b"))
GOOD = {"a": 1, "b": 2, "c": 3, "t": "text"}


def schema_items(prompt: Prompt) -> list[str]:
    required: Any = json.loads(prompt.schema)["required"]
    return [BLOCK.shown[int(name.removeprefix("q")) - 1] for name in required]


async def asked(ledger: Ledger, sender: ScriptedSender, cap: int = 10**7, block: Block = BLOCK) -> Reply:
    model = MeteredModel(ledger, Budget(cap, ledger.total("tokens")), sender, Terms("m", 0, 0))
    return await LLMRespondent("en").ask(WHO, block, model)


def interview(folder: Path, *outcomes: Outcome) -> tuple[Reply, ScriptedSender]:
    async def run() -> tuple[Reply, ScriptedSender]:
        sender = ScriptedSender(outcomes)
        async with opened(folder) as ledger:
            return await asked(ledger, sender), sender

    return asyncio.run(run())


def statuses(reply: Reply) -> dict[str, str]:
    assert [answer.item for answer in reply.answers] == list(BLOCK.shown)
    assert [answer.position for answer in reply.answers] == [1, 2, 3, 4]
    return {answer.item: answer.status for answer in reply.answers}


def test_a_good_reply_is_one_call(tmp_path: Path) -> None:
    reply, sender = interview(tmp_path, json.dumps(GOOD))
    assert statuses(reply) == dict.fromkeys("catb", "ok")
    assert [answer.value for answer in reply.answers] == [3, 1, None, 2]
    assert [answer.options_shown for answer in reply.answers] == [(1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (), (1, 2, 3, 4, 5)]
    assert len(sender.sent) == 1


def test_a_reply_that_cannot_be_read_gets_a_corrective_retry(tmp_path: Path) -> None:
    reply, sender = interview(tmp_path, "I would say three.", json.dumps(GOOD))
    assert statuses(reply) == dict.fromkeys("catb", "repaired")
    first, second = (prompt.messages[0]["content"] for prompt in sender.sent)
    assert second == f"{first}\n\n{worded('as_written', 'en').again_unreadable}"  # what is cached stays as it is


def test_only_what_is_missing_or_out_of_range_is_asked_again(tmp_path: Path) -> None:
    reply, sender = interview(tmp_path, '{"a": 1, "b": 9, "t": "text"}', '{"b": 2, "c": 3, "a": 5}')
    assert statuses(reply) == {"c": "repaired", "a": "ok", "t": "ok", "b": "repaired"}
    assert {answer.item: answer.value for answer in reply.answers}["a"] == 1  # the first answer stands
    second = sender.sent[1]
    assert schema_items(second) == ["c", "b"]
    text = second.messages[0]["content"]
    assert text.endswith(worded("as_written", "en").again_missing)
    assert [f"{name}?" in text for name in "abct"] == [False, True, True, False]


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        ("no json at all", "invalid"), ('{"a": 9, "b": 9, "c": 9, "t": ""}', "invalid"),
        ("I'm sorry, but I can't answer that.", "refused"), (response("", finish="refusal"), "refused"),
        ('{"a": null, "b": null, "c": null, "t": null}', "refused"),
    ],
)  # fmt: skip
def test_after_the_last_attempt_the_status_says_what_was_wrong(tmp_path: Path, bad: Outcome, status: str) -> None:
    reply, sender = interview(tmp_path, bad)
    assert reply.state == "done"
    assert statuses(reply) == dict.fromkeys("catb", status)
    assert len(sender.sent) == ATTEMPTS


def test_a_prompt_that_the_filter_takes_offence_at_is_refused_after_one_request(tmp_path: Path) -> None:
    """The filter judges the same prompt in the same way each time."""
    reply, sender = interview(tmp_path, response("", finish="content_filter"))
    assert reply.state == "done"
    assert statuses(reply) == dict.fromkeys("catb", "refused")
    assert len(sender.sent) == 1


def test_refused_and_invalid_are_told_apart_item_by_item(tmp_path: Path) -> None:
    reply, _ = interview(tmp_path, '{"a": 1, "b": null, "c": 9, "t": "text"}')
    assert statuses(reply) == {"c": "invalid", "a": "ok", "t": "ok", "b": "refused"}


@pytest.mark.parametrize("error", [ModelUnavailable("gone"), ModelRejected("too long")])
def test_a_request_that_fails_is_failed_and_keeps_what_was_answered(tmp_path: Path, error: Outcome) -> None:
    reply, _ = interview(tmp_path, '{"a": 1}', error)
    assert statuses(reply) == {"c": "failed", "a": "ok", "t": "failed", "b": "failed"}


def test_a_reply_cut_off_by_length_gets_twice_the_room(tmp_path: Path) -> None:
    reply, sender = interview(tmp_path, response('{"a": {"value": 1}, "b": {"val', finish="length"), json.dumps(GOOD))
    assert statuses(reply) == {"c": "repaired", "a": "ok", "t": "repaired", "b": "repaired"}
    assert sender.sent[1].max_output_tokens == 2 * sender.sent[0].max_output_tokens
    assert sender.sent[1].messages[0]["content"].endswith(worded("as_written", "en").again_short)


def test_a_number_with_two_meanings_is_asked_again_with_the_form_named(tmp_path: Path) -> None:
    boats = Item(id="n", kind="number", wording="How many boats?", minimum=0, maximum=20_000)
    block = Block(key=KEY, instruction="Please answer.", items=(boats,))

    async def run() -> tuple[Reply, ScriptedSender]:
        sender = ScriptedSender(['{"n": "1.500"}', '{"n": 1500}'])
        async with opened(tmp_path) as ledger:
            return await asked(ledger, sender, block=block), sender

    reply, sender = asyncio.run(run())
    assert [(answer.value, answer.status) for answer in reply.answers] == [(1500, "repaired")]
    again = sender.sent[1].messages[0]["content"]
    assert again.endswith(worded("as_written", "en").again_number)
    assert "such as 1500 or 1.5" in again


def test_short_on_the_way_keeps_every_settled_call_for_later(tmp_path: Path) -> None:
    """The budget is enough for the first request only: nothing is answered, and nothing is asked twice."""

    async def run() -> tuple[Reply, Reply, list[str], list[str]]:
        first = ScriptedSender([response('{"a": 1, "b": 2}', read=500, written=1024)])
        async with opened(tmp_path) as ledger:
            cap = input_bound(compose(WHO, BLOCK, BLOCK.in_shown_order(), "en", "", 0)) + 1024
            short = await asked(ledger, first, cap)
            rest = ScriptedSender([json.dumps(GOOD)])
            done = await asked(ledger, rest)
            return short, done, *([item for p in s.sent for item in schema_items(p)] for s in (first, rest))  # type: ignore[return-value]

    short, done, first, rest = asyncio.run(run())
    assert short == Reply("short")
    assert first == ["c", "a", "t", "b"]
    assert rest == ["c", "t"]
    assert statuses(done) == {"c": "repaired", "a": "ok", "t": "repaired", "b": "ok"}
    assert rows(tmp_path, "SELECT attempt, status FROM calls ORDER BY attempt") == [(0, "settled"), (1, "settled")]


def test_a_stopped_run_is_short_and_not_failed(tmp_path: Path) -> None:
    reply, _ = interview(tmp_path, ModelRejected("wrong key", fatal=True))
    assert reply == Reply("short")


member: st.SearchStrategy[Any] = st.sampled_from(
    [1, "2", 3.0, 9, None, "x", True, {"value": 4}, {"value": None}, {"text": "so"}, [], ""]
)
scripted = st.one_of(
    st.dictionaries(st.sampled_from(["a", "b", "c", "t", "u"]), member).map(json.dumps),
    st.sampled_from(["", "no", "I'm sorry, I can't do that.", '{"a": 1, "b"', "```json\n{}\n```"]),
    st.builds(response, st.sampled_from(["", '{"a": 1, "c": 2, "t": "cut']),
        finish=st.sampled_from(["length", "content_filter"])),
    st.just(ModelUnavailable("gone", timeouts=1)),
    st.just(ModelRejected("no")),
)  # fmt: skip


@settings(max_examples=40)
@given(st.lists(scripted, min_size=1, max_size=4))
def test_whatever_comes_back_every_item_has_exactly_one_answer(outcomes: Sequence[Outcome]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        reply, sender = interview(Path(folder), *outcomes)
        again, silent = interview(Path(folder), "nothing may be sent")
    assert reply.state == "done"
    by_item = statuses(reply)
    assert set(by_item.values()) <= {"ok", "repaired", "refused", "invalid", "failed"}
    for answer in reply.answers:
        usable = answer.status in ("ok", "repaired")
        assert usable == (answer.value is not None or bool(answer.text))
        assert answer.value is None or answer.value in answer.options_shown
    assert 1 <= len(sender.sent) <= ATTEMPTS
    if "failed" not in by_item.values():  # a failed call may be taken up again; a settled one is only read
        assert (again, silent.sent) == (reply, [])
