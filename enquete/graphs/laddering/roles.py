"""The interviewer's three roles as work for the desk, each with its own model, fallback and rule."""

from __future__ import annotations

from typing import Literal, TypeVar

from pydantic import BaseModel

from enquete.graphs.laddering.extraction import Extraction, ExtractionInput
from enquete.graphs.laddering.prompts import (
    extraction_prompt,
    extraction_schema,
    question_prompt,
    question_schema,
    reading_prompt,
    reading_schema,
)
from enquete.graphs.laddering.questions import QuestionInput, QuestionOut, acceptable, as_one_line, ask_by_rule
from enquete.graphs.laddering.reader import read_answer
from enquete.graphs.laddering.readings import ReadingInput, Readings, read_by_rule
from enquete.graphs.laddering.settings import LadderingSettings
from enquete.state.seam import Desk, InterviewerTask

RULE = "rule"

ResultT = TypeVar("ResultT", bound=BaseModel)


async def _worked(desk: Desk, task: InterviewerTask[ResultT]) -> tuple[ResultT, str] | Literal["short"]:
    """By the model, its fallback, and where neither gives anything that can be read, by the rule: one bad reply of the
    interviewer's must not end an interview."""
    result = await desk.work(task)
    if result == "short":
        return "short"
    if result == "failed":
        return task.rule(task.data), RULE
    return result, desk.answered_by(task)


async def read(
    desk: Desk, settings: LadderingSettings, subject: str, data: ExtractionInput
) -> tuple[Extraction, str] | Literal["short"]:
    """Concepts and relationships of an answer."""
    model, fallback = settings.models("extraction")
    task = InterviewerTask("extract", subject, data, extraction_prompt, Extraction, read_answer, 2000,
                           extraction_schema, model, fallback)  # fmt: skip
    return await _worked(desk, task)


async def judge(
    desk: Desk, settings: LadderingSettings, subject: str, data: ReadingInput
) -> tuple[Readings, str] | Literal["short"]:
    """How an answer was given: all llm signals in one call."""
    model, fallback = settings.models("signals")
    task = InterviewerTask("signal", subject, data, reading_prompt, Readings, read_by_rule, 1000,
                           reading_schema, model, fallback)  # fmt: skip
    done = await _worked(desk, task)
    return done if done == "short" else (done[0].trimmed(), done[1])


async def word(
    desk: Desk, settings: LadderingSettings, subject: str, data: QuestionInput, asked: frozenset[str]
) -> tuple[str, str] | Literal["short"]:
    """The next question. One that is too long, asks twice, was asked before or speaks of node types is replaced by the rule's own."""
    model, fallback = settings.models("questions")
    task = InterviewerTask("question", subject, data, question_prompt, QuestionOut, ask_by_rule, 1000,
                           question_schema, model, fallback)  # fmt: skip
    done = await _worked(desk, task)
    if done == "short":
        return "short"
    question = as_one_line(done[0].question)
    good = done[1] == RULE or acceptable(question, asked, data.jargon)
    return (question, done[1]) if good else (ask_by_rule(data).question, RULE)
