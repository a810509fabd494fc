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

from enquete.graphs.interviews import study_graph
from enquete.state.errors import InputError, SettingsError
from tests.support.populations import personas_file

TABLE = {"compose": "hand", "members": "Agent 0, Agent 1, Agent 2", "people": "Agent 1", "rounds": 1, "private": False}
SAID = {
    "position": "Yes, with a trial year.", "stance": "yes", "ideas": "A trial year", "reasoning": "It can be undone.",
    "key_points": "nothing", "citations": "nothing", "confidence": 0.6,
}  # fmt: skip
Go = Callable[..., Awaitable[dict[str, Any]]]


def on_a_thread(method: str, work: Callable[[Go], Awaitable[Any]]) -> Any:
    """`work` is given a function that starts or resumes the one thread of this methodology's graph, as Studio does."""

    async def thread() -> Any:
        graph = copy.copy(study_graph(method, [method]))
        graph.checkpointer = InMemorySaver()
        config: Any = {"configurable": {"thread_id": "t"}}

        async def go(start: Any, **context: Any) -> dict[str, Any]:
            said: dict[str, Any] = await graph.ainvoke(start, config, context=context or None)
            return said

        return await work(go)

    return asyncio.run(thread())


def stopped(tmp_path: Path, resumes: list[tuple[Any, int | None]]) -> list[dict[str, Any]]:
    """What the graph says at the start and after each resume: (value, budget_tokens of the context)."""
    study = {"sim": str(personas_file(tmp_path / "p.json", 6)), "out": str(tmp_path / "out"), "language": "en"}

    async def work(go: Go) -> list[dict[str, Any]]:
        said = [await go({}, **study, budget_tokens=20_000)]
        return said + [await go(Command(resume=value), **study, budget_tokens=cap) for value, cap in resumes]

    found: list[dict[str, Any]] = on_a_thread("delphi", work)
    return found


def test_a_larger_cap_is_the_resume_s_value(tmp_path: Path) -> None:
    first, again, done = stopped(tmp_path, [(True, None), ({"budget_tokens": 5_000_000}, None)])
    (interrupt,) = first["__interrupt__"]
    assert interrupt.value["reason"] == "budget"
    assert interrupt.value["unfinished"] == {"delphi/T1": "short"}
    assert interrupt.value["spent_tokens"] <= interrupt.value["cap_tokens"] == 20_000
    assert "budget_tokens" in interrupt.value["how"]
    assert again["__interrupt__"][0].value["reason"] == "budget"  # nothing has changed
    assert done["status"] == "completed"


def test_or_its_context_names_one(tmp_path: Path) -> None:
    *_, done = stopped(tmp_path, [(True, 5_000_000)])
    assert done["status"] == "completed"


def test_what_cannot_be_read_is_refused_and_not_kept(tmp_path: Path) -> None:
    """LangGraph gives a value that a node has failed with to that node again, whatever comes next."""
    study = {"sim": str(personas_file(tmp_path / "p.json", 2)), "out": str(tmp_path / "out"), "language": "en"}
    refusals: dict[str, Any] = {
        "budget_tokens: -5 is not taken; write a number above 0": {"budget_tokens": -5},
        "budget_tokens: 'much' is not taken; write a whole number": {"budget_tokens": "much"},
        "budget: there is no such field": {"budget": 5},
        "'yes' cannot be read": "yes",
    }

    async def work(go: Go) -> str:
        await go({}, **study, budget_tokens=3_000)
        for says, value in refusals.items():
            with pytest.raises(SettingsError) as refused:
                await go(Command(resume=value))
            assert str(refused.value).startswith(f"resume value: {says}")
            assert str(refused.value).endswith("N being the cap for the whole run, what is spent included")
        return str((await go(Command(resume={"budget_tokens": 5_000_000})))["status"])

    assert on_a_thread("delphi", work) == "completed"


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
    assert (form["name"], form["round"], [one["item"] for one in form["items"]]) == ("Agent 1", 1, list(SAID))
    assert all(one["question"] for one in form["items"])
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
