"""What ai-roundtable's get_thoughts, get_citations, synthesize_debate and control_session do, under our names: over
MCP, HTTP and Python, on one discussion whose answers are made by hand and come from a model over real HTTP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from enquete.graphs.roundtable.discussion import Discussion, Document, RoundtableTurn
from enquete.graphs.roundtable.modes import Response
from enquete.graphs.roundtable.synthesis import SYNTHESIST, DiscussionSaid, DiscussionSynthesis, Point, TurnSaid, claims
from enquete.reports.run_reading import open_run
from enquete.state.errors import EnqueteError
from enquete.study.method_operations import operate
from enquete.study.tasks import PathSandbox, Tasks
from tests.graphs.roundtable.callers import QUESTION, SEATS, TABLE, http, mcp, python
from tests.support.model_server import ModelServer

TILL = {
    "title": "Till report",
    "text": "On Mondays the till took a third of what it takes on Fridays. Rent is due monthly.",
}


def script(body: dict[str, Any]) -> str | None:
    """A synthesis that names two turns that there are, and one point that rests on none."""
    text = body["messages"][-1]["content"]
    if "Sum up a discussion" not in text:
        return None
    turns = [int(number) for number in re.findall(r"^\[(\d+)\]", text, re.MULTILINE)]
    made = {
        "common_ground": [{"text": "Mondays are slow.", "turns": turns[:2]},
            {"text": "Everybody is happy.", "turns": [999]}],
        "differences": [{"text": "Who bears the loss.", "turns": turns[-1:]}], "evolution": "Ben moved.",
        "conclusion": "Close for a trial.", "recommendation": "Try it for three months.", "confidence": 0.6,
    }  # fmt: skip
    return json.dumps(made)


@dataclass(frozen=True)
class Led:
    root: Path
    server: ModelServer


@pytest.fixture(scope="module")
def led(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Led]:
    """Two rounds, one after the other, with a document given."""
    root = tmp_path_factory.mktemp("led")
    (root / "simulations").mkdir()
    with ModelServer(script=script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_BASE_URL", server.base_url)
        patch.setenv("LLM_MODEL_NAME", "m")
        given = {"mode": "adversarial", "rounds": 2, "personas": SEATS, "documents": [TILL]}
        done = python(root, "start_roundtable", **TABLE, question=QUESTION, **given)
        assert done["status"] == "completed"
        yield Led(root, server)


def test_documents_are_shown_to_everybody_as_data(led: Led) -> None:
    asked = [one.body["messages"][-1]["content"] for one in led.server.requests if QUESTION in str(one.body)]
    turns = [text for text in asked if "Your position, in one to three sentences" in text]
    assert len(turns) >= 8  # before, two rounds, after; two seats
    assert all("Till report:" in text and TILL["text"] in text for text in turns)


def test_one_participants_thoughts_from_round_to_round(led: Led) -> None:
    told = mcp(led.root, "get_thoughts", **TABLE, agent="Ben")
    assert [one["round"] for one in told["thoughts"]] == ["before", 1, 2, "after"]
    assert list(told["confidence"]) == ["before", "1", "2", "after"]
    assert (told["name"], told["respondent"], told["thoughts"][0]["likeness_to_own_last"]) == ("Ben", "llm", None)
    assert told["thoughts"][2]["likeness_to_own_last"] == 1.0  # the stand-in says the same in every round
    assert told["moved_by"]
    with pytest.raises(EnqueteError, match="nobody called 'Zoe' has spoken in group_01; who sits there: Ada, Ben"):
        python(led.root, "get_thoughts", **TABLE, agent="Zoe")


def test_a_synthesis_is_bought_once_and_rests_on_turns_that_there_were(led: Led) -> None:
    def bought() -> int:
        return sum("Sum up a discussion" in str(one.body) for one in led.server.requests)

    made = http(led.root, "synthesize_roundtable", **TABLE)
    assert (made["synthesized_by"], made["conclusion"], made["confidence"]) == ("m", "Close for a trial.", 0.6)
    assert [one["text"] for one in made["common_ground"]] == ["Mondays are slow."]  # nobody's happiness was turn 999
    assert set(made["turns"].values()) == {"Ada", "Ben"}
    assert mcp(led.root, "synthesize_roundtable", **TABLE) == made
    assert bought() == 1
    (request,) = (one for one in led.server.requests if "Sum up a discussion" in str(one.body))
    assert request.body["temperature"] == 0
    (run,) = (led.root / "roundtables/monday/runs").iterdir()
    with open_run(run) as reading:
        calls = [one for one in reading.calls("roundtable", "T1") if one["purpose"] == "synthesis"]
    assert [(one["status"], one["input_tokens"] > 0) for one in calls] == [("settled", True)]


def test_citations_over_http_say_by_what_they_were_matched(led: Led) -> None:
    told = http(led.root, "get_citations", **TABLE, round=1, agent="Ada")
    assert (told["matched_by"], {one["name"] for one in told["rests_on"]}) == ("words", {"Ada"})
    assert told["claims"] == len(told["rests_on"]) > 0
    assert {one["round"] for one in told["rests_on"]} == {1}


def test_what_a_claim_rests_on() -> None:
    """By hand: a post that Ada remembers, the document by its title, Ben's turn by his name, a URL, and nothing."""
    points = ("Mondays bring few customers to the shop", "We owe the apprentices their rest")
    talk = Discussion("group_01", participants=("b", "a"))
    said = [
        ("b", Response(position="Apprentices need their rest after weekends", key_points=(),
            citations=("Nobody knows",))),
        ("a", Response(position="x", key_points=points,
            citations=("Till report, first line", "as Ben says", "https://bakers.example/x"))),
        ("b", Response(position="Something else entirely", citations=())),
    ]  # fmt: skip
    for turn, (who, response) in enumerate(said, 1):
        one = RoundtableTurn(turn=turn, participant=who, round=1, status="ok", response=response, number=1)
        talk = talk.after(one)
    memory = "What you did:\n- [P1] Few customers came to the shop on Mondays again."
    first, second, third, last = claims(talk, {"a": "Ada", "b": "Ben"}, {"a": memory}, [Document(**TILL)])
    assert [(one.kind, one.said) for one in first.rests_on] == [("source", "Nobody knows")]
    kinds = {(one.kind, one.where) for one in second.rests_on}
    assert kinds == {("document", "Till report"), ("turn", "1"), ("source", "https://bakers.example/x"), ("post", "")}
    assert (
        next(one.text for one in second.rests_on if one.kind == "post")
        == "Few customers came to the shop on Mondays again."
    )
    assert ("turn", "") in {(one.kind, one.said) for one in third.rests_on}  # by the words of the claim itself
    assert last.rests_on == ()


