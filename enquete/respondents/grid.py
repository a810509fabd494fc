"""A forced grid: how many items of a block each scale point takes, as in a Q-sort.

Measured by: nearly every agent ends with a legal sort of its own. A sort that breaks the grid is asked for again, in the
columns concerned; what is left is moved by the fewest and shortest moves there are, by the agent's own ranking. Where an
agent placed a statement more than once, or where it was moved, the answer's data holds the agent's own placements:
`{"placed": [2, 1]}` beside the value 0 is "first in 2, asked again in 1, moved to 0".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from enquete.locale import N_, in_language
from enquete.respondents.questions import Names
from enquete.state.asking import Answer, Block, Item, Language

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
    found: dict[int, int] = {}
    for answer in answers.values():
        if answer.value is not None:
            found[int(answer.value)] = found.get(int(answer.value), 0) + 1
    return found


def violations(answers: Answers, grid: Grid) -> dict[int, int]:
    """By column, items too many (> 0) or too few (< 0). Empty: a legal sort."""
    counts = held(answers)
    surplus = {column: counts.get(column, 0) - grid.get(column, 0) for column in sorted({*counts, *grid})}
    return {column: n for column, n in surplus.items() if n}


def open_items(answers: Answers, grid: Grid, order: Sequence[str]) -> tuple[str, ...]:
    """The items in overfull columns, in the order shown: just as many as those and the underfull columns have places for."""
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


def explain(answers: Answers, grid: Grid, asked: Sequence[str], language: Language, names: Names) -> str:
    """The grid in words: the rule, what is wrong with the sort so far, and the places that the items `asked` may take."""
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
    found = dict(answers)
    for item, now in given.items():
        then = answers[item]
        if now.value is not None and then.value is not None and now.value != then.value:
            note = f"placed in {signed(then.value)}, asked again to fit the grid: {signed(now.value)}"
            data: JsonValue = {"placed": [*own_placements(then), int(now.value)]}
            found[item] = replace(then, value=now.value, data=data, notes=(*then.notes, *now.notes, note))
    return found if _excess(found, grid) <= _excess(answers, grid) else dict(answers)


def own_placements(answer: Answer) -> list[int]:
    """Where the agent itself put the item, the first placement first."""
    listed = answer.data.get("placed") if isinstance(answer.data, dict) else None
    if isinstance(listed, list):
        return [column for column in listed if isinstance(column, int)]
    return [] if answer.value is None else [int(answer.value)]


def repair(answers: Answers, grid: Grid, order: Sequence[str]) -> dict[str, Answer]:
    """A legal sort by the fewest moves, and of those the shortest.

    Places too many and places too few, each in ascending order, are matched one to one: optimal transport on a line. Out
    of a column go those that the agent ranks nearest to the target: by the mean of its own placements of them, then by
    the order shown (the first shown go up, the last shown go down), then by id.
    """
    found = dict(answers)
    wrong = violations(answers, grid)
    surplus = [column for column, n in wrong.items() for _ in range(max(n, 0))]
    lacking = [column for column, n in wrong.items() for _ in range(max(-n, 0))]
    ranked = {column: _ranked(answers, column, order) for column in set(surplus)}
    for column, target in zip(surplus, lacking, strict=True):
        item = ranked[column].pop(0 if target < column else -1)
        found[item] = _moved(found[item], column, target)
    return found


def _ranked(answers: Answers, column: int, order: Sequence[str]) -> list[str]:
    """The items of a column, the lowest first."""
    shown = {item: position for position, item in enumerate(order)}
    inside = [item for item, answer in answers.items() if answer.value == column]

    def rank(item: str) -> tuple[float, int, str]:
        own = own_placements(answers[item])
        return sum(own) / len(own), -shown[item], item

    return sorted(inside, key=rank)


def _moved(answer: Answer, column: int, target: int) -> Answer:
    note = f"placed in {signed(column)}, moved to {signed(target)} to fit the grid"
    data: JsonValue = {"placed": list(own_placements(answer))}
    return replace(answer, status="repaired", value=float(target), data=data, notes=(*answer.notes, note))


def _excess(answers: Answers, grid: Grid) -> int:
    return sum(n for n in violations(answers, grid).values() if n > 0)
