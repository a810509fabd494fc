"""The respondent that a language model plays. Measured by the share of items that end ok or repaired.

A reply that cannot be read gets one corrective retry; items missing or out of range are asked for again, just those;
what is still open after ATTEMPTS requests gets a typed status. Answers that break a constraint over the block are one
more reason to ask again, with MORE_ATTEMPTS more requests; what is left of that is repaired.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import ClassVar, Literal, NamedTuple

from pydantic import JsonValue

from enquete.locale import N_, tell
from enquete.models.parsing import compact
from enquete.respondents.kinds import ROOM_IN_WORDS, PromptTexts, kind_of, require_answerable, worded
from enquete.respondents.questions import (
    Names,
    ParsedReply,
    explain_grid,
    form,
    grid_of,
    names_of,
    narrowed,
    open_items,
    placed_again,
    read_reply,
    repair_grid,
    reply_schema,
    written,
)
from enquete.respondents.roles import data_of, fence
from enquete.state.asking import ATTEMPTS, Answer, Block, CallKey, Item, Language, Participant, Reply, Status
from enquete.state.interview_context import Metered, Prompt

# --- What binds all items of a block together: by name, with members, in `Block.constraint`, such as {"distinct": true}
# A constraint says which answers break it, tells the respondent, and mends what is left when all has been asked.

Answers = Mapping[str, Answer]


class Constraint(ABC):
    """`order`: the block's items as they are shown. Raises ValueError where no answers could fulfil it."""

    def __init__(self, block: Block):
        self.order = [item.id for item in block.in_shown_order()]

    @abstractmethod
    def violations(self, answers: Answers) -> Sequence[str]:
        """The items that are to be answered once more, as few as will do; empty where it holds."""

    @abstractmethod
    def explain(self, answers: Answers, asked: Sequence[str], language: Language, names: Names) -> str:
        """The rule, what is wrong so far, and what that leaves to the items `asked`, by their names."""

    @abstractmethod
    def narrowed(self, items: Sequence[Item], answers: Answers) -> tuple[Item, ...]:
        """`items` as they are put: with the options alone that all other answers leave to them."""

    @abstractmethod
    def merged(self, answers: Answers, given: Answers) -> dict[str, Answer]:
        """The answers with those given when asked again, the agent's own and noted, unless that made it worse."""

    @abstractmethod
    def repair(self, answers: Answers) -> dict[str, Answer]:
        """Complete answers, mended so that it holds. What is changed is noted."""


class ForcedGrid(Constraint):
    """{"grid": {"-1": 1, "0": 2, "1": 1}}: how many items each scale point takes (questions.py)."""

    def __init__(self, block: Block):
        super().__init__(block)
        grid = grid_of(block)
        if grid is None:
            raise ValueError(f"the grid of block {block.key.part!r} names no columns")
        self._grid = grid

    def violations(self, answers: Answers) -> Sequence[str]:
        return open_items(answers, self._grid, self.order)

    def explain(self, answers: Answers, asked: Sequence[str], language: Language, names: Names) -> str:
        return explain_grid(answers, self._grid, asked, language, names)

    def narrowed(self, items: Sequence[Item], answers: Answers) -> tuple[Item, ...]:
        return narrowed(items, answers, self._grid)

    def merged(self, answers: Answers, given: Answers) -> dict[str, Answer]:
        return placed_again(answers, given, self._grid)

    def repair(self, answers: Answers) -> dict[str, Answer]:
        return repair_grid(answers, self._grid, self.order)


