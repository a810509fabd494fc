"""How a block becomes a prompt.

Shared text first, persona next, memory, question last: the system message is byte-identical for an agent within a
methodology, arm and phase, and what was wrong with the last reply stands behind the questions, so that providers can
cache all that comes before. Persona, posts and other people's words are data: each stands in a fence (fences.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from enquete.models.cleaning import compact
from enquete.respondents.kinds import kind_of, require_answerable
from enquete.respondents.kinds.kind import ROOM_IN_WORDS
from enquete.respondents.questions import form, names_of, reply_schema, written
from enquete.respondents.quoted_data import data_of, fence
from enquete.respondents.wording import Wording, worded
from enquete.state.asking import Block, Item, Language, Participant
from enquete.state.interview_context import Prompt

Problem = Literal["", "unreadable", "refused", "missing", "short", "constraint"]

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
    """The request for `items` of a block; `problem` says what was wrong with the last reply, `rule` what binds all items.

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
    """What is the same for everybody who is asked these items in this order, written once. Raises ValueError where nobody could
    answer them."""
    require_answerable(items)
    names = dict(zip((item.id for item in items), named, strict=True))
    text = written(items, names, worded(frame, language))
    room = sum(ROOM_IN_WORDS if item.reason else kind_of(item).room(item) for item in items)
    return _Questions(form(items, names), text, compact(reply_schema(items, names)), max(OUTPUT_FLOOR, room))


def _again(problem: Problem, words: Wording) -> str:
    return {
        "unreadable": words.again_unreadable,
        "refused": words.again_refused,
        "missing": words.again_missing,
        "short": words.again_short,
        "constraint": "",  # the rule says what is wrong
        "": "",
    }[problem]
