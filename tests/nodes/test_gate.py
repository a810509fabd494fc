"""The gate in a graph that nobody but LangGraph drives, as in Studio: a spent budget and the cap to go on under, a
person's seat and the answers to it, and what is refused.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import TypeAdapter

from enquete.checkpoints.interrupts import HumanInterrupt
from enquete.graphs.interviews import interviews_graph
from enquete.state.errors import InputError, SettingsError
from tests.support.populations import personas_file

pytestmark = pytest.mark.usefixtures("no_figures")

TABLE = {"compose": "hand", "members": "Agent 0, Agent 1, Agent 2", "people": "Agent 1", "rounds": 1, "private": False}
SAID = {
    "position": "Yes, with a trial year.", "stance": "yes", "ideas": "A trial year", "reasoning": "It can be undone.",
    "key_points": "nothing", "citations": "nothing", "confidence": 0.6,
}  # fmt: skip
Go = Callable[..., Awaitable[dict[str, Any]]]


def on_a_thread(method: str, work: Callable[[Go], Awaitable[Any]]) -> Any:
    """`work` is given a function that starts or resumes the one thread of this methodology's graph, as Studio does."""

    async def thread() -> Any:
        graph = copy.copy(interviews_graph(method, [method]))
        graph.checkpointer = InMemorySaver()
        config: Any = {"configurable": {"thread_id": "t"}}

        async def go(start: Any, **context: Any) -> dict[str, Any]:
            state: dict[str, Any] = await graph.ainvoke(start, config, context=context or None)
            return state

        return await work(go)

    return asyncio.run(thread())


def test_a_larger_cap_is_the_resume_s_value_or_its_context_s(tmp_path: Path) -> None:
    """And what cannot be read is refused and not kept: LangGraph gives a value that a node has failed with to that node
    again, whatever comes next."""
    study = {"sim": str(personas_file(tmp_path / "p.json", 2)), "out": str(tmp_path / "out"), "asking": "item"}
    refusals: dict[str, Any] = {
        "budget_tokens: -5 is not taken; write a number above 0": {"budget_tokens": -5},
        "budget_tokens: 'much' is not taken; write a whole number": {"budget_tokens": "much"},
        "budget: there is no such field": {"budget": 5},
        "'yes' cannot be read": "yes",
    }

    async def work(go: Go) -> list[dict[str, Any]]:
        states = [await go({}, **study, budget_tokens=3_000)]
        for says, value in refusals.items():
            with pytest.raises(SettingsError) as refused:
                await go(Command(resume=value))
            assert str(refused.value).startswith(f"resume value: {says}")
            assert str(refused.value).endswith("N being the cap for the whole run, what is spent included")
        steps = [(True, {}), ({"budget_tokens": 5_000}, {}), (True, {**study, "budget_tokens": 5_000_000})]
        return states + [await go(Command(resume=value), **context) for value, context in steps]

    *short, done = on_a_thread("longitudinal", work)
    for stop, cap in zip((state["__interrupt__"][0].value for state in short), (3_000, 3_000, 5_000), strict=True):
        assert (stop["reason"], stop["unfinished"], stop["cap_tokens"]) == ("budget", {"longitudinal/T1": "short"}, cap)
        assert stop["spent_tokens"] <= cap
        assert "budget_tokens" in stop["how"]
    assert done["status"] == "completed"


