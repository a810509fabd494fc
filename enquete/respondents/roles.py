"""Roles of the interviewer: the kinds of work that a study needs beside its answers, and who did each piece of it.

A complete one, and its use in a turn:

    class Said(BaseModel):
        text: str

    class Mood(BaseModel):
        cheerful: bool

    JUDGE = Role(
        "judge",
        prompt=lambda data, language: f"Is this cheerful? {fence('answer', data.text)}",
        result=Mood,
        rule=lambda data: Mood(cheerful="Gladly" in data.text),
        setting="mood",  # the methodology's settings may have mood_model and mood_fallback
    )

    done = await JUDGE.work(context, settings, "agent:1|turn 3", Said(text="Gladly."))
    if done == "short":
        return "short"
    mood, by = done  # by: the model's name, or RULE

Other people's words: whether something was said, and how what was said stands in a prompt as data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, JsonValue

from enquete.models.parsing import clean_text
from enquete.state.asking import ATTEMPTS, Language
from enquete.state.interview_context import InterviewContext, InterviewerTask

# --- Whether something was said: words compared as they are spoken, without case, punctuation and line breaks.

_NO_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=65_536)
def normal(text: str) -> str:
    """Lower case, words only, single spaces."""
    return _NO_WORD.sub(" ", text.casefold()).strip()


def stands_in(quote: str, answer: str) -> bool:
    """Whether the answer has these words, whole and in this order."""
    words = normal(quote)
    return bool(words) and f" {words} " in f" {normal(answer)} "


# --- Other people's words as data: a persona, posts, answers. Doubled brackets in it are spaced and its tag is a hash
# of its content, so no content can close its own fence or imitate another.

_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")


def data_of(text: str) -> str:
    """`text` as it stands within a fence."""
    return _DOUBLED.sub(lambda bracket: f"{bracket[0]} ", clean_text(text))


def fence(name: str, text: str) -> str:
    """`text` as data: nothing in it looks like the beginning or the end of a fence."""
    data = data_of(text)
    tag = sha256(data.encode()).hexdigest()[:12]
    return f"[[{name}:{tag}\n{data}\n{tag}]]"


# --- Roles -----------------------------------------------------------------------------------------------------------

RULE = "rule"

RULE_AT_MOST = 0.1
"""Share of a model's readings that the rule may have done, if what was read is to be told. This project's proposal."""

DataT = TypeVar("DataT", bound=BaseModel)
ResultT = TypeVar("ResultT", bound=BaseModel)


@dataclass(frozen=True)
class Role(Generic[DataT, ResultT]):
    """Work of one purpose: by a model, its fallback, and where neither gives anything that can be used, by the rule;
    one bad reply of the interviewer's must not end a conversation.

    Settings `<setting>_model` and `<setting>_fallback`, where a methodology has them, name its models. `check`: what of
    a model's result is used; None where nothing may be. `schema`: of the reply, narrower than the result's own.
    `opens`: no conversation begins without it. `quick`: its rule takes less than a thread for it would.
    """

    purpose: str
    prompt: Callable[[DataT, Language], str]
    result: type[ResultT]
    rule: Callable[[DataT], ResultT]
    schema: Callable[[DataT], Mapping[str, JsonValue]] | None = None
    check: Callable[[DataT, ResultT], ResultT | None] = lambda data, result: result
    setting: str = ""
    max_output_tokens: int = 1000
    opens: bool = False
    quick: bool = False

    def task(self, subject: str, data: DataT, model: str = "", fallback: str = "") -> InterviewerTask[ResultT]:
        """One piece of this work, for the context."""
        return InterviewerTask(
            self.purpose, subject, data, self.prompt, self.result, self.rule, self.max_output_tokens, self.schema,
            model, fallback, self.quick,
        )  # fmt: skip

    async def work(
        self, context: InterviewContext, settings: BaseModel, subject: str, data: DataT
    ) -> tuple[ResultT, str] | Literal["short"]:
        """The result, and who gave it: the model's name, or RULE. "short": the budget is, and nothing is done."""
        task = self.task(subject, data, *self.models(settings))
        done = await context.worked(task)
        if done == "short":
            return "short"
        if done == "failed":
            return self.rule(data), RULE
        result, by = done
        used = result if by == RULE else self.check(data, result)
        return (self.rule(data), RULE) if used is None else (used, by)

    def models(self, settings: BaseModel) -> tuple[str, str]:
        """(model, fallback); "" where none is named: the main arm's, and nobody."""
        model, fallback = (getattr(settings, f"{self.setting}_{which}", "") for which in ("model", "fallback"))
        return str(model), str(fallback)

    def most_calls(self, settings: BaseModel, times: int) -> int:
        """Requests that this much work may take at most."""
        return times * ATTEMPTS * (2 if self.models(settings)[1] else 1)