class Distinct(Constraint):
    """{"distinct": true}: no two items of the block get the same option.

    Which of two equal answers was meant nobody can tell: what is still the same at the end is no answer, but for the
    first.
    """

    _WORDS: ClassVar = (
        N_("Every option may be given only once: the answers to all questions are different."),
        N_(
            "To these questions your answer was the same more than once: {items}. Please only these again, each "
            "different."
        ),
    )

    def __init__(self, block: Block):
        super().__init__(block)
        options = {option.value for item in block.items for option in item.options}
        if len(options) < len(block.items):
            raise ValueError(
                f"{len(block.items)} items of block {block.key.part!r} cannot differ in {len(options)} options"
            )

    def violations(self, answers: Answers) -> Sequence[str]:
        """All that are the same as another: asked side by side, they can be told apart."""
        times = Counter(_given(answer) for answer in answers.values())
        return [item for item in self.order if item in answers and times[_given(answers[item])] > 1]

    def explain(self, answers: Answers, asked: Sequence[str], language: Language, names: Names) -> str:
        rule, again = (tell(text, language) for text in self._WORDS)
        same = [names[item] for item in self.violations(answers) if item in asked]
        return f"{rule}\n{again.format(items=', '.join(same))}" if same else rule

    def narrowed(self, items: Sequence[Item], answers: Answers) -> tuple[Item, ...]:
        asked = {item.id for item in items}
        taken = {_given(answer) for item, answer in answers.items() if item not in asked}
        left = {item.id: tuple(o for o in item.options if str(o.value) not in taken) for item in items}
        return tuple(item.model_copy(update={"options": left[item.id]}) for item in items)

    def merged(self, answers: Answers, given: Answers) -> dict[str, Answer]:
        merged = dict(answers)
        for item, now in given.items():
            then = answers[item]
            if _given(now) != _given(then):
                note = f"first {_given(then)}, asked again to differ: {_given(now)}"
                merged[item] = replace(now, status=then.status, notes=(*then.notes, *now.notes, note))
        return merged if len(self.violations(merged)) <= len(self.violations(answers)) else dict(answers)

    def repair(self, answers: Answers) -> dict[str, Answer]:
        repaired, first = dict(answers), dict[str, str]()
        for item in self.order:
            given = _given(answers[item])
            if first.setdefault(given, item) != item:
                note = f"{given}, as already to {first[given]}"
                repaired[item] = Answer(item, "invalid", notes=(*answers[item].notes, note))
        return repaired


def _given(answer: Answer) -> str:
    """The option of an answer, by its value."""
    data = answer.data.get("mode") if isinstance(answer.data, dict) else answer.data
    return f"{answer.value:g}" if data is None and answer.value is not None else str(data)


CONSTRAINTS: Mapping[str, type[Constraint]] = {"grid": ForcedGrid, "distinct": Distinct}


def constraint_of(block: Block) -> Constraint | None:
    """The block's constraint, or None. Raises ValueError for one that is unknown or cannot be fulfilled."""
    given: JsonValue = block.constraint
    if given is None:
        return None
    name = next(iter(given), "") if isinstance(given, dict) else str(given)
    if name not in CONSTRAINTS:
        raise ValueError(f"block {block.key.part!r}: constraint {name!r} is none of {', '.join(CONSTRAINTS)}")
    return CONSTRAINTS[name](block)


# --- How a block becomes a prompt ------------------------------------------------------------------------------------
# Shared text first, persona next, memory, question last: the system message is byte-identical for an agent within a
# methodology, arm and phase, and what was wrong with the last reply stands behind the questions, so that providers can
# cache all that comes before. Persona, posts and other people's words are data: each stands in a fence (roles.py).

Problem = Literal["", "unreadable", "refused", "missing", "short", "broken_off", "number", "constraint"]

OUTPUT_FLOOR = 1024  # reasoning models spend output tokens before the first character of the answer


def system_prompt(
    who: Participant, language: Language, frame: Literal["as_written", "paraphrased"] = "as_written"
) -> str:
    """Shared rules, then who answers, then what they remember."""
    words = worded(frame, language)
    persona = fence("persona", who.name + "\n" + who.persona)
    parts = [words.role, f"{words.persona}:\n{persona}"]
    if who.digest:
        parts.append(f"{words.memory}:\n{fence('memory', who.digest)}")
    return "\n\n".join(parts)


def compose(
    who: Participant,
    block: Block,
    items: tuple[Item, ...],
    language: Language,
    problem: Problem,
    cuts: int,
    *,
    rule: str = "",
) -> Prompt:
    """The request for `items` of a block; `problem` says what was wrong with the last reply, `rule` what binds all
    items.

    `cuts`: how many replies were cut off by their length so far; each doubles the room for the next.
    """
    names, words = names_of(block), worded(block.frame, language)
    asked = _questions(items, tuple(names[item.id] for item in items), block.frame, language)
    parts = [f"{heading}:\n{fence('quote', text)}" for heading, text in block.quoted]
    parts += [f"{words.form}\n{asked.form}", block.instruction, rule, asked.written, _again(problem, words)]
    message = {"role": "user", "content": "\n\n".join(part for part in parts if part)}
    system = system_prompt(who, language, block.frame)
    shortens = tuple(data_of(text) for text in (who.digest, who.persona) if text)
    return Prompt(system, (message,), asked.schema, asked.room * 2**cuts, shortens, says_form=True)


class _Questions(NamedTuple):
    form: str
    written: str
    schema: str
    room: int  # output tokens


