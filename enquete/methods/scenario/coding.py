"""The open answers of a scenario study, coded into themes: scenario by scenario, by the main arm alone.

Themes are pinned, so that a graph that is started over codes only the scenarios that have none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from enquete.methods.scenario.instrument import OPEN, ScenarioInstrument
from enquete.respondents.rule_coder import Statement
from enquete.respondents.themes import code_themes
from enquete.state.asking import Language, Outcome
from enquete.state.interview_context import InterviewContext


async def code_open_answers(
    instrument: ScenarioInstrument, context: InterviewContext
) -> Literal["end", "short", "failed"]:
    """Find themes for every scenario that has none yet, in the main arm; the other arms have nothing to code.

    A scenario without an answer in words gets an empty list of themes.

    Returns:
        "end" once all are coded, "short" without budget, "failed" if the coder gave nothing that can be read.
    """
    if context.arm.id != context.main_arm or instrument.open_question is None:
        return "end"
    statements = await _read_statements(instrument, context)
    uncoded = [scenario for scenario in statements if context.pinned(themes_of(scenario)) is None]
    outcomes = await asyncio.gather(
        *(_code_scenario(instrument, scenario, statements[scenario], context) for scenario in uncoded)
    )
    if "failed" in outcomes:
        return "failed"
    return "short" if "short" in outcomes else "end"


async def _code_scenario(
    instrument: ScenarioInstrument, scenario: str, statements: Sequence[Statement], context: InterviewContext
) -> Outcome:
    topic = _describe_topic(instrument, scenario, context.language)
    coded = await code_themes(context.work, topic, statements, instrument.max_themes, label=scenario)
    if isinstance(coded, str):
        return coded
    await context.pin(themes_of(scenario), coded.model_dump(mode="json"))
    return "done"


async def _read_statements(instrument: ScenarioInstrument, context: InterviewContext) -> dict[str, list[Statement]]:
    """Return scenario → the main arm's answers in words; each scenario of the instrument is there."""
    statements: dict[str, list[Statement]] = {scenario.scenario_id: [] for scenario in instrument.scenarios}
    async for key, answer in context.answers(arm=context.main_arm):
        scenario, _, question = answer.item.rpartition("/")
        if question == OPEN and answer.text:
            statements[scenario].append(Statement(id=f"{key.participant}|{answer.item}", text=answer.text))
    return statements


def _describe_topic(instrument: ScenarioInstrument, scenario: str, language: Language) -> str:
    """Return what the coder is told: the topic, the scenario, and the question that was answered."""
    label = instrument.scenario(scenario).label.in_(language)
    question = instrument.open_question.in_(language) if instrument.open_question else ""
    return f"{instrument.topic.in_(language)}: {label}. {question}"


def themes_of(scenario: str) -> str:
    """Return the name under which a scenario's themes are pinned."""
    return f"themes/{scenario}"


def pinned_labels(instrument: ScenarioInstrument, context: InterviewContext) -> dict[str, list[str]]:
    """Return scenario → the labels of its themes; only scenarios that were coded."""
    labels = {}
    for scenario in instrument.scenarios:
        stored = context.pinned(themes_of(scenario.scenario_id), arm=context.main_arm)
        themes = stored.get("themes") if isinstance(stored, dict) else None
        if isinstance(themes, list):
            labels[scenario.scenario_id] = [str(theme["label"]) for theme in themes if isinstance(theme, dict)]
    return labels