def test_a_seat_that_waits_says_what_it_asks_of_whom_and_takes_the_answer(tmp_path: Path) -> None:
    study = {"sim": str(personas_file(tmp_path / "p.json", 3)), "out": str(tmp_path / "out"), "language": "en"}
    refusals = {
        "nothing is asked of 'Agent 0'; waited for: Agent 1": {"Agent 0": SAID},
        "stance: 'maybe' is no answer; it takes choice: yes (yes), neutral (undecided), no (no)": {
            "Agent 1": {**SAID, "stance": "maybe"}
        },
        "Agent 1 is not asked for colour; items are position, stance, ": {"Agent 1": {**SAID, "colour": "red"}},
    }

    async def work(go: Go) -> Any:
        first = await go({}, **study, settings={"roundtable": TABLE})
        for says, answers in refusals.items():
            with pytest.raises(InputError) as refused:
                await go(Command(resume={"answers": answers}))
            assert says in str(refused.value)
        again = await go(Command(resume=True))
        stop = again["__interrupt__"][0]
        return first, stop, await go(Command(resume={stop.id: {"answers": {"Agent 1": SAID}}}))  # as Studio names it

    first, stop, done = on_a_thread("roundtable", work)
    assert stop.value == first["__interrupt__"][0].value  # nothing has changed
    assert (stop.value["reason"], stop.value["n_waiting"]) == ("waiting", 1)
    assert '{"answers": {NAME: {ITEM: ANSWER}}}' in stop.value["how"]
    (form,) = stop.value["waiting_for"]
    assert (form["name"], form["round"], [item["item"] for item in form["items"]]) == ("Agent 1", 1, list(SAID))
    assert all(item["question"] for item in form["items"])
    assert done["status"] == "completed"
    (table,) = (tmp_path / "out").rglob("all_responses.csv")
    assert SAID["position"] in table.read_text("utf-8-sig")


@pytest.mark.parametrize("value", [Command(resume=True), None], ids=["resume", "retry"])
@pytest.mark.parametrize("start", [{"simulation": "x"}, {}], ids=["by the graph", "by a node"])
def test_a_thread_whose_start_was_refused_has_nothing_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: dict[str, str], value: object
) -> None:
    """Without its context, which a resume does not repeat, it would be fifty agents of the demo in German."""
    monkeypatch.setenv("ENQUETE_ROOT", str(tmp_path))

    async def work(go: Go) -> str:
        with pytest.raises(SettingsError, match=r"no such field|astrology"):
            await go(start, methods=["astrology"])
        with pytest.raises(SettingsError) as refused:
            await go(value)
        return str(refused.value)

    assert "this thread has no run to go on with" in on_a_thread("delphi", work)
    assert not list(tmp_path.rglob("ledger.sqlite"))


HUMAN_INTERRUPT = TypeAdapter(HumanInterrupt)


def test_agent_inbox_shows_a_seat_and_answers_it(tmp_path: Path) -> None:
    """As it sends it: the list of one HumanResponse, whose edited arguments are texts."""
    study = {"sim": str(personas_file(tmp_path / "p.json", 3)), "out": str(tmp_path / "out"), "language": "en"}
    edited = {"action": "answer as Agent 1", "args": {item: str(answer) for item, answer in SAID.items()}}

    async def work(go: Go) -> Any:
        first = await go({}, **study, settings={"roundtable": TABLE})
        ignored = await go(Command(resume=[{"type": "ignore", "args": None}]))
        return first, ignored, await go(Command(resume=[{"type": "edit", "args": edited}]))

    first, ignored, done = on_a_thread("roundtable", work)
    stop = first["__interrupt__"][0].value
    request = HUMAN_INTERRUPT.validate_python(stop)
    assert request["action_request"] == {"action": "answer as Agent 1", "args": dict.fromkeys(SAID, "")}
    assert request["config"]["allow_edit"]
    assert "**position**: " in str(request["description"])
    assert ignored["__interrupt__"][0].value == stop  # to ignore is to look again
    assert done["status"] == "completed"
    (table,) = (tmp_path / "out").rglob("all_responses.csv")
    assert SAID["position"] in table.read_text("utf-8-sig")


def test_agent_inbox_raises_a_budget(tmp_path: Path) -> None:
    study = {"sim": str(personas_file(tmp_path / "p.json", 2)), "out": str(tmp_path / "out"), "asking": "item"}

    async def work(go: Go) -> Any:
        stop = (await go({}, **study, budget_tokens=3_000))["__interrupt__"][0].value
        args = {"budget_tokens": "5000000"}
        done = await go(Command(resume=[{"type": "edit", "args": {"action": "raise budget", "args": args}}]))
        return stop, done

    stop, done = on_a_thread("longitudinal", work)
    assert HUMAN_INTERRUPT.validate_python(stop)["action_request"]["args"] == {"budget_tokens": 3_000}
    assert done["status"] == "completed"
