"""The context over a real ledger: nothing is asked twice, items one by one, the interviewer's own work."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from enquete.ledger.budget import Budget
from enquete.ledger.ledger import Ledger
from enquete.models.chat_replies import ModelResponse
from enquete.models.metered_model import MeteredModel, Terms
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.llm import LLMRespondent
from enquete.state.asking import Answer, Arm, Block, Item, Language, Option, Reply
from enquete.state.errors import ModelUnavailable
from enquete.state.interview_context import InterviewerTask, Prompt
from tests.support.ledgers import Outcome, ScriptedSender, opened, response
from tests.support.populations import participants
from tests.support.studies import rows

pytestmark = pytest.mark.anyio

PEOPLE = participants(3)
A, B, C = (
    Item(id=name, kind="scale", wording=f"{name}?", options=tuple(Option(value=n, label="") for n in range(1, 6)))
    for name in "abc"
)


def fill(prompt: Prompt) -> str:
    """3 for every item asked for."""
    required: Any = json.loads(prompt.schema)["required"]
    return json.dumps(dict.fromkeys(required, 3))


def items_in(prompt: Prompt) -> list[str]:
    """The items asked for: here an item's wording is its id."""
    return re.findall(r"^q\d+.*: (\w)\?$", prompt.messages[0]["content"], re.MULTILINE)


def context(
    ledger: Ledger,
    sender: ScriptedSender,
    *,
    arm: str = "main",
    asking: Literal["block", "item"] = "block",
    cap: int = 10**7,
    with_model: bool = True,
    language: Language = "en",
) -> LedgerContext:
    model = MeteredModel(ledger, Budget(cap, ledger.total("tokens")), sender, Terms("m", 0, 0))
    return LedgerContext(
        arm=Arm(id=arm), main_arm="main", methodology="longitudinal", phase="T0", language=language, asking=asking,
        population=PEOPLE, ledger=ledger, respondent=LLMRespondent(language), model=model,
        interviewers=lambda name: model, interviewer_has_model=with_model,
    )  # fmt: skip


def block(at: LedgerContext, **more: Any) -> Block:
    key = at.key(PEOPLE[0].id, "items", round=more.pop("round", 0))
    return Block(**{"key": key, "instruction": "Please.", "items": (A, B, C), "shown": ("c", "a", "b"), **more})


