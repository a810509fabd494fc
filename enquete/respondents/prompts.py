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
from enquete.respondents.wording import FRAMES, Wording
from enquete.state.seam import Block, Item, Language, Participant, Prompt

Problem = Literal["", "unreadable", "refused", "missing", "short", "grid"]

OUTPUT_FLOOR = 1024  # reasoning models spend output tokens before the first character of the answer
OUTPUT_PER_CLOSED = 48
OUTPUT_PER_OPTION = 12  # of a distribution
OUTPUT_PER_TEXT = 400


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
    words = FRAMES[frame][language]
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
    words = FRAMES[block.frame][language]
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
        "grid": "",  # the rule says what is wrong
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
    lines = [f"- {item.id}: {' '.join(item.wording.split())}"]
    if item.options:
        options = "; ".join(
            f"{o.value} = {o.label}" if o.label else str(o.value) for o in item.options_in_shown_order()
        )
        lines.append(f"  {words.options}: {options}")
    elif item.kind == "number":
        lines.append(f"  ({words.number.format(low=_plain(item.minimum), high=_plain(item.maximum))})")
    else:
        lines.append(f"  ({words.text})")
    wanted = (
        (item.elicitation == "distribution", words.distribution),
        (item.confidence, words.confidence),
        (item.reason, words.reason),
    )
    extras = [text for is_wanted, text in wanted if is_wanted]
    if extras:
        lines.append(f"  ({'; '.join(extras)})")
    return "\n".join(lines)


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _form(items: tuple[Item, ...]) -> str:
    """The shape of the reply by example, so that a server without schema support can follow too."""
    return "{" + ", ".join(f'"{item.id}": {_form_of(item)}' for item in items) + "}"


def _form_of(item: Item) -> str:
    if item.kind == "text":
        return '{"text": "…"}'
    parts = ['"value": …'] if item.elicitation == "point" else [f'"probabilities": {{{_options_of(item)}}}']
    parts += ['"confidence": 0.…'] if item.confidence else []
    parts += ['"reason": "…"'] if item.reason else []
    return "{" + ", ".join(parts) + "}"


def _options_of(item: Item) -> str:
    return ", ".join(f'"{option.value}": 0.…' for option in item.options_in_shown_order())


def _item_schema(item: Item) -> JsonValue:
    if item.kind == "text":
        properties: dict[str, JsonValue] = {"text": {"type": "string"}}
    elif item.elicitation == "distribution":
        properties = {"probabilities": _distribution_schema(item)}
    else:
        properties = {"value": _value_schema(item)}
    if item.confidence:
        properties["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
    if item.reason:
        properties["reason"] = {"type": "string"}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _distribution_schema(item: Item) -> JsonValue:
    """One probability an option, in the order shown; that they sum to 1 no schema can say."""
    share: JsonValue = {"type": "number", "minimum": 0, "maximum": 1}
    names = [str(option.value) for option in item.options_in_shown_order()]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, share),
        "required": list(names),
        "additionalProperties": False,
    }


def _value_schema(item: Item) -> JsonValue:
    """Closed questions show their options in the schema as they do in the prompt."""
    if item.kind == "number":
        bounds: dict[str, JsonValue] = {"type": "number"}
        bounds |= {"minimum": item.minimum} if item.minimum is not None else {}
        bounds |= {"maximum": item.maximum} if item.maximum is not None else {}
        return bounds
    options = item.options_in_shown_order()
    labels = "; ".join(f"{option.value} = {option.label}" for option in options if option.label)
    return {
        "type": "integer" if item.kind == "scale" else "string",
        "enum": [option.value if item.kind == "scale" else str(option.value) for option in options],
        "description": labels,
    }


def _output_tokens(items: tuple[Item, ...]) -> int:
    return max(OUTPUT_FLOOR, sum(_room(item) for item in items))


def _room(item: Item) -> int:
    if item.kind == "text" or item.reason:
        return OUTPUT_PER_TEXT
    return OUTPUT_PER_CLOSED + (OUTPUT_PER_OPTION * len(item.options) if item.elicitation == "distribution" else 0)
