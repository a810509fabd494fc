"""The respondent that a language model plays. Measured by the share of items that end ok or repaired.

A reply that cannot be read gets one corrective retry; items missing or out of range are asked for again, just those;
what is still open after ATTEMPTS requests gets a typed status.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from enquete.respondents.prompts import Problem, compose
from enquete.respondents.replies import Reading, read_reply
from enquete.state.seam import Answer, Block, CallKey, Item, Language, Metered, Participant, Prompt, Reply, Status

ATTEMPTS = 3


def call_key(block: Block, attempt: int) -> CallKey:
    key = block.key
    return CallKey(key.run, key.arm, key.methodology, key.phase, "answer", key.subject, attempt)


async def interview(
    who: Participant, block: Block, model: Metered, language: Language, offline: Callable[[], str] | None = None
) -> Reply:
    """Ask until every item has an answer or the attempts are used up. Answers come from settled calls only."""
    pending = block.in_shown_order()
    answers: dict[str, Answer] = {}
    reading = Reading()
    problem: Problem = ""
    for attempt in range(ATTEMPTS):
        completion = await model.request(
            call_key(block, attempt), _composer(who, block, pending, language, problem, attempt), offline
        )
        if completion == "short":
            return Reply("short")
        if completion == "failed":
            return Reply("done", _in_order(block, answers, dict.fromkeys((item.id for item in pending), "failed")))
        reading = read_reply(completion, pending)
        status: Status = "ok" if attempt == 0 else "repaired"
        answers |= {item: replace(answer, status=status) for item, answer in reading.answers.items()}
        pending = tuple(item for item in pending if item.id not in answers)
        if not pending:
            break
        problem = _problem(reading)
    return Reply("done", _in_order(block, answers, _left_open(pending, reading)))


def _composer(
    who: Participant, block: Block, items: tuple[Item, ...], language: Language, problem: Problem, attempt: int
) -> Callable[[], Prompt]:
    """Deferred, because a settled call is looked up before its prompt is built."""
    return lambda: compose(who, block, items, language, problem, attempt)


def _problem(reading: Reading) -> Problem:
    if reading.refused:
        return "refused"
    if reading.cut_off:
        return "short"
    return "unreadable" if reading.unreadable else "missing"


def _left_open(pending: tuple[Item, ...], reading: Reading) -> dict[str, Status]:
    return {item.id: "refused" if reading.refused or item.id in reading.declined else "invalid" for item in pending}


def _in_order(block: Block, answers: dict[str, Answer], open_items: dict[str, Status]) -> tuple[Answer, ...]:
    """Exactly one answer per item, in the order shown, with what was shown."""
    return tuple(
        replace(
            answers.get(item.id) or Answer(item.id, open_items[item.id]),
            position=position,
            options_shown=tuple(option.value for option in item.options),
        )
        for position, item in enumerate(block.in_shown_order(), start=1)
    )


class LLMRespondent:
    """Answers through a chat model."""

    def __init__(self, language: Language):
        self._language = language

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """See `Respondent.ask`."""
        return await interview(who, block, model, self._language)
