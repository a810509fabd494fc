"""Seats that persons take, in every methodology that has one: who is named must be asked, what a form that waits takes,
and what going back to an answered form says. The graph is driven as LangGraph Studio does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import enquete
from enquete.graphs.interviews import interviews_graph
from enquete.state.errors import InputError, SettingsError
from tests.support.bare_runs import unwritten
from tests.support.populations import personas_file
from tests.support.studies import rows

SEATS: dict[str, dict[str, Any]] = {
    "roundtable": {"compose": "hand", "members": "Agent 0, Agent 1, Agent 2", "rounds": 1, "private": False},
    "laddering": {"turns": 3},
    "discovery": {"questions": 2},
}
"""A short talk of each methodology in which a person can take a seat."""
ADA = "Agent 0"
each_methodology = pytest.mark.parametrize("method", SEATS)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return personas_file(tmp_path / "people.json", 4)


class Studio:
    """One thread of the agent server."""

    def __init__(self, people: Path, method: str, persons: str):
        self.graph = interviews_graph("interviews", [method], unwritten)
        self.graph.checkpointer = InMemorySaver()
        self.config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
        self.context = {
            "methods": [method], "language": "en", "respondent": "synthetic", "out": str(people.parent / "out"),
            "settings": {method: {**SEATS[method], "people": persons}},
        }  # fmt: skip
        self.people = people

    def start(self) -> dict[str, Any]:
        return self._walk({"sim": str(self.people)}, self.config)

    def resume(self, value: Any, config: Any = None) -> dict[str, Any]:
        return self._walk(Command(resume=value), config or self.config)

    def _walk(self, given: Any, config: Any) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            return dict(await self.graph.ainvoke(given, config, context=dict(self.context)))

        return asyncio.run(run())

    def waiting(self) -> dict[str, Any]:
        """What the thread stopped with."""
        snapshot = asyncio.run(self.graph.aget_state(self.config))
        return dict(snapshot.interrupts[0].value) if snapshot.interrupts else {}

    def answered_checkpoints(self) -> list[Any]:
        """The checkpoints at which a form waited, the latest first."""

        async def read() -> list[Any]:
            return [s.config async for s in self.graph.aget_state_history(self.config) if s.interrupts]

        return asyncio.run(read())

    def answer_all(self) -> dict[str, Any]:
        """Answer every form until none waits; the thread's values then."""
        values: dict[str, Any] = {}
        while stop := self.waiting():
            (form,) = stop["waiting_for"]
            values = self.resume({"answers": {form["name"]: fill_in(form)}})
        return values


def fill_in(form: Mapping[str, Any]) -> dict[str, Any]:
    return {
        item["item"]: {"stance": "yes", "confidence": 0.6}.get(item["item"], "A trial year.") for item in form["items"]
    }


@each_methodology
def test_a_name_that_nobody_has_is_refused_before_anything_is_begun(people: Path, method: str) -> None:
    settings = {method: {**SEATS[method], "people": "Agent 0; Zora"}}
    with pytest.raises(
        SettingsError, match=rf"settings: {method}\.people: 'Zora' is not among those who are asked"
    ) as no:
        enquete.conduct_interviews(people, out=people.parent / "out", methods=[method], settings=settings)
    assert "a seat may be taken of Agent 0, Agent 1" in str(no.value)
    assert not (people.parent / "out").exists()


def test_a_person_without_a_place_at_a_table_is_refused(people: Path) -> None:
    settings = {"roundtable": {**SEATS["roundtable"], "people": "Agent 3"}}
    with pytest.raises(SettingsError, match="people: 'Agent 3' has no seat at a table") as no:
        enquete.conduct_interviews(people, out=people.parent / "out", methods=["roundtable"], settings=settings)
    assert "a seat may be taken of Agent 0, Agent 1, Agent 2" in str(no.value)


@each_methodology
def test_a_person_s_seat_waits_and_takes_their_answers(people: Path, method: str) -> None:
    studio = Studio(people, method, ADA)
    run = Path(studio.start()["run"])
    stop = studio.waiting()
    (form,) = stop["waiting_for"]
    assert (stop["reason"], form["name"]) == ("waiting", ADA)
    assert all(item["question"] for item in form["items"])
    values = studio.answer_all()
    assert values["status"] == "completed"
    given = rows(
        run,
        "SELECT o.participant, a.text FROM answers a JOIN occasions o ON o.id=a.occasion WHERE a.notes LIKE '%person%'",
    )
    assert {who for who, _ in given} == {form["participant"]}
    assert "A trial year." in {text for _, text in given}


@each_methodology
def test_an_empty_form_refuses_nothing_and_refusing_all_is_said(people: Path, method: str) -> None:
    studio = Studio(people, method, ADA)
    run = Path(studio.start()["run"])
    (form,) = studio.waiting()["waiting_for"]
    for empty in ({}, dict.fromkeys((item["item"] for item in form["items"]), "")):
        with pytest.raises(InputError, match="the form is empty; answer at least one of") as no:
            studio.resume({"answers": {ADA: empty}})
        assert '{"answers": {"Agent 0": "refused"}}' in str(no.value)
    assert studio.waiting()["waiting_for"] == [form]
    while stop := studio.waiting():
        assert "refused" in stop["how"]
        studio.resume({"answers": {ADA: "refused"}})
    statuses = rows(
        run,
        "SELECT DISTINCT a.status FROM answers a JOIN occasions o ON o.id=a.occasion WHERE a.notes LIKE '%person%'",
    )
    assert statuses == [("refused",)]


def test_going_back_to_an_answered_form_says_what_to_do(people: Path) -> None:
    """While the run goes on it is refused; once it has completed, nobody is asked, and the state says so."""
    studio = Studio(people, "discovery", ADA)
    studio.start()
    (first,) = studio.waiting()["waiting_for"]
    studio.resume({"answers": {ADA: fill_in(first)}})
    (answered,) = studio.answered_checkpoints()[-1:]
    with pytest.raises(InputError, match="has answered already"):  # the next question waits by now
        studio.resume({"answers": {ADA: fill_in(first)}}, answered)
    done = studio.answer_all()
    assert (done["status"], done["note"]) == ("completed", "")

    again = studio.resume({"answers": {ADA: fill_in(first)}}, answered)
    assert again["status"] == "completed"
    assert "what is answered stays answered" in again["note"]
    assert "start a thread with the context new=true" in again["note"]


def test_who_has_answered_already_is_told_so_while_others_are_waited_for(people: Path) -> None:
    studio = Studio(people, "discovery", f"{ADA}; Agent 1")
    studio.start()
    while any(form["name"] == ADA for form in studio.waiting()["waiting_for"]):
        (form,) = [form for form in studio.waiting()["waiting_for"] if form["name"] == ADA]
        studio.resume({"answers": {ADA: fill_in(form)}})
    with pytest.raises(InputError, match="Agent 0 has answered already") as no:
        studio.resume({"answers": {ADA: fill_in(form)}})
    assert "waited for: Agent 1. Resume with true to go on from here" in str(no.value)
    assert "start a thread with the context new=true" in str(no.value)