@lru_cache(maxsize=256)
def _questions(
    items: tuple[Item, ...], named: tuple[str, ...], frame: Literal["as_written", "paraphrased"], language: Language
) -> _Questions:
    """What is the same for everybody who is asked these items in this order, written once. Raises ValueError where
    nobody could answer them."""
    require_answerable(items)
    names = dict(zip((item.id for item in items), named, strict=True))
    text = written(items, names, worded(frame, language))
    room = sum(ROOM_IN_WORDS if item.reason else kind_of(item).room(item) for item in items)
    return _Questions(form(items, names), text, compact(reply_schema(items, names)), max(OUTPUT_FLOOR, room))


def _again(problem: Problem, words: PromptTexts) -> str:
    return {
        "unreadable": words.again_unreadable,
        "refused": words.again_refused,
        "missing": words.again_missing,
        "short": words.again_short,
        "broken_off": words.again_broken_off,
        "number": words.again_number,
        "constraint": "",  # the rule says what is wrong
        "": "",
    }[problem]


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
    reading = ParsedReply()
    problem: Problem = ""
    cuts = 0
    form_is_known = False
    for attempt in range(block.attempts):
        completion = await model.request(
            call_key(block, attempt),
            # deferred: a settled call is looked up before its prompt is built
            partial(_prompt, who, block, constraint, pending, dict(answers), language, problem, cuts),
            offline,
        )
        if completion == "short":
            return Reply("short")
        if completion == "failed":
            failed: dict[str, Status] = dict.fromkeys((item.id for item in pending), "failed")
            return Reply("done", _in_order(block, constraint, answers, failed))
        form_is_known |= problem == "number"
        reading = read_reply(completion, pending, names, number_form_is_known=form_is_known)
        cuts += reading.cut_off
        if constraint is not None and problem == "constraint":
            answers = constraint.merged(answers, reading.answers)
        else:
            answers |= _taken(reading, attempt)
        missing = tuple(item for item in block.in_shown_order() if item.id not in answers)
        pending = missing or _violating(block, constraint, answers)
        if not pending or (missing and attempt >= ATTEMPTS - 1):
            break
        if completion.finish == "content_filter":  # the provider's filter takes offence at this prompt each time
            break
        problem = _problem(reading) if missing else "constraint"
    return Reply("done", _in_order(block, constraint, answers, _left_open(pending, reading)))


def _prompt(
    who: Participant,
    block: Block,
    constraint: Constraint | None,
    items: tuple[Item, ...],
    answers: Mapping[str, Answer],
    language: Language,
    problem: Problem,
    cuts: int,
) -> Prompt:
    asked = [item.id for item in items]
    rule = constraint.explain(answers, asked, language, names_of(block)) if constraint else ""
    shown = constraint.narrowed(items, answers) if constraint else items
    return compose(who, block, shown, language, problem, min(cuts, ATTEMPTS - 1), rule=rule)


def _taken(reading: ParsedReply, attempt: int) -> dict[str, Answer]:
    if attempt == 0:
        return reading.answers
    return {item: replace(answer, status="repaired") for item, answer in reading.answers.items()}


def _violating(block: Block, constraint: Constraint | None, answers: Mapping[str, Answer]) -> tuple[Item, ...]:
    """What complete answers that break the constraint have to be asked for again."""
    again = set(constraint.violations(answers)) if constraint else set()
    return tuple(item for item in block.in_shown_order() if item.id in again)


def _problem(reading: ParsedReply) -> Problem:
    if reading.refused:
        return "refused"
    if reading.cut_off:
        return "short"
    if reading.broke_off:
        return "broken_off"
    if reading.unclear:
        return "number"
    return "unreadable" if reading.unreadable else "missing"


def _left_open(pending: tuple[Item, ...], reading: ParsedReply) -> dict[str, Status]:
    return {item.id: "refused" if reading.refused or item.id in reading.declined else "invalid" for item in pending}


def _in_order(
    block: Block, constraint: Constraint | None, answers: dict[str, Answer], open_items: dict[str, Status]
) -> tuple[Answer, ...]:
    """Exactly one answer per item, in the order shown, with what was shown. Complete answers end as the constraint
    wants them."""
    if constraint and len(answers) == len(block.items):
        answers = constraint.repair(answers)
    ordered = []
    for position, item in enumerate(block.in_shown_order(), start=1):
        answer = answers.get(item.id) or Answer(item.id, open_items[item.id])
        answer.position = position
        answer.options_shown = item.shown or tuple([option.value for option in item.options])
        ordered.append(answer)
    return tuple(ordered)


class LLMRespondent:
    """Answers through a chat model."""

    def __init__(self, language: Language):
        self._language = language

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        """See `Respondent.ask`."""
        return await interview(who, block, model, self._language)
