"""How the questions of a block are written down, and the form of the reply: what is common to several is said once.

Input tokens are the largest bill of a study, and the schema that is sent is among them. A question costs its wording
and its name, there and in the schema; options, what is wanted beside them and the form of the answer stand once for all
questions that share them. Questions are named q1, q2, … by their place in the block. Names stay the same when some are
asked again, are short, and tell nobody what an item is meant to measure, as an item's id may.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby, product
from string import ascii_uppercase

from pydantic import JsonValue

from enquete.locale import N_, in_language
from enquete.models.parsing import looks_like_refusal, read_reply_object
from enquete.respondents.kinds import (
    DECIMAL,
    NumberKind,
    PromptTexts,
    is_declined,
    is_read_as_written,
    kind_of,
    object_schema,
    parse_number,
    plain_numbers,
    unwrap,
)
from enquete.respondents.roles import fence
from enquete.simulations.digest import unmarked
from enquete.state.asking import Answer, Block, Item, Language
from enquete.state.interview_context import Completion

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


def written(items: Sequence[Item], names: Names, words: PromptTexts) -> str:
    """What several questions share, after their names; then the questions in their order.

    What several of them are about is quoted once, before the first.
    """
    told = {item.id: tuple(_told(item, words)) for item in items}
    times = Counter(told.values())
    shared = {lines: [names[id] for id in told if told[id] == lines] for lines, n in times.items() if lines and n > 1}
    lines = [f"{_listed(named)}: {'; '.join(sentences)}" for sentences, named in shared.items()]
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


def _told(item: Item, words: PromptTexts) -> list[str]:
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


# --- the form of the reply --------------------------------------------------------------------------------------------


def form(items: Sequence[Item], names: Names) -> str:
    """The shape of the reply by example; of like neighbours once: "q1" … "q14": {"value": …, "confidence": 0.…}."""
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
    numbers = [int(match[1]) if (match := _NUMBERED.fullmatch(name)) else -1 for name in named]
    if len(named) > 2 and numbers[0] > 0 and numbers == list(range(numbers[0], numbers[0] + len(named))):
        return f"{named[0]} … {named[-1]}"
    return ", ".join(named)


def reply_schema(items: Sequence[Item], names: Names) -> dict[str, JsonValue]:
    """JSON schema of the reply: one object, one property a question; what several have in common is defined once."""
    parts = {names[item.id]: _item_schema(item) for item in items}
    texts = {name: json.dumps(part, sort_keys=False) for name, part in parts.items()}
    times = Counter(texts.values())
    letters = dict(zip((text for text in times if times[text] > 1), _letters(), strict=False))
    shared: dict[str, JsonValue] = {
        name: {"$ref": f"#/$defs/{letters[text]}"} for name, text in texts.items() if text in letters
    }
    return object_schema(parts | shared) | (
        {"$defs": {letter: json.loads(text) for text, letter in letters.items()}} if letters else {}
    )


def _item_schema(item: Item) -> JsonValue:
    properties = kind_of(item).schema(item)
    if _is_bare(item):
        return next(iter(properties.values()))
    if item.confidence:  # that it is within 0 and 1 is said in the prompt, and looked at where it is read
        properties["confidence"] = {"type": "number"}
    if item.reason:
        properties["reason"] = {"type": "string"}
    return object_schema(properties)


# --- How a model's reply becomes answers: strict about values (see kinds.py), lenient about the wrapping.

NAMES = "names "
"""What a note begins with that lists the entries of a memory which the words rest on; others see no marks."""


@dataclass
class ParsedReply:
    """What one reply gave: answers by item, items declined in so many words, and what was wrong with the whole.

    `unclear`: items whose number may be two. `cut_off`: it reached its longest length. `broke_off`: it ends in the
    middle, for whatever other reason.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)
    unknown: int = 0
    unreadable: bool = False
    refused: bool = False
    cut_off: bool = False
    broke_off: bool = False


