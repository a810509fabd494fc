"""How scenarios are rated: every agent gets one block a scenario, one after another, in the order of the file.

The open answers are coded into themes after the round, scenario by scenario, by the main arm alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from enquete.graphs.scenario.instrument import OPEN, ScenarioInstrument
from enquete.respondents.rule_coder import Statement
from enquete.respondents.themes import code_themes
from enquete.state.asking import ATTEMPTS, Block, Language, Outcome
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import NoSettings, Plan, Procedure


class ScenarioRating(Procedure[ScenarioInstrument, NoSettings]):
    """One round. Units are agents; the barrier after it codes the open answers."""

    def __init__(self, instrument: ScenarioInstrument, settings: NoSettings, language: Language):
        super().__init__(instrument, settings, language)
        self._asked = {
            one.scenario_id: (
                instrument.introduction(one.scenario_id, language),
                instrument.scenario_items(one.scenario_id, language),
            )
            for one in instrument.scenarios
        }  # alike for all agents

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        return [
            Block(
                key=context.key(unit, scenario), instruction=instruction, items=items, in_order=self.instrument.in_order
            )
            for scenario, (instruction, items) in self._asked.items()
        ]

    async def between(self, round: int, context: InterviewContext) -> Literal["end", "short", "failed"]:
        """Themes of every scenario that has none yet. Scenarios without an answer in words get an empty list of
        them."""
        if context.arm.id != context.main_arm or self.instrument.open_question is None:
            return "end"
        said = await self._statements(context)
        open_ = [scenario for scenario in said if context.frozen(themes_of(scenario)) is None]
        ended = await asyncio.gather(*(self._code(scenario, said[scenario], context) for scenario in open_))
        for outcome in ("failed", "short"):
            if outcome in ended:
                return "failed" if outcome == "failed" else "short"
        return "end"

    async def _code(self, scenario: str, statements: Sequence[Statement], context: InterviewContext) -> Outcome:
        most = self.instrument.max_themes
        coded = await code_themes(context.work, self._topic(scenario), statements, most, label=scenario)
        if isinstance(coded, str):
            return coded
        await context.freeze(themes_of(scenario), coded.model_dump(mode="json"))
        return "done"

    async def _statements(self, context: InterviewContext) -> dict[str, list[Statement]]:
        """Answers in words by scenario, each scenario of the instrument present."""
        said: dict[str, list[Statement]] = {scenario.scenario_id: [] for scenario in self.instrument.scenarios}
        async for key, given in context.answers(arm=context.main_arm):
            scenario, _, question = given.item.rpartition("/")
            if question == OPEN and given.text:
                said[scenario].append(Statement(id=f"{key.participant}|{given.item}", text=given.text))
        return said

    def plan(self, context: InterviewContext) -> Plan:
        """How many calls code the open answers depends on their length: at most one an answer, and a merge."""
        plan = super().plan(context)
        if self.instrument.open_question is None:
            return plan
        most = len(self.instrument.scenarios) * max(1, len(context.participants())) * ATTEMPTS * 2
        return plan.model_copy(update={"calls": {**plan.calls, "theme": (0, most)}})

    def _topic(self, scenario: str) -> str:
        """What the coder is told: the topic, the scenario, the question that was answered."""
        question = self.instrument.open_question
        label = self.instrument.scenario(scenario).label.in_(self.language)
        asked = question.in_(self.language) if question else ""
        return f"{self.instrument.topic.in_(self.language)}: {label}. {asked}"


def themes_of(scenario: str) -> str:
    """The name under which a scenario's themes are frozen."""
    return f"themes/{scenario}"
