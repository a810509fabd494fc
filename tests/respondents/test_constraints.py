"""Constraints by name, and answers that have to differ; the forced grid has tests of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from enquete.ledger.budget import Budget
from enquete.models.metered_model import MeteredModel, Terms
from enquete.respondents.llm import Distinct, ForcedGrid, LLMRespondent, constraint_of
from enquete.state.asking import ATTEMPTS, MORE_ATTEMPTS, Block, BlockKey, Item, Option, Reply
from tests.support.ledgers import RUN, Outcome, ScriptedSender, opened
from tests.support.populations import participants

(WHO,) = participants(1)
COLOURS = ("red", "green", "blue", "grey")


def block(constraint: JsonValue, *, items: int = 3) -> Block:
    options = tuple(Option(value=colour, label="") for colour in COLOURS)
    asked = tuple(Item(id=f"q{n}", kind="choice", wording="?", options=options) for n in range(1, items + 1))
    key = BlockKey(RUN, "main", "m", "T1", "", 0, 0, WHO.id, "items")
    return Block(key=key, instruction="Choose.", items=asked, constraint=constraint)


def interview(folder: Path, outcomes: list[Outcome]) -> tuple[Reply, ScriptedSender]:
    async def run() -> tuple[Reply, ScriptedSender]:
        sender = ScriptedSender(outcomes)
        async with opened(folder) as ledger:
            model = MeteredModel(ledger, Budget(10**8, 0), sender, Terms("m", 0, 0))
            return await LLMRespondent("en").ask(WHO, block({"distinct": True}), model), sender

    return asyncio.run(run())


def test_they_are_found_by_name() -> None:
    assert constraint_of(block(None)) is None
    assert isinstance(constraint_of(block({"distinct": True})), Distinct)
    assert isinstance(constraint_of(block({"grid": {"0": 3}})), ForcedGrid)


@pytest.mark.parametrize(
    ("constraint", "items", "message"),
    [
        ({"sum": 4}, 3, "'sum' is none of grid, distinct"),
        ({"distinct": True}, 5, "5 items .* cannot differ in 4 options"),
    ],
)
def test_one_that_nobody_could_keep_is_a_bug(constraint: JsonValue, items: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        constraint_of(block(constraint, items=items))


def test_equal_answers_are_asked_again_among_what_is_left(tmp_path: Path) -> None:
    reply, sender = interview(
        tmp_path, [json.dumps({"q1": "red", "q2": "blue", "q3": "red"}), json.dumps({"q1": "red", "q3": "grey"})]
    )
    assert [answer.data for answer in reply.answers] == ["red", "blue", "grey"]
    assert {answer.status for answer in reply.answers} == {"ok"}
    assert reply.answers[2].notes == ("first red, asked again to differ: grey",)
    first, again = (prompt.messages[0]["content"] for prompt in sender.sent)
    assert "only once" in first
    assert "more than once: q1, q3" in again
    assert "Options: red; green; grey" in again


def test_what_stays_the_same_is_no_answer_but_for_the_first(tmp_path: Path) -> None:
    reply, sender = interview(tmp_path, [json.dumps({"q1": "red", "q2": "blue", "q3": "red"})])
    assert len(sender.sent) == ATTEMPTS + MORE_ATTEMPTS
    assert [(answer.status, answer.data) for answer in reply.answers] == [("ok", "red"), ("ok", "blue"),
        ("invalid", None)]  # fmt: skip
    assert reply.answers[2].notes == ("red, as already to q1",)
