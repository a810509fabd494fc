"""The respondent that a language model plays. Measured by the share of items that end ok or repaired.

A reply that cannot be read gets one corrective retry; items missing or out of range are asked for again, just those;
what is still open after ATTEMPTS requests gets a typed status. Answers that break a constraint over the block are one more
reason to ask again (constraints.py), with MORE_ATTEMPTS more requests; what is left of that is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from enquete.respondents.constraints import Constraint, constraint_of
from enquete.respondents.prompts import Problem, compose
from enquete.respondents.questions import names_of
from enquete.respondents.replies import Reading, read_reply
from enquete.state.asking import ATTEMPTS, Answer, Block, CallKey, Item, Language, Participant, Reply, Status
from enquete.state.interview_context import Metered, Prompt


def call_key(block: Block, attempt: int) -> CallKey:
    key = block.key
    return CallKey(key.run, key.arm, key.methodology, key.phase, "answer", key.subject, attempt)


async def interview(
    who: Participant, block: Block, model: Metered, language: Language, offline: Callable[[], str] | None = None
) -> Reply:
    """Ask until every item has an answer and the block's constraint holds, or the attempts are used up.

    Answers come from settled calls only.
    """
    constraint, names = constraint_of(block), names_of(block)
    pending = block.in_shown_order()
    answers: dict[str, Answer] = {}
    reading = Reading()
    problem: Problem = ""
    cuts = 0
    for attempt in range(block.attempts):
        completion = await model.request(
            call_key(block, attempt),
            _composer(who, block, constraint, pending, dict(answers), language, problem, cuts),
            offline,
        )
        if completion == "short":
            return Reply("short")
        if completion == "failed":
            return Reply(
                "done", _in_order(block, constraint, answers, dict.fromkeys((item.id for item in pending), "failed"))
            )
        reading = read_reply(completion, pending, names)
        cuts += reading.cut_off
        if constraint is not None and problem == "constraint":
            answers = constraint.merged(answers, reading.answers)
        else:
            answers |= _taken(reading, attempt)
        missing = tuple(item for item in block.in_shown_order() if item.id not in answers)
        pending = missing or _violating(block, constraint, answers)
        if not pending or (missing and attempt >= ATTEMPTS - 1):
            break
        problem = _problem(reading) if missing else "constraint"
    return Reply("done", _in_order(block, constraint, answers, _left_open(pending, reading)))


def _composer(
    who: Participant,
    block: Block,
    constraint: Constraint | None,
    items: tuple[Item, ...],
    answers: Mapping[str, Answer],
    language: Language,
    problem: Problem,
    cuts: int,
) -> Callable[[], Prompt]:
    """Deferred, because a settled call is looked up before its prompt is built."""

    def prompt() -> Prompt:
        asked = [item.id for item in items]
        rule = constraint.explain(answers, asked, language, names_of(block)) if constraint else ""
        shown = constraint.narrowed(items, answers) if constraint else items
        return compose(who, block, shown, language, problem, min(cuts, ATTEMPTS - 1), rule=rule)

    return prompt


def _taken(reading: Reading, attempt: int) -> dict[str, Answer]:
    if attempt == 0:
        return reading.answers
    return {item: replace(answer, status="repaired") for item, answer in reading.answers.items()}


def _violating(block: Block, constraint: Constraint | None, answers: Mapping[str, Answer]) -> tuple[Item, ...]:
    """What complete answers that break the constraint have to be asked for again."""
    again = set(constraint.violations(answers)) if constraint else set()
    return tuple(item for item in block.in_shown_order() if item.id in again)


def _problem(reading: Reading) -> Problem:
    if reading.refused:
        return "refused"
    if reading.cut_off:
        return "short"
    return "unreadable" if reading.unreadable else "missing"


def _left_open(pending: tuple[Item, ...], reading: Reading) -> dict[str, Status]:
    return {item.id: "refused" if reading.refused or item.id in reading.declined else "invalid" for item in pending}


def _in_order(
    block: Block, constraint: Constraint | None, answers: dict[str, Answer], open_items: dict[str, Status]
) -> tuple[Answer, ...]:
    """Exactly one answer per item, in the order shown, with what was shown. Complete answers end as the constraint wants them."""
    if constraint and len(answers) == len(block.items):
        answers = constraint.repair(answers)
    found = []
    for position, item in enumerate(block.in_shown_order(), start=1):
        answer = answers.get(item.id) or Answer(item.id, open_items[item.id])
        answer.position = position
        answer.options_shown = item.shown or tuple([option.value for option in item.options])
        found.append(answer)
    return tuple(found)


class LLMRespondent:
    """Answers through a chat model."""

    def __init__(self, language: Language):
        self._language = language

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """See `Respondent.ask`."""
        return await interview(who, block, model, self._language)