class TestAsk:
    async def test_asking_twice_is_one_call(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            sender = ScriptedSender(fill)
            at = context(ledger, sender)
            first, second = await at.ask(block(at)), await at.ask(block(at))
            assert first == second
            assert [answer.item for answer in first.answers] == ["c", "a", "b"]
            assert at.stored(block(at).key).keys() == {"a", "b", "c"}
            assert len(sender.sent) == 1

    async def test_a_stored_answer_needs_no_call_even_where_the_calls_are_gone(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            sender = ScriptedSender(fill)
            at = context(ledger, sender)
            await ledger.store(block(at).key, [Answer(name, "ok", 1.0, position=n) for n, name in enumerate("cab", 1)])
            assert {answer.value for answer in (await at.ask(block(at))).answers} == {1.0}
            assert sender.sent == []

    async def test_a_settled_call_whose_answers_were_lost_is_parsed_again(self, tmp_path: Path) -> None:
        """Killed between the settlement and the commit of the answers."""
        async with opened(tmp_path) as ledger:
            at = context(ledger, ScriptedSender(fill))
            reply = await LLMRespondent("en").ask(PEOPLE[0], block(at), at.model)
            silent = ScriptedSender(["must not be sent"])
            assert await context(ledger, silent).ask(block(at)) == reply
            assert silent.sent == []

    async def test_items_one_by_one(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            sender = ScriptedSender(fill)
            at = context(ledger, sender, asking="item")
            reply = await at.ask(block(at))
            assert [(answer.item, answer.position) for answer in reply.answers] == [("c", 1), ("a", 2), ("b", 3)]
            assert [items_in(sent) for sent in sender.sent] == [["c"], ["a"], ["b"]]
            assert await at.ask(block(at)) == reply
            assert len(sender.sent) == 3
            # one occasion: what the agent said before is found whatever way it was asked
            assert at.stored(block(at).key).keys() == {"a", "b", "c"}

    @pytest.mark.parametrize(("carries_over", "at_once"), [(False, 3), (True, 1)])
    async def test_items_one_by_one_are_side_by_side_unless_one_shows_another(
        self, tmp_path: Path, carries_over: bool, at_once: int
    ) -> None:
        """All three at once where none shows another."""

        class Counting(ScriptedSender):
            most = now = 0

            async def send(self, *given: Any, **named: Any) -> ModelResponse:
                self.now += 1
                self.most = max(self.most, self.now)
                await asyncio.sleep(0)
                self.now -= 1
                return await super().send(*given, **named)

        async with opened(tmp_path) as ledger:
            sender = Counting(fill)
            at = context(ledger, sender, asking="item")
            at.carries_over = carries_over
            await at.ask(block(at))
            assert (sender.most, len(sender.sent)) == (at_once, 3)

    async def test_a_constraint_over_all_items_keeps_them_together(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            sender = ScriptedSender(fill)
            at = context(ledger, sender, asking="item")
            await at.ask(block(at, constraint={"distinct": True}))
            assert all(set(items_in(sent)) == {"a", "b", "c"} for sent in sender.sent)

    async def test_short_half_way_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        """One by one with a budget for two calls side by side: theirs are stored, the third item is asked later."""
        async with opened(tmp_path) as ledger:
            first, rest = ScriptedSender(lambda sent: response(fill(sent), read=3000)), ScriptedSender(fill)
            assert await context(ledger, first, asking="item", cap=4100).ask(block(context(ledger, first))) == Reply(
                "short"
            )
            asked = [items_in(sent) for sent in first.sent]
            assert asked == [["c"], ["a"]]
            at = context(ledger, rest, asking="item")
            assert (await at.ask(block(at))).state == "done"
            assert [items_in(sent) for sent in rest.sent] == [["b"]]

    async def test_answers_only_of_the_arm_named(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            main, other = context(ledger, ScriptedSender(fill)), context(ledger, ScriptedSender(fill), arm="b")
            await main.ask(block(main))
            await other.ask(block(other, round=2))
            for at in (main, other):
                assert {key.arm async for key, _ in at.answers(arm="b")} == {"b"}
                assert {key.arm async for key, _ in at.answers(arm="main")} == {"main"}
            assert [a.item async for _, a in main.answers(arm="b", round=0)] == []
            assert [a.item async for _, a in main.answers(arm="main", phase="T1")] == []
            assert [a.item async for _, a in main.answers(arm="main")] == ["c", "a", "b"]

    async def test_pinned_values_belong_to_an_arm_and_can_be_read_from_another(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            main, other = context(ledger, ScriptedSender(fill)), context(ledger, ScriptedSender(fill), arm="b")
            assert await main.pin("themes", ["x"]) == ["x"]
            assert await main.pin("themes", ["y"]) == ["x"]
            assert (other.pinned("themes"), other.pinned("themes", arm="main")) == (None, ["x"])


class Texts(BaseModel):
    texts: list[str]


class Counted(BaseModel):
    number: int


def count_words(data: Texts) -> Counted:
    return Counted(number=sum(len(text.split()) for text in data.texts))


def task(subject: str = "batch 1") -> InterviewerTask[Counted]:
    return InterviewerTask(
        purpose="theme", subject=subject, data=Texts(texts=["a b", "c"]),
        prompt=lambda data, language: f"Count the words ({language}).", result=Counted, rule=count_words,
        max_output_tokens=100,
    )  # fmt: skip


def worked(folder: Path, *outcomes: Outcome, **options: Any) -> tuple[Counted | str, ScriptedSender]:
    async def run() -> tuple[Counted | str, ScriptedSender]:
        sender = ScriptedSender(outcomes)
        async with opened(folder) as ledger:
            return await context(ledger, sender, **options).work(task()), sender

    return asyncio.run(run())


class TestWork:
    def test_by_a_model(self, tmp_path: Path) -> None:
        result, sender = worked(tmp_path, '{"number": 7}')
        assert result == Counted(number=7)
        assert len(sender.sent) == 1
        again, silent = worked(tmp_path, "must not be sent")
        assert (again, silent.sent) == (result, [])
        assert rows(tmp_path, "SELECT purpose, subject, status FROM calls") == [("theme", "batch 1", "settled")]

    def test_by_rule_through_the_same_ledger(self, tmp_path: Path) -> None:
        result, sender = worked(tmp_path, "must not be sent", with_model=False)
        assert result == Counted(number=3)  # a, b, c
        assert sender.sent == []
        assert rows(tmp_path, "SELECT purpose, status, response FROM calls") == [("theme", "settled", '{"number":3}')]

    def test_a_result_that_does_not_fit_is_corrected(self, tmp_path: Path) -> None:
        result, sender = worked(tmp_path, '{"number": "many"}', "words", '{"number": 3}')
        assert result == Counted(number=3)
        prompts = [sent.messages[0]["content"] for sent in sender.sent]
        assert prompts[0] == "Count the words (en)."
        assert "number: Input should be a valid integer" in prompts[1]
        assert prompts[2].endswith("Your last reply was not a JSON object. Answer only with JSON.")

    def test_the_correction_is_in_the_run_s_language(self, tmp_path: Path) -> None:
        _, sender = worked(tmp_path, "Wörter", '{"number": 3}', language="de")
        assert "Ihre letzte Antwort war kein JSON-Objekt." in sender.sent[1].messages[0]["content"]

    def test_invalid_to_the_last_is_failed(self, tmp_path: Path) -> None:
        result, sender = worked(tmp_path, '{"number": "many"}')
        assert result == "failed"
        assert len(sender.sent) == 3

    def test_a_cut_reply_is_asked_again_with_more_room(self, tmp_path: Path) -> None:
        """What is left of it may look whole: here a number that lost its end would be believed."""
        cut = response('{"number": 1}, {"numb', finish="length")
        result, sender = worked(tmp_path, cut, '{"number": 12}')
        assert result == Counted(number=12)
        assert [sent.max_output_tokens for sent in sender.sent] == [100, 200]

    def test_a_model_that_is_away(self, tmp_path: Path) -> None:
        assert worked(tmp_path, ModelUnavailable("gone"))[0] == "failed"
        assert worked(tmp_path, '{"number": 7}')[0] == Counted(number=7)

    def test_short_of_budget(self, tmp_path: Path) -> None:
        result, sender = worked(tmp_path, '{"number": 7}', cap=50)
        assert (result, sender.sent) == ("short", [])
        assert worked(tmp_path, '{"number": 7}')[0] == Counted(number=7)


async def test_context_looks_up_participants_by_id(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        at = context(ledger, ScriptedSender(["x"]))
        assert at.run == ledger.run
        assert at.participants() == PEOPLE
        assert at.participant(PEOPLE[2].id) == PEOPLE[2]
        assert at.key("p", "part", session="s", round=2, turn=3)[2:] == ("longitudinal", "T0", "s", 2, 3, "p", "part")
