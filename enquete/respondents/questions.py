"""How the questions of a block are written down, and the form of the reply: what is common to several is said once.

Input tokens are the largest bill of a study, and the schema that is sent is among them. A question costs its wording and its name,
there and in the schema; options, what is wanted beside them and the form of the answer stand once for all questions that share
them.
Questions are named q1, q2, … by their place in the block. Names stay the same when some are asked again, are short, and
tell nobody what an item is meant to measure, as an item's id may.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby, product
from string import ascii_uppercase

from pydantic import JsonValue

from enquete.respondents.kinds import kind_of
from enquete.respondents.quoted_data import fence
from enquete.respondents.wording import Wording
from enquete.state.asking import Block, Item

Names = Mapping[str, str]
"""Item id → the question's name in the prompt and in the reply."""

_NAME = re.compile(r"q\d+")
_NUMBERED = re.compile(r'"?q(\d+)"?')


def names_of(block: Block) -> Names:
    """q1, q2, … in the order shown; the ids themselves where one of them could be taken for such a name."""
    ids = [item.id for item in block.in_shown_order()]
    if any(_NAME.fullmatch(name) for name in ids):
        return {name: name for name in ids}
    return {name: f"q{place}" for place, name in enumerate(ids, start=1)}


def written(items: Sequence[Item], names: Names, words: Wording) -> str:
    """What several questions share, after their names; then the questions in their order.

    What several of them are about is quoted once, before the first.
    """
    told = {item.id: tuple(_told(item, words)) for item in items}
    times = Counter(told.values())
    shared = {lines: [names[id] for id in told if told[id] == lines] for lines, n in times.items() if lines and n > 1}
    lines = [f"{_listed(named)}: {'; '.join(said)}" for said, named in shared.items()]
    lines += [""] if shared else []
    quoted = ""
    for item in items:
        if item.about and item.about != quoted:
            lines.append(fence("theme", item.about))
        quoted = item.about
        # One line: themes in a wording were named after respondents' words.
        lines.append(f"{names[item.id]}: {' '.join(item.wording.split())}")
        lines += [] if told[item.id] in shared else [f"  {line}" for line in told[item.id]]
    return "\n".join(lines)


def _told(item: Item, words: Wording) -> list[str]:
    """What stands beside a question: its options, and what is wanted."""
    kind = kind_of(item)
    extras = [
        kind.wanted(item, words),
        words.confidence if item.confidence else "",
        words.reason if item.reason else "",
    ]
    wanted = "; ".join(text for text in extras if text)
    return [*kind.lines(item, words), *([wanted] if wanted else [])]


def _letters() -> Iterator[str]:
    """A, B, …, Z, AA, AB, …"""
    return ("".join(letters) for length in count(1) for letters in product(ascii_uppercase, repeat=length))


# --- the form of the reply ---------------------------------------------------------------------------------------------


def form(items: Sequence[Item], names: Names) -> str:
    """The shape of the reply by example; the same shape of neighbours once: "q1" … "q14": {"value": …, "confidence": 0.…}."""
    runs = [(shape, [names[item.id] for item in run]) for shape, run in groupby(items, _shape)]
    return "{" + ", ".join(f"{_listed([_quoted(name) for name in named])}: {shape}" for shape, named in runs) + "}"


def _shape(item: Item) -> str:
    parts = kind_of(item).form(item)
    parts += ['"confidence": 0.…'] if item.confidence else []
    parts += ['"reason": "…"'] if item.reason else []
    if len(parts) == 1 and _is_bare(item):
        return parts[0].partition(": ")[2]
    return "{" + ", ".join(parts) + "}"


def _is_bare(item: Item) -> bool:
    """Nothing is wanted beside one value, so that it stands in the reply without a name of its own."""
    return not (item.confidence or item.reason) and set(kind_of(item).schema(item)) <= {"value", "text"}


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _listed(named: Sequence[str]) -> str:
    """The first and the last of a long row of names that follow one another; else all of them."""
    numbers = [int(found[1]) if (found := _NUMBERED.fullmatch(name)) else -1 for name in named]
    if len(named) > 2 and numbers[0] > 0 and numbers == list(range(numbers[0], numbers[0] + len(named))):
        return f"{named[0]} … {named[-1]}"
    return ", ".join(named)


def reply_schema(items: Sequence[Item], names: Names) -> dict[str, JsonValue]:
    """JSON schema of the reply: one object, one property a question; what several have in common is defined once."""
    parts = {names[item.id]: _item_schema(item) for item in items}
    texts = {name: json.dumps(part, sort_keys=False) for name, part in parts.items()}
    times = Counter(texts.values())
    letters = dict(zip((text for text in times if times[text] > 1), _letters(), strict=False))
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            name: {"$ref": f"#/$defs/{letters[texts[name]]}"} if texts[name] in letters else part
            for name, part in parts.items()
        },
        "required": list(parts),
        "additionalProperties": False,
    }
    return schema | ({"$defs": {letter: json.loads(text) for text, letter in letters.items()}} if letters else {})


def _item_schema(item: Item) -> JsonValue:
    properties = kind_of(item).schema(item)
    if _is_bare(item):
        return next(iter(properties.values()))
    if item.confidence:  # that it is within 0 and 1 is said in the prompt, and looked at where it is read
        properties["confidence"] = {"type": "number"}
    if item.reason:
        properties["reason"] = {"type": "string"}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