def test_a_synthesis_without_a_conclusion_is_not_used() -> None:
    data = DiscussionSaid(
        topic="x",
        turns=(TurnSaid(turn=3, round=1, who="Ada", position="p"),),
        by_rule=DiscussionSynthesis(conclusion="by rule"),
    )
    assert SYNTHESIST.check(data, DiscussionSynthesis(common_ground=[Point(text="a", turns=[3])])) is None
    assert SYNTHESIST.rule(data).conclusion == "by rule"
    used = SYNTHESIST.check(
        data, DiscussionSynthesis(conclusion="c", differences=[Point(text="a", turns=[3, 4]), Point(text="b")])
    )
    assert [(one.text, one.turns) for one in used.differences] == [("a", [3])]


def test_without_a_model_the_rule_puts_together_what_the_decision_holds(tmp_path: Path) -> None:
    python(tmp_path, "start_roundtable", **TABLE, question=QUESTION, personas=SEATS, synthetic=True, rounds=1)
    made = python(tmp_path, "synthesize_roundtable", **TABLE)
    decided = python(tmp_path, "get_consensus", **TABLE)
    assert (made["synthesized_by"], made["confidence"]) == ("rule", None)
    assert made["conclusion"] == decided["evidence"]["consensus_summary"]
    assert "SYNTHETIC" in made["warning"]


