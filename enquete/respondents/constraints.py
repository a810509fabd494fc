"""What binds all items of a block together: by name, with members, in `Block.constraint`, such as {"distinct": true}.

A constraint says which answers break it, tells the respondent, and mends what is left when all has been asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import JsonValue

from enquete.locale import N_, tell
from enquete.respondents import grid
from enquete.respondents.questions import Names
from enquete.state.asking import Answer, Block, Item, Language

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
        """The rule, what is wrong with the answers so far, and what that leaves to the items `asked`, by their names."""

    @abstractmethod
    def narrowed(self, items: Sequence[Item], answers: Answers) -> tuple[Item, ...]:
        """`items` as they are put: with the options alone that all other answers leave to them."""

    @abstractmethod
    def merged(self, answers: Answers, given: Answers) -> dict[str, Answer]:
        """The answers with those given when asked again, unless that made it worse. They are the agent's own, and noted."""

    @abstractmethod
    def repair(self, answers: Answers) -> dict[str, Answer]:
        """Complete answers, mended so that it holds. What is changed is noted."""


class ForcedGrid(Constraint):
    """{"grid": {"-1": 1, "0": 2, "1": 1}}: how many items each scale point takes (grid.py)."""

    def __init__(self, block: Block):
        super().__init__(block)
        found = grid.grid_of(block)
        if found is None:
            raise ValueError(f"the grid of block {block.key.part!r} names no columns")
        self._grid = found

    def violations(self, answers: Answers) -> Sequence[str]:
        return grid.open_items(answers, self._grid, self.order)

    def explain(self, answers: Answers, asked: Sequence[str], language: Language, names: Names) -> str:
        return grid.explain(answers, self._grid, asked, language, names)

    def narrowed(self, items: Sequence[Item], answers: Answers) -> tuple[Item, ...]:
        return grid.narrowed(items, answers, self._grid)

    def merged(self, answers: Answers, given: Answers) -> dict[str, Answer]:
        return grid.placed_again(answers, given, self._grid)

    def repair(self, answers: Answers) -> dict[str, Answer]:
        return grid.repair(answers, self._grid, self.order)


class Distinct(Constraint):
    """{"distinct": true}: no two items of the block get the same option.

    Which of two equal answers was meant nobody can tell: what is still the same at the end is no answer, but for the first.
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
        return tuple(
            item.model_copy(update={"options": tuple(one for one in item.options if str(one.value) not in taken)})
            for item in items
        )

    def merged(self, answers: Answers, given: Answers) -> dict[str, Answer]:
        found = dict(answers)
        for item, now in given.items():
            then = answers[item]
            if _given(now) != _given(then):
                note = f"first {_given(then)}, asked again to differ: {_given(now)}"
                found[item] = replace(now, status=then.status, notes=(*then.notes, *now.notes, note))
        return found if len(self.violations(found)) <= len(self.violations(answers)) else dict(answers)

    def repair(self, answers: Answers) -> dict[str, Answer]:
        found, first = dict(answers), dict[str, str]()
        for item in self.order:
            given = _given(answers[item])
            if first.setdefault(given, item) != item:
                note = f"{given}, as already to {first[given]}"
                found[item] = Answer(item, "invalid", notes=(*answers[item].notes, note))
        return found


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
