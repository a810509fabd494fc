"""How scenarios are rated: every agent gets one block a scenario, one after another, in the order of the file.

The open answers are coded into themes after the round, scenario by scenario, by the main arm alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.graphs.scenario.synthetic import answers_of
from enquete.respondents.themes.coding import code_themes
from enquete.respondents.themes.types import Statement
from enquete.state.seam import Block, Desk, Language, Outcome, Plan, Truth

ATTEMPTS = 3


class ScenarioSettings(BaseModel):
    """Nothing to set: scenarios, dimensions and scales are the instrument's."""

    model_config = ConfigDict(extra="forbid")


class Rating:
    """One round. Units are agents; the barrier after it codes the open answers."""

    rounds = 1

    def __init__(self, instrument: ScenarioInstrument, language: Language):
        self._instrument = instrument
        self._language = language

    def units(self, round: int, desk: Desk) -> Sequence[str]:
        return [who.id for who in desk.participants()]

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        return [
            Block(
                key=desk.key(unit, scenario.scenario_id),
                instruction=self._instrument.introduction(scenario.scenario_id, self._language),
                items=self._instrument.scenario_items(scenario.scenario_id, self._language),
            )
            for scenario in self._instrument.scenarios
        ]

    async def conduct(self, unit: str, round: int, desk: Desk) -> Outcome:
        for block in self.blocks(unit, round, desk):
            reply = await desk.ask(block)
            if reply.state != "done":
                return reply.state
        return "done"

    async def between(self, round: int, desk: Desk) -> Literal["end", "short", "failed"]:
        """Themes of every scenario that has none yet. Scenarios without an answer in words get an empty list of them."""
        if desk.arm.id != desk.main_arm or self._instrument.open_question is None:
            return "end"
        said = await self._statements(desk)
        open_ = [scenario for scenario in said if desk.frozen(themes_of(scenario)) is None]
        ended = await asyncio.gather(*(self._code(scenario, said[scenario], desk) for scenario in open_))
        for outcome in ("failed", "short"):
            if outcome in ended:
                return "failed" if outcome == "failed" else "short"
        return "end"

    async def _code(self, scenario: str, statements: Sequence[Statement], desk: Desk) -> Outcome:
        most = self._instrument.max_themes
        coded = await code_themes(desk.work, self._topic(scenario), statements, most, label=scenario)
        if isinstance(coded, str):
            return coded
        await desk.freeze(themes_of(scenario), coded.model_dump(mode="json"))
        return "done"

    async def _statements(self, desk: Desk) -> dict[str, list[Statement]]:
        """Answers in words by scenario, each scenario of the instrument present."""
        said: dict[str, list[Statement]] = {scenario.scenario_id: [] for scenario in self._instrument.scenarios}
        async for key, given in desk.answers(arm=desk.main_arm):
            scenario, _, question = given.item.rpartition("/")
            if question == OPEN and given.text:
                said[scenario].append(Statement(id=f"{key.participant}|{given.item}", text=given.text))
        return said

    def _topic(self, scenario: str) -> str:
        """What the coder is told: the topic, the scenario, the question that was answered."""
        question = self._instrument.open_question
        label = self._instrument.scenario(scenario).label.in_(self._language)
        asked = question.in_(self._language) if question else ""
        return f"{self._instrument.topic.in_(self._language)}: {label}. {asked}"


def themes_of(scenario: str) -> str:
    """The name under which a scenario's themes are frozen."""
    return f"themes/{scenario}"


def procedure(instrument: ScenarioInstrument, settings: ScenarioSettings, language: Language) -> Rating:
    return Rating(instrument, language)


def plan(instrument: ScenarioInstrument, settings: ScenarioSettings, agents: int, asking: str) -> Plan:
    """Rows and calls. How many calls code the open answers depends on their length: at most one an answer, and a merge."""
    scenarios, items = len(instrument.scenarios), instrument.items_per_scenario()
    asked = agents * scenarios * (items if asking == "item" else 1)
    rows = agents * scenarios * items
    calls = {"answer": (asked, asked * ATTEMPTS)}
    if instrument.open_question is not None:
        calls["theme"] = (0, scenarios * max(1, agents) * ATTEMPTS * 2)
    return Plan(calls=calls, rows={"T1": (rows, rows)})


def planted(instrument: ScenarioInstrument) -> Truth:
    """The synthetic respondent's truth, told what the scenarios and dimensions of this instrument are about."""
    return answers_of(instrument)