def read_reply(
    completion: Completion, items: Sequence[Item], names: Names, *, number_form_is_known: bool = False
) -> ParsedReply:
    """Answers that can be taken from a reply; items not in `answers` are still open.

    `names`: under which names they were asked for. An item's id is one too, as a run's earlier calls may have had it.
    `number_form_is_known`: the question said that a point stands before decimals, so that 1.500 is 1.5.
    """
    cut_off = completion.finish == "length"
    refused = completion.finish in ("refusal", "content_filter")
    wanted = {item.id for item in items}
    called = {names[item.id]: item.id for item in items}
    if refused:
        return ParsedReply(unreadable=True, refused=True)
    read = read_reply_object(completion.text, wanted={*wanted, *called})
    broke_off = read.breaks_off and not cut_off
    if read.members is None:
        refused = looks_like_refusal(completion.text)
        return ParsedReply(unreadable=True, refused=refused, cut_off=cut_off, broke_off=broke_off)
    members = {called.get(name, name): given for name, given in read.members.items()}
    if not wanted & members.keys():
        return ParsedReply(unreadable=True, cut_off=cut_off, broke_off=broke_off, unknown=len(members))
    reading = ParsedReply(cut_off=cut_off, broke_off=broke_off, unknown=len(members.keys() - wanted))
    for item in items:
        given = members.get(item.id)
        if number_form_is_known:
            given = plain_numbers(given)
        answer = read_answer(item, given)
        if answer is not None:
            reading.answers[item.id] = answer
        elif item.id in members and is_nothing_said(item, given):
            reading.declined.add(item.id)
        elif isinstance(kind := kind_of(item), NumberKind) and kind.is_unclear(item, given):
            reading.unclear.add(item.id)
    if reading.unknown and reading.answers:
        first = next(iter(reading.answers.values()))
        first.notes = (*first.notes, f"{reading.unknown} unknown items ignored")
    return reading


def is_nothing_said(item: Item, given: JsonValue) -> bool:
    """Return whether the respondent was asked and gave no value: null, "N/A", "don't know"."""
    if not isinstance(given, dict):
        return _says_nothing(given)
    members = ("value", "text", *kind_of(item).schema(item))
    return any(name in given and _says_nothing(given[name]) for name in members)


def _says_nothing(given: JsonValue) -> bool:
    given = unwrap(given)
    return given is None or (isinstance(given, str) and is_declined(given))


def read_answer(item: Item, given: JsonValue) -> Answer | None:
    """One item's answer, or None where what was given is no answer to it."""
    members: dict[str, JsonValue] = given if isinstance(given, dict) else {"value": given}
    answer = kind_of(item).read(item, members, given)
    if answer is None:
        return None
    reason = members.get("reason", members.get("text")) if item.reason else ""
    text, named = unmarked(answer.text or (reason.strip() if isinstance(reason, str) else ""))
    confidence, notes = _confidence(item, members)
    notes = ("no reason given", *notes) if item.reason and not text else notes
    notes = (NAMES + " ".join(named), *notes) if named else notes
    answer.text, answer.confidence, answer.notes = text, confidence, (*answer.notes, *notes)
    return answer


def _confidence(item: Item, members: dict[str, JsonValue]) -> tuple[float | None, tuple[str, ...]]:
    """Confidence 0–1 and notes. A value above 1 and up to 100 is read as per cent, and noted."""
    if not item.confidence:
        return None, ()
    given = members.get("confidence")
    share = given.strip().removesuffix("%") if isinstance(given, str) else given
    value = parse_number(share, DECIMAL)
    if value is None:
        return None, ("no confidence given",)
    if share != given and isinstance(given, str) and given.strip().endswith("%") and 0 <= value <= 100:
        return value / 100, (f"confidence {value:g} % read as {value / 100:g}",)
    if 0 <= value <= 1:
        return value, () if is_read_as_written(given, DECIMAL) else (f"confidence {given} read as {value:g}",)
    if 1 < value <= 100:
        return value / 100, (f"confidence {value:g} read as {value / 100:g}",)
    return None, (f"confidence {value:g} is out of range",)


