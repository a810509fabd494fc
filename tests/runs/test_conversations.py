"""Conversations over a real ledger, with the synthetic respondent: killed anywhere they go on, and nothing is made
twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph

from enquete.ledger.budget import Budget
from enquete.ledger.ledger import Ledger
from enquete.models.metered_model import MeteredModel, Terms
from enquete.respondents.ledger_context import LedgerContext
from enquete.respondents.roles import RULE
from enquete.respondents.synthetic import SyntheticRespondent
from enquete.runs.conversations import Conversation, Conversations, run_conversation
from enquete.state.asking import Answer, Arm, Block, Outcome, Participant, Reply
from enquete.state.interview_context import InterviewContext, InterviewerTask, Metered, Respondent, ResultT
from tests.support import conversation_methods
from tests.support.conversation_methods import (
    Discussion,
    DiscussionSettings,
    Inquiry,
    InquirySettings,
    NoInstrument,
    made,
    truth,
)
from tests.support.ledgers import opened
from tests.support.populations import participants

PEOPLE = participants(2)
KINDS: dict[str, Conversations[Any, Any, Any, Any]] = {
    "interview": Inquiry(NoInstrument(), InquirySettings(), "en"),
    "sequential": Discussion(NoInstrument(), DiscussionSettings(order="sequential"), "en"),
    "parallel": Discussion(NoInstrument(), DiscussionSettings(order="parallel"), "en"),
}


class Killed(Exception):
    """As if the process had ended here."""


class MortalContext(LedgerContext):
    """Dies after so many steps: before and after every answer, piece of work and kept turn, one at a time."""

    steps = 10**9

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_at_a_time = asyncio.Lock()

    def _live(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Killed

    async def ask(self, block: Block) -> Reply:
        async with self._one_at_a_time:  # what is in flight at a kill may have to be made again
            self._live()
            reply = await super().ask(block)
            self._live()
            return reply

    async def worked(self, task: InterviewerTask[ResultT]) -> Any:
        self._live()
        result = await super().worked(task)
        self._live()
        return result

    async def pin(self, name: str, value: Any) -> Any:
        self._live()
        stored = await super().pin(name, value)
        self._live()
        return stored


def context(ledger: Ledger, *, cap: int = 10**7, respondent: Respondent | None = None, **more: Any) -> MortalContext:
    budget = Budget(cap, ledger.total("tokens"))
    model, rules = (MeteredModel(ledger, budget, None, Terms(name, 0, 0)) for name in ("synthetic", RULE))
    return MortalContext(
        arm=Arm(), main_arm="main", methodology="talks", phase="T1", language="en", asking="block", population=PEOPLE,
        ledger=ledger, respondent=respondent or SyntheticRespondent(truth, "en", 0), model=model,
        interviewers=lambda name: rules, interviewer_has_model=False, **more,
    )  # fmt: skip


def in_context(folder: Path, work: Callable[[MortalContext], Coroutine[Any, Any, Any]], **options: Any) -> Any:
    """What `work` gives, over the ledger in this folder, in an event loop and in a context of its own."""
    folder.mkdir(exist_ok=True)

    async def run() -> Any:
        async with opened(folder) as ledger:
            return await work(context(ledger, **options))

    return asyncio.run(run())


def held(folder: Path, kind: str, steps: int = 10**9, **options: Any) -> Outcome | Conversation[Any]:
    """The conversation of the first unit, read back from what is stored; or how it ended, if it is not over."""
    procedure = KINDS[kind]

    async def work(at: MortalContext) -> Outcome | Conversation[Any]:
        at.steps = steps
        (unit, *_) = procedure.units(1, at)
        outcome = await procedure.conduct(unit, 1, at)
        talk = procedure.begun(unit, at)
        for turn in procedure.stored(unit, at):
            talk = talk.after(turn)
        return talk if outcome == "done" else outcome

    result: Outcome | Conversation[Any] = in_context(folder, work, **options)
    return result


def owed(folder: Path, kind: str) -> Sequence[Block]:
    procedure = KINDS[kind]

    async def work(at: MortalContext) -> Sequence[Block]:
        return procedure.blocks(procedure.units(1, at)[0], 1, at)

    blocks: Sequence[Block] = in_context(folder, work)
    return blocks


@pytest.fixture(autouse=True)
def _nothing_made() -> Iterator[None]:
    made.clear()
    yield
    made.clear()


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_step_it_goes_on_and_makes_nothing_twice(tmp_path: Path, kind: str) -> None:
    whole = held(tmp_path / "whole", kind)
    once = sorted(made)
    for steps in count():
        made.clear()
        try:
            assert held(tmp_path / str(steps), kind, steps) == whole
            break
        except Killed:
            assert held(tmp_path / str(steps), kind) == whole
        assert sorted(made) == once, steps
    assert steps >= 16  # before and after each answer and kept turn of four, or of two with the interviewer's work


def test_an_interview_asks_by_what_was_said_and_ends_when_its_record_is_complete(tmp_path: Path) -> None:
    talk = held(tmp_path, "interview")
    assert isinstance(talk, conversation_methods.Record)
    assert (talk.record, talk.stop, talk.budget) == ({"trade": "trade-of-0", "worry": "drought"}, "complete", 0)
    assert talk.turns[1].question == "After trade-of-0: what about your worry?"
    assert talk.turns[1].by == {"ask": "rule", "read": "rule"}
    last = owed(tmp_path, "interview")[-1]
    assert last.quoted == (("So far", "Question: What is your trade?\nAnswer: I live by trade-of-0."),)


def test_speakers_in_turn_hear_each_other_and_at_once_only_earlier_rounds(tmp_path: Path) -> None:
    def turns_of(kind: str) -> list[tuple[str, int, str, float]]:
        talk = held(tmp_path / kind, kind)
        assert isinstance(talk, Conversation)
        return [(turn.participant[-1], turn.round, turn.answer, turn.confidence) for turn in talk.turns]

    assert turns_of("sequential") == [
        ("0", 1, "Agent 0 has seen 0.", 0.0), ("1", 1, "Agent 1 has seen 1.", 0.1),
        ("0", 2, "Agent 0 has seen 2.", 0.2), ("1", 2, "Agent 1 has seen 3.", 0.3),
    ]  # fmt: skip
    assert turns_of("parallel") == [("0", 1, "Agent 0 has seen 0.", 0.0), ("1", 1, "Agent 1 has seen 0.", 0.0),
                                ("0", 2, "Agent 0 has seen 2.", 0.2), ("1", 2, "Agent 1 has seen 2.", 0.2)]  # fmt: skip


def test_what_is_owed_are_the_turns_so_far_and_those_certain_to_come(tmp_path: Path) -> None:
    def turns(kind: str) -> list[tuple[int, int, str]]:
        return [(b.key.round, b.key.turn, b.key.participant[-1]) for b in owed(tmp_path / kind, kind)]

    for kind in ("sequential", "parallel"):
        assert turns(kind) == [(1, 1, "0"), (1, 2, "1")]
        held(tmp_path / kind, kind)
        assert turns(kind) == [(1, 1, "0"), (1, 2, "1"), (2, 3, "0"), (2, 4, "1")]
    with pytest.raises(Killed):
        held(tmp_path / "cut", "sequential", 4)  # the first turn is kept
    assert [block.key.turn for block in owed(tmp_path / "cut", "sequential")] == [1, 2]


def test_the_plan_bounds_what_is_asked(tmp_path: Path) -> None:
    async def planned(at: MortalContext) -> list[tuple[Any, ...]]:
        plans = [KINDS[kind].plan(at) for kind in ("interview", "parallel")]
        return [(plan.rows, dict(plan.calls)) for plan in plans]

    # two agents with two turns of one item each; one pair with four turns of two items; three attempts each
    assert in_context(tmp_path, planned) == [
        ((2, 4), {"answer": (2, 12), "ask": (2, 12), "read": (0, 12)}),
        ((2, 8), {"answer": (1, 12)}),
    ]


class Absent:
    """One speaker takes their time, or a server fails them; the other answers as ever."""

    def __init__(self, reply: Reply):
        self._reply = reply

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        if who.id == PEOPLE[1].id:
            return self._reply
        return await SyntheticRespondent(truth, "en", 0).ask(who, block, model)


@pytest.mark.parametrize("kind", ["sequential", "parallel"])
def test_a_person_is_waited_for_and_what_the_others_said_is_kept(tmp_path: Path, kind: str) -> None:
    whole = held(tmp_path / "whole", kind)
    once = sorted(made)
    made.clear()
    assert held(tmp_path / "out", kind, respondent=Absent(Reply("waiting"))) == "waiting"
    assert made == ["Agent 0, turn 1"]
    assert held(tmp_path / "out", kind) == whole
    assert sorted(made) == once


@pytest.mark.parametrize("kind", KINDS)
def test_a_spent_budget_ends_it_until_there_is_more(tmp_path: Path, kind: str) -> None:
    whole = held(tmp_path / "whole", kind)
    once = sorted(made)
    made.clear()
    talks = [held(tmp_path / "out", kind, cap=cap) for cap in range(400, 6000, 400)]
    assert talks[0] == "short"
    assert talks[-1] == whole
    assert sorted(key for key in made if "turn" in key) == [key for key in once if "turn" in key]  # rules cost nothing


def test_turns_that_failed_are_asked_again_where_that_is_wanted_and_no_others(tmp_path: Path) -> None:
    failed = Reply("done", (Answer("position", "failed"), Answer("confidence", "failed")))
    talk = held(tmp_path, "parallel", respondent=Absent(failed))
    assert isinstance(talk, Conversation)
    assert [turn.status for turn in talk.turns] == ["ok", "failed", "ok", "failed"]
    made.clear()
    held(tmp_path, "parallel")
    assert made == []
    held(tmp_path, "parallel", retry_failed=True)
    assert made == ["Agent 1, turn 2", "Agent 1, turn 4"]


class Idle(Discussion):
    async def hold(self, talk: Conversation[conversation_methods.Position], context: InterviewContext) -> Outcome:
        async def nothing(state: conversation_methods.PassState) -> conversation_methods.PassState:
            return {}

        builder = StateGraph(conversation_methods.PassState)
        builder.add_node("nothing", nothing)
        builder.add_edge(START, "nothing")
        builder.add_conditional_edges("nothing", conversation_methods.next_pass, {"again": "nothing", "end": END})
        return await run_conversation(builder.compile(), {"talk": talk}, max_steps=9, context=None)


def test_a_conversation_that_does_not_move_is_a_bug_and_not_endless(tmp_path: Path) -> None:
    idle = Idle(NoInstrument(), DiscussionSettings(order="parallel"), "en")
    with pytest.raises(GraphRecursionError):
        in_context(tmp_path, lambda at: idle.conduct("group:0+1", 1, at))