def test_a_discussion_that_goes_on_is_paused_asked_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one server's loop: the call that drives it returns paused; a question stands before the next round; the end
    comes before the rounds are over, with the private answers after it. No request is made twice."""
    asked = "What if only the shop closes?"

    async def lead(server: ModelServer) -> tuple[Any, ...]:
        tasks, shelf = Tasks(PathSandbox(tmp_path)), str(tmp_path / "shelf")

        async def call(name: str, **given: Any) -> Any:
            return await operate(name, {**TABLE, **given}, tmp_path, shelf, tasks)

        start = {"question": QUESTION, "mode": "adversarial", "rounds": 12, "personas": SEATS}
        driving = asyncio.create_task(call("start_roundtable", **start))
        await asyncio.to_thread(server.wait_for, 4)  # both privately, the first round under way
        paused = await call("control_roundtable", action="pause")
        begun = await driving
        with pytest.raises(EnqueteError, match="nothing goes on that could be paused"):
            await call("control_roundtable", action="pause")
        going = asyncio.create_task(call("control_roundtable", action="ask", question=asked))
        n = len(server.requests)
        while not any(asked in str(one.body) for one in list(server.requests)[n:]):
            await asyncio.to_thread(server.wait_for, len(server.requests) + 1)
        ended = await call("control_roundtable", action="end")
        return begun, paused, await going, ended

    (tmp_path / "simulations").mkdir()
    with ModelServer(latency=0.05) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "m")
        begun, paused, asking, ended = asyncio.run(lead(server))
        (run,) = (tmp_path / "roundtables/monday/runs").iterdir()
        with open_run(run) as reading:
            (sent,) = reading.ledger.read("SELECT sum(sends) FROM calls").fetchone()
        assert len(server.requests) == sent
    assert [one["status"] for one in (begun, paused, asking, ended)] == ["paused", "paused", "paused", "completed"]
    (group,) = ended["groups"]
    assert (group["exit_reason"], group["over"]) == ("closed", True)
    assert group["rounds"] < 12
    assert python(tmp_path, "get_thoughts", **TABLE, agent="Ada")["thoughts"][-1]["round"] == "after"
    remarks = json.loads(
        (tmp_path / python(tmp_path, "export_roundtable", **TABLE, format="json")["file"]).read_text("utf-8")
    )
    assert asked in [one["remark"] for one in remarks["groups"][0]["rounds"]]
    with pytest.raises(EnqueteError, match="the discussion is over"):
        python(tmp_path, "control_roundtable", **TABLE, action="end")


def test_one_that_waits_between_rounds_is_asked_and_ended_without_private_answers(tmp_path: Path) -> None:
    given = {"personas": SEATS, "synthetic": True, "steering": True, "private": False, "rounds": 3}
    waits = python(tmp_path, "start_roundtable", **TABLE, question=QUESTION, **given)
    assert waits["waiting_for_word"] == ["group_01"]
    for wrong, says in (
        ({"action": "ask"}, "ask needs one"),
        ({"action": "end", "question": "Why?"}, "it goes with action ask"),
    ):
        with pytest.raises(EnqueteError, match=says):
            python(tmp_path, "control_roundtable", **TABLE, **wrong)
    asked = python(tmp_path, "control_roundtable", **TABLE, action="ask", question="Why?")
    assert (asked["status"], asked["groups"][0]["rounds"]) == ("waiting", 2)
    ended = python(tmp_path, "control_roundtable", **TABLE, action="end")
    assert (ended["status"], ended["groups"][0]["rounds"], ended["groups"][0]["exit_reason"]) == (
        "completed", 2, "closed",
    )  # fmt: skip
    more = python(tmp_path, "continue_roundtable", **TABLE, remark="Once more.")  # a closed one may be opened again
    assert more["groups"][0]["rounds"] == 3
