"""The respondent that a language model plays. Measured by the share of items that end ok or repaired.

A reply that cannot be read gets one corrective retry; items missing or out of range are asked for again, just those;
what is still open after ATTEMPTS requests gets a typed status. A sort that breaks its forced grid is one more reason to ask
again (see grid.py), with MORE_ATTEMPTS more requests; what is left of that is repaired by the agent's own ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from enquete.respondents.grid import (
    Grid,
    explain,
    grid_of,
    narrowed,
    open_items,
    placed_again,
    repair,
)
from enquete.respondents.kinds import require_answerable
from enquete.respondents.prompts import Problem, compose
from enquete.respondents.replies import Reading, read_reply
from enquete.state.seam import (
    ATTEMPTS,
    Answer,
    Block,
    CallKey,
    Item,
    Language,
    Metered,
    Participant,
    Prompt,
    Reply,
    Status,
)


def call_key(block: Block, attempt: int) -> CallKey:
    key = block.key
    return CallKey(key.run, key.arm, key.methodology, key.phase, "answer", key.subject, attempt)


async def interview(
    who: Participant, block: Block, model: Metered, language: Language, offline: Callable[[], str] | None = None
) -> Reply:
    """Ask until every item has an answer, and the grid its sort, or the attempts are used up.

    Answers come from settled calls only.
    """
    require_answerable(block.items)
    grid = grid_of(block)
    pending = block.in_shown_order()
    answers: dict[str, Answer] = {}
    reading = Reading()
    problem: Problem = ""
    cuts = 0
    for attempt in range(block.attempts):
        completion = await model.request(
            call_key(block, attempt),
            _composer(who, block, pending, dict(answers), language, problem, cuts),
            offline,
        )
        if completion == "short":
            return Reply("short")
        if completion == "failed":
            return Reply("done", _in_order(block, answers, dict.fromkeys((item.id for item in pending), "failed")))
        reading = read_reply(completion, pending)
        cuts += reading.cut_off
        answers = _taken(answers, reading, grid if problem == "grid" else None, attempt)
        missing = tuple(item for item in block.in_shown_order() if item.id not in answers)
        pending = missing or _misplaced(block, answers, grid)
        if not pending or (missing and attempt >= ATTEMPTS - 1):
            break
        problem = _problem(reading) if missing else "grid"
    return Reply("done", _in_order(block, answers, _left_open(pending, reading)))


def _composer(
    who: Participant,
    block: Block,
    items: tuple[Item, ...],
    answers: Mapping[str, Answer],
    language: Language,
    problem: Problem,
    cuts: int,
) -> Callable[[], Prompt]:
    """Deferred, because a settled call is looked up before its prompt is built."""

    def prompt() -> Prompt:
        grid = grid_of(block)
        if grid is None:
            return compose(who, block, items, language, problem, cuts)
        rule = explain(answers, grid, [item.id for item in items], language)
        shown = narrowed(items, answers, grid)
        return compose(who, block, shown, language, problem, min(cuts, ATTEMPTS - 1), rule=rule)

    return prompt


def _taken(answers: dict[str, Answer], reading: Reading, sort: Grid | None, attempt: int) -> dict[str, Answer]:
    """The answers so far and those of a reply; `sort`: the grid for whose sake answered items were asked again."""
    if sort is not None:
        return placed_again(answers, reading.answers, sort)
    again = {item: replace(answer, status="repaired") for item, answer in reading.answers.items()}
    return answers | (reading.answers if attempt == 0 else again)


def _misplaced(block: Block, answers: dict[str, Answer], grid: Grid | None) -> tuple[Item, ...]:
    """What a complete sort that breaks its grid has to be asked for again."""
    shown = block.in_shown_order()
    again = set(open_items(answers, grid, [item.id for item in shown])) if grid else set()
    return tuple(item for item in shown if item.id in again)


def _problem(reading: Reading) -> Problem:
    if reading.refused:
        return "refused"
    if reading.cut_off:
        return "short"
    return "unreadable" if reading.unreadable else "missing"


def _left_open(pending: tuple[Item, ...], reading: Reading) -> dict[str, Status]:
    return {item.id: "refused" if reading.refused or item.id in reading.declined else "invalid" for item in pending}


def _in_order(block: Block, answers: dict[str, Answer], open_items: dict[str, Status]) -> tuple[Answer, ...]:
    """Exactly one answer per item, in the order shown, with what was shown. A complete sort ends legal."""
    grid = grid_of(block)
    if grid and len(answers) == len(block.items):
        answers = repair(answers, grid, [item.id for item in block.in_shown_order()])
    return tuple(
        replace(
            answers.get(item.id) or Answer(item.id, open_items[item.id]),
            position=position,
            options_shown=tuple(option.value for option in item.options_in_shown_order()),
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