# --- A forced grid: how many items of a block each scale point takes, as in a Q-sort. Measured by: nearly every agent
# ends with a legal sort of its own. A sort that breaks the grid is asked for again, in the columns concerned; what is
# left is moved by the fewest and shortest moves there are, by the agent's own ranking. Where an agent placed a
# statement more than once, or where it was moved, the answer's data holds the agent's own placements: `{"placed": [2,
# 1]}` beside the value 0 is "first in 2, asked again in 1, moved to 0".

Grid = Mapping[int, int]
"""Scale point → number of items that go there."""

Answers = Mapping[str, Answer]

_WORDS: Mapping[str, str] = {
    "rule": N_(
        "Each column takes exactly this many statements: {places}. Together that makes {n}. Please count before "
        "you answer."
    ),
    "free": N_("The other statements have been sorted already. These places are left: {places}."),
    "again": N_(
        "In your sort, the number of statements in some columns is not right. Please sort only the following "
        "statements again; all others stay where they are."
    ),
    "over": N_("Column {column} is overfull ({n} statements for {places}): {items}"),
    "under": N_("Column {column} is not full ({n} statements for {places})"),
    "share": N_("The following {n} statements have to be spread over the columns exactly like this: {places}."),
    "column": N_("{column}: {n}"),
    "comma": N_("; "),
}


def grid_of(block: Block) -> Grid | None:
    """The block's grid, or None. Raises ValueError where it does not have as many places as the block has items."""
    members = block.constraint.get("grid") if isinstance(block.constraint, dict) else None
    if not isinstance(members, dict):
        return None
    grid = {int(column): _whole(column, places) for column, places in members.items()}
    if sum(grid.values()) != len(block.items):
        raise ValueError(
            f"a grid of {sum(grid.values())} places for {len(block.items)} items of block {block.key.part!r}"
        )
    return dict(sorted(grid.items()))


def _whole(column: str, places: JsonValue) -> int:
    if isinstance(places, bool) or not isinstance(places, int) or places < 0:
        raise ValueError(f"column {column} of the grid has {places!r} places")
    return places


def held(answers: Answers) -> dict[int, int]:
    """How many items stand in each column."""
    counts: dict[int, int] = {}
    for answer in answers.values():
        if answer.value is not None:
            counts[int(answer.value)] = counts.get(int(answer.value), 0) + 1
    return counts


def violations(answers: Answers, grid: Grid) -> dict[int, int]:
    """By column, items too many (> 0) or too few (< 0). Empty: a legal sort."""
    counts = held(answers)
    surplus = {column: counts.get(column, 0) - grid.get(column, 0) for column in sorted({*counts, *grid})}
    return {column: n for column, n in surplus.items() if n}


def open_items(answers: Answers, grid: Grid, order: Sequence[str]) -> tuple[str, ...]:
    """The items in overfull columns, in the order shown: as many as those and the underfull ones have places for."""
    overfull = {column for column, n in violations(answers, grid).items() if n > 0}
    return tuple(item for item in order if item in answers and answers[item].value in overfull)


def free_places(answers: Answers, grid: Grid, asked: Sequence[str]) -> dict[int, int]:
    """Places left for the items `asked`, once all other answers are in place."""
    counts = held({item: answer for item, answer in answers.items() if item not in asked})
    left = {column: places - counts.get(column, 0) for column, places in grid.items()}
    return {column: places for column, places in left.items() if places > 0}


def narrowed(items: Sequence[Item], answers: Answers, grid: Grid) -> tuple[Item, ...]:
    """`items` as they are put to the agent: with the columns alone that have a place left for them."""
    places = free_places(answers, grid, [item.id for item in items])
    return tuple(
        item.model_copy(update={"options": tuple(option for option in item.options if option.value in places)})
        for item in items
    )


