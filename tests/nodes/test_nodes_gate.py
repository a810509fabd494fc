"""The gate in a graph that nobody but LangGraph drives, as in Studio: a spent budget, and the cap to go on under."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from enquete.graphs.interviews import study_graph
from enquete.state.errors import SettingsError
from enquete.state.request import parse_request
from tests.support.populations import personas_file


def stopped(tmp_path: Path, resumes: list[tuple[Any, int | None]]) -> list[dict[str, Any]]:
    """What the graph says at the start and after each resume: (value, budget_tokens of the context)."""
    people = str(personas_file(tmp_path / "p.json", 6))

    def context(cap: int | None) -> Any:
        return parse_request(sim=people, out=str(tmp_path / "out"), language="en", budget_tokens=cap)

    async def go() -> list[dict[str, Any]]:
        graph = study_graph("delphi", ["delphi"]).builder.compile(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "t"}}
        said = [await graph.ainvoke({}, config, context=context(20_000))]
        for value, cap in resumes:
            said.append(await graph.ainvoke(Command(resume=value), config, context=context(cap)))
        return said

    return asyncio.run(go())


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


@pytest.mark.parametrize("cap", [-5, "much"])
def test_what_is_no_cap_is_refused(tmp_path: Path, cap: object) -> None:
    with pytest.raises(SettingsError, match="budget_tokens"):
        stopped(tmp_path, [({"budget_tokens": cap}, None)])
