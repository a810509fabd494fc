"""How a block becomes a prompt.

The system message is byte-identical for an agent within a methodology, arm and phase: shared text first, persona next,
memory last, so that providers can cache it; the question follows as the user's message. Persona, posts and other
people's words are data: each stands in a fence. Doubled brackets in it are spaced and its tag is a hash of its content,
so no content can close its own fence or imitate another.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Literal

from pydantic import JsonValue

from enquete.models.cleaning import clean_text
from enquete.respondents.kinds import kind_of
from enquete.respondents.kinds.kind import ROOM_IN_WORDS
from enquete.respondents.wording import Wording, worded
from enquete.state.asking import Block, Item, Language, Participant
from enquete.state.desk import Prompt

Problem = Literal["", "unreadable", "refused", "missing", "short", "constraint"]

OUTPUT_FLOOR = 1024  # reasoning models spend output tokens before the first character of the answer


_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")


def fence(name: str, text: str) -> str:
    """`text` as data: nothing in it looks like the beginning or the end of a fence."""
    data = _DOUBLED.sub(lambda bracket: f"{bracket[0]} ", clean_text(text))
    tag = sha256(data.encode()).hexdigest()[:12]
    return f"[[{name}:{tag}\n{data}\n{tag}]]"


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
    words = worded(block.frame, language)
    parts = [_again(problem, words)] if problem else []
    parts += [f"{heading}:\n{fence('quote', text)}" for heading, text in block.quoted]
    parts += [block.instruction, rule, "\n".join(_questions(items, words))]
    parts += [f"{words.form}\n{_form(items)}"]
    message = {"role": "user", "content": "\n\n".join(part for part in parts if part)}
    system = system_prompt(who, language, block.frame)
    return Prompt(system, (message,), reply_schema(items), _output_tokens(items) * 2**cuts)


def reply_schema(items: tuple[Item, ...]) -> dict[str, JsonValue]:
    """JSON schema of the reply: one object, one property per item id."""
    return {
        "type": "object",
        "properties": {item.id: _item_schema(item) for item in items},
        "required": [item.id for item in items],
        "additionalProperties": False,
    }


def _again(problem: Problem, words: Wording) -> str:
    return {
        "unreadable": words.again_unreadable,
        "refused": words.again_refused,
        "missing": words.again_missing,
        "short": words.again_short,
        "constraint": "",  # the rule says what is wrong
        "": "",
    }[problem]


def _questions(items: tuple[Item, ...], words: Wording) -> list[str]:
    """Questions in their order; what several of them are about is quoted once, before the first."""
    lines, quoted = [], ""
    for item in items:
        if item.about and item.about != quoted:
            lines.append(fence("theme", item.about))
        quoted = item.about
        lines.append(_question(item, words))
    return lines


def _question(item: Item, words: Wording) -> str:
    """One question with its options, as a line or two. One line: themes in it were named after respondents' words."""
    kind = kind_of(item)
    extras = [
        kind.wanted(item, words),
        words.confidence if item.confidence else "",
        words.reason if item.reason else "",
    ]
    told = "; ".join(text for text in extras if text)
    below = [*kind.lines(item, words), *([f"({told})"] if told else [])]
    return "\n".join([f"- {item.id}: {' '.join(item.wording.split())}", *(f"  {line}" for line in below)])


def _form(items: tuple[Item, ...]) -> str:
    """The shape of the reply by example, so that a server without schema support can follow too."""
    return "{" + ", ".join(f'"{item.id}": {_form_of(item)}' for item in items) + "}"


def _form_of(item: Item) -> str:
    parts = kind_of(item).form(item)
    parts += ['"confidence": 0.…'] if item.confidence else []
    parts += ['"reason": "…"'] if item.reason else []
    return "{" + ", ".join(parts) + "}"


def _item_schema(item: Item) -> JsonValue:
    properties = kind_of(item).schema(item)
    if item.confidence:
        properties["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
    if item.reason:
        properties["reason"] = {"type": "string"}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _output_tokens(items: tuple[Item, ...]) -> int:
    return max(OUTPUT_FLOOR, sum(ROOM_IN_WORDS if item.reason else kind_of(item).room(item) for item in items))