def explain_grid(answers: Answers, grid: Grid, asked: Sequence[str], language: Language, names: Names) -> str:
    """The grid in words: the rule, what is wrong so far, and the places that the items `asked` may take."""
    words = in_language(_WORDS, language)
    rule = words["rule"].format(places=_places(grid, words), n=sum(grid.values()))
    if not answers:
        return rule
    left = _places(free_places(answers, grid, asked), words)
    if any(item not in answers for item in asked):
        return f"{rule}\n{words['free'].format(places=left)}"
    counts = held(answers)
    wrong = [
        words["over" if n > 0 else "under"].format(
            column=column, n=counts.get(column, 0), places=grid.get(column, 0), items=_held_by(answers, column, names)
        )
        for column, n in violations(answers, grid).items()
    ]
    share = words["share"].format(n=len(asked), places=left)
    return "\n".join([words["again"], *(f"- {line}" for line in wrong), share])


def signed(column: float) -> str:
    """−3, 0, +3: with a sign, as the columns of a Q-sort are written."""
    return f"{column:+g}".replace("-", "−") if column else "0"


def _places(grid: Grid, words: Mapping[str, str]) -> str:
    return words["comma"].join(words["column"].format(column=column, n=n) for column, n in grid.items())


def _held_by(answers: Answers, column: int, names: Names) -> str:
    return ", ".join(names[item] for item, answer in answers.items() if answer.value == column)


def placed_again(answers: Answers, given: Answers, grid: Grid) -> dict[str, Answer]:
    """`answers` with what was given when asked again, unless the sort as a whole would lie further off the grid.

    A new placement is the agent's own: its status stays, its note says that it was asked for the grid's sake.
    """
    merged = dict(answers)
    for item, now in given.items():
        then = answers[item]
        if now.value is not None and then.value is not None and now.value != then.value:
            note = f"placed in {signed(then.value)}, asked again to fit the grid: {signed(now.value)}"
            data: JsonValue = {"placed": [*own_placements(then), int(now.value)]}
            merged[item] = replace(then, value=now.value, data=data, notes=(*then.notes, *now.notes, note))
    return merged if _excess(merged, grid) <= _excess(answers, grid) else dict(answers)


def own_placements(answer: Answer) -> list[int]:
    """Where the agent itself put the item, the first placement first."""
    listed = answer.data.get("placed") if isinstance(answer.data, dict) else None
    if isinstance(listed, list):
        return [column for column in listed if isinstance(column, int)]
    return [] if answer.value is None else [int(answer.value)]


def repair_grid(answers: Answers, grid: Grid, order: Sequence[str]) -> dict[str, Answer]:
    """A legal sort by the fewest moves, and of those the shortest.

    Places too many and places too few, each in ascending order, are matched one to one: optimal transport on a line.
    Out of a column go those that the agent ranks nearest to the target: by the mean of its own placements of them, then
    by the order shown (the first shown go up, the last shown go down), then by id.
    """
    repaired = dict(answers)
    wrong = violations(answers, grid)
    surplus = [column for column, n in wrong.items() for _ in range(max(n, 0))]
    lacking = [column for column, n in wrong.items() for _ in range(max(-n, 0))]
    ranked = {column: _ranked(answers, column, order) for column in set(surplus)}
    for column, target in zip(surplus, lacking, strict=True):
        item = ranked[column].pop(0 if target < column else -1)
        repaired[item] = _moved(repaired[item], column, target)
    return repaired


def _ranked(answers: Answers, column: int, order: Sequence[str]) -> list[str]:
    """The items of a column, the lowest first."""
    shown = {item: position for position, item in enumerate(order)}
    inside = [item for item, answer in answers.items() if answer.value == column]

    def rank(item: str) -> tuple[float, int, str]:
        placed = own_placements(answers[item])
        return sum(placed) / len(placed), -shown[item], item

    return sorted(inside, key=rank)


def _moved(answer: Answer, column: int, target: int) -> Answer:
    note = f"placed in {signed(column)}, moved to {signed(target)} to fit the grid"
    data: JsonValue = {"placed": list(own_placements(answer))}
    return replace(answer, status="repaired", value=float(target), data=data, notes=(*answer.notes, note))


def _excess(answers: Answers, grid: Grid) -> int:
    return sum(n for n in violations(answers, grid).values() if n > 0)
