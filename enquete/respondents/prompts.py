"""How a block becomes a prompt.

Shared text first, persona next, memory, question last: the system message is byte-identical for an agent within a
methodology, arm and phase, and what was wrong with the last reply stands behind the questions, so that providers can
cache all that comes before. Persona, posts and other people's words are data: each stands in a fence (fences.py).
"""

from __future__ import annotations

from typing import Literal

from enquete.respondents.fences import data_of, fence
from enquete.respondents.kinds import kind_of
from enquete.respondents.kinds.kind import ROOM_IN_WORDS
from enquete.respondents.questions import form, names_of, reply_schema, written
from enquete.respondents.wording import Wording, worded
from enquete.state.asking import Block, Item, Language, Participant
from enquete.state.desk import Prompt

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
    words, names = worded(block.frame, language), names_of(block)
    parts = [f"{heading}:\n{fence('quote', text)}" for heading, text in block.quoted]
    parts += [f"{words.form}\n{form(items, names)}", block.instruction, rule, written(items, names, words)]
    parts += [_again(problem, words)]
    message = {"role": "user", "content": "\n\n".join(part for part in parts if part)}
    system = system_prompt(who, language, block.frame)
    room = _output_tokens(items) * 2**cuts
    shortens = tuple(data_of(text) for text in (who.digest, who.persona) if text)
    return Prompt(system, (message,), reply_schema(items, names), room, shortens, says_form=True)


def _again(problem: Problem, words: Wording) -> str:
    return {
        "unreadable": words.again_unreadable,
        "refused": words.again_refused,
        "missing": words.again_missing,
        "short": words.again_short,
        "constraint": "",  # the rule says what is wrong
        "": "",
    }[problem]


def _output_tokens(items: tuple[Item, ...]) -> int:
    return max(OUTPUT_FLOOR, sum(ROOM_IN_WORDS if item.reason else kind_of(item).room(item) for item in items))
